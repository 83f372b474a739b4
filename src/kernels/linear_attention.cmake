lapilli_kernel(linear_attention SOURCE linear_attention.comp LEVELS narrow base)
