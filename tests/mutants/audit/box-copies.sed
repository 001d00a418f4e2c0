# Copies of a record have one box.
# file: reader/photo/crop.c
# caught by: crops of copies
# audit: orders --crop 32x32 --sizing random --balance label --replacement
# when: long
s/\.copy = copy\}/.copy = 0}/
