# The plan adds seed and epoch up.
# file: reader/order/plan.c
# caught by: one seed and the next
# audit: orders
s/random_epoch_key\(p->options.seed, epoch,/random_epoch_key(p->options.seed + epoch, 0,/
