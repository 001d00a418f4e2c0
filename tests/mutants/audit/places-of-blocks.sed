# The hash is that of a block, not of each delivery.
# file: reader/order/places.c
# caught by: neighbours of one block
# audit: orders
s/philox_run\(key, first \/ 4,/philox_run(key, first \/ 512,/
