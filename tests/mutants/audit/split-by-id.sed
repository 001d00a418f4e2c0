# The split goes by the hash of the id.
# file: store/split/split_unit.c
# caught by: equal inputs
# audit: splits
s/block_stored_hash\(view, record\)/(struct hash128){id, 0}/
