# The bins' keys add seed and epoch up.
# file: reader/bins.c
# caught by: one seed and the next
# audit: orders
s/random_epoch_key\(seed, epoch,/random_epoch_key(seed + epoch, 0,/
