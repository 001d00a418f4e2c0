/* Opening files, and reading them: see file_stream.h. */
#include "file_stream.h"

#include "found_file.h"
#include "hash.h"
#include "part.h"

#include <unistd.h>

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
    bool digested = !place->was_read && !files->settled;
    if (digested && !(s->sha = files->options.undigested ? hasher_new_quick() : hasher_new())) {
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
apl_status stream_open(struct files *files, size_t file, bool unpack, const struct format_part *part,
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
    TRY(stream_open(files, file, files->seen[file].packed, NULL, &s, err));
    *stream = &s->seen;
    return APL_OK;
}

apl_status files_open_part(struct files *files, size_t file, const struct format_part *part,
                           struct format_stream **stream, apl_error *err)
{
    struct stream *s;
    TRY(stream_open(files, file, false, part, &s, err));
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

void stream_close(struct files *files, struct stream *s)
{
    struct stream **at = &files->streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    stream_free(s);
}

/* Takes the digest of a file whose end has been seen for the first time. */
static apl_status end_stream(struct files *files, struct stream *s, apl_error *err)
{
    struct place *place = files->places[s->file];
    TRY(feed_failure(&s->feed, err));
    if (s->part)
        return APL_OK;
    if (input_bytes(s->input) != (uint64_t)place->st.st_size)
        return fail(err, APL_E_SOURCE, "%s: changed while it was read", place->path);
    if (place->was_read)
        return APL_OK;
    hasher_end(s->sha, place->digest);
    place->was_read = true;
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
    stream_close(files, s);
    return status;
}

void files_drop(struct files *files, struct format_stream *stream)
{
    stream_close(files, (struct stream *)stream);
}

apl_status files_cut_off(struct files *files, struct format_stream *stream, apl_error *err)
{
    const struct stream *s = (const struct stream *)stream;
    TRY(feed_failure(&s->feed, err));
    return fail(err, APL_E_INCOMPLETE, "%s: ends early: it is truncated", files->places[s->file]->path);
}

/* What all parts read, and read alike. */
static apl_status digest_beside(struct files *files, const char *path, const struct buffer *bytes,
                                apl_error *err)
{
    if (!files->options.undigested || files->settled)
        return APL_OK;
    if (!files->beside_sha && !(files->beside_sha = hasher_new_quick()))
        return fail_nomem(err);
    hasher_add(files->beside_sha, path, strlen(path) + 1);
    hasher_add(files->beside_sha, bytes->data, bytes->size);
    return APL_OK;
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
    TRY(beside_read(&files->beside, path, (struct beside_rules){outside, files->options.follow}, bytes, err));
    return digest_beside(files, path, bytes, err);
}
