lapilli_kernel(known SOURCE known.comp LEVELS narrow int64)
