# Crops know the lower 16 bits of the seed alone.
# file: reader/image/augment.c
# caught by: crops of seeds
# audit: orders --pad 2 --crop 32x32
# when: long
s/random_epoch_key\(seed, epoch, RANDOM_AUGMENT\)/random_epoch_key(seed \& 0xffff, epoch, RANDOM_AUGMENT)/
