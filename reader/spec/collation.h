/* How fields of varying shape are collated: what a caller asks for, checked and completed. */
#ifndef COLLATION_H
#define COLLATION_H

#include "reader.h"

/* Fills r->options.collations and r->options.parts; once it is known which fields are wanted and have transforms. */
apl_status collation_resolve(apl_reader *r, const apl_reader_options *asked, apl_error *err);

/* What must be known of the other options, and of the records. */
apl_status collation_finish(apl_reader *r, const apl_reader_options *asked, apl_error *err);

/* Batches have a part more. */
apl_status collation_add_part(struct reader_options *o, unsigned field, apl_part part, size_t row_bytes,
                              apl_error *err);

/* Columns of a batch: of fields, and of parts after them. */
static inline unsigned collation_columns(const apl_reader *r)
{
    return r->schema->count + r->options.part_count;
}

/* Fills in the bytes of a row in the columns of fields that are collated, and of all parts, where they are known. */
void collation_row_bytes(const apl_reader *r, size_t *bytes);

/* The number of a part's column; the part is there. */
unsigned collation_part(const apl_reader *r, unsigned field, apl_part part);

/* Describes the array of a part, of shape {rows, more} (or {rows} where more is negative), and makes room for it. NULL: out of
 * memory. */
void *collation_make_part(const apl_reader *r, struct job *job, unsigned field, apl_part part,
                          apl_dtype dtype, int64_t rows, int64_t more);

/* Writes `n` elements of the field's fill to `out`. */
void collation_fill(const apl_reader *r, unsigned field, uint8_t *out, size_t n);

#endif
