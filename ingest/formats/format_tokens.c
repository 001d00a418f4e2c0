/* Tokens: streams of u16 or u32, as they are or as NumPy's arrays, and the pairs of index and data in which documents are kept apart.
 * Each document is a record; a stream is cut behind each token that ends a document, or else into pieces of equal length. */
#include "file_name.h"
#include "token_files.h"
#include "token_index.h"

#include <inttypes.h>
#include <stdio.h>

#define CHUNK_TOKENS  65536u /* of a stream whose documents are not known */
#define STREAM_TOKENS 16384u /* taken at once */

struct tokens {
    const struct format_host *host;
    struct token_files files;
    apl_writer *writer;
    apl_dtype dtype; /* in the store: u16 or u32 */
    struct buffer document;
    uint64_t records;
    const char *split;    /* of the file being read */
    bool counting;        /* its documents, of which there are so many: */
    uint64_t documents;   /* none is appended */
    uint32_t members[64]; /* of each split */
};

/* ------------------------------------------------------------------------------------------------ what there is */

static bool sniff_tokens(const struct format_file *file)
{
    return token_index_is(file->head, file->head_size);
}

static bool wants_tokens(const void *state, const char *name)
{
    (void)state;
    return name_ends(name, ".idx") || name_ends(name, ".bin") || name_ends(name, ".npy") ||
           name_ends(name, ".tokens");
}

static bool belongs_to_tokens(const char *name, const char *other)
{
    return token_files_pair(name, other) || token_files_pair(other, name);
}

/* --------------------------------------------------------------------------------------------------- documents */

static apl_status append_document(struct tokens *t, apl_error *err)
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

/* One token of the file as a number; negative ones are far beyond what fits. */
static uint64_t token_at(const struct token_file *f, const uint8_t *at, size_t item)
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

/* Adds tokens to the document. */
static apl_status put_tokens(struct tokens *t, const struct token_file *f, const uint8_t *data, size_t count,
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
        uint64_t v = token_at(f, data + i * item, item);
        if (v > UINT32_MAX)
            return refuse_token(t, f, number + i, err);
        store_le(to + i * out, v, (unsigned)out);
    }
    t->document.size += count * out;
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- of a part */

/* Is what follows in this split other parts'? */
static bool has_all_of_split(const struct tokens *t)
{
    const struct format_host *host = t->host;
    return host->part && !t->counting && t->document.size == 0 &&
           !host->coming(host->user, t->split, INT64_MAX);
}

/* Goes on behind `tokens` tokens of the file, without reading those before it, where it is not packed. *moved: so it was. */
static apl_status continue_at(const struct tokens *t, const struct token_file *f, uint64_t tokens,
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

static uint32_t chunk_tokens(const struct tokens *t)
{
    return t->host->options->chunk ? t->host->options->chunk : CHUNK_TOKENS;
}

/* The tokens of a stream that is cut into pieces of equal length; FORMAT_UNKNOWN where it must be read to know. */
static uint64_t tokens_of_stream(const struct tokens *t, const struct token_file *f)
{
    const struct format_file *file = &t->host->files[f->file];
    size_t item = apl_dtype_size(f->dtype);
    if (t->host->options->document_end || f->indexed)
        return FORMAT_UNKNOWN;
    if (f->count != FORMAT_UNKNOWN || file->packed || file->size < f->header)
        return f->count;
    return (file->size - f->header) / item;
}

/* ----------------------------------------------------------------------------------------------------- streams */

/* How many of the tokens go to the current record; *whole: it ends with them. */
static size_t tokens_to_end(const struct tokens *t, const struct token_file *f, const uint8_t *data,
                            size_t count, bool *whole)
{
    size_t item = apl_dtype_size(f->dtype), have = t->document.size / apl_dtype_size(t->dtype);
    *whole = false;
    if (!t->host->options->document_end) {
        uint32_t chunk = chunk_tokens(t);
        *whole = count >= chunk - have;
        return *whole ? chunk - have : count;
    }
    for (size_t i = 0; i < count && !*whole; i++)
        if (token_at(f, data + i * item, item) == *t->host->options->document_end) {
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
        TRY(put_tokens(t, f, data + done * item, n, number + done, err));
        if (whole)
            TRY(append_document(t, err));
    }
    return APL_OK;
}

static apl_status ragged_end(struct tokens *t, const struct token_file *f, struct format_stream *stream,
                             uint64_t number, apl_error *err)
{
    apl_status status = t->host->cut_off(t->host->user, stream, err);
    if (status != APL_E_INCOMPLETE)
        return status;
    return fail(err, status, "%s: ends within token %" PRIu64 ": it is truncated, or not a stream of %s",
                t->host->files[f->file].path, number, apl_dtype_name(f->dtype));
}

/* Takes what can be had at once: whole tokens. */
static size_t ready_tokens(struct cursor *c, size_t item, uint64_t most)
{
    size_t n = cursor_left(c) / item;
    n = n > 0 ? n : 1;
    n = n < STREAM_TOKENS ? n : STREAM_TOKENS;
    return n < most ? n : (size_t)most;
}

/* Chunks of other parts at the beginning are passed over; *number: the token to go on with. */
static apl_status pass_chunks(struct tokens *t, const struct token_file *f, struct format_stream **stream,
                              uint64_t *number, apl_error *err)
{
    const struct format_host *host = t->host;
    uint64_t tokens = tokens_of_stream(t, f), low = 0, high = tokens / chunk_tokens(t);
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
    TRY(continue_at(t, f, low * chunk_tokens(t), stream, &moved, err));
    if (!moved)
        return APL_OK;
    host->own(host->user, t->split, low);
    *number = low * chunk_tokens(t);
    return APL_OK;
}

static apl_status read_stream(struct tokens *t, const struct token_file *f, struct format_stream **at,
                              apl_error *err)
{
    size_t item = apl_dtype_size(f->dtype);
    uint64_t number;
    TRY(pass_chunks(t, f, at, &number, err));
    struct format_stream *stream = *at;
    struct cursor *c = stream->cursor;
    while (!has_all_of_split(t) && number < f->count && (f->count != FORMAT_UNKNOWN || !cursor_at_end(c))) {
        size_t n = ready_tokens(c, item, f->count - number);
        const uint8_t *data = cursor_take(c, n * item);
        if (!data)
            return ragged_end(t, f, stream, number, err);
        TRY(cut_stream(t, f, data, n, number, err));
        number += n;
    }
    if (has_all_of_split(t))
        return APL_OK;
    if (!cursor_at_end(c))
        return fail(err, APL_E_SOURCE, "%s: has bytes behind its %" PRIu64 " tokens",
                    t->host->files[f->file].path, number);
    return t->document.size > 0 ? append_document(t, err) : APL_OK;
}

/* ------------------------------------------------------------------------------------------------------- pairs */

static apl_status take_sequence(struct tokens *t, const struct token_file *f, struct format_stream *data,
                                uint64_t tokens, uint64_t number, apl_error *err)
{
    size_t item = apl_dtype_size(f->dtype);
    for (uint64_t done = 0; done < tokens;) {
        size_t n = ready_tokens(data->cursor, item, tokens - done);
        const uint8_t *at = cursor_take(data->cursor, n * item);
        if (!at)
            return ragged_end(t, f, data, number + done, err);
        TRY(put_tokens(t, f, at, n, number + done, err));
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
        TRY(continue_at(t, f, number, data, &moved, err));
    for (uint64_t left = moved ? 0 : *passed, n; left > 0; left -= n) {
        n = ready_tokens((*data)->cursor, item, left);
        if (!cursor_take((*data)->cursor, (size_t)n * item))
            return ragged_end(t, f, *data, number - left, err);
    }
    *passed = 0;
    return APL_OK;
}

/* The documents of a pair, one after another: each of some sequences. */
static apl_status read_pair(struct tokens *t, const struct token_file *f, struct token_index_reader *index,
                            struct format_stream **data, apl_error *err)
{
    uint64_t length, number = 0, passed = 0;
    apl_error why;
    bool ends;
    apl_status status = APL_OK;
    while (!has_all_of_split(t) && (status = token_index_next(index, &length, &ends, &why)) == APL_OK) {
        bool own = !t->counting && t->host->coming(t->host->user, t->split, 1);
        passed += own ? 0 : length;
        if (own) {
            TRY(pass_tokens(t, f, data, &passed, number, err));
            TRY(take_sequence(t, f, *data, length, number, err));
        }
        number += length;
        if (ends)
            TRY(append_document(t, err));
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

static apl_status read_indexed(struct tokens *t, const struct token_file *f, struct format_stream **data,
                               apl_error *err)
{
    struct token_index_reader reader;
    struct format_stream *streams[4];
    TRY(open_index(t, f, &reader, streams, err));
    TRY(read_pair(t, f, &reader, data, err));
    for (unsigned i = 0; i < 4; i++) {
        if (t->host->part)
            t->host->drop_file(t->host->user, streams[i]);
        else
            TRY(t->host->close_file(t->host->user, streams[i], err));
    }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- the format */

static apl_status begin_tokens(struct tokens *t, const struct token_file *f, uint32_t number, apl_error *err)
{
    static const int64_t any[1] = {-1};
    if (!t->writer) {
        TRY(t->host->writer(t->host->user, &t->writer, err));
        TRY(t->host->not_the_source(
            t->host->user, apl_writer_add_field(t->writer, "tokens", t->dtype, APL_INPUT, 1, any, err)));
    }
    char name[32];
    snprintf(name, sizeof name, "%s-%u", f->split, number);
    return t->host->not_the_source(
        t->host->user, apl_writer_begin_member(t->writer, name, f->split, f->split_rank << 16 | number, err));
}

static apl_status read_documents(struct tokens *t, const struct token_file *f, apl_error *err)
{
    const struct format_host *host = t->host;
    struct format_stream *stream;
    TRY(host->open_file(host->user, f->file, &stream, err));
    for (uint64_t left = f->header; left > 0; left--)
        if (!cursor_take(stream->cursor, 1))
            return host->cut_off(host->user, stream, err);
    TRY(f->indexed ? read_indexed(t, f, &stream, err) : read_stream(t, f, &stream, err));
    if (!host->part)
        return host->close_file(host->user, stream, err);
    host->drop_file(host->user, stream);
    return APL_OK;
}

/* Where the length of a stream does not tell, it is read to count them. */
static apl_status count_documents(struct tokens *t, const struct token_file *f, uint64_t *documents,
                                  apl_error *err)
{
    uint64_t tokens = tokens_of_stream(t, f);
    *documents = (tokens + chunk_tokens(t) - 1) / chunk_tokens(t);
    if (tokens != FORMAT_UNKNOWN)
        return APL_OK;
    t->counting = true;
    t->documents = 0;
    TRY(read_documents(t, f, err));
    t->counting = false;
    *documents = t->documents;
    return APL_OK;
}

static apl_status count_all_documents(struct tokens *t, apl_error *err)
{
    for (size_t i = 0; i < t->files.count; i++) {
        struct token_file *f = &t->files.file[i];
        TRY(count_documents(t, f, &f->documents, err));
        TRY(t->host->count(t->host->user, f->split, f->split_rank << 16, f->documents, err));
    }
    return APL_OK;
}

static apl_status read_token_file(struct tokens *t, const struct token_file *f, apl_error *err)
{
    const struct format_host *host = t->host;
    uint32_t number = t->members[f->split_rank]++;
    if (number > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: is beyond the 65,536 files of a split",
                    host->files[f->file].path);
    t->split = f->split;
    if (host->part && !host->coming(host->user, f->split, f->documents)) {
        host->own(host->user, f->split, f->documents);
        return APL_OK;
    }
    TRY(begin_tokens(t, f, number, err));
    return read_documents(t, f, err);
}

static apl_status read_tokens(void *state, apl_error *err)
{
    struct tokens *t = state;
    TRY(token_files_find(&t->files, err));
    t->dtype = token_files_dtype(&t->files);
    if (t->host->part)
        TRY(count_all_documents(t, err));
    for (size_t i = 0; i < t->files.count; i++)
        TRY(read_token_file(t, &t->files.file[i], err));
    return t->records > 0 ? APL_OK : fail(err, APL_E_SOURCE, "%s: has no tokens", t->host->source);
}

static apl_status finish_tokens(void *state, char format[32], apl_error *err)
{
    (void)state;
    (void)err;
    snprintf(format, 32, "tokens");
    return APL_OK;
}

static void close_tokens(void *state)
{
    struct tokens *t = state;
    if (!t)
        return;
    buffer_free(&t->document);
    free(t->files.file);
    free(t);
}

static apl_status open_tokens(const struct format_host *host, void **state, apl_error *err)
{
    struct tokens *t = calloc(1, sizeof *t);
    if (!t)
        return fail_nomem(err);
    t->host = host;
    apl_status status = token_files_open(&t->files, host, err);
    if (status != APL_OK) {
        free(t);
        return status;
    }
    *state = t;
    return APL_OK;
}

const struct format format_tokens = {
    .name = "tokens",
    .title = "tokens: streams of u16 or u32, or pairs of .idx and .bin",
    .any_bytes = true,
    .open = open_tokens,
    .close = close_tokens,
    .wants = wants_tokens,
    .sniff = sniff_tokens,
    .belongs = belongs_to_tokens,
    .parts = true,
    .read = read_tokens,
    .finish = finish_tokens,
};
