lapilli_kernel(contraction_depthwise SOURCE contraction_depthwise.comp LEVELS narrow base INLINE)
