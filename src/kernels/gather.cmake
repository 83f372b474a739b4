lapilli_kernel(gather SOURCE gather.comp LEVELS narrow base int64 float64)
