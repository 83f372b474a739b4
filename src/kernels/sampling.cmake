lapilli_kernel(sampling SOURCE sampling.comp LEVELS narrow base int64 float64)
lapilli_kernel(sampling_table SOURCE sampling_table.comp LEVELS narrow float64)
