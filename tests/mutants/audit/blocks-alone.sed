# The plan draws the order of blocks, not that of records.
# file: reader/order/plan.c
# caught by: neighbours of one block
# audit: orders
s/uint32_t r = random_below\(.*/uint32_t r = 0;/
