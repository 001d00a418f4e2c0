/* Values of varying shape: see values.h. */
#include "values.h"

#include "delivery.h"
#include "late.h"
#include "late_fields.h"
#include "mix.h"
#include "prefetch.h"

/* The column of a block that the value is in, or its list if it is read late; *record: its place there. */
static const struct raw_column *values_column(const struct worker *w, const struct job *job, unsigned f,
                                              size_t k, uint32_t *record)
{
    uint32_t nth, copy, index = delivery_block(w->spec, job->deliveries[k], &nth, &copy);
    const struct subset_block *block = &w->spec->subset.block[index];
    *record = block->chosen ? block->chosen[nth] : nth;
    return &standing_block(w->standing, job->epoch, index)->ragged[f];
}

/* What was made of the field's values; NULL: nothing. */
static const struct made_values *values_made(const struct job *job, unsigned f)
{
    return job->made && job->made[f].any ? &job->made[f] : NULL;
}

size_t values_bytes(const struct worker *w, const struct job *job, unsigned f, size_t k)
{
    const struct made_values *made = values_made(job, f);
    if (made)
        return (size_t)(made->starts[k + 1].bytes - made->starts[k].bytes);
    uint32_t record;
    uint64_t start;
    const struct raw_column *column = values_column(w, job, f, k, &record);
    return raw_column_extent(column, record, &start);
}

void values_shape(const struct worker *w, const struct job *job, unsigned f, size_t k, int64_t *shape)
{
    uint32_t record;
    const struct made_values *made = values_made(job, f);
    const struct raw_column *column = values_column(w, job, f, k, &record);
    raw_column_shape(column, &w->spec->schema->fields[f], record, shape);
    if (made)
        shape[0] = (int64_t)(made->starts[k + 1].elements - made->starts[k].elements);
    for (unsigned i = 0; made && made->sides[0] && i < 2; i++)
        shape[1 + i] = made->sides[i];
}

int64_t values_length(const struct worker *w, const struct job *job, unsigned f, size_t k)
{
    const struct made_values *made = values_made(job, f);
    if (made)
        return (int64_t)(made->starts[k + 1].elements - made->starts[k].elements);
    uint32_t record;
    const struct raw_column *column = values_column(w, job, f, k, &record);
    size_t each =
        (size_t)4 * field_varying(&w->spec->schema->fields[f]); /* of the dimensions that vary, the first */
    return (int64_t)load_le(column->dims.data + record * each, 4);
}

/* Is the value read from the file now? */
static bool is_late(const struct worker *w, const struct job *job, unsigned f, size_t k)
{
    uint32_t nth, copy;
    return late_is(w->spec, delivery_block(w->spec, job->deliveries[k], &nth, &copy), f);
}

apl_status values_take(struct worker *w, struct job *job, unsigned f, size_t k, const uint8_t **value,
                       apl_error *err)
{
    size_t bytes;
    const struct made_values *made = values_made(job, f);
    if (made) {
        *value = made->values.data + made->starts[k].bytes;
        return APL_OK;
    }
    if (is_late(w, job, f, k))
        return late_take(w, job, f, k, value, err);
    uint32_t record;
    const struct raw_column *column = values_column(w, job, f, k, &record);
    *value = raw_column_value(column, &w->spec->schema->fields[f], record, &bytes);
    return APL_OK;
}

void values_expect(const struct worker *w, const struct job *job, unsigned f, size_t k, size_t end)
{
    uint32_t record;
    uint64_t start;
    size_t soon = k + PREFETCH_AHEAD, later = k + 2 * PREFETCH_AHEAD;
    if (soon >= end || values_made(job, f) || is_late(w, job, f, soon))
        return;
    if (later < end) {
        const struct raw_column *column = values_column(w, job, f, later, &record);
        __builtin_prefetch((const uint64_t *)(const void *)column->ends.data + record);
    }
    const struct raw_column *column = values_column(w, job, f, soon, &record);
    if (column->ends.size == 0)
        return;
    size_t bytes = raw_column_extent(column, record, &start);
    for (size_t at = 0; at < bytes && at < PREFETCH_MOST; at += PREFETCH_LINE)
        __builtin_prefetch(column->values.data + start + at, 0, 2);
}

apl_status values_take_photo(struct worker *w, struct job *job, unsigned f, size_t k,
                             struct photo_value *photo, apl_error *err)
{
    const uint8_t *value;
    struct kept_place place = {.form = KEPT_AS_IT_CAME, .bytes = values_bytes(w, job, f, k)};
    if (is_late(w, job, f, k))
        TRY(late_take_stored(w, job, f, k, &value, &place, err));
    else
        TRY(values_take(w, job, f, k, &value, err));
    *photo = (struct photo_value){.data = value, .bytes = place.bytes, .is_indexed = kept_is_indexed(&place)};
    return APL_OK;
}

apl_status values_copy(struct worker *w, struct job *job, unsigned f, size_t k, uint8_t *out, apl_error *err)
{
    const uint8_t *value;
    if (is_late(w, job, f, k))
        return late_read(w, job, f, k, out, err);
    TRY(values_take(w, job, f, k, &value, err));
    size_t bytes = values_bytes(w, job, f, k);
    if (bytes)
        memcpy(out, value, bytes);
    return APL_OK;
}

apl_status values_name(const struct worker *w, const struct job *job, unsigned f, size_t k, apl_status status,
                       apl_error *err)
{
    uint64_t id = job->buffer->batch.ids[k];
    uint32_t nth, copy, index = delivery_block(w->spec, job->deliveries[k], &nth, &copy);
    fail_in(err, status, "%s: record %llu, field %s", mix_source_of(w->spec, index)->store->name,
            (unsigned long long)id, w->spec->schema->fields[f].name);
    return fail_records(err, status, id, 1);
}
