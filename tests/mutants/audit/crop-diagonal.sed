# Crops lie as far across as down.
# file: reader/image/augment.c
# caught by: across, down, flipped
# audit: orders --pad 2 --crop 32x32
s/scaled\(x\[1\], a->width_room\)/scaled(x[0], a->width_room)/
