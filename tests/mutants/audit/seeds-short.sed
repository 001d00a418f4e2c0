# Of the seed, the bins' keys have only 16 bits.
# file: reader/bins.c
# caught by: distant seeds and epochs
# audit: orders
s/uint64_t seed = b->options\.seed;/uint64_t seed = (uint16_t)b->options.seed;/
