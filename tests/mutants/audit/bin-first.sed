# The bin draw takes always a bin's first record.
# file: reader/order/plan.c
# caught by: neighbours of one block
# audit: orders
s/return (plan_bins_draw.*)/struct pick pick = \1 pick.place = 0; return pick;/
