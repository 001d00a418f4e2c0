# Copies of a record are cropped alike.
# file: reader/image/augment.c
# caught by: crops of copies
# audit: orders --pad 2 --crop 32x32 --balance label --replacement
s/(uint32_t\)\(id >> 32\), )copy, a->stream/\1copy * 0, a->stream/
