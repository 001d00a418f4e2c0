# Boxes are the same for every seed.
# file: reader/photo/crop.c
# caught by: crops of seeds
# audit: orders --crop 32x32 --sizing random
# when: long
s/random_epoch_key\(seed, epoch, RANDOM_CROP\)/random_epoch_key(0, epoch, RANDOM_CROP)/
