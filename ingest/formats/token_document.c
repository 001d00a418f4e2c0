/* Documents of tokens, made piece by piece: see token_reading.h. */
#include "token_reading.h"

#include <inttypes.h>

#define CHUNK_TOKENS  65536u /* of a stream whose documents are not known */
#define STREAM_TOKENS 16384u /* taken at once */

apl_status tokens_append(struct tokens *t, apl_error *err)
{
    if (t->counting || !t->host->own(t->host->user, t->split, 1)) {
        t->documents++;
        t->document.size = 0;
        return APL_OK;
    }
    const int64_t count = (int64_t)(t->document.size / apl_dtype_size(t->dtype));
    const apl_value value = {t->document.data ? t->document.data : (const uint8_t *)"", &count};
    t->records++;
    t->document.size = 0;
    return t->host->append(t->host->user, &value, err);
}

uint64_t tokens_value(const struct token_file *f, const uint8_t *at, size_t item)
{
    uint64_t v = 0;
    for (size_t i = 0; i < item; i++)
        v |= (uint64_t)at[i] << 8 * (f->swap ? item - 1 - i : i);
    bool is_signed = f->dtype == APL_I8 || f->dtype == APL_I16 || f->dtype == APL_I32 || f->dtype == APL_I64;
    return is_signed && v >> (8 * item - 1) ? UINT64_MAX : v;
}

static apl_status refuse_token(const struct tokens *t, const struct token_file *f, uint64_t number,
                               apl_error *err)
{
    return fail(err, APL_E_SOURCE, "%s: token %" PRIu64 " is negative or larger than a u32",
                t->host->files[f->file].path, number);
}

apl_status tokens_put(struct tokens *t, const struct token_file *f, const uint8_t *data, size_t count,
                      uint64_t number, apl_error *err)
{
    size_t item = apl_dtype_size(f->dtype), out = apl_dtype_size(t->dtype);
    if (t->document.size + count * out > APL_MAX_VALUE)
        return fail(err, APL_E_SOURCE,
                    "%s: the document with token %" PRIu64 " has more than the %u bytes of a value",
                    t->host->files[f->file].path, number, APL_MAX_VALUE);
    if (!buffer_reserve(&t->document, count * out + 1))
        return fail_nomem(err);
    if (item == out && !f->swap && (f->dtype == APL_U16 || f->dtype == APL_U32)) {
        buffer_put(&t->document, data, count * item);
        return APL_OK;
    }
    uint8_t *to = t->document.data + t->document.size;
    for (size_t i = 0; i < count; i++) {
        uint64_t v = tokens_value(f, data + i * item, item);
        if (v > UINT32_MAX)
            return refuse_token(t, f, number + i, err);
        store_le(to + i * out, v, (unsigned)out);
    }
    t->document.size += count * out;
    return APL_OK;
}

bool tokens_all_read(const struct tokens *t)
{
    const struct format_host *host = t->host;
    return host->part && !t->counting && t->document.size == 0 &&
           !host->coming(host->user, t->split, INT64_MAX);
}

apl_status tokens_continue_at(const struct tokens *t, const struct token_file *f, uint64_t tokens,
                              struct format_stream **stream, bool *moved, apl_error *err)
{
    const struct format_host *host = t->host;
    const struct format_file *file = &host->files[f->file];
    uint64_t at = f->header + tokens * apl_dtype_size(f->dtype);
    *moved = !file->packed && at <= file->size;
    if (!*moved)
        return APL_OK;
    const struct format_part rest = {
        .name = file->path, .offset = at, .packed = file->size - at, .size = file->size - at};
    host->drop_file(host->user, *stream);
    *stream = NULL;
    return host->open_part(host->user, f->file, &rest, stream, err);
}

uint32_t tokens_chunk(const struct tokens *t)
{
    return t->host->options->chunk ? t->host->options->chunk : CHUNK_TOKENS;
}

uint64_t tokens_in_stream(const struct tokens *t, const struct token_file *f)
{
    const struct format_file *file = &t->host->files[f->file];
    size_t item = apl_dtype_size(f->dtype);
    if (t->host->options->document_end || f->indexed)
        return FORMAT_UNKNOWN;
    if (f->count != FORMAT_UNKNOWN || file->packed || file->size < f->header)
        return f->count;
    return (file->size - f->header) / item;
}

apl_status tokens_ragged_end(struct tokens *t, const struct token_file *f, struct format_stream *stream,
                             uint64_t number, apl_error *err)
{
    apl_status status = t->host->cut_off(t->host->user, stream, err);
    if (status != APL_E_INCOMPLETE)
        return status;
    return fail(err, status, "%s: ends within token %" PRIu64 ": it is truncated, or not a stream of %s",
                t->host->files[f->file].path, number, apl_dtype_name(f->dtype));
}

size_t tokens_ready(struct cursor *c, size_t item, uint64_t most)
{
    size_t n = cursor_left(c) / item;
    n = n > 0 ? n : 1;
    n = n < STREAM_TOKENS ? n : STREAM_TOKENS;
    return n < most ? n : (size_t)most;
}
