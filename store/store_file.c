/* Opening the file of one store: see store_file.h. */
#define _GNU_SOURCE /* O_PATH */
#include "store_file.h"

#include "staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------ what is in it */

static apl_status missing_block(const struct segment *segment, uint64_t block, uint32_t block_records,
                                apl_error *err)
{
    uint64_t first = block * block_records, left = segment->count - first;
    fail(err, APL_E_CORRUPT, "block %llu of segment %u is missing", (unsigned long long)block,
         segment->number);
    return fail_records(err, APL_E_CORRUPT, segment->first_id + first,
                        left < block_records ? left : block_records);
}

/* A block has a header, in which each record takes some bytes: so a file has no more records than its size allows, and memory
 * may be taken for them before their blocks are looked at. */
static apl_status check_size(const struct entry *e, const struct manifest *m, const struct segment *segment,
                             uint64_t block, apl_error *err)
{
    uint64_t first = block * m->info.block_records, left = segment->count - first;
    uint32_t records = left < m->info.block_records ? (uint32_t)left : m->info.block_records;
    if (e->size >= block_head_bytes(m->schema.count, records))
        return APL_OK;
    fail(err, APL_E_CORRUPT, "block %llu of segment %u has %u bytes, too few for %s",
         (unsigned long long)block, segment->number, e->size, number_of(records, "record", "records"));
    return fail_records(err, APL_E_CORRUPT, segment->first_id + first, records);
}

/* Each block that the manifest knows must be there, in its place, and no other. */
static apl_status check_blocks(const struct entry *at, const struct entry *end,
                               const struct manifest *manifest, apl_error *err)
{
    for (uint32_t s = 0; s < manifest->segment_count; s++) {
        const struct segment *segment = &manifest->segments[s];
        uint64_t n = (segment->count - 1) / manifest->info.block_records + 1;
        for (uint64_t b = 0; b < n; b++, at++) {
            if (at == end || at->key.kind != KEY_BLOCK || at->key.segment != segment->number ||
                at->key.block != b)
                return missing_block(segment, b, manifest->info.block_records, err);
            TRY(check_size(at, manifest, segment, b, err));
        }
    }
    /* Other kinds of entries are for later versions, as long as they are no blocks. */
    for (; at != end; at++)
        if (at->key.kind <= KEY_BLOCK)
            return fail(err, APL_E_CORRUPT, "it holds blocks that the manifest does not know");
    return APL_OK;
}

apl_status store_index(const struct lmdb_reader *lmdb, struct manifest *manifest, const struct entry **blocks,
                       apl_error *err)
{
    const struct entry *e = lmdb_reader_find(lmdb, (struct key){KEY_MANIFEST, 0, 0});
    if (!e || e != lmdb->entries)
        return fail(err, APL_E_CORRUPT, "it holds no manifest");
    struct buffer copy = {0};
    apl_status status = lmdb_reader_copy(lmdb, e, &copy, err);
    if (status == APL_OK)
        status = manifest_decode(copy.data, copy.size, manifest, err);
    buffer_free(&copy);
    TRY(status);
    status = check_blocks(e + 1, lmdb->entries + lmdb->count, manifest, err);
    if (status != APL_OK) {
        manifest_free(manifest);
        return status;
    }
    *blocks = e + 1;
    manifest->info.file_bytes = lmdb->size;
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------- opening */

char *shown_path(const char *path)
{
    size_t size = strlen(path) * 4 + 1;
    char *shown = malloc(size);
    return shown ? printable(shown, size, path, strlen(path)) : NULL;
}

char *shown_url(const char *path)
{
    size_t n = strncmp(path, "http", 4) == 0 ? strcspn(path, "?") : strlen(path);
    size_t scheme = (size_t)(strstr(path, "://") + 3 - path);
    const char *at = memchr(path + scheme, '@', strcspn(path + scheme, "/?#"));
    size_t secret = at ? (size_t)(at + 1 - path) : scheme;
    char *shown = malloc(4 * n + 1);
    if (!shown)
        return NULL;
    printable(shown, 4 * n + 1, path, scheme);
    printable(shown + strlen(shown), 4 * (n - secret) + 1, path + secret, n - secret);
    return shown;
}

apl_status store_open_pages(apl_store *store, apl_io io, apl_error *err)
{
    struct stat st;
    /* non-blocking: a pipe must not make it wait */
    int fd = openat(store->directory, STORE_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return fail(err, APL_E_NOTFOUND, "%s: is not a store (there is no %s in it)", store->name,
                    STORE_FILE);
    if (fd < 0)
        return fail_errno(err, errno, "%s: cannot open %s", store->name, STORE_FILE);
    apl_status status = fstat(fd, &st) == 0 ? lmdb_reader_open(fd, io, &store->lmdb, err)
                                            : fail_errno(err, errno, "cannot examine it");
    close(fd);
    if (status == APL_OK) {
        store->device = st.st_dev;
        store->inode = st.st_ino;
        store->modified = st.st_mtim;
        status = store_index(&store->lmdb, &store->manifest, &store->blocks, err);
    }
    return status == APL_OK ? APL_OK : fail_in(err, status, "%s/%s", store->name, STORE_FILE);
}

apl_status store_open_directory(apl_store *store, int at, const char *path, apl_error *err)
{
    /* O_PATH: no permission to list the directory is needed */
    store->directory = openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (store->directory < 0 && errno == ENOENT)
        return fail(err, APL_E_NOTFOUND, "%s: no such directory", store->name);
    if (store->directory < 0 && errno == ENOTDIR)
        return fail(err, APL_E_NOTFOUND, "%s: is not a store: not a directory; give the one that holds %s",
                    store->name, STORE_FILE);
    if (store->directory < 0)
        return fail_errno(err, errno, "%s: cannot open %s", store->name, STORE_FILE);
    return APL_OK;
}

apl_status store_open_at(int directory, const char *name, const char *above, apl_io io, apl_store **store,
                         apl_error *err)
{
    size_t size = strlen(above) + strlen(name) + 2;
    char *shown = malloc(size);
    apl_store *s;
    if (shown)
        snprintf(shown, size, "%s/%s", above, name);
    TRY(store_new(shown, &s, err));
    apl_status status = store_open_directory(s, directory, name, err);
    if (status == APL_OK)
        status = store_open_pages(s, io, err);
    if (s->directory >= 0) /* as many may be open as there are shards */
        close(s->directory);
    s->directory = -1;
    if (status == APL_OK)
        *store = s;
    else
        store_release_file(s);
    return status;
}

/* --------------------------------------------------------------------------------------------- holding */

apl_status store_new(char *name, apl_store **store, apl_error *err)
{
    apl_store *s = name ? calloc(1, sizeof *s) : NULL;
    struct seen_list *seen = s ? calloc(1, sizeof *seen) : NULL;
    if (!seen) {
        free(s);
        free(name);
        return fail_nomem(err);
    }
    atomic_init(&s->references, 1);
    s->name = name;
    s->seen = seen;
    s->directory = s->lmdb.fd = -1;
    *store = s;
    return APL_OK;
}

apl_store *store_retain(apl_store *store)
{
    /* relaxed: who retains holds a reference already */
    atomic_fetch_add_explicit(&store->references, 1, memory_order_relaxed);
    return store;
}

bool store_drop(apl_store *store)
{
    /* acq_rel: what others did with the store must have happened before it is freed */
    return atomic_fetch_sub_explicit(&store->references, 1, memory_order_acq_rel) == 1;
}

void store_free(apl_store *store)
{
    manifest_free(&store->manifest);
    lmdb_reader_close(&store->lmdb);
    free(store->splits);
    free(store->members);
    if (store->directory >= 0)
        close(store->directory);
    free(store->directory_name);
    url_free(&store->url);
    origin_release(store->remote.origin);
    seen_free(store->seen);
    free(store->name);
    free(store);
}

void store_release_file(apl_store *store)
{
    if (store && store_drop(store))
        store_free(store);
}
