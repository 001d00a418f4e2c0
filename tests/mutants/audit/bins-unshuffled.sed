# Bins are taken as they were filled, and not shuffled.
# file: reader/bins_fill.c
# caught by: neighbours of one block
# audit: orders
s/if \(ok && shuffled && bin->count > 1\)/if (ok \&\& shuffled \&\& bin->count == 0)/
