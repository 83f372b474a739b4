lapilli_kernel(contraction_matrix SOURCE contraction_matrix.comp LEVELS base INLINE)
lapilli_kernel(contraction_reduce SOURCE contraction_reduce.comp LEVELS narrow base INLINE)
