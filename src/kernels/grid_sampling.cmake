lapilli_kernel(grid_sampling SOURCE grid_sampling.comp LEVELS narrow base int64 float64)
