/* Arrays of parts: see batch_part.h. */
#include "batch_part.h"

#include "collation.h"

void *batch_part_make(const struct spec *spec, struct job *job, unsigned field, apl_part part,
                      apl_dtype dtype, int64_t rows, int64_t more)
{
    unsigned i = collation_part(spec, field, part);
    size_t n = (size_t)rows * (size_t)(more < 0 ? 1 : more);
    if (!pool_grow(job->buffer, i, n * apl_dtype_size(dtype) + 64))
        return NULL;
    apl_column *column = pool_column(job->buffer, i);
    column->dtype = dtype;
    column->ndim = more >= 0;
    column->shape[0] = more;
    column->bytes = n * apl_dtype_size(dtype);
    batch_set_dims(column, (size_t)rows);
    return (void *)column->data;
}
