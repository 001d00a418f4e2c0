/* Rows of NumPy arrays: see npy_rows.h. */
#include "npy_rows.h"

#include <stdlib.h>

#define MEMORY_MAX \
    (UINT64_C(256) << 20) /* of an array in Fortran order that must be read whole, as it is packed */

static apl_status open_npy_stream(const struct npy *npy, struct format_stream **stream, apl_error *err)
{
    const struct format_host *host = npy->host;
    return npy->in_zip ? host->open_part(host->user, npy->file, &npy->part, stream, err)
                       : host->open_file(host->user, npy->file, stream, err);
}

/* What its rows are read from: behind the header, which is the same as before. */
apl_status npy_open(void *user, const struct array *array, struct format_stream **stream, apl_error *err)
{
    const struct npy *npy = user;
    const struct format_host *host = npy->host;
    (void)array;
    TRY(open_npy_stream(npy, stream, err));
    for (uint64_t left = npy->header.size, n; left > 0; left -= n) {
        n = left < 4096 ? left : 4096;
        if (!cursor_take((*stream)->cursor, (size_t)n))
            return host->cut_off(host->user, *stream, err);
    }
    return APL_OK;
}

apl_status npy_open_rows(void *user, const struct array *array, uint64_t row, uint64_t count,
                         struct format_stream **stream, apl_error *err)
{
    const struct npy *npy = user;
    return array_open_part(npy->host, npy->file, npy->header.size, array, row, count, stream, err);
}

apl_status npy_read_header(struct npy *npy, apl_error *err)
{
    const struct format_host *host = npy->host;
    struct format_stream *stream;
    apl_error why;
    TRY(open_npy_stream(npy, &stream, err));
    apl_status status = npy_header_read(stream->cursor, &npy->header, &why);
    if (status == APL_E_INCOMPLETE)
        return host->cut_off(host->user, stream, err);
    if (status != APL_OK)
        return fail(err, status, "%s: %s", npy->path, why.message);
    host->drop_file(host->user, stream);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------ Fortran order */

/* Where the numbers of a row lie that come at place k of it in C order: in which of the columns, each of which has a number of every
 * row. */
static uint64_t column_of(const struct npy_header *h, uint64_t k)
{
    uint64_t column = 0, scale = 1, at[NPY_MAX_DIMS];
    for (unsigned d = h->ndim; d-- > 1;) {
        at[d] = k % (uint64_t)h->shape[d];
        k /= (uint64_t)h->shape[d];
    }
    for (unsigned d = 1; d < h->ndim; d++) {
        column += at[d] * scale;
        scale *= (uint64_t)h->shape[d];
    }
    return column;
}

static apl_status read_elements(const struct npy *npy, uint64_t at, size_t size, uint8_t *out, apl_error *err)
{
    const struct format_host *host = npy->host;
    if (npy->whole.data) {
        memcpy(out, npy->whole.data + at, size);
        return APL_OK;
    }
    return host->read_at(host->user, npy->file, npy->part.offset + npy->header.size + at, out, size, err);
}

apl_status npy_fortran_rows(void *user, const struct array *array, uint64_t row, uint64_t count, uint8_t *out,
                            apl_error *err)
{
    struct npy *npy = user;
    const struct npy_header *h = &npy->header;
    size_t item = (size_t)h->item;
    uint64_t numbers = 1;
    uint8_t *column = malloc((size_t)count * item);
    apl_status status = column ? APL_OK : fail_nomem(err);
    for (unsigned d = 1; d < h->ndim; d++)
        numbers *= (uint64_t)h->shape[d];
    for (uint64_t k = 0; k < numbers && status == APL_OK; k++) {
        uint64_t at = (column_of(h, k) * array->rows + row) * item;
        status = read_elements(npy, at, (size_t)count * item, column, err);
        for (uint64_t i = 0; i < count && status == APL_OK; i++)
            memcpy(out + (i * numbers + k) * item, column + i * item, item);
    }
    free(column);
    return status;
}

/* A packed array whose rows are spread over it is held in memory. */
apl_status npy_hold(struct npy *npy, uint64_t bytes, apl_error *err)
{
    const struct format_host *host = npy->host;
    struct format_stream *stream;
    if (bytes > MEMORY_MAX)
        return fail(
            err, APL_E_UNSUPPORTED,
            "%s: is in Fortran order and compressed, and has more than 256 MiB: save it in C order, or "
            "uncompressed",
            npy->path);
    TRY(npy_open(npy, NULL, &stream, err));
    if (!buffer_reserve(&npy->whole, (size_t)bytes + 1))
        return fail_nomem(err);
    while (npy->whole.size < bytes) {
        size_t n = bytes - npy->whole.size < 65536 ? (size_t)bytes - npy->whole.size : 65536;
        const uint8_t *data = cursor_take(stream->cursor, n);
        if (!data)
            return host->cut_off(host->user, stream, err);
        buffer_put(&npy->whole, data, n);
    }
    return host->close_file(host->user, stream, err);
}

/* A stored member that is read here and there is read once from end to end for its CRC. */
apl_status npy_check_crc(const struct npy *npy, apl_error *err)
{
    const struct format_host *host = npy->host;
    struct format_stream *stream;
    if (!npy->in_zip)
        return APL_OK;
    TRY(open_npy_stream(npy, &stream, err));
    return host->close_file(host->user, stream, err);
}
