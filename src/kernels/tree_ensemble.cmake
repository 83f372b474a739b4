lapilli_kernel(tree_walk SOURCE tree_walk.comp LEVELS narrow float64)
lapilli_kernel(tree_totals SOURCE tree_totals.comp LEVELS narrow float64)
