/* Blocks that are damaged, or cannot be read: what is said of them, and which of their records can still be vouched for. */
#ifndef BAD_BLOCK_H
#define BAD_BLOCK_H

#include "block.h"
#include "manifest.h"

/* The ids of a bad block's records that cannot be vouched for; `bad` has room for all `count`. Returns how many. */
size_t bad_block_records(struct block_coder *bc, const struct schema *schema, const uint8_t *bytes,
                         size_t size, uint64_t first, uint32_t count, uint64_t *bad);

/* Where block `number` (among all) belongs: its number in its segment, its ids, and its member, or its split. All else in
 * *block is zero. */
void bad_block_describe(const struct manifest *manifest, uint64_t number, apl_bad_block *block);

/* The error that names the block, its records, and why. Returns `status`. */
apl_status bad_block_error(const struct manifest *manifest, uint64_t number, apl_status status,
                           const char *why, apl_error *err);

#endif
