lapilli_kernel(sort SOURCE sort.comp LEVELS narrow base int64 float64)
lapilli_kernel(search SOURCE search.comp LEVELS narrow base int64 float64)
