# Boxes never touch the right edge.
# file: reader/photo/crop.c
# caught by: crops and flips
# audit: orders --crop 32x32 --sizing random
s/one_of\(width - plan->box.width \+ 1, words\[3\]\)/one_of(width - plan->box.width + (plan->box.width == width), words[3])/
