/* The files of tokens that a source has: see token_files.h. */
#include "token_files.h"

#include "file_name.h"
#include "npy_header.h"
#include "split_note.h"
#include "token_header.h"
#include "token_index.h"
#include "wds_number.h"

#include <inttypes.h>
#include <stdlib.h>

/* The names without their endings are the same. */
bool token_files_pair(const char *index, const char *data)
{
    size_t n = strlen(index);
    return name_ends(index, ".idx") && name_ends(data, ".bin") && strlen(data) == n &&
           memcmp(index, data, n - 3) == 0;
}

static bool is_index(const struct token_files *t, size_t file)
{
    return token_index_is(t->host->files[file].head, t->host->files[file].head_size);
}

/* A message of a parser gets the file's name. */
apl_status token_files_blame(const struct token_files *t, size_t file, apl_status status,
                             const apl_error *why, apl_error *err)
{
    return fail(err, status, "%s: %s", t->host->files[file].path, why->message);
}

static apl_status find_file_split(const struct token_files *t, struct token_file *f, apl_error *err)
{
    struct file_name name;
    const struct format_file *file = &t->host->files[f->file];
    if (!file_name_read(&name, file->name))
        return fail(err, APL_E_SOURCE, "%s: has a name of more than 255 bytes or 16 words", file->path);
    const struct path_split is = split_of_path(file->below);
    f->split = is.split;
    f->split_rank = is.rank;
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------------- NumPy's */

static bool is_array(const struct format_file *file)
{
    return file->head_size >= 10 && memcmp(file->head, "\x93NUMPY", 6) == 0;
}

static apl_status describe_array(struct token_files *t, struct token_file *f, apl_error *err)
{
    const struct format_host *host = t->host;
    struct format_stream *stream;
    struct npy_header h;
    apl_error why;
    TRY(host->open_file(host->user, f->file, &stream, err));
    apl_status status = npy_header_read(stream->cursor, &h, &why);
    if (status == APL_E_INCOMPLETE)
        return host->cut_off(host->user, stream, err);
    host->drop_file(host->user, stream);
    if (status != APL_OK)
        return token_files_blame(t, f->file, status, &why, err);
    if (h.structured || h.ndim != 1 || h.fields[0].dtype < APL_U8 || h.fields[0].dtype > APL_I64)
        return fail(err, APL_E_SOURCE, "%s: is not one row of integers, as a stream of tokens is",
                    host->files[f->file].path);
    f->headed = true;
    f->dtype = h.fields[0].dtype;
    f->swap = h.fields[0].swap;
    f->header = h.size;
    f->count = (uint64_t)h.shape[0];
    f->empty = f->count == 0;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------ files */

static apl_status describe_stream(struct token_files *t, struct token_file *f, apl_error *err)
{
    const struct format_file *file = &t->host->files[f->file];
    f->dtype = t->host->options->tokens;
    f->count = FORMAT_UNKNOWN;
    f->empty = file->head_size == 0;
    if (file->archive || name_is_archive(file->name)) /* its own bytes would pass for tokens */
        return fail(err, APL_E_UNSUPPORTED, "%s: is an archive, of which tokens are not read: unpack it",
                    file->path);
    if (f->dtype != APL_U16 && f->dtype != APL_U32)
        return fail(err, APL_E_INVALID,
                    "%s: is a stream of tokens: tell whether they are u16 or u32 (--tokens u16)", file->path);
    if (file->size != FORMAT_UNKNOWN && file->size % apl_dtype_size(f->dtype) != 0)
        return fail(err, APL_E_SOURCE, "%s: its %" PRIu64 " bytes are not a whole number of %s tokens",
                    file->path, file->size, apl_dtype_name(f->dtype));
    return APL_OK;
}

/* Of llm.c. */
static apl_status describe_headed(const struct token_files *t, struct token_file *f,
                                  const struct token_header *h, apl_error *err)
{
    const struct format_file *file = &t->host->files[f->file];
    if ((int)h->dtype == 0)
        return fail(err, APL_E_UNSUPPORTED, "%s: begins as llm.c's files of tokens do, but is of version %u",
                    file->path, h->version);
    f->headed = true;
    f->dtype = h->dtype;
    f->header = TOKEN_HEADER_BYTES;
    f->count = h->count;
    f->empty = f->count == 0;
    return APL_OK;
}

static apl_status describe_indexed(struct token_files *t, struct token_file *f, apl_error *err)
{
    struct token_index index;
    apl_error why;
    const struct format_host *host = t->host;
    struct format_stream *stream;
    TRY(host->open_file(host->user, f->index, &stream, err));
    apl_status status = token_index_read(stream->cursor, host->files[f->index].size, &index, &why);
    host->drop_file(host->user, stream);
    if (status != APL_OK)
        return token_files_blame(t, f->index, status, &why, err);
    f->dtype = index.dtype;
    f->count = FORMAT_UNKNOWN;
    f->empty = index.sequences == 0;
    return APL_OK;
}

/* What the file says itself, or the caller does. */
static apl_status describe_tokens(struct token_files *t, struct token_file *f, apl_error *err)
{
    const struct format_file *file = &t->host->files[f->file];
    struct token_header h;
    if (f->indexed)
        return describe_indexed(t, f, err);
    if (is_array(file))
        return describe_array(t, f, err);
    return token_header_read(file->head, file->head_size, &h) ? describe_headed(t, f, &h, err)
                                                              : describe_stream(t, f, err);
}

/* Are two files in one folder? */
static bool lie_together(const char *path, const char *other)
{
    const char *slash = strrchr(path, '/'), *other_slash = strrchr(other, '/');
    size_t size = slash ? (size_t)(slash - path) + 1 : 0;
    return size == (other_slash ? (size_t)(other_slash - other) + 1 : 0) && memcmp(path, other, size) == 0;
}

static bool are_pair(const struct token_files *t, size_t index, size_t data)
{
    const struct format_file *files = t->host->files;
    return is_index(t, index) && token_files_pair(files[index].name, files[data].name);
}

/* Has the index its data in its own folder? */
static bool has_data_beside(const struct token_files *t, size_t index)
{
    for (size_t i = 0; i < t->host->file_count; i++)
        if (are_pair(t, index, i) && lie_together(t->host->files[index].path, t->host->files[i].path))
            return true;
    return false;
}

/* The index of a file of tokens, in its folder, or in another where that has no data for it: a folder may be spelled in two ways. */
static bool find_index_in(const struct token_files *t, struct token_file *f, bool own_folder)
{
    const struct format_file *files = t->host->files;
    for (size_t i = 0; i < t->host->file_count; i++)
        if (are_pair(t, i, f->file) &&
            (own_folder ? lie_together(files[i].path, files[f->file].path) : !has_data_beside(t, i))) {
            f->index = i;
            return true;
        }
    return false;
}

static bool find_index(const struct token_files *t, struct token_file *f)
{
    return find_index_in(t, f, true) || find_index_in(t, f, false);
}

static apl_status check_index_used(const struct token_files *t, size_t index, apl_error *err)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->file[i].indexed && t->file[i].index == index)
            return APL_OK;
    return fail(err, APL_E_INCOMPLETE,
                "%s: the file with its tokens, of the same name but .bin, is not there",
                t->host->files[index].path);
}

/* Can the token that ends documents occur in the file, which is a stream? */
static apl_status check_document_end(const struct token_files *t, const struct token_file *f, apl_error *err)
{
    const uint32_t *end = t->host->options->document_end;
    if (!end || wds_number_fits(f->dtype, false, *end))
        return APL_OK;
    return fail(err, APL_E_INVALID,
                "%s: the token %" PRIu32 ", which is to end documents, does not fit into %s",
                t->host->files[f->file].path, *end, apl_dtype_name(f->dtype));
}

/* Two bytes a token where that is enough for every file: what is stored does not depend on what tokens there happen to be. */
apl_dtype token_files_dtype(const struct token_files *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (apl_dtype_size(t->file[i].dtype) > 2)
            return APL_U32;
    return APL_U16;
}

/* --tokens is for streams. Where there is none, it may repeat what the files say, but not contradict it. */
static apl_status check_type_asked(const struct token_files *t, apl_error *err)
{
    apl_dtype asked = t->host->options->tokens, stored = token_files_dtype(t);
    const struct token_file *other = NULL;
    for (size_t i = 0; i < t->count; i++) {
        const struct token_file *f = &t->file[i];
        if (!f->indexed && !f->headed)
            return APL_OK;
        if (!other && (apl_dtype_size(f->dtype) > 2) == (stored == APL_U32))
            other = f;
    }
    if ((int)asked == 0 || asked == stored || !other)
        return APL_OK;
    return fail(err, APL_E_INVALID, "%s: its %s says that tokens are %s, which are stored as %s, not %s",
                t->host->files[other->file].path, other->indexed ? "index" : "header",
                apl_dtype_name(other->dtype), apl_dtype_name(stored), apl_dtype_name(asked));
}

/* Documents of pairs are what their indexes say; where there is no stream, there is nothing to cut. */
static apl_status check_any_to_cut(const struct token_files *t, apl_error *err)
{
    const apl_ingest_options *o = t->host->options;
    for (size_t i = 0; i < t->count; i++)
        if (!t->file[i].indexed)
            return APL_OK;
    if (t->count == 0 || (!o->chunk && !o->document_end))
        return APL_OK;
    return fail(err, APL_E_INVALID, "%s: is cut into documents by its index: %s is for streams",
                t->host->files[t->file[0].file].path,
                o->chunk ? "a length of records (chunk, --chunk)"
                         : "a token that ends documents (document_end, --document-end)");
}

/* An empty file among others is what a copy that failed leaves. */
static apl_status check_none_empty(const struct token_files *t, apl_error *err)
{
    for (size_t i = 0; i < t->count && t->count > 1 && !t->host->partial; i++)
        if (t->file[i].empty)
            return fail(err, APL_E_INCOMPLETE, "%s: is an empty file: it has no tokens",
                        t->host->files[t->file[i].file].path);
    return APL_OK;
}

/* Who calls a file a stream may not know of the index beside it. */
static void tell_of_index(const struct token_files *t)
{
    for (size_t i = 0; i < t->count && (int)t->host->options->tokens; i++)
        if (t->file[i].indexed) {
            t->host->notice(t->host->user, "",
                            "is read as documents, by the index of the same name beside it");
            return;
        }
}

static void tell_of_token_splits(const struct token_files *t)
{
    struct split_note note = {0};
    for (size_t i = 0; i < t->count; i++) {
        const struct format_file *file = &t->host->files[t->file[i].file];
        const struct path_split is = split_of_path(file->below);
        split_note_take(&note, file->path, &is);
    }
    split_note_tell(&note, t->host);
}

apl_status token_files_find(struct token_files *t, apl_error *err)
{
    for (size_t i = 0; i < t->host->file_count; i++) {
        struct token_file *f = &t->file[t->count];
        if (is_index(t, i))
            continue;
        *f = (struct token_file){.file = i};
        f->indexed = find_index(t, f);
        TRY(find_file_split(t, f, err));
        TRY(describe_tokens(t, f, err));
        if (!f->indexed)
            TRY(check_document_end(t, f, err));
        t->count++;
    }
    for (size_t i = 0; i < t->host->file_count; i++)
        if (is_index(t, i))
            TRY(check_index_used(t, i, err));
    TRY(check_type_asked(t, err));
    TRY(check_any_to_cut(t, err));
    TRY(check_none_empty(t, err));
    tell_of_index(t);
    tell_of_token_splits(t);
    return APL_OK;
}

apl_status token_files_open(struct token_files *t, const struct format_host *host, apl_error *err)
{
    t->host = host;
    t->file = calloc(host->file_count + 1, sizeof *t->file);
    return t->file ? APL_OK : fail_nomem(err);
}
