# Copies of a record have one square.
# file: reader/image/augment.c
# caught by: crops of copies
# audit: orders --cutout 8 --balance label --replacement
# when: long
s/(if \(t->cutout\) \{).*/\1 counter[2] = 0;/
