lapilli_kernel(window SOURCE window.comp LEVELS narrow base int64 float64)
