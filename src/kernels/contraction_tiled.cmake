lapilli_kernel(contraction_tiled SOURCE contraction_tiled.comp LEVELS narrow base INLINE)
