# After 64 epochs the keys come again.
# file: reader/bins.c
# caught by: distant seeds and epochs
# audit: orders
s/uint64_t seed = b->options\.seed;/&\nepoch %= 64;/
