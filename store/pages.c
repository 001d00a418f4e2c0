/* Walking an LMDB file. The layout of its pages, from the file's point of view:
 *
 *   page header   0: page number (8)   8: pad (2)   10: flags (2)   12: lower (2), upper (2), or pages of the
 * run (4) meta page    16: magic (4)  20: version (4)  24: address (8)  32: map size (8) 40: database of free
 * pages (48)  88: main database (48)  136: last page (8)  144: transaction (8) database      0: page size, in
 * the first only (4)  4: flags (2)  6: depth (2)  8: branch pages (8)  16: leaf pages (8) 24: overflow pages
 * (8)  32: entries (8)  40: root (8) node          0: low half (2)  2: high half (2) of the data size or page
 * number  4: flags, or bits 32... of the page number (2)  6: key size (2)  8: key, then data
 */
#include "pages.h"

#include "bytes.h"

#include <errno.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

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

struct walk {
    const uint8_t *map;
    uint64_t size, pages; /* in bytes, in pages */
    uint32_t page_size;
    uint8_t *seen; /* a bit a page: each is reached once */
    struct pages *out;
    size_t capacity;
    apl_error *err;
};

static apl_status bad(struct walk *w, uint64_t page, const char *what)
{
    return fail(w->err, APL_E_CORRUPT, "page %llu of the file: %s", (unsigned long long)page, what);
}

/* ----------------------------------------------------------------------------------------------- pages */

/* The page `number`, if it lies in the file, has not been seen, and has exactly the type `type`. */
static apl_status get_page(struct walk *w, uint64_t number, unsigned type, const uint8_t **page)
{
    if (number < 2 || number >= w->pages)
        return bad(w, number, "lies outside the file");
    if (w->seen[number / 8] >> number % 8 & 1)
        return bad(w, number, "is used twice");
    w->seen[number / 8] |= (uint8_t)(1u << number % 8);
    *page = w->map + number * w->page_size;
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
    uint64_t at = load_le(page + PAGE_HEAD + 2 * i, 2);
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
    TRY(get_page(w, first, PAGE_OVERFLOW, &page));
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

static apl_status leaf_node(struct walk *w, uint64_t number, struct cursor *node)
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
        entry.offset = (uint64_t)(node->at - w->map);
    else
        return bad(w, number, "has a node that is cut");
    return add_entry(w, &entry, number);
}

static apl_status walk_leaf(struct walk *w, uint64_t number)
{
    const uint8_t *page;
    unsigned nodes;
    TRY(get_page(w, number, PAGE_LEAF, &page));
    TRY(page_nodes(w, number, page, 1, &nodes));
    for (unsigned i = 0; i < nodes; i++) {
        struct cursor node;
        TRY(page_node(w, number, page, i, &node));
        TRY(leaf_node(w, number, &node));
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
    TRY(get_page(w, number, PAGE_BRANCH, &page));
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

/* Picks the newer of the two metas and checks it against the file. */
static apl_status choose_meta(struct walk *w, struct meta *meta)
{
    struct meta a, b;
    if (w->size < 4096 || !read_meta(w->map, &a))
        return fail(w->err, APL_E_CORRUPT, "it is no LMDB file of data version 1");
    if (w->size < 2 * (uint64_t)a.page_size || !read_meta(w->map + a.page_size, &b) ||
        a.page_size != b.page_size)
        return fail(w->err, APL_E_CORRUPT, "its two meta pages do not agree");
    *meta = b.transaction > a.transaction ? b : a;
    w->page_size = meta->page_size;
    w->pages = w->size / w->page_size;
    if (meta->last_page >= w->pages)
        return fail(w->err, APL_E_CORRUPT, "it has been cut: %llu bytes, %llu expected",
                    (unsigned long long)w->size, (unsigned long long)((meta->last_page + 1) * w->page_size));
    if (w->size != (meta->last_page + 1) * w->page_size)
        return fail(w->err, APL_E_CORRUPT, "it has been extended: %llu bytes, %llu expected",
                    (unsigned long long)w->size, (unsigned long long)((meta->last_page + 1) * w->page_size));
    if (meta->flags != 0 || meta->depth == 0 || meta->depth > MAX_DEPTH || meta->root == NO_PAGE)
        return fail(w->err, APL_E_CORRUPT, "its database is none of a store's");
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------- opening */

static apl_status walk(struct pages *pages, apl_error *err)
{
    struct walk w = {.map = pages->map, .size = pages->size, .out = pages, .err = err};
    struct meta meta = {0};
    TRY(choose_meta(&w, &meta));
    w.seen = calloc((size_t)(w.pages / 8 + 1), 1);
    if (!w.seen)
        return fail_nomem(err);
    apl_status status = walk_tree(&w, meta.root, meta.depth);
    free(w.seen);
    if (status == APL_OK && pages->count != meta.entries)
        status = fail(err, APL_E_CORRUPT, "it has %zu entries, %llu expected", pages->count,
                      (unsigned long long)meta.entries);
    return status;
}

apl_status pages_open(int fd, struct pages *pages, apl_error *err)
{
    struct stat st;
    *pages = (struct pages){0};
    if (fstat(fd, &st) != 0)
        return fail_errno(err, errno, "cannot look at it");
    if (!S_ISREG(st.st_mode))
        return fail(err, APL_E_CORRUPT, "it is no regular file");
    if (st.st_size == 0)
        return fail(err, APL_E_CORRUPT, "it is empty");
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return fail_errno(err, errno, "cannot map it");
    pages->map = map;
    pages->size = (uint64_t)st.st_size;
    apl_status status = walk(pages, err);
    if (status != APL_OK)
        pages_close(pages);
    return status;
}

void pages_close(struct pages *pages)
{
    if (pages->map)
        munmap((void *)pages->map, (size_t)pages->size);
    free(pages->entries);
    *pages = (struct pages){0};
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
