lapilli_kernel(pointwise SOURCE pointwise.comp LEVELS narrow base int64 float64)
