# Crops are the same for every seed.
# file: reader/image/augment.c
# caught by: crops of seeds
# audit: orders --pad 2 --crop 32x32 --flip random
s/random_epoch_key\(seed, epoch, RANDOM_AUGMENT\)/random_epoch_key(0, epoch, RANDOM_AUGMENT)/
