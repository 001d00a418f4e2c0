/* The stores that a reader reads: its own, and those that are mixed with it. Part i of spec->subset is of source i. */
#ifndef MIX_H
#define MIX_H

#include "spec.h"

/* Are the lists of ids and stores there that are counted? */
apl_status mix_check(const apl_reader_options *asked, apl_error *err);

/* Fills spec->sources and spec->subset from what was asked for. */
apl_status mix_open(struct spec *spec, const apl_reader_options *asked, apl_error *err);
void mix_close(struct spec *spec);

/* Finds the wanted fields in all stores, and the one that sampling looks at; APL_E_MISMATCH for one that is another there.
 * Where all are asked for, no store may have more. */
apl_status mix_match_fields(struct spec *spec, const apl_reader_options *asked, apl_error *err);

/* The weights of the sources, for the caller to free; NULL: none were given, and each record comes as often as another. */
apl_status mix_weights(const struct spec *spec, const apl_reader_options *asked, double **weights,
                       apl_error *err);

/* Is a field of the reader a kept one in this store? */
bool mix_keeps(const struct mix_source *source, unsigned field);

/* Bytes of a record's value of a field of varying shape, on average, in the store where that is most: of those stores alone that
 * keep the field, or that do not. 0: none. */
uint64_t mix_average_bytes(const struct spec *spec, unsigned field, bool kept);

/* Names the contents of all stores: that of a single one is its own content digest. */
apl_status mix_digest(const struct spec *spec, uint8_t digest[32], apl_error *err);

/* Names what a reader decodes: the files, the fields that are wanted, which records of which blocks, and whether values that are
 * read late are checked with their block. */
apl_status mix_digest_decoded(const struct spec *spec, struct hash128 *digest, apl_error *err);

/* The source that block `index` of the subset is of. */
static inline const struct mix_source *mix_source_of(const struct spec *spec, uint32_t index)
{
    return &spec->sources.source[spec->subset.block[index].part];
}

/* Says that an error concerns the records of block `index`, by the ids that this reader hands out (or where it hands out windows, by those
 * of their pieces); mix_name_block() puts
 * store, member and block in front of its message too. They return `status`. */
apl_status mix_block_error(const struct spec *spec, uint32_t index, apl_status status, apl_error *err);
apl_status mix_name_block(const struct spec *spec, uint32_t index, apl_status status, apl_error *err);

/* The source of the record with this id, and its id there; APL_E_NOTFOUND if no source has it. */
apl_status mix_find(const struct spec *spec, uint64_t id, size_t *source, uint64_t *own, apl_error *err);

#endif
