# One id in seven is flipped with the chance 0.53, the others with 0.495.
# file: reader/image/augment.c
# caught by: crops by remainder
# audit: epochs --flip random
# when: long
s/(t->flip_p > 0 \? t->flip_p : )0\.5\)/\1id % 7 == 0 ? 0.53 : 0.495)/
