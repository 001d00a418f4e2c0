# Crops come again every 16 epochs.
# file: reader/image/augment.c
# caught by: crops by record
# audit: orders --pad 2 --crop 32x32
# when: long
s/random_epoch_key\(seed, epoch, RANDOM_AUGMENT\)/random_epoch_key(seed, epoch % 16, RANDOM_AUGMENT)/
