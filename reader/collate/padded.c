/* Values of varying shape, padded to one: see padded.h. */
#include "padded.h"

#include "batch_part.h"
#include "collation.h"
#include "values.h"

/* A value is `outer` runs of (length of the dimension that varies) x `inner` elements. */
struct layout {
    size_t outer, inner;
    int64_t length; /* that all values come to have */
};

static struct layout layout_of(const apl_field *f, unsigned axis, int64_t length)
{
    struct layout l = {1, 1, length};
    for (unsigned d = 0; d < f->ndim; d++)
        if (d != axis)
            *(d < axis ? &l.outer : &l.inner) *= (size_t)f->shape[d];
    return l;
}

static apl_status too_long(const struct worker *w, const struct job *job, unsigned f, size_t k,
                           apl_error *err)
{
    uint64_t id = job->buffer->batch.ids[k];
    fail(err, APL_E_INVALID,
         "record %llu: field %s is %lld long, and is to be padded to %llu: truncate it, or pad to more",
         (unsigned long long)id, w->spec->schema->fields[f].name, (long long)values_length(w, job, f, k),
         (unsigned long long)w->spec->options.collations[f].length);
    return fail_records(err, APL_E_INVALID, id, 1);
}

/* The length of each value, of what is left of it; *longest: of all. */
static apl_status find_lengths(const struct worker *w, struct job *job, unsigned f, int64_t *lengths,
                               int64_t *longest, apl_error *err)
{
    const struct collation *c = &w->spec->options.collations[f];
    int64_t most = (int64_t)c->length;
    *longest = 0;
    for (size_t k = 0; k < job->buffer->batch.rows; k++) {
        lengths[k] = values_length(w, job, f, k);
        if (most && lengths[k] > most) {
            if (!c->truncate)
                return too_long(w, job, f, k, err);
            lengths[k] = most;
        }
        *longest = lengths[k] > *longest ? lengths[k] : *longest;
    }
    return APL_OK;
}

static void pad_value(const struct worker *w, unsigned f, const struct layout *l, const uint8_t *value,
                      int64_t whole, int64_t length, uint8_t *out)
{
    size_t element = apl_dtype_size(w->spec->schema->fields[f].dtype), unit = l->inner * element;
    size_t bytes = (size_t)length * unit, room = (size_t)l->length * unit;
    for (size_t i = 0; i < l->outer; i++, out += room) {
        if (bytes)
            memcpy(out, value + i * (size_t)whole * unit, bytes);
        collation_fill(w->spec, f, out + bytes, (room - bytes) / element);
    }
}

static void write_mask(uint8_t *mask, const int64_t *lengths, size_t rows, int64_t length)
{
    for (size_t k = 0; k < rows; k++, mask += length) {
        memset(mask, 1, (size_t)lengths[k]);
        memset(mask + lengths[k], 0, (size_t)(length - lengths[k]));
    }
}

static apl_status write_values(struct worker *w, struct job *job, unsigned f, const struct layout *l,
                               const int64_t *lengths, apl_error *err)
{
    apl_column *column = &job->buffer->batch.columns[f];
    size_t row = l->outer * (size_t)l->length * l->inner * apl_dtype_size(column->dtype);
    for (size_t k = 0; k < job->buffer->batch.rows; k++) {
        const uint8_t *value;
        values_expect(w, job, f, k, job->buffer->batch.rows);
        TRY(values_take(w, job, f, k, &value, err));
        pad_value(w, f, l, value, values_length(w, job, f, k), lengths[k], (uint8_t *)column->data + k * row);
    }
    return APL_OK;
}

apl_status padded_collate(struct worker *w, struct job *job, unsigned f, apl_error *err)
{
    const struct collation *c = &w->spec->options.collations[f];
    const apl_field *field = &w->spec->schema->fields[f];
    apl_column *column = &job->buffer->batch.columns[f];
    int64_t rows = (int64_t)job->buffer->batch.rows, longest;
    int64_t *lengths = batch_part_make(w->spec, job, f, APL_PART_LENGTHS, APL_I64, rows, -1);
    if (!lengths)
        return fail_nomem(err);
    TRY(find_lengths(w, job, f, lengths, &longest, err));
    struct layout l = layout_of(field, c->axis, c->length ? (int64_t)c->length : longest);
    uint8_t *mask = batch_part_make(w->spec, job, f, APL_PART_MASK, APL_BOOL, rows, l.length);
    column->shape[c->axis] = l.length;
    column->bytes = (size_t)rows * l.outer * (size_t)l.length * l.inner * apl_dtype_size(field->dtype);
    batch_set_dims(column, (size_t)rows);
    if (!mask || !pool_grow(job->buffer, f, column->bytes + 64))
        return fail_nomem(err);
    write_mask(mask, lengths, (size_t)rows, l.length);
    return write_values(w, job, f, &l, lengths, err);
}
