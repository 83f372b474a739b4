lapilli_kernel(scatter SOURCE scatter.comp LEVELS narrow base int64 float64)
