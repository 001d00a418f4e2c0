/* Tokens: streams of u16 or u32, as they are, behind llm.c's header or as NumPy's arrays, and the pairs of index and data in which documents are kept apart.
 * Each document is a record; a stream is cut behind each token that ends a document, or else into pieces of equal length. */
#include "file_name.h"
#include "said_kinds.h"
#include "token_header.h"
#include "token_index.h"
#include "token_reading.h"

#include <inttypes.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------------------------ what there is */

static bool sniff_tokens(const struct format_file *file)
{
    struct token_header h;
    return token_index_is(file->head, file->head_size) || token_header_read(file->head, file->head_size, &h);
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

/* ------------------------------------------------------------------------------------------------- the format */

static apl_status add_tokens(const struct tokens *t, apl_error *err)
{
    static const int64_t any[1] = {-1};
    TRY(apl_writer_add_field(t->writer, "tokens", t->dtype, APL_INPUT, 1, any, err));
    return said_kinds_set(t->writer, "tokens", APL_KIND_TOKENS, APL_FORM_NONE, NULL, APL_FROM_SOURCE, err);
}

static apl_status begin_tokens(struct tokens *t, const struct token_file *f, uint32_t number, apl_error *err)
{
    if (!t->writer) {
        TRY(t->host->writer(t->host->user, &t->writer, err));
        TRY(t->host->made_fields(t->host->user, add_tokens(t, err), err));
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
    TRY(f->indexed ? tokens_read_pair(t, f, &stream, err) : tokens_read_stream(t, f, &stream, err));
    if (!host->part || t->counting)
        return host->close_file(host->user, stream, err);
    host->drop_file(host->user, stream);
    return APL_OK;
}

/* Where the length of a stream does not tell, it is read to count them. */
static apl_status count_documents(struct tokens *t, const struct token_file *f, uint64_t *documents,
                                  apl_error *err)
{
    uint64_t tokens = tokens_in_stream(t, f);
    *documents = (tokens + tokens_chunk(t) - 1) / tokens_chunk(t);
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

static void tell_of_empty(const struct tokens *t)
{
    char text[120], more[40] = "";
    if (t->empty_files == 0)
        return;
    if (t->empty_files > 1)
        snprintf(more, sizeof more, ", of this and %zu more", t->empty_files - 1);
    snprintf(text, sizeof text, "%s without tokens left out%s", number_of(t->empty, "document", "documents"),
             more);
    t->host->notice(t->host->user, t->files.count > 1 ? t->host->files[t->first_empty].path : "", text);
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
    tell_of_empty(t);
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
    if (host->options->chunk && host->options->document_end)
        return fail(err, APL_E_INVALID,
                    "a stream is cut into documents (document_end, --document-end), or into records of equal "
                    "length (chunk, --chunk), not both");
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
    .uses = FORMAT_TOKENS,
    .any_bytes = true,
    .open = open_tokens,
    .close = close_tokens,
    .wants = wants_tokens,
    .sniff = sniff_tokens,
    .belongs = belongs_to_tokens,
    .paired = true,
    .parts = true,
    .read = read_tokens,
    .finish = finish_tokens,
};
