/* Streams of tokens, cut into documents: see token_reading.h. */
#include "token_reading.h"

#include <inttypes.h>

/* How many of the tokens go to the current record; *whole: it ends with them. */
static size_t tokens_to_end(const struct tokens *t, const struct token_file *f, const uint8_t *data,
                            size_t count, bool *whole)
{
    size_t item = apl_dtype_size(f->dtype), have = t->document.size / apl_dtype_size(t->dtype);
    *whole = false;
    if (!t->host->options->document_end) {
        uint32_t chunk = tokens_chunk(t);
        *whole = count >= chunk - have;
        return *whole ? chunk - have : count;
    }
    for (size_t i = 0; i < count && !*whole; i++)
        if (tokens_value(f, data + i * item, item) == *t->host->options->document_end) {
            *whole = true;
            return i + 1;
        }
    return count;
}

static apl_status cut_stream(struct tokens *t, const struct token_file *f, const uint8_t *data, size_t count,
                             uint64_t number, apl_error *err)
{
    size_t item = apl_dtype_size(f->dtype);
    for (size_t done = 0, n; done < count; done += n) {
        bool whole;
        n = tokens_to_end(t, f, data + done * item, count - done, &whole);
        TRY(tokens_put(t, f, data + done * item, n, number + done, err));
        if (whole)
            TRY(tokens_append(t, err));
    }
    return APL_OK;
}

/* Chunks of other parts at the beginning are passed over; *number: the token to go on with. */
static apl_status pass_chunks(struct tokens *t, const struct token_file *f, struct format_stream **stream,
                              uint64_t *number, apl_error *err)
{
    const struct format_host *host = t->host;
    uint64_t tokens = tokens_in_stream(t, f), low = 0, high = tokens / tokens_chunk(t);
    bool moved;
    *number = 0;
    if (!host->part || t->counting || tokens == FORMAT_UNKNOWN)
        return APL_OK;
    while (low < high) { /* the most chunks of which none is our own */
        uint64_t middle = low + (high - low + 1) / 2;
        if (host->coming(host->user, t->split, middle))
            high = middle - 1;
        else
            low = middle;
    }
    TRY(tokens_continue_at(t, f, low * tokens_chunk(t), stream, &moved, err));
    if (!moved)
        return APL_OK;
    host->own(host->user, t->split, low);
    *number = low * tokens_chunk(t);
    return APL_OK;
}

apl_status tokens_read_stream(struct tokens *t, const struct token_file *f, struct format_stream **at,
                              apl_error *err)
{
    size_t item = apl_dtype_size(f->dtype);
    uint64_t number;
    TRY(pass_chunks(t, f, at, &number, err));
    struct format_stream *stream = *at;
    struct cursor *c = stream->cursor;
    while (!tokens_all_read(t) && number < f->count && (f->count != FORMAT_UNKNOWN || !cursor_at_end(c))) {
        size_t n = tokens_ready(c, item, f->count - number);
        const uint8_t *data = cursor_take(c, n * item);
        if (!data)
            return tokens_ragged_end(t, f, stream, number, err);
        TRY(cut_stream(t, f, data, n, number, err));
        number += n;
    }
    if (tokens_all_read(t))
        return APL_OK;
    if (!cursor_at_end(c))
        return fail(err, APL_E_SOURCE, "%s: has bytes behind its %" PRIu64 " tokens",
                    t->host->files[f->file].path, number);
    return t->document.size > 0 ? tokens_append(t, err) : APL_OK;
}
