# The first half of the ids is flipped with the chance 0.51, the second with 0.49.
# file: reader/image/augment.c
# caught by: crops by half
# audit: epochs --flip random
s/(t->flip_p > 0 \? t->flip_p : )0\.5\)/\1id < 25000 ? 0.51 : 0.49)/
