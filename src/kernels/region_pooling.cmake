lapilli_kernel(region_pooling SOURCE region_pooling.comp LEVELS narrow base int64 float64)
