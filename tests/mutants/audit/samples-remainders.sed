# Samples are remainders of a random number.
# file: reader/order/sampler.c
# caught by: records 
# audit: orders --balance label --replacement
s/random_below\(stream, s->size\[g\]\)/random_u32(stream) % (5 * s->size[g] \/ 2) % s->size[g]/
