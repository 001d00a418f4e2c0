/* Files that are read on their own: see files.h. */
#include "files.h"

#include "beside.h"
#include "feed.h"
#include "found_file.h"
#include "hash.h"
#include "input.h"
#include "listing.h"
#include "part.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEVELS_DOWN 32 /* directories that hold nothing but the next */

struct stream {
    struct format_stream seen; /* first, so that either stands for the other */
    struct feed feed;
    struct input *input;
    struct part *part; /* instead, of a part */
    struct hasher *sha;
    size_t file;
    struct stream *next;
};

struct files {
    struct files_options options;
    struct format_file *seen; /* as formats see them */
    struct place **places;    /* of each */
    size_t count, room;
    bool directory; /* one was added */
    uint64_t closed_bytes;
    struct stream *streams; /* that are open */
    struct beside beside;   /* of one of them: */
    size_t beside_file;     /* its number, and 1 */
};

/* ----------------------------------------------------------------------------------------------------- opening */

static apl_status fetch_stream(void *user, const uint8_t **data, size_t *size, apl_error *err)
{
    struct stream *s = user;
    return s->part ? part_next(s->part, data, size, err) : input_next(s->input, data, size, err);
}

static void stream_free(struct stream *s)
{
    input_close(s->input);
    part_close(s->part);
    hasher_free(s->sha);
    feed_free(&s->feed);
    free(s);
}

static struct stream *stream_new(const struct files *files, size_t file)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->file = file;
    s->feed.name = files->places[file]->path;
    s->feed.fetch = fetch_stream;
    s->feed.user = s;
    s->seen.cursor = &s->feed.cursor;
    return s;
}

static apl_status start_stream(struct files *files, struct stream *s, bool unpack, apl_error *err)
{
    struct place *place = files->places[s->file];
    int fd;
    TRY(place_open(place, &fd, err));
    s->sha = hasher_new();
    if (!s->sha) {
        close(fd);
        return fail_nomem(err);
    }
    struct input_options options = {.name = place->path,
                                    .archive = unpack,
                                    .sha = s->sha,
                                    .poll = files->options.poll,
                                    .user = files->options.user};
    return input_open(fd, &options, &s->input, err);
}

static apl_status start_part(struct files *files, struct stream *s, const struct format_part *part,
                             apl_error *err)
{
    int fd;
    TRY(place_open(files->places[s->file], &fd, err));
    return part_open(fd, files->places[s->file]->path, part, &s->part, err);
}

/* Opens a file, or the part of it if that is not NULL. */
static apl_status open_stream(struct files *files, size_t file, bool unpack, const struct format_part *part,
                              struct stream **out, apl_error *err)
{
    struct stream *s = stream_new(files, file);
    if (!s)
        return fail_nomem(err);
    apl_status status = part ? start_part(files, s, part, err) : start_stream(files, s, unpack, err);
    if (status != APL_OK) {
        stream_free(s);
        return status;
    }
    feed_begin(&s->feed);
    s->next = files->streams;
    files->streams = s;
    *out = s;
    return APL_OK;
}

apl_status files_open(struct files *files, size_t file, struct format_stream **stream, apl_error *err)
{
    struct stream *s;
    TRY(open_stream(files, file, files->seen[file].packed, NULL, &s, err));
    *stream = &s->seen;
    return APL_OK;
}

apl_status files_open_part(struct files *files, size_t file, const struct format_part *part,
                           struct format_stream **stream, apl_error *err)
{
    struct stream *s;
    TRY(open_stream(files, file, false, part, &s, err));
    *stream = &s->seen;
    return APL_OK;
}

apl_status files_read_at(struct files *files, size_t file, uint64_t offset, void *out, size_t size,
                         apl_error *err)
{
    struct place *place = files->places[file];
    if (place->fd < 0)
        TRY(place_open(place, &place->fd, err));
    return part_read_at(place->fd, place->path, offset, out, size, err);
}

static void forget_stream(struct files *files, struct stream *s)
{
    struct stream **at = &files->streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    stream_free(s);
}

/* Takes the digest of a file whose end has been seen. */
static apl_status end_stream(struct files *files, struct stream *s, apl_error *err)
{
    struct place *place = files->places[s->file];
    TRY(feed_failure(&s->feed, err));
    if (s->part)
        return APL_OK;
    if (input_bytes(s->input) != (uint64_t)place->st.st_size)
        return fail(err, APL_E_SOURCE, "%s: changed while it was read", place->path);
    if (place->known)
        return APL_OK;
    hasher_end(s->sha, place->digest);
    place->known = true;
    files->closed_bytes += (uint64_t)place->st.st_size;
    return APL_OK;
}

apl_status files_close(struct files *files, struct format_stream *stream, apl_error *err)
{
    struct stream *s = (struct stream *)stream;
    if (!s)
        return APL_OK;
    feed_drain(&s->feed);
    apl_status status = end_stream(files, s, err);
    forget_stream(files, s);
    return status;
}

void files_drop(struct files *files, struct format_stream *stream)
{
    forget_stream(files, (struct stream *)stream);
}

apl_status files_cut_off(struct files *files, struct format_stream *stream, apl_error *err)
{
    const struct stream *s = (const struct stream *)stream;
    TRY(feed_failure(&s->feed, err));
    return fail(err, APL_E_INCOMPLETE, "%s: ends early: it is truncated", files->places[s->file]->path);
}

apl_status files_read_beside(struct files *files, size_t file, const char *path, bool outside,
                             struct buffer *bytes, apl_error *err)
{
    if (files->beside_file != file + 1) {
        if (files->beside_file)
            beside_close(&files->beside);
        files->beside_file = 0;
        TRY(beside_open(&files->beside, files->places[file]->open_path, err));
        files->beside_file = file + 1;
    }
    return beside_read(&files->beside, path, outside, bytes, err);
}

/* ------------------------------------------------------------------------------------------------------ adding */

/* The first bytes, unpacked. */
static apl_status look_inside(struct files *files, size_t file, apl_error *err)
{
    struct format_file *seen = &files->seen[file];
    struct place *place = files->places[file];
    struct stream *s;
    TRY(open_stream(files, file, seen->packed, NULL, &s, err));
    const struct cursor *c = &s->feed.cursor;
    const uint8_t *data;
    while (seen->head_size < PLACE_HEAD && (data = cursor_take(&s->feed.cursor, 1))) {
        size_t n = 1 + cursor_left(c) < PLACE_HEAD - seen->head_size ? 1 + cursor_left(c)
                                                                     : PLACE_HEAD - seen->head_size;
        memcpy(place->head + seen->head_size, data, n);
        seen->head_size += n;
        s->feed.cursor.at += n - 1;
    }
    apl_status status = feed_failure(&s->feed, err);
    forget_stream(files, s);
    seen->head = place->head;
    seen->archive = status == APL_OK && is_tar(seen->head, seen->head_size);
    if (seen->archive)
        place->member_count = peek_members(place->open_path, place->members);
    seen->members = (const char *const *)place->members;
    seen->member_count = place->member_count;
    return status;
}

static bool make_room(struct files *files)
{
    if (files->count < files->room)
        return true;
    size_t room = files->room ? 2 * files->room : 16;
    struct format_file *seen = realloc(files->seen, room * sizeof *seen);
    if (seen)
        files->seen = seen;
    struct place **places = realloc(files->places, room * sizeof *places);
    if (places)
        files->places = places;
    if (!seen || !places)
        return false;
    files->room = room;
    return true;
}

/* Does the same directory hold the file unpacked? It came shortly before. */
static bool has_unpacked(const struct files *files, const char *name)
{
    for (size_t i = files->count; i > 0 && files->count - i < 64; i--)
        if (!files->seen[i - 1].packed && strcmp(files->seen[i - 1].name, name) == 0)
            return true;
    return false;
}

static apl_status add_file(struct files *files, const char *path, bool follow, apl_error *err)
{
    struct place *place = make_room(files) ? place_new(path, follow) : NULL;
    bool packed = false;
    if (!place)
        return fail_nomem(err);
    apl_status status = place_find(place, files->options.any_bytes, &packed, err);
    if (status != APL_OK) {
        place_free(place);
        return status;
    }
    if (packed && !follow && has_unpacked(files, place->name)) {
        place_free(place);
        return APL_OK;
    }
    size_t i = files->count++;
    files->places[i] = place;
    files->seen[i] = (struct format_file){.name = place->name,
                                          .path = place->path,
                                          .size = packed ? FORMAT_UNKNOWN : (uint64_t)place->st.st_size,
                                          .packed = packed};
    return look_inside(files, i, err);
}

/* ------------------------------------------------------------------------------------------------- directories */

static char *joined(const char *folder, const char *name)
{
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *path = malloc(size);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (path)
        snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    return path;
}

static apl_status add_wanted(struct files *files, const char *folder, const char *name, apl_error *err)
{
    if (!files->options.wants(name, files->options.asked))
        return APL_OK;
    char *path = joined(folder, name);
    apl_status status = path ? add_file(files, path, false, err) : fail_nomem(err);
    free(path);
    return status;
}

static apl_status add_names(struct files *files, const char *folder, const struct listing *list,
                            apl_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        TRY(add_wanted(files, folder, list->files[i], err));
    return APL_OK;
}

static apl_status add_folder(struct files *files, const char *path, int levels, apl_error *err)
{
    struct listing list;
    apl_status status = listing_read(path, &list, err);
    if (status == APL_OK && list.count == 0 && list.folders == 1 && levels > 0) {
        char *inner = joined(path, list.folder);
        status = inner ? add_folder(files, inner, levels - 1, err) : fail_nomem(err);
        free(inner);
    } else if (status == APL_OK)
        status = add_names(files, path, &list, err);
    listing_free(&list);
    return status;
}

apl_status files_add(struct files *files, const char *path, apl_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return add_file(files, path, true, err);
    files->directory = true;
    return add_folder(files, path, LEVELS_DOWN, err);
}

apl_status files_add_beside(struct files *files, const char *path,
                            bool (*belongs)(const char *name, const char *other), apl_error *err)
{
    struct listing list;
    size_t length = (size_t)(path_last(path) - path);
    char *folder = length ? strndup(path, length) : strdup(".");
    if (!folder)
        return fail_nomem(err);
    apl_status status = listing_read(folder, &list, err);
    for (size_t i = 0; status == APL_OK && i < list.count; i++) {
        size_t bare = strlen(list.files[i]);
        char *name = strndup(list.files[i], (ends_packed(list.files[i], &bare), bare));
        char *beside = length ? joined(folder, list.files[i]) : strdup(list.files[i]);
        if (!name || !beside)
            status = fail_nomem(err);
        else if (strcmp(beside, path) != 0 && belongs(files->seen[0].name, name))
            status = add_file(files, beside, false, err);
        free(name);
        free(beside);
    }
    listing_free(&list);
    free(folder);
    return status;
}

apl_status files_keep(struct files *files,
                      bool (*keep)(const struct format_file *file, const struct format *format,
                                   const struct files *files),
                      const struct format *format, apl_error *err)
{
    size_t kept = 0;
    bool *good = calloc(files->count + 1, sizeof *good);
    if (!good)
        return fail_nomem(err);
    for (size_t i = 0; i < files->count; i++)
        good[i] = keep(&files->seen[i], format, files);
    for (size_t i = 0; i < files->count; i++) {
        if (!good[i]) {
            place_free(files->places[i]);
            continue;
        }
        files->seen[kept] = files->seen[i];
        files->places[kept++] = files->places[i];
    }
    files->count = kept;
    free(good);
    return APL_OK;
}

const struct format_file *files_list(const struct files *files, size_t *count)
{
    *count = files->count;
    return files->seen;
}

/* ------------------------------------------------------------------------------------------ the sum of all files */

uint64_t files_bytes(const struct files *files)
{
    uint64_t bytes = files->closed_bytes;
    for (const struct stream *s = files->streams; s; s = s->next)
        bytes += s->input ? input_bytes(s->input) : 0;
    return bytes < files_size(files) ? bytes : files_size(files);
}

uint64_t files_size(const struct files *files)
{
    uint64_t size = 0;
    for (size_t i = 0; i < files->count; i++)
        size += (uint64_t)files->places[i]->st.st_size;
    return size;
}

static apl_status know_digest(struct files *files, size_t file, apl_error *err)
{
    struct stream *s;
    if (files->places[file]->known)
        return APL_OK;
    TRY(open_stream(files, file, false, NULL, &s, err));
    return files_close(files, &s->seen, err);
}

apl_status files_digest(struct files *files, uint8_t sha256[32], apl_error *err)
{
    for (size_t i = 0; i < files->count; i++)
        TRY(know_digest(files, i, err));
    if (files->count == 1 && !files->directory) {
        memcpy(sha256, files->places[0]->digest, 32);
        return APL_OK;
    }
    struct sha256 *sha = sha256_new();
    if (!sha)
        return fail_nomem(err);
    for (size_t i = 0; i < files->count; i++) {
        const struct place *place = files->places[i];
        const char *name = path_last(place->open_path);
        uint8_t size[8];
        store_le(size, (uint64_t)place->st.st_size, 8);
        sha256_add(sha, name, strlen(name) + 1);
        sha256_add(sha, size, sizeof size);
        sha256_add(sha, place->digest, 32);
    }
    sha256_end(sha, sha256);
    sha256_free(sha);
    return APL_OK;
}

struct files *files_new(const struct files_options *options)
{
    struct files *files = calloc(1, sizeof *files);
    if (files)
        files->options = *options;
    return files;
}

void files_free(struct files *files)
{
    if (!files)
        return;
    while (files->streams)
        forget_stream(files, files->streams);
    if (files->beside_file)
        beside_close(&files->beside);
    for (size_t i = 0; i < files->count; i++)
        place_free(files->places[i]);
    free(files->places);
    free(files->seen);
    free(files);
}
