/* What a batch will take up: see need.h. */
#include "need.h"

#include "delivery.h"
#include "following.h"
#include "values.h"

#define COLUMN_END 64 /* bytes that columns have behind their values */

/* Of the field's values in the batch: the bytes of all, and of the largest. */
struct value_bytes {
    size_t all, largest;
};

/* As it will be in the batch, if that is known. */
static size_t bytes_in_batch(const struct worker *w, const struct job *job, unsigned f, size_t k)
{
    int64_t shape[APL_MAX_DIMS];
    if (w->spec->options.follows[f].as != FOLLOW_PLANES)
        return values_bytes(w, job, f, k);
    values_shape(w, job, f, k, shape);
    return (size_t)shape[0] * following_plane_bytes(w->spec, f);
}

static struct value_bytes value_bytes_of(const struct worker *w, const struct job *job, unsigned f)
{
    struct value_bytes e = {0, 0};
    for (uint32_t k = 0; k < job->rows; k++) {
        uint32_t nth, copy, index = delivery_block(w->spec, job->deliveries[k], &nth, &copy);
        if (standing_block(w->standing, job->epoch, index)->stage == BLOCK_BAD)
            continue;
        size_t bytes = bytes_in_batch(w, job, f, k);
        e.all += bytes;
        e.largest = bytes > e.largest ? bytes : e.largest;
    }
    return e;
}

/* Is the column of a size that is not known, and counted, from the beginning? */
static bool grows(const struct worker *w, unsigned f)
{
    return w->spec->options.wanted[f] && field_varying(&w->spec->schema->fields[f]) > 0 &&
           w->spec->options.transforms[f].size == 0;
}

/* Bytes of a position along the dimension that varies. */
static size_t position_bytes(const apl_field *field)
{
    size_t bytes = apl_dtype_size(field->dtype);
    for (unsigned d = 0; d < field->ndim; d++)
        bytes *= field->shape[d] > 0 ? (size_t)field->shape[d] : 1;
    return bytes;
}

/* Padded rows are all as long as the longest, and each has a mask of as many positions. */
static void add_padded(const struct worker *w, const struct job *job, unsigned f, size_t largest,
                       size_t *need)
{
    const struct reader_options *o = &w->spec->options;
    need[f] = job->rows * largest + COLUMN_END;
    for (unsigned i = 0; i < o->part_count; i++)
        if (o->parts[i].field == f && o->parts[i].part == APL_PART_MASK)
            need[w->spec->schema->count + i] =
                job->rows * (largest / position_bytes(&w->spec->schema->fields[f])) + COLUMN_END;
}

static void add_need(const struct worker *w, const struct job *job, unsigned f, size_t *need)
{
    struct value_bytes bytes = value_bytes_of(w, job, f);
    if (w->spec->options.collations[f].how == APL_COLLATE_PAD)
        add_padded(w, job, f, bytes.largest, need);
    else
        need[f] = bytes.all + COLUMN_END;
}

uint64_t need_reserve(const struct worker *w, const struct job *job, bool regardless)
{
    size_t need[POOL_MAX_COLUMNS] = {0};
    for (unsigned f = 0; f < w->spec->schema->count; f++)
        if (grows(w, f))
            add_need(w, job, f, need);
    return pool_reserve(job->buffer, need, regardless);
}
