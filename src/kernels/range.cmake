lapilli_kernel(range SOURCE range.comp LEVELS narrow base int64 float64)
