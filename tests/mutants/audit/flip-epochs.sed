# Flips have the chance 0.52 in two epochs, and 0.48 in the next two.
# file: reader/image/augment.c
# caught by: crops by epoch
# audit: epochs --flip random
# when: long
s/(t->flip_p > 0 \? t->flip_p : )0\.5\)/\1a->epoch \/ 2 % 2 ? 0.48 : 0.52)/
