/* What a writer says of its fields, and of the values that it was given or might be. */
#include "writer.h"

const apl_field *apl_writer_field(const apl_writer *w, unsigned i)
{
    return w && i < w->schema.count ? &w->schema.fields[i] : NULL;
}

apl_status apl_writer_check(const apl_writer *w, const apl_value *values, apl_error *err)
{
    if (!w || w->member == 0 || !values || w->schema.count == 0)
        return fail(err, APL_E_INVALID,
                    "a record without a writer, a member or values, or behind the last one");
    return kind_values_check(&w->kinds, values, err);
}

apl_status apl_writer_counts(const apl_writer *w, const char *field, apl_kind_counts *counts)
{
    int f = w && field ? schema_find(&w->schema, field) : -1;
    if (f < 0 || !counts)
        return w && field && counts ? APL_E_NOTFOUND : APL_E_INVALID;
    *counts = w->kinds.counts[f];
    return APL_OK;
}
