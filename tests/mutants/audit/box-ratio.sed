# Boxes are of ratios up to 1.326 in place of 4/3.
# file: reader/photo/crop.c
# caught by: crops and flips
# audit: epochs --crop 32x32 --sizing random
# when: long
s/exact_log\(rules->ratio\[1\]\)/exact_log(rules->ratio[1] * 0.9945)/
