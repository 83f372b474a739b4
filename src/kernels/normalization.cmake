lapilli_kernel(normalization SOURCE normalization.comp LEVELS narrow base int64 float64)
