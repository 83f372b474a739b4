lapilli_kernel(wide_integers SOURCE wide_integers.comp LEVELS narrow float64)
