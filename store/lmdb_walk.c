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
#include "lmdb_walk.h"
#include "lmdb_page.h"
#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LMDB_MAGIC   0xbeefc0deu
#define LMDB_VERSION 1u
#define META_BYTES   152u
#define NODE_HEAD    8u
#define MAX_DEPTH    32u
#define NODE_BIG     1u
#define NO_PAGE      UINT64_MAX

struct walk {
    const struct lmdb_reader *file;
    int fd; /* open, of mapped files too; -1 of one elsewhere */
    uint64_t pages;
    uint32_t page_size;
    uint8_t *seen;   /* a bit a page: each is reached once */
    uint8_t *levels; /* a page for each level of the tree: copies, for a mapped file may change at any time */
    struct lmdb_reader *out;
    size_t capacity;
    apl_error *err;
};

static apl_status bad_page(struct walk *w, uint64_t page, const char *what)
{
    return page_bad(page, what, w->err);
}

/* ----------------------------------------------------------------------------------------------- pages */

/* Copies `bytes` from offset `at` on, which are in the file: what is checked must not change before it is used. */
static apl_status copy_from_page(struct walk *w, uint64_t at, uint8_t *to, size_t bytes)
{
    if (!w->file->map)
        return page_read(w->file, at, to, bytes, w->err);
    memcpy(to, w->file->map + at, bytes);
    return APL_OK;
}

/* Makes sure that `count` pages from `number` on lie in the file and have not been met before; now they have. */
static apl_status take_pages(struct walk *w, uint64_t number, uint64_t count)
{
    if (number < 2 || number >= w->pages)
        return bad_page(w, number, "lies outside the file");
    if (count > w->pages - number)
        return bad_page(w, number, "begins a run of a wrong length");
    for (uint64_t p = number; p < number + count; p++) {
        if (w->seen[p / 8] >> p % 8 & 1)
            return bad_page(w, p, "is used twice");
        w->seen[p / 8] |= (uint8_t)(1u << p % 8);
    }
    return APL_OK;
}

/* A copy of page `number`, if that lies in the file, has not been seen, and has exactly the type `type`. */
static apl_status get_page(struct walk *w, uint64_t number, unsigned type, unsigned depth,
                           const uint8_t **page)
{
    uint8_t *copy = w->levels + (size_t)(depth - 1) * w->page_size;
    *page = copy;
    TRY(take_pages(w, number, 1));
    TRY(copy_from_page(w, number * w->page_size, copy, w->page_size));
    return page_check(copy, number, type, w->err);
}

/* The number of nodes of a branch or leaf page. */
static apl_status page_nodes(struct walk *w, uint64_t number, const uint8_t *page, unsigned least,
                             unsigned *nodes)
{
    uint64_t lower = load_le(page + 12, 2), upper = load_le(page + 14, 2);
    /* A page of 64 KiB that is empty has an upper bound that does not fit in two bytes; such a page is never
     * written. */
    if (lower < PAGE_HEAD || lower % 2 || lower > upper || upper > w->page_size)
        return bad_page(w, number, "has impossible bounds");
    *nodes = (unsigned)(lower - PAGE_HEAD) / 2;
    return *nodes >= least ? APL_OK : bad_page(w, number, "has too few nodes");
}

/* Node `i` of a page: its bytes to the end of the page as a cursor that stands on its header. */
static apl_status page_node(struct walk *w, uint64_t number, const uint8_t *page, unsigned i,
                            struct cursor *node)
{
    uint64_t at = load_le(page + PAGE_HEAD + (size_t)2 * i, 2);
    if (at % 2 || at < load_le(page + 14, 2) || at + NODE_HEAD > w->page_size)
        return bad_page(w, number, "has a node outside of itself");
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

/* ---------------------------------------------------------------------------------------------- leaves */

/* A value that has pages of its own, which must lie in the file. They are not looked at yet. */
static apl_status overflow_value(struct walk *w, struct cursor *node, uint64_t size, uint64_t number,
                                 uint64_t *offset)
{
    uint64_t first = cursor_u64(node);
    if (!cursor_ok(node))
        return bad_page(w, number, "has a node that is cut");
    TRY(take_pages(w, first, page_run(size, w->page_size)));
    *offset = first * w->page_size + PAGE_HEAD;
    return APL_OK;
}

static apl_status add_entry(struct walk *w, const struct entry *entry, uint64_t number)
{
    struct lmdb_reader *out = w->out;
    if (out->count && compare_keys(&out->entries[out->count - 1].key, &entry->key) >= 0)
        return bad_page(w, number, "has keys out of order");
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
        return bad_page(w, number, "has a node of a kind that no APL store has");
    struct entry entry = {.key = read_key(node), .size = (uint32_t)size};
    if (!cursor_ok(node))
        return bad_page(w, number, "has a node that is cut");
    if (flags & NODE_BIG)
        TRY(overflow_value(w, node, size, number, &entry.offset));
    else if (size <= cursor_left(node))
        entry.offset = number * w->page_size + (uint64_t)(node->at - page);
    else
        return bad_page(w, number, "has a node that is cut");
    return add_entry(w, &entry, number);
}

static apl_status walk_leaf(struct walk *w, uint64_t number)
{
    const uint8_t *page;
    unsigned nodes = 0;
    TRY(get_page(w, number, PAGE_LEAF, 1, &page));
    TRY(page_nodes(w, number, page, 1, &nodes));
    for (unsigned i = 0; i < nodes; i++) {
        struct cursor node = {0};
        TRY(page_node(w, number, page, i, &node));
        TRY(leaf_node(w, number, page, &node));
    }
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- branches */

static uint64_t read_child(struct cursor *node)
{
    uint64_t low = cursor_u16(node), high = cursor_u16(node), top = cursor_u16(node);
    return low | high << 16 | top << 32;
}

/* Has the system begin to read the page that node `i` leads to: the pages of a level are far apart, and waiting for one after
 * another would take long. Nothing is lost if it does not. */
static void read_ahead(struct walk *w, const uint8_t *page, unsigned i)
{
    uint64_t at = load_le(page + PAGE_HEAD + (size_t)2 * i, 2);
    if (at + NODE_HEAD > w->page_size)
        return;
    struct cursor node = cursor_over(page + at, NODE_HEAD);
    uint64_t child = read_child(&node);
    if (child >= w->pages)
        return;
    if (w->file->remote)
        (void)remote_ahead(w->file->remote, &(struct extent){child * w->page_size, w->page_size}, 1,
                           (struct need){false, DUE_UNKNOWN});
    else
        (void)posix_fadvise(w->fd, (off_t)(child * w->page_size), (off_t)w->page_size, POSIX_FADV_WILLNEED);
}

/* Walks the subtree of `number`, which is `depth` pages high; recursion is bounded by MAX_DEPTH. */
static apl_status walk_tree(struct walk *w, uint64_t number, unsigned depth)
{
    if (depth == 1)
        return walk_leaf(w, number);
    const uint8_t *page;
    unsigned nodes = 0;
    TRY(get_page(w, number, PAGE_BRANCH, depth, &page));
    TRY(page_nodes(w, number, page, 2, &nodes));
    for (unsigned i = 0; i < nodes; i++)
        read_ahead(w, page, i);
    for (unsigned i = 0; i < nodes; i++) {
        struct cursor node = {0};
        TRY(page_node(w, number, page, i, &node));
        uint64_t child = read_child(&node);
        unsigned key_bytes = cursor_u16(&node);
        if (key_bytes != (i ? KEY_BYTES : 0))
            return bad_page(w, number, "has a key that no APL store has");
        struct key key = read_key(&node);
        if (i && !cursor_ok(&node))
            return bad_page(w, number, "has a node that is cut");
        size_t before = w->out->count;
        /* The keys of a subtree must be at or above the one that leads to it, or the tree would lie about
         * what it holds. */
        TRY(walk_tree(w, child, depth - 1));
        if (i && compare_keys(&w->out->entries[before].key, &key) < 0)
            return bad_page(w, number, "has a key above its subtree");
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

bool lmdb_is_cut(const uint8_t *head, size_t bytes, uint64_t file_bytes)
{
    struct meta m = {.page_size = 0};
    if (bytes < META_BYTES || !read_meta(head, &m))
        return false;
    uint64_t pages = m.last_page + 1, second = m.page_size;
    if (second + META_BYTES <= bytes && read_meta(head + second, &m) && m.last_page >= pages)
        pages = m.last_page + 1;
    return file_bytes / second < pages;
}

/* Reads the meta page that begins at `at`, as far as it matters. */
static apl_status get_meta(struct walk *w, uint64_t at, struct meta *m, bool *ok)
{
    uint8_t bytes[META_BYTES];
    *ok = false;
    if (w->file->size < at + META_BYTES)
        return APL_OK;
    TRY(copy_from_page(w, at, bytes, META_BYTES));
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
        return fail(w->err, APL_E_CORRUPT, "it is not an LMDB file of data version 1");
    TRY(get_meta(w, a.page_size, &b, &ok));
    if (!ok || a.page_size != b.page_size)
        return fail(w->err, APL_E_CORRUPT, "its two meta pages do not agree");
    *meta = b.transaction > a.transaction ? b : a;
    w->page_size = meta->page_size;
    w->pages = w->file->size / w->page_size;
    uint64_t expected = (meta->last_page + 1) * w->page_size;
    if (meta->last_page >= w->pages)
        return fail(w->err, APL_E_CORRUPT, "it has been truncated: %llu bytes, %llu expected",
                    (unsigned long long)w->file->size, (unsigned long long)expected);
    if (w->file->size != expected)
        return fail(w->err, APL_E_CORRUPT, "it has been extended: %llu bytes, %llu expected",
                    (unsigned long long)w->file->size, (unsigned long long)expected);
    if (meta->flags != 0 || meta->depth == 0 || meta->depth > MAX_DEPTH || meta->root == NO_PAGE)
        return fail(w->err, APL_E_CORRUPT, "its database is not an APL store's");
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------- the whole */

apl_status lmdb_walk(struct lmdb_reader *lmdb, int fd, apl_error *err)
{
    struct walk w = {.file = lmdb, .fd = fd, .out = lmdb, .err = err};
    struct meta meta = {0};
    apl_status status;
    TRY(choose_meta(&w, &meta));
    w.seen = calloc((size_t)(w.pages / 8 + 1), 1);
    w.levels = malloc(meta.depth * (size_t)w.page_size);
    lmdb->page_size = w.page_size;
    if (w.seen && w.levels)
        status = walk_tree(&w, meta.root, meta.depth);
    else
        status = fail_nomem(err);
    free(w.seen);
    free(w.levels);
    if (status == APL_OK && lmdb->count != meta.entries)
        status = fail(err, APL_E_CORRUPT, "it has %s, %llu expected",
                      number_of(lmdb->count, "entry", "entries"), (unsigned long long)meta.entries);
    return status;
}
