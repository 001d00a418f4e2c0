/* Anything as bytes: each file of a directory or an archive is kept as it is, with its path; so is each file that is given. */
#include "hidden_path.h"
#include "image_fields.h"
#include "split_note.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>

#define RANKS 16u /* more than words for splits */

struct raw {
    const struct format_host *host;
    apl_writer *writer;
    struct buffer bytes;
    uint64_t records;
    struct path_split source; /* of what has no folder that tells another split */
    const char *split;        /* of the current member of the store; NULL: none */
    uint32_t members[RANKS];  /* of each split */
    struct path_split splits[RANKS];
    uint64_t counts[RANKS]; /* files of each, of parts */
    struct split_note note;
};

static bool wants_raw(const void *state, const char *name)
{
    (void)state;
    return *name != 0 && !path_is_hidden(name);
}

/* ------------------------------------------------------------------------------------------------------- splits */

static apl_status begin_raw_source(void *state, const char *below, const char *shown, apl_error *err)
{
    struct raw *raw = state;
    (void)shown;
    (void)err;
    raw->source = split_of_path(below);
    return APL_OK;
}

/* Each file is a record, so words in its own name tell nothing: folders do, or the archive. */
static struct path_split split_of_raw(const struct raw *raw, const char *path)
{
    const struct path_split is = split_of_folders(path);
    return is.told || (is.like && !raw->source.told) ? is : raw->source;
}

/* Files of one split after another are a member; where splits come mixed, each has several. */
static apl_status begin_raw_split(struct raw *raw, const struct path_split *is, const char *shown,
                                  apl_error *err)
{
    split_note_take(&raw->note, shown, is);
    if (raw->split == is->split)
        return APL_OK;
    uint32_t number = raw->members[is->rank]++;
    if (number > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: its splits come mixed, more than 65,536 times: sort its files",
                    raw->host->source);
    raw->split = is->split;
    return apl_writer_begin_member(raw->writer, is->split, is->split, is->rank << 16 | number, err);
}

static void count_raw(struct raw *raw, const struct path_split *is)
{
    raw->splits[is->rank] = *is;
    raw->counts[is->rank]++;
}

/* Splits are announced in their order. */
static apl_status announce_raw(struct raw *raw, apl_error *err)
{
    const struct format_host *host = raw->host;
    for (uint32_t i = 0; i < RANKS; i++)
        if (raw->counts[i] > 0)
            TRY(host->count(host->user, raw->splits[i].split, i << 16, raw->counts[i], err));
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------ records */

static apl_status add_raw_fields(struct raw *raw, apl_error *err)
{
    static const int64_t any[1] = {-1};
    TRY(apl_writer_add_field(raw->writer, "bytes", APL_U8, APL_INPUT, 1, any, err));
    TRY(apl_writer_set_media(raw->writer, "bytes", "application/octet-stream", err));
    return text_field_add(raw->writer, "path", APL_NAME, err);
}

static apl_status append_raw(struct raw *raw, const char *name, const char *shown,
                             const struct path_split *is, apl_error *err)
{
    const int64_t bytes = (int64_t)raw->bytes.size, path = (int64_t)strlen(name);
    const apl_value values[] = {{raw->bytes.data, &bytes}, {name, &path}};
    if (!raw->writer) {
        TRY(raw->host->writer(raw->host->user, &raw->writer, err));
        TRY(raw->host->made_fields(raw->host->user, add_raw_fields(raw, err), err));
    }
    TRY(raw->host->not_the_source(raw->host->user, begin_raw_split(raw, is, shown, err)));
    raw->records++;
    return raw->host->append(raw->host->user, values, err);
}

/* Leaves out what cannot be a record: *bad. */
static apl_status check_raw(struct raw *raw, const char *name, const char *shown, uint64_t size, bool *bad,
                            apl_error *err)
{
    apl_error why;
    *bad = true;
    if (size > APL_MAX_VALUE)
        fail(&why, APL_E_SOURCE, "has more than the %u bytes of a value", APL_MAX_VALUE);
    else if (!utf8_valid(name, strlen(name)))
        fail(&why, APL_E_SOURCE, "its path is not UTF-8");
    else
        *bad = false;
    return *bad ? raw->host->bad(raw->host->user, shown, &why, err) : APL_OK;
}

/* Takes up to `most` bytes, and no more than there are. */
static apl_status take_all(struct raw *raw, struct cursor *c, uint64_t most, apl_error *err)
{
    raw->bytes.size = 0;
    while (raw->bytes.size < most && !cursor_at_end(c) && cursor_ok(c)) {
        size_t n = cursor_left(c);
        n = n < most - raw->bytes.size ? n : (size_t)(most - raw->bytes.size);
        const uint8_t *data = cursor_take(c, n);
        if (!data)
            break;
        buffer_put(&raw->bytes, data, n);
    }
    return raw->bytes.failed || !buffer_reserve(&raw->bytes, 1) ? fail_nomem(err) : APL_OK;
}

static apl_status raw_member(void *state, const struct format_member *m, apl_error *err)
{
    struct raw *raw = state;
    bool bad;
    TRY(check_raw(raw, m->name, m->path, m->size, &bad, err));
    if (bad)
        return APL_OK;
    TRY(take_all(raw, m->cursor, m->size, err));
    if (raw->bytes.size < m->size)
        return fail(err, APL_E_SOURCE, "cut off");
    const struct path_split is = split_of_raw(raw, m->name);
    return append_raw(raw, m->name, m->path, &is, err);
}

/* One byte more than a value may have, if the file has it, is enough to see that it is too long. */
static apl_status raw_file(struct raw *raw, size_t i, apl_error *err)
{
    const struct format_host *host = raw->host;
    const struct format_file *file = &host->files[i];
    struct format_stream *stream;
    bool bad;
    TRY(host->open_file(host->user, i, &stream, err));
    TRY(take_all(raw, stream->cursor, (uint64_t)APL_MAX_VALUE + 1, err));
    TRY(host->close_file(host->user, stream, err));
    TRY(check_raw(raw, file->name, file->path, raw->bytes.size, &bad, err));
    const struct path_split is = split_of_folders(file->below);
    return bad ? APL_OK : append_raw(raw, file->name, file->path, &is, err);
}

static apl_status read_raw_files(void *state, apl_error *err)
{
    struct raw *raw = state;
    const struct format_host *host = raw->host;
    for (size_t i = 0; i < host->file_count; i++) {
        const struct path_split is = split_of_folders(host->files[i].below);
        count_raw(raw, &is);
    }
    TRY(announce_raw(raw, err));
    for (size_t i = 0; i < host->file_count; i++)
        if (host->own(host->user, split_of_folders(host->files[i].below).split, 1))
            TRY(raw_file(raw, i, err));
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------ of a part */

static apl_status list_raw(void *state, const char *name, bool directory, apl_error *err)
{
    struct raw *raw = state;
    const struct path_split is = split_of_raw(raw, name);
    (void)err;
    if (!directory && wants_raw(state, name))
        count_raw(raw, &is);
    return APL_OK;
}

static apl_status listed_raw(void *state, apl_error *err)
{
    return announce_raw(state, err);
}

static bool passes_raw(void *state, const char *name)
{
    const struct raw *raw = state;
    return !raw->host->own(raw->host->user, split_of_raw(raw, name).split, 1);
}

static bool has_enough_raw(void *state)
{
    const struct raw *raw = state;
    return raw->host->ended(raw->host->user);
}

static apl_status finish_raw(void *state, char format[32], apl_error *err)
{
    const struct raw *raw = state;
    if (raw->records == 0)
        return fail(err, APL_E_SOURCE, "%s: has no files", raw->host->source);
    split_note_tell(&raw->note, raw->host);
    snprintf(format, 32, "raw");
    return APL_OK;
}

static void close_raw(void *state)
{
    struct raw *raw = state;
    if (!raw)
        return;
    buffer_free(&raw->bytes);
    free(raw);
}

static apl_status open_raw(const struct format_host *host, void **state, apl_error *err)
{
    struct raw *raw = calloc(1, sizeof *raw);
    if (!raw)
        return fail_nomem(err);
    raw->host = host;
    raw->note.by = "its folders tell no split";
    *state = raw;
    return APL_OK;
}

const struct format format_raw = {
    .name = "raw",
    .title = "any files, as bytes",
    .folders = true,
    .several = true,
    .open = open_raw,
    .close = close_raw,
    .wants = wants_raw,
    .begin_source = begin_raw_source,
    .member = raw_member,
    .read = read_raw_files,
    .parts = true,
    .lists_for_parts = true,
    .list = list_raw,
    .listed = listed_raw,
    .passes = passes_raw,
    .enough = has_enough_raw,
    .finish = finish_raw,
};
