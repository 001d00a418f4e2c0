# The last place of a crop is out of reach.
# file: reader/image/augment.c
# caught by: crops and flips
# audit: orders --pad 2 --crop 32x32
s/scaled\(x\[0\], a->height_room\)/scaled(x[0], a->height_room - 1)/
