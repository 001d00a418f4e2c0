# Bins are taken as they were filled, and not shuffled.
# file: reader/bins_fill.c
# caught by: neighbours of one block
# audit: orders
s/if \(ok && bin->count > 1\)/if (ok \&\& bin->count == 0)/
