# The hash is that of a block, not of each delivery.
# file: reader/order/places.c
# caught by: neighbours of one block
# audit: orders
s/return words\[i % 4 \* PHILOX_LANES \+ i \/ 4\];/return words[0];/
