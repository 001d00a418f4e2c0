/* How fields of varying shape are collated: what a caller asks for, checked and completed. */
#ifndef COLLATION_H
#define COLLATION_H

#include "spec.h"

/* Fills spec->options.collations and spec->options.parts; once it is known which fields are wanted and have transforms. */
apl_status collation_resolve(struct spec *spec, const apl_reader_options *asked, apl_error *err);

/* What must be known of the records: the lengths of what is packed, and the windows that are delivered in their place. */
apl_status collation_open(struct spec *spec, const apl_reader_options *asked, apl_error *err);

/* What must be known of the other options, and of the sample. */
apl_status collation_finish(struct spec *spec, apl_error *err);

/* Batches have a part more. */
apl_status collation_add_part(struct reader_options *o, unsigned field, apl_part part, size_t row_bytes,
                              apl_error *err);

/* Columns of a batch: of fields, and of parts after them. */
static inline unsigned collation_columns(const struct spec *spec)
{
    return spec->schema->count + spec->options.part_count;
}

/* Fills in the bytes of a row in the columns of fields that are collated, and of all parts, where they are known. */
void collation_row_bytes(const struct spec *spec, size_t *bytes);

/* The number of a part's column; the part is there. */
unsigned collation_part(const struct spec *spec, unsigned field, apl_part part);

/* Writes `n` elements of the field's fill to `out`. */
void collation_fill(const struct spec *spec, unsigned field, uint8_t *out, size_t n);

#endif
