lapilli_kernel(determinant SOURCE determinant.comp LEVELS narrow float64)
