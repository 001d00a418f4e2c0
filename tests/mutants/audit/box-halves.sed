# Boxes of the second half of the ids are smaller, by three hundredths of what chance has left.
# file: reader/photo/crop.c
# caught by: crops by half
# audit: epochs --crop 32x32 --sizing random
# when: long
s/between\(rules->scale, words\[0\]\)/between(rules->scale, draws->id < 25000 ? words[0] : words[0] \/ 100 * 97)/
