lapilli_kernel(recurrent SOURCE recurrent.comp LEVELS narrow base int64 float64)
