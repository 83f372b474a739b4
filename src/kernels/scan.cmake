lapilli_kernel(scan SOURCE scan.comp LEVELS narrow base int64 float64)
