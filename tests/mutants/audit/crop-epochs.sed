# Crops are the same in each epoch.
# file: reader/image/augment.c
# caught by: crops of epochs
# audit: orders --pad 2 --crop 32x32 --flip random
s/random_epoch_key\(seed, epoch, RANDOM_AUGMENT\)/random_epoch_key(seed, 0, RANDOM_AUGMENT)/
