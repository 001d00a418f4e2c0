# The split takes the first ids.
# file: store/split/split_divide.c
# caught by: places of the part
# audit: splits
s/split_part_drawn\(d->rule, hash\)/split_part_drawn(d->rule, (b.first + i) * (UINT64_MAX \/ 6000))/
