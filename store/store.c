/* Opening and describing stores. */
#define _GNU_SOURCE /* O_PATH */
#include "store.h"

#include "sized.h"
#include "staging.h"
#include "statistics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------- opening */

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
    fail(err, APL_E_CORRUPT, "block %llu of segment %u has %u bytes, too few for %u records",
         (unsigned long long)block, segment->number, e->size, records);
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

/* A path as it was given, safe to print. */
static char *shown_path(const char *path)
{
    size_t size = strlen(path) * 4 + 1;
    char *shown = malloc(size);
    return shown ? printable(shown, size, path, strlen(path)) : NULL;
}

static apl_status open_pages(apl_store *store, int directory, apl_io io, apl_error *err)
{
    struct stat st;
    /* non-blocking: a pipe must not make it wait */
    int fd = openat(directory, STORE_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
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

static apl_status open_file(apl_store *store, const char *path, apl_io io, apl_error *err)
{
    /* O_PATH: no permission to list the directory is needed */
    store->directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (store->directory < 0 && errno == ENOENT)
        return fail(err, APL_E_NOTFOUND, "%s: is not a store: there is no such directory", store->name);
    if (store->directory < 0 && errno == ENOTDIR)
        return fail(err, APL_E_NOTFOUND, "%s: is not a store: not a directory; give the one that holds %s",
                    store->name, STORE_FILE);
    if (store->directory < 0)
        return fail_errno(err, errno, "%s: cannot open %s", store->name, STORE_FILE);
    store->directory_name = shown_path(path);
    if (!store->directory_name)
        return fail_nomem(err);
    return open_pages(store, store->directory, io, err);
}

/* Split files are elsewhere. */
static apl_status open_splits(apl_store *store, const char *path, apl_error *err)
{
    char *name = shown_path(path);
    if (!name)
        return fail_nomem(err);
    free(store->directory_name);
    store->directory_name = name;
    close(store->directory);
    store->directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    store->splits_apart = true;
    if (store->directory < 0)
        return fail_errno(err, errno, "%s: cannot open the directory for splits", name);
    return APL_OK;
}

/* The manifest's lists as the public header has them. */
static apl_status publish_lists(apl_store *store, apl_error *err)
{
    const struct manifest *m = &store->manifest;
    store->splits = calloc(m->split_count + 1, sizeof *store->splits);
    store->members = calloc(m->member_count + 1, sizeof *store->members);
    if (!store->splits || !store->members)
        return fail_nomem(err);
    for (uint32_t i = 0; i < m->split_count; i++)
        store->splits[i] = (apl_split){m->splits[i].name, m->splits[i].first, m->splits[i].count};
    for (uint32_t i = 0; i < m->member_count; i++) {
        const struct member *member = &m->members[i];
        store->members[i] = (apl_member){member->name, m->splits[member->split].name, member->first,
                                         member->count, member->number};
    }
    return APL_OK;
}

static apl_status check_expected(const apl_store *store, const apl_store_options *options, apl_error *err)
{
    if (options->expected_content &&
        memcmp(options->expected_content, store->manifest.info.content_digest, 32) != 0)
        return fail(err, APL_E_MISMATCH, "%s: the content digest is not the one expected", store->name);
    return APL_OK;
}

apl_status apl_store_open(const char *path, const apl_store_options *options, apl_store **store,
                          apl_error *err)
{
    if (!path || !store)
        return fail(err, APL_E_INVALID, "apl_store_open: path or store is NULL");
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    TRY(options_take(&o, sizeof o, options, "apl_store_options", err));
    apl_error own; /* inner calls put their place in front of the message, and need one to put it in */
    err = err ? err : &own;
    apl_store *s = calloc(1, sizeof *s);
    if (!s)
        return fail_nomem(err);
    atomic_init(&s->references, 1);
    s->directory = -1;
    s->name = shown_path(path);
    apl_status status = s->name ? open_file(s, path, o.io, err) : fail_nomem(err);
    if (status == APL_OK)
        status = publish_lists(s, err);
    if (status == APL_OK)
        status = check_expected(s, &o, err);
    if (status == APL_OK && o.split_directory)
        status = open_splits(s, o.split_directory, err);
    if (status == APL_OK)
        *store = s;
    else
        apl_store_close(s);
    return status;
}

apl_store *store_retain(apl_store *store)
{
    /* relaxed: who retains holds a reference already */
    atomic_fetch_add_explicit(&store->references, 1, memory_order_relaxed);
    return store;
}

void apl_store_close(apl_store *store)
{
    store_release(store);
}

void store_release(apl_store *store)
{
    /* acq_rel: what others did with the store must have happened before it is freed */
    if (!store || atomic_fetch_sub_explicit(&store->references, 1, memory_order_acq_rel) > 1)
        return;
    manifest_free(&store->manifest);
    lmdb_reader_close(&store->lmdb);
    free(store->splits);
    free(store->members);
    if (store->directory >= 0)
        close(store->directory);
    free(store->directory_name);
    free(store->name);
    free(store);
}

/* ------------------------------------------------------------------------------------------ describing */

const apl_info *apl_store_info(const apl_store *store)
{
    return store ? &store->manifest.info : NULL;
}

const apl_field *apl_store_field(const apl_store *store, unsigned i)
{
    return store && i < store->manifest.schema.count ? &store->manifest.schema.fields[i] : NULL;
}

const char *apl_store_skipped(const apl_store *store, uint64_t i, const char **why)
{
    return store ? manifest_skipped(&store->manifest, i, why) : NULL;
}

const apl_split *apl_store_split(const apl_store *store, unsigned i)
{
    return store && i < store->manifest.split_count ? &store->splits[i] : NULL;
}

const apl_member *apl_store_member(const apl_store *store, unsigned i)
{
    return store && i < store->manifest.member_count ? &store->members[i] : NULL;
}

int apl_store_find_field(const apl_store *store, const char *name)
{
    return store ? schema_find(&store->manifest.schema, name) : -1;
}

int apl_store_find_split(const apl_store *store, const char *name)
{
    for (uint32_t i = 0; store && name && i < store->manifest.split_count; i++)
        if (strcmp(store->splits[i].name, name) == 0)
            return (int)i;
    return -1;
}

apl_status store_find_field(const apl_store *store, const char *name, unsigned *field, apl_error *err)
{
    char shown[256];
    int found = schema_find(&store->manifest.schema, name);
    name = name ? name : "(NULL)";
    if (found < 0)
        return fail(err, APL_E_NOTFOUND, "%s: has no field %s", store->name,
                    printable(shown, sizeof shown, name, strlen(name)));
    *field = (unsigned)found;
    return APL_OK;
}

uint64_t apl_store_class_count(const apl_store *store, unsigned split, unsigned field, uint64_t cls)
{
    const struct manifest *m = store ? &store->manifest : NULL;
    if (!m || split >= m->split_count || field >= m->schema.count ||
        cls >= m->schema.fields[field].class_count)
        return 0;
    const uint64_t *counts = split_summary(&m->splits[split], field).classes;
    return counts ? counts[cls] : 0;
}

const struct moments *store_moments(const apl_store *store, unsigned split, unsigned field, unsigned channel)
{
    const struct manifest *m = &store->manifest;
    if (split >= m->split_count || field >= m->schema.count ||
        channel >= field_channels(&m->schema.fields[field]))
        return NULL;
    const struct moments *moments = split_summary(&m->splits[split], field).moments;
    return moments && moments[channel].count > 0 ? &moments[channel] : NULL;
}

apl_status apl_store_moments(const apl_store *store, unsigned split, unsigned field, unsigned channel,
                             double *mean, double *std)
{
    if (!store || !mean || !std)
        return APL_E_INVALID;
    const struct moments *moments = store_moments(store, split, field, channel);
    if (!moments)
        return APL_E_NOTFOUND;
    moments_figures(moments, mean, std);
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- blocks */

const char *store_member_of(const apl_store *store, uint64_t id)
{
    const struct manifest *m = &store->manifest;
    return m->info.shuffled ? m->splits[manifest_split_of(m, id)].name
                            : m->members[manifest_member_of(m, id)].name;
}

apl_status store_block_error(const apl_store *store, uint64_t number, apl_status status, apl_error *err)
{
    uint64_t first;
    uint32_t count;
    const struct segment *s = manifest_block_ids(&store->manifest, number, &first, &count);
    fail_in(err, status, "%s: %s: block %llu (records %llu to %llu)", store->name,
            store_member_of(store, first), (unsigned long long)(number - s->first_block),
            (unsigned long long)first, (unsigned long long)(first + count - 1));
    return fail_records(err, status, first, count);
}
