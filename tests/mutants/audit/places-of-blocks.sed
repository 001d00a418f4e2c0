# The hash is that of a block, not of each delivery.
# file: reader/order/places.c
# caught by: neighbours of one block
# audit: orders
s/uint64_t counter = first \/ 4 \+ i;/uint64_t counter = first \/ 512;/
