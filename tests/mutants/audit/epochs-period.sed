# The keys have a period, which is as long as what is audited.
# file: reader/bins.c
# caught by: distant seeds and epochs
# audit: orders
s/uint64_t seed = b->options\.seed;/&\nepoch %= 25;/
