/* Pairs of an index and the tokens of documents: see token_reading.h. */
#include "token_index.h"
#include "token_reading.h"

#include <inttypes.h>

static apl_status take_sequence(struct tokens *t, const struct token_file *f, struct format_stream *data,
                                uint64_t tokens, uint64_t number, apl_error *err)
{
    size_t item = apl_dtype_size(f->dtype);
    for (uint64_t done = 0; done < tokens;) {
        size_t n = tokens_ready(data->cursor, item, tokens - done);
        const uint8_t *at = cursor_take(data->cursor, n * item);
        if (!at)
            return tokens_ragged_end(t, f, data, number + done, err);
        TRY(tokens_put(t, f, at, n, number + done, err));
        done += n;
    }
    return APL_OK;
}

/* Passes over the tokens before token `number` that are other parts'. */
static apl_status pass_tokens(struct tokens *t, const struct token_file *f, struct format_stream **data,
                              uint64_t *passed, uint64_t number, apl_error *err)
{
    size_t item = apl_dtype_size(f->dtype);
    bool moved = false;
    if (*passed > 0)
        TRY(tokens_continue_at(t, f, number, data, &moved, err));
    for (uint64_t left = moved ? 0 : *passed, n; left > 0; left -= n) {
        n = tokens_ready((*data)->cursor, item, left);
        if (!cursor_take((*data)->cursor, (size_t)n * item))
            return tokens_ragged_end(t, f, *data, number - left, err);
    }
    *passed = 0;
    return APL_OK;
}

/* The documents of a pair, one after another: each of some sequences. One without tokens is none. */
static apl_status read_sequences(struct tokens *t, const struct token_file *f,
                                 struct token_index_reader *index, struct format_stream **data,
                                 apl_error *err)
{
    uint64_t length, number = 0, passed = 0, tokens = 0;
    apl_error why;
    bool ends;
    apl_status status = APL_OK;
    while (!tokens_all_read(t) && (status = token_index_next(index, &length, &ends, &why)) == APL_OK) {
        bool own = !t->counting && t->host->coming(t->host->user, t->split, 1);
        passed += own ? 0 : length;
        if (own) {
            TRY(pass_tokens(t, f, data, &passed, number, err));
            TRY(take_sequence(t, f, *data, length, number, err));
        }
        number += length;
        tokens += length;
        if (ends && tokens > 0)
            TRY(tokens_append(t, err));
        index->empty += ends && tokens == 0;
        tokens = ends ? 0 : tokens;
    }
    if (status == APL_OK || (status == APL_END && t->counting)) /* what is left is not to be read */
        return APL_OK;
    if (status != APL_END)
        return token_files_blame(&t->files, f->index, status, &why, err);
    if (passed > 0)
        return APL_OK;
    return cursor_at_end((*data)->cursor)
               ? APL_OK
               : fail(err, APL_E_SOURCE, "%s: has bytes behind the %" PRIu64 " tokens of its index",
                      t->host->files[f->file].path, number);
}

/* Once for each file: a part of a set counts its documents before it reads any. */
static void count_empty(struct tokens *t, const struct token_file *f, uint64_t empty)
{
    if (empty == 0 || (t->host->part && !t->counting))
        return;
    if (t->empty_files++ == 0)
        t->first_empty = f->index;
    t->empty += empty;
}

/* Three parts of the index are read side by side. */
static apl_status open_index(const struct tokens *t, const struct token_file *f,
                             struct token_index_reader *reader, struct format_stream *streams[4],
                             apl_error *err)
{
    const struct format_host *host = t->host;
    apl_error why;
    for (unsigned i = 0; i < 4; i++)
        TRY(host->open_file(host->user, f->index, &streams[i], err));
    apl_status status = token_index_open(reader, host->files[f->index].size, streams[0]->cursor,
                                         streams[1]->cursor, streams[2]->cursor, streams[3]->cursor, &why);
    return status == APL_OK ? APL_OK : token_files_blame(&t->files, f->index, status, &why, err);
}

apl_status tokens_read_pair(struct tokens *t, const struct token_file *f, struct format_stream **data,
                            apl_error *err)
{
    struct token_index_reader reader;
    struct format_stream *streams[4];
    TRY(open_index(t, f, &reader, streams, err));
    TRY(read_sequences(t, f, &reader, data, err));
    count_empty(t, f, reader.empty);
    for (unsigned i = 0; i < 4; i++) {
        if (t->host->part)
            t->host->drop_file(t->host->user, streams[i]);
        else
            TRY(t->host->close_file(t->host->user, streams[i], err));
    }
    return APL_OK;
}
