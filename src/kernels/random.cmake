lapilli_kernel(random SOURCE random.comp LEVELS narrow base float64)
