/* Files that are read on their own, as one source: see files.h. */
#include "files.h"

#include "file_sample.h"
#include "file_stream.h"
#include "found_file.h"
#include "hash.h"

#include <unistd.h>

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

bool files_any_beside(const struct files *files)
{
    return files->beside_file != 0;
}

bool files_any_of(const struct files *files, size_t source)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->places[i]->source == source + 1)
            return true;
    return false;
}

const char *files_path(const struct files *files, size_t file)
{
    return files->places[file]->open_path;
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
    if (files->places[file]->was_read)
        return APL_OK;
    TRY(stream_open(files, file, false, NULL, &s, err));
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

/* ------------------------------------------------------------------------------------ the files of a part's source */

void files_settle(struct files *files)
{
    for (size_t i = 0; i < files->count && !files->settled; i++)
        files->places[i]->known = files->places[i]->was_read;
    files->settled = true;
}

static apl_status sample_place(struct place *place, unsigned windows, struct sha256 *sha, apl_error *err)
{
    int fd;
    TRY(place_open(place, &fd, err));
    apl_status status = sample_add(fd, place->path, (uint64_t)place->st.st_size, windows, sha, err);
    close(fd);
    return status;
}

apl_status files_tell_apart(struct files *files, struct sha256 *sha, apl_error *err)
{
    size_t unknown = 0, at = 0;
    files_settle(files);
    for (size_t i = 0; i < files->count; i++)
        unknown += !files->places[i]->known;
    size_t step = unknown / SAMPLED_FILES + (unknown % SAMPLED_FILES != 0);
    for (size_t i = 0; i < files->count; i++) {
        struct place *place = files->places[i];
        if (place->known)
            sha256_add(sha, place->digest, 32);
        else if (at++ % step == 0)
            TRY(sample_place(place, sample_windows(unknown), sha, err));
    }
    if (files->beside_sha) {
        uint8_t digest[32];
        hasher_end(files->beside_sha, digest);
        sha256_add(sha, digest, sizeof digest);
    }
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
        stream_close(files, files->streams);
    if (files->beside_file)
        beside_close(&files->beside);
    hasher_free(files->beside_sha);
    for (size_t i = 0; i < files->count; i++)
        place_free(files->places[i]);
    free(files->places);
    free(files->seen);
    free(files);
}
