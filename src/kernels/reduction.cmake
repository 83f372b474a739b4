lapilli_kernel(reduction SOURCE reduction.comp LEVELS narrow base int64 float64)
