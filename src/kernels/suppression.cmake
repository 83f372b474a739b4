lapilli_kernel(suppression SOURCE suppression.comp LEVELS narrow base)
