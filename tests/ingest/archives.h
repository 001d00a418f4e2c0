/* What the tests of sources are made of: archives, good and bad, made in memory and put into a folder of the
 * test's own. */
#ifndef ARCHIVES_H
#define ARCHIVES_H

#include "bytes.h"
#include "hash.h"
#include "source.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ------------------------------------------------------------------------------------------------- bytes */

/* n bytes that look random, or for odd seeds compress well. */
static inline struct buffer content(uint32_t seed, size_t n)
{
    struct buffer b = {0};
    uint32_t x = seed * 2654435761u + 1;
    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        uint8_t byte = (uint8_t)(seed % 2 ? (x & 3) + 'a' : x >> 11);
        buffer_put(&b, &byte, 1);
    }
    return b;
}

static inline void same_bytes(const struct buffer *got, const void *want, size_t size)
{
    cr_assert_eq(got->size, size, "%zu bytes instead of %zu", got->size, size);
    cr_assert(size == 0 || memcmp(got->data, want, size) == 0, "other bytes");
}

static inline bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* -------------------------------------------------------------------------------------------------- gzip */

/* One gzip member. `header` may be NULL. */
static inline void gzip_add(struct buffer *out, const struct buffer *in, int level, int strategy,
                            gz_header *header)
{
    z_stream z = {0};
    cr_assert_eq(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, strategy), Z_OK);
    if (header)
        cr_assert_eq(deflateSetHeader(&z, header), Z_OK);
    size_t bound = deflateBound(&z, in->size) + 1024;
    cr_assert(buffer_reserve(out, bound));
    z.next_in = in->data;
    z.avail_in = (uInt)in->size;
    z.next_out = out->data + out->size;
    z.avail_out = (uInt)bound;
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    out->size += z.total_out;
    deflateEnd(&z);
}

static inline struct buffer gzip_of(const struct buffer *in)
{
    struct buffer out = {0};
    gzip_add(&out, in, 6, Z_DEFAULT_STRATEGY, NULL);
    return out;
}

/* --------------------------------------------------------------------------------------- xz, zstd, bzip2 */

/* Packs with the filter that libarchive calls `filter`, quickly; empty where it has none. */
static inline struct buffer packed_with(const char *filter, const struct buffer *in)
{
    struct buffer out = {0};
    struct archive *a = archive_write_new();
    size_t room = in->size * 2 + 65536, used = 0;
    cr_assert(buffer_reserve(&out, room));
    if (archive_write_add_filter_by_name(a, filter) == ARCHIVE_OK) {
        archive_write_set_format_raw(a);
        archive_write_set_bytes_in_last_block(a, 1);
        cr_assert_eq(archive_write_set_filter_option(a, filter, "compression-level", "1"), ARCHIVE_OK);
        cr_assert_eq(archive_write_open_memory(a, out.data, room, &used), ARCHIVE_OK);
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_filetype(entry, AE_IFREG);
        cr_assert_eq(archive_write_header(a, entry), ARCHIVE_OK);
        cr_assert_eq((size_t)archive_write_data(a, in->data, in->size), in->size);
        cr_assert_eq(archive_write_close(a), ARCHIVE_OK);
        archive_entry_free(entry);
    }
    archive_write_free(a);
    out.size = used;
    return out;
}

/* --------------------------------------------------------------------------------------------------- tar */

static inline void pad_to(struct buffer *b, size_t multiple)
{
    static const uint8_t zeros[512];
    while (b->size % multiple)
        buffer_put(b, zeros, multiple - b->size % multiple);
}

/* Makes the checksum of the header at `h` right. */
static inline void tar_seal(uint8_t *h)
{
    unsigned sum = 0;
    memset(h + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += h[i];
    snprintf((char *)h + 148, 8, "%06o", sum);
}

/* A ustar header; returns its place in `b`. */
static inline size_t tar_header(struct buffer *b, const char *name, char type, uint64_t size,
                                const char *link)
{
    uint8_t h[512] = {0};
    size_t length = strlen(name), link_length = strlen(link);
    memcpy(h, name, length < 100 ? length : 100);
    memcpy(h + 100, "0000644\0000000000\0000000000", 23);
    snprintf((char *)h + 124, 12, "%011llo", (unsigned long long)size);
    memcpy(h + 136, "00000000000", 11);
    h[156] = (uint8_t)type;
    memcpy(h + 157, link, link_length < 100 ? link_length : 100);
    memcpy(h + 257, "ustar\00000", 8);
    tar_seal(h);
    buffer_put(b, h, 512);
    return b->size - 512;
}

static inline void tar_file(struct buffer *b, const char *name, const struct buffer *data)
{
    tar_header(b, name, '0', data->size, "");
    buffer_put(b, data->data, data->size);
    pad_to(b, 512);
}

static inline void tar_finish(struct buffer *b)
{
    static const uint8_t zeros[1024];
    buffer_put(b, zeros, sizeof zeros);
}

/* ------------------------------------------------------------------------------------------------- files */

/* A new folder; the test leaves it to temp_drop(). */
static inline char *temp_folder(void)
{
    const char *base = getenv("TMPDIR");
    static char paths[4][512];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/apl-source-XXXXXX", base && *base ? base : "/tmp");
    cr_assert_not_null(mkdtemp(path));
    return path;
}

static inline const char *in_folder(const char *folder, const char *name)
{
    static char paths[4][1024];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f, "%s", path);
    cr_assert(size == 0 || fwrite(data, 1, size, f) == size);
    cr_assert_eq(fclose(f), 0);
}

static inline void temp_drop(const char *folder)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

/* ---------------------------------------------------------------------------------------- reading a source
 */

/* All that reading a source gave. */
struct reading {
    apl_status status; /* of the last call: APL_END if all went well */
    apl_error err;
    unsigned members;
    char names[16][300], paths[16][300];
    struct buffer data[16];
    uint8_t digest[32];
    uint64_t bytes, size;
};

static inline void reading_free(struct reading *r)
{
    for (unsigned i = 0; i < 16; i++)
        buffer_free(&r->data[i]);
}

/* Wanted in these tests: what begins with "data". */
static inline bool wants_data(const char *name, void *user)
{
    (void)user;
    return strncmp(name, "data", 4) == 0 && strcmp(name, "data.mdb") != 0;
}

/* Takes a member in portions of the sizes 1, 1 + step, 1 + 2 step, ... (and again from 1 after 70,000). */
static inline apl_status read_member(struct source *s, const struct source_member *m, size_t step,
                                     struct buffer *out, apl_error *err)
{
    struct cursor *c = source_cursor(s);
    size_t portion = 1;
    for (uint64_t left = m->size; left > 0;) {
        size_t n = portion < left ? portion : (size_t)left;
        cr_assert_eq(cursor_offset(c), m->size - left);
        const uint8_t *p = cursor_take(c, n);
        if (!p)
            return source_failure(s, err);
        buffer_put(out, p, n);
        left -= n;
        portion = portion + step > 70000 ? 1 : portion + step;
    }
    if (!cursor_at_end(c))
        cr_assert_fail("more bytes than its size");
    return source_failure(s, err);
}

/* Reads all of a source; step 0: leaves the members unread. */
static inline struct reading *read_source(const char *path, size_t step)
{
    static struct reading r;
    reading_free(&r);
    memset(&r, 0, sizeof r);
    struct source *s = NULL;
    r.status = source_open(path, wants_data, NULL, NULL, &s, &r.err);
    if (r.status != APL_OK)
        return &r;
    struct source_member m;
    while ((r.status = source_next(s, &m, &r.err)) == APL_OK && r.members < 16) {
        unsigned i = r.members++;
        snprintf(r.names[i], sizeof r.names[i], "%s", m.name);
        snprintf(r.paths[i], sizeof r.paths[i], "%s", m.path);
        if (step && (r.status = read_member(s, &m, step, &r.data[i], &r.err)) != APL_OK)
            break;
    }
    if (r.status == APL_END)
        cr_assert_eq(source_digest(s, r.digest, &r.err), APL_OK);
    else
        cr_assert_eq(source_next(s, &m, NULL), r.status, "a failure stays");
    r.bytes = source_bytes(s);
    r.size = source_size(s);
    source_close(s);
    return &r;
}

/* Writes `data` to a file of the folder and reads that as a source. */
static inline struct reading *read_bytes(const char *folder, const struct buffer *data, size_t step)
{
    const char *path = in_folder(folder, "source");
    write_file(path, data->data, data->size);
    return read_source(path, step);
}

static inline void expect(const struct reading *r, apl_status status, const char *words)
{
    cr_assert_eq(r->status, status, "status %d (%s) instead of %d (%s)", (int)r->status, r->err.message,
                 (int)status, words);
    cr_assert(contains(r->err.message, words), "'%s' does not tell of '%s'", r->err.message, words);
    cr_assert(!strchr(r->err.message, '\n'));
}

/* For pthread_create(): writes all of the data to a pipe, a portion at a time, and closes it. */
struct pouring {
    int fd;
    const struct buffer *data;
    size_t portion;
};

static inline void *pour(void *user)
{
    const struct pouring *p = user;
    for (size_t at = 0; at < p->data->size;) {
        size_t n = p->data->size - at < p->portion ? p->data->size - at : p->portion;
        ssize_t written = write(p->fd, p->data->data + at, n);
        if (written < 0)
            break;
        at += (size_t)written;
    }
    close(p->fd);
    return NULL;
}

#endif
