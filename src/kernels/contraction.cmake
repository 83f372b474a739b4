lapilli_kernel(contraction SOURCE contraction.comp LEVELS narrow base int64 float64 INLINE)
