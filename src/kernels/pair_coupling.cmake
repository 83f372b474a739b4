lapilli_kernel(pair_coupling SOURCE pair_coupling.comp LEVELS narrow)
