# Crops are keyed by seed + epoch.
# file: reader/image/augment.c
# caught by: crops of seeds
# audit: orders --pad 2 --crop 32x32
# when: long
s/random_epoch_key\(seed, epoch, RANDOM_AUGMENT\)/random_epoch_key(seed + epoch, 0, RANDOM_AUGMENT)/
