# One pair of neighbours in a hundred comes in the order in which it is stored.
# file: reader/bins.c
# caught by: ascents
# audit: epochs
s/size_t taken = take_drained\(b, deliveries, n\);/&\nfor (size_t k = 0; k + 1 < taken; k += 100) {\nuint32_t x = deliveries[k], y = deliveries[k + 1];\ndeliveries[k] = x < y ? x : y;\ndeliveries[k + 1] = x < y ? y : x;\n}/
