/*
 * Walking an LMDB file. The layout of its pages, in bytes from their beginnings (and sizes):
 *
 *   page      0: page number (8)      8: pad (2)            10: flags (2)         12: lower (2) and upper (2),
 *                                                                                 or pages of the run (4)
 *   meta     16: magic (4)           20: version (4)        24: address (8)       32: map size (8)
 *            40: database of free pages (48)                88: main database (48)
 *           136: last page (8)      144: transaction (8)
 *   database  0: page size, in the first only (4)            4: flags (2)          6: depth (2)
 *             8: branch pages (8)    16: leaf pages (8)     24: overflow pages (8)
 *            32: entries (8)         40: root (8)
 *   node      0: low half (2), 2: high half (2) of the data's size or the page number
 *             4: flags, or bits 32... of the page number (2)                       6: key size (2)
 *             8: key, then data
 */
#define _GNU_SOURCE /* fstatfs() */
#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LMDB_MAGIC    0xbeefc0deu
#define LMDB_VERSION  1u
#define PAGE_HEAD     16u
#define META_BYTES    152u
#define NODE_HEAD     8u
#define MAX_DEPTH     32u
#define PAGE_BRANCH   1u
#define PAGE_LEAF     2u
#define PAGE_OVERFLOW 4u
#define PAGE_META     8u
#define NODE_BIG      1u
#define NO_PAGE       UINT64_MAX
#define META_BYTES    152u

struct walk {
    const struct pages *file;
    uint64_t pages;
    uint32_t page_size;
    uint8_t *seen; /* a bit a page: each is reached once */
    uint8_t *
        levels; /* where files are read: a page for each level of the tree, and the head of an overflow page */
    struct pages *out;
    size_t capacity;
    apl_error *err;
};

static apl_status bad(struct walk *w, uint64_t page, const char *what)
{
    return fail(w->err, APL_E_CORRUPT, "page %llu of the file: %s", (unsigned long long)page, what);
}

/* --------------------------------------------------------------------------------------------- reading */

/* All of it, or an error: a file that ends early has been cut since it was opened. */
static apl_status read_at(int fd, uint64_t offset, uint8_t *to, size_t bytes, apl_error *err)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(fd, to + done, bytes - done, (off_t)(offset + done));
        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            return fail(err, APL_E_CORRUPT, "it has been cut while it was open");
        else if (errno != EINTR)
            return fail_errno(err, errno, "cannot read it");
    }
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- pages */

/* `bytes` bytes of page `number`, which is in the file: as they are mapped, or read to `to`. */
static apl_status page_bytes(struct walk *w, uint64_t number, size_t bytes, uint8_t *to, const uint8_t **page)
{
    uint64_t at = number * w->page_size;
    *page = w->file->map ? w->file->map + at : to;
    return w->file->map ? APL_OK : read_at(w->file->fd, at, to, bytes, w->err);
}

/* The page `number`, which stands `level` above the overflow pages, if it lies in the file, has not been seen, and has
 * exactly the type `type`. */
static apl_status get_page(struct walk *w, uint64_t number, unsigned type, unsigned level,
                           const uint8_t **page)
{
    if (number < 2 || number >= w->pages)
        return bad(w, number, "lies outside the file");
    if (w->seen[number / 8] >> number % 8 & 1)
        return bad(w, number, "is used twice");
    w->seen[number / 8] |= (uint8_t)(1u << number % 8);
    TRY(page_bytes(w, number, level ? w->page_size : PAGE_HEAD, w->levels + (size_t)level * w->page_size,
                   page));
    if (load_le(*page, 8) != number)
        return bad(w, number, "has another page's number");
    if (load_le(*page + 10, 2) != type)
        return bad(w, number, "has a wrong type");
    return APL_OK;
}

/* The number of nodes of a branch or leaf page. */
static apl_status page_nodes(struct walk *w, uint64_t number, const uint8_t *page, unsigned least,
                             unsigned *nodes)
{
    uint64_t lower = load_le(page + 12, 2), upper = load_le(page + 14, 2);
    /* A page of 64 KiB that is empty has an upper bound that does not fit in two bytes; such a page is never
     * written. */
    if (lower < PAGE_HEAD || lower % 2 || lower > upper || upper > w->page_size)
        return bad(w, number, "has impossible bounds");
    *nodes = (unsigned)(lower - PAGE_HEAD) / 2;
    return *nodes >= least ? APL_OK : bad(w, number, "has too few nodes");
}

/* Node `i` of a page: its bytes to the end of the page as a cursor that stands on its header. */
static apl_status page_node(struct walk *w, uint64_t number, const uint8_t *page, unsigned i,
                            struct cursor *node)
{
    uint64_t at = load_le(page + PAGE_HEAD + (size_t)2 * i, 2);
    if (at % 2 || at < load_le(page + 14, 2) || at + NODE_HEAD > w->page_size)
        return bad(w, number, "has a node outside of itself");
    *node = cursor_over(page + at, w->page_size - at);
    return APL_OK;
}

static struct key read_key(struct cursor *c)
{
    struct key key = {.kind = cursor_u32be(c)};
    key.segment = cursor_u32be(c);
    key.block = cursor_u32be(c);
    return key;
}

static int compare_keys(const struct key *a, const struct key *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->segment != b->segment)
        return a->segment < b->segment ? -1 : 1;
    return a->block < b->block ? -1 : a->block > b->block;
}

/* ---------------------------------------------------------------------------------------------- leaves */

/* A value that has pages of its own: their run must lie in the file and be just long enough. */
static apl_status overflow_value(struct walk *w, struct cursor *node, uint64_t size, uint64_t number,
                                 uint64_t *offset)
{
    uint64_t first = cursor_u64(node);
    const uint8_t *page;
    if (!cursor_ok(node))
        return bad(w, number, "has a node that is cut");
    TRY(get_page(w, first, PAGE_OVERFLOW, 0, &page));
    uint64_t run = load_le(page + 12, 4), needed = (PAGE_HEAD + size - 1) / w->page_size + 1;
    if (run != needed || run > w->pages - first)
        return bad(w, first, "begins a run of a wrong length");
    for (uint64_t p = first + 1; p < first + run; p++) {
        if (w->seen[p / 8] >> p % 8 & 1)
            return bad(w, p, "is used twice");
        w->seen[p / 8] |= (uint8_t)(1u << p % 8);
    }
    *offset = first * w->page_size + PAGE_HEAD;
    return APL_OK;
}

static apl_status add_entry(struct walk *w, const struct entry *entry, uint64_t number)
{
    struct pages *out = w->out;
    if (out->count && compare_keys(&out->entries[out->count - 1].key, &entry->key) >= 0)
        return bad(w, number, "has keys out of order");
    if (out->count == w->capacity) {
        size_t capacity = w->capacity ? 2 * w->capacity : 256;
        struct entry *grown = realloc(out->entries, capacity * sizeof *grown);
        if (!grown)
            return fail_nomem(w->err);
        out->entries = grown;
        w->capacity = capacity;
    }
    out->entries[out->count++] = *entry;
    return APL_OK;
}

static apl_status leaf_node(struct walk *w, uint64_t number, const uint8_t *page, struct cursor *node)
{
    uint64_t low = cursor_u16(node), high = cursor_u16(node), size = low | high << 16;
    unsigned flags = cursor_u16(node), key_bytes = cursor_u16(node);
    if (key_bytes != KEY_BYTES || flags & ~NODE_BIG || size == 0)
        return bad(w, number, "has a node that is none of a store's");
    struct entry entry = {.key = read_key(node), .size = (uint32_t)size};
    if (!cursor_ok(node))
        return bad(w, number, "has a node that is cut");
    if (flags & NODE_BIG)
        TRY(overflow_value(w, node, size, number, &entry.offset));
    else if (size <= cursor_left(node))
        entry.offset = number * w->page_size + (uint64_t)(node->at - page);
    else
        return bad(w, number, "has a node that is cut");
    return add_entry(w, &entry, number);
}

static apl_status walk_leaf(struct walk *w, uint64_t number)
{
    const uint8_t *page;
    unsigned nodes;
    TRY(get_page(w, number, PAGE_LEAF, 1, &page));
    TRY(page_nodes(w, number, page, 1, &nodes));
    for (unsigned i = 0; i < nodes; i++) {
        struct cursor node;
        TRY(page_node(w, number, page, i, &node));
        TRY(leaf_node(w, number, page, &node));
    }
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- branches */

/* Walks the subtree of `number`, which is `depth` pages high; recursion is bounded by MAX_DEPTH. */
static apl_status walk_tree(struct walk *w, uint64_t number, unsigned depth)
{
    if (depth == 1)
        return walk_leaf(w, number);
    const uint8_t *page;
    unsigned nodes;
    TRY(get_page(w, number, PAGE_BRANCH, depth, &page));
    TRY(page_nodes(w, number, page, 2, &nodes));
    for (unsigned i = 0; i < nodes; i++) {
        struct cursor node;
        TRY(page_node(w, number, page, i, &node));
        uint64_t low = cursor_u16(&node), high = cursor_u16(&node), top = cursor_u16(&node);
        unsigned key_bytes = cursor_u16(&node);
        if (key_bytes != (i ? KEY_BYTES : 0))
            return bad(w, number, "has a key that is none of a store's");
        struct key key = read_key(&node);
        if (i && !cursor_ok(&node))
            return bad(w, number, "has a node that is cut");
        size_t before = w->out->count;
        /* The keys of a subtree must be at or above the one that leads to it, or the tree would lie about
         * what it holds. */
        TRY(walk_tree(w, low | high << 16 | top << 32, depth - 1));
        if (i && compare_keys(&w->out->entries[before].key, &key) < 0)
            return bad(w, number, "has a key above its subtree");
    }
    return APL_OK;
}

/* ----------------------------------------------------------------------------------------------- metas */

struct meta {
    uint64_t transaction, last_page, root, entries;
    uint32_t page_size;
    unsigned depth, flags;
};

static bool read_meta(const uint8_t *page, struct meta *m)
{
    if (load_le(page + 16, 4) != LMDB_MAGIC || load_le(page + 20, 4) != LMDB_VERSION ||
        load_le(page + 10, 2) != PAGE_META)
        return false;
    const uint8_t *main_db = page + 88;
    m->page_size = (uint32_t)load_le(page + 40, 4);
    m->flags = (unsigned)load_le(main_db + 4, 2);
    m->depth = (unsigned)load_le(main_db + 6, 2);
    m->entries = load_le(main_db + 32, 8);
    m->root = load_le(main_db + 40, 8);
    m->last_page = load_le(page + 136, 8);
    m->transaction = load_le(page + 144, 8);
    return m->page_size >= 4096 && m->page_size <= 65536 && (m->page_size & (m->page_size - 1)) == 0;
}

/* Reads the meta page that begins at `at`, as far as it matters. */
static apl_status get_meta(struct walk *w, uint64_t at, struct meta *m, bool *ok)
{
    uint8_t bytes[META_BYTES];
    *ok = false;
    if (w->file->size < at + META_BYTES)
        return APL_OK;
    if (w->file->map)
        memcpy(bytes, w->file->map + at, META_BYTES);
    else
        TRY(read_at(w->file->fd, at, bytes, META_BYTES, w->err));
    *ok = read_meta(bytes, m);
    return APL_OK;
}

/* Picks the newer of the two metas and checks it against the file. */
static apl_status choose_meta(struct walk *w, struct meta *meta)
{
    struct meta a, b;
    bool ok;
    TRY(get_meta(w, 0, &a, &ok));
    if (!ok)
        return fail(w->err, APL_E_CORRUPT, "it is no LMDB file of data version 1");
    TRY(get_meta(w, a.page_size, &b, &ok));
    if (!ok || a.page_size != b.page_size)
        return fail(w->err, APL_E_CORRUPT, "its two meta pages do not agree");
    *meta = b.transaction > a.transaction ? b : a;
    w->page_size = meta->page_size;
    w->pages = w->file->size / w->page_size;
    uint64_t expected = (meta->last_page + 1) * w->page_size;
    if (meta->last_page >= w->pages)
        return fail(w->err, APL_E_CORRUPT, "it has been cut: %llu bytes, %llu expected",
                    (unsigned long long)w->file->size, (unsigned long long)expected);
    if (w->file->size != expected)
        return fail(w->err, APL_E_CORRUPT, "it has been extended: %llu bytes, %llu expected",
                    (unsigned long long)w->file->size, (unsigned long long)expected);
    if (meta->flags != 0 || meta->depth == 0 || meta->depth > MAX_DEPTH || meta->root == NO_PAGE)
        return fail(w->err, APL_E_CORRUPT, "its database is none of a store's");
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------- opening */

static apl_status walk(struct pages *pages, apl_error *err)
{
    struct walk w = {.file = pages, .out = pages, .err = err};
    struct meta meta = {0};
    apl_status status;
    TRY(choose_meta(&w, &meta));
    w.seen = calloc((size_t)(w.pages / 8 + 1), 1);
    w.levels = malloc((meta.depth + 1) * (size_t)w.page_size);
    if (w.seen && w.levels)
        status = walk_tree(&w, meta.root, meta.depth);
    else
        status = fail_nomem(err);
    free(w.seen);
    free(w.levels);
    if (status == APL_OK && pages->count != meta.entries)
        status = fail(err, APL_E_CORRUPT, "it has %zu entries, %llu expected", pages->count,
                      (unsigned long long)meta.entries);
    return status;
}

/* Does the file lie where others may cut it, or the way to it fail, at any time: on a network, or in another process? (The
 * numbers are those of statfs(2), and of the file systems that it does not list.) */
static bool is_remote(int fd)
{
    static const uint32_t types[] = {
        0x6969 /* NFS */,      0x517b /* SMB */,
        0xff534d42 /* CIFS */, 0xfe534d42 /* SMB 2 */,
        0x65735546 /* FUSE */, 0x0bd00bd0 /* Lustre */,
        0x47504653 /* GPFS */, 0x01021997 /* 9P */,
        0x00c36400 /* Ceph */, 0x19830326 /* BeeGFS */,
        0x5346414f /* AFS */,  0x7461636f /* OCFS2 */,
        0x01161970 /* GFS2 */, 0x786f4256 /* VirtualBox */,
    };
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((uint32_t)fs.f_type == types[i])
            return true;
    return false;
}

/* What AUTO means for this file: as APL_IO in the environment says, or as suits the file system. */
static apl_io choose_io(int fd)
{
    const char *said = getenv("APL_IO");
    if (said && strcmp(said, "read") == 0)
        return APL_IO_READ;
    if (said && strcmp(said, "map") == 0)
        return APL_IO_MAP;
    return is_remote(fd) ? APL_IO_READ : APL_IO_MAP;
}

static apl_status take_file(int fd, apl_io io, struct pages *pages, apl_error *err)
{
    if (io == APL_IO_READ || (io == APL_IO_AUTO && choose_io(fd) == APL_IO_READ)) {
        pages->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        return pages->fd < 0 ? fail_errno(err, errno, "cannot keep it open") : APL_OK;
    }
    void *map = mmap(NULL, (size_t)pages->size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return fail_errno(err, errno, "cannot map it");
    pages->map = map;
    return APL_OK;
}

apl_status pages_open(int fd, apl_io io, struct pages *pages, apl_error *err)
{
    struct stat st;
    *pages = (struct pages){.fd = -1};
    if (fstat(fd, &st) != 0)
        return fail_errno(err, errno, "cannot look at it");
    if (!S_ISREG(st.st_mode))
        return fail(err, APL_E_CORRUPT, "it is no regular file");
    if (st.st_size == 0)
        return fail(err, APL_E_CORRUPT, "it is empty");
    pages->size = (uint64_t)st.st_size;
    TRY(take_file(fd, io, pages, err));
    apl_status status = walk(pages, err);
    if (status != APL_OK)
        pages_close(pages);
    return status;
}

void pages_close(struct pages *pages)
{
    if (pages->map)
        munmap((void *)pages->map, (size_t)pages->size);
    else if (pages->fd >= 0)
        close(pages->fd);
    free(pages->entries);
    *pages = (struct pages){.fd = -1};
}

apl_status pages_value(const struct pages *pages, const struct entry *entry, struct buffer *scratch,
                       const uint8_t **bytes, apl_error *err)
{
    if (pages->map) {
        *bytes = pages->map + entry->offset;
        return APL_OK;
    }
    scratch->size = 0;
    if (!buffer_reserve(scratch, entry->size))
        return fail_nomem(err);
    *bytes = scratch->data;
    return read_at(pages->fd, entry->offset, scratch->data, entry->size, err);
}

const struct entry *pages_find(const struct pages *pages, struct key key)
{
    size_t low = 0, high = pages->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_keys(&pages->entries[middle].key, &key);
        if (order == 0)
            return &pages->entries[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
