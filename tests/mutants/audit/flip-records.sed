# Flips have the chance 0.53 of every other record, by a hash.
# file: reader/image/augment.c
# caught by: crops by record
# audit: epochs --flip random
# when: long
s/(t->flip_p > 0 \? t->flip_p : )0\.5\)/\1id * 0x9e3779b97f4a7c15u >> 63 ? 0.53 : 0.47)/
