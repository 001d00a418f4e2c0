/* LMDB files that are damaged, or made to do harm: an error each, and never a crash. */
#include "counts.h"
#include "lmdb_file.h"
#include "samples.h"

#include <fcntl.h>

#define PAGE   4096u
#define BRANCH 1u
#define LEAF   2u

/* A file of a branch over some leaves, with values that have pages of their own, its bytes in memory too. */
struct hurt {
    struct place place;
    int fd;
    uint8_t *data;
    size_t size;
    size_t meta, root; /* where the newer meta page and the root lie */
};

static void hurt_make(struct hurt *h, uint32_t count, size_t size)
{
    place_make(&h->place);
    struct lmdb_writer *writer = new_lmdb(h->place.file);
    for (uint32_t i = 0; i < count; i++)
        put_value(writer, (struct key){KEY_BLOCK, 1, 2 * i + 2}, size);
    for (uint32_t i = 0; i < 3; i++)
        put_value(writer, (struct key){KEY_BLOCK, 1, 4 * i + 3}, 9000 + 3000 * i);
    finish_lmdb(writer);
    h->data = read_all(h->place.file, &h->size);
    h->meta = load_le(h->data + PAGE + 144, 8) > load_le(h->data + 144, 8) ? PAGE : 0;
    h->root = (size_t)load_le(h->data + h->meta + 88 + 40, 8) * PAGE;
    cr_assert_eq(load_le(h->data + 40, 4), PAGE);
    h->fd = open(h->place.file, O_RDWR);
    cr_assert(h->fd >= 0);
}

static void hurt_free(struct hurt *h)
{
    close(h->fd);
    free(h->data);
    place_remove(&h->place);
}

static void write_at(struct hurt *h, const uint8_t *data, size_t at, size_t size)
{
    cr_assert_eq(pwrite(h->fd, data, size, (off_t)at), (ssize_t)size);
}

static void restore(struct hurt *h)
{
    cr_assert_eq(ftruncate(h->fd, (off_t)h->size), 0);
    write_at(h, h->data, 0, h->size);
}

/* Opens the file; if that goes well, takes all of each value. */
static apl_status open_by(struct hurt *h, apl_io io, uint8_t *sum, apl_error *err)
{
    struct lmdb_reader lmdb;
    struct buffer scratch = {0};
    TRY(lmdb_reader_open(h->fd, io, &lmdb, err));
    *sum = 0;
    apl_status status = APL_OK;
    for (size_t i = 0; i < lmdb.count && status == APL_OK; i++) {
        const struct entry *e = &lmdb.entries[i];
        const uint8_t *bytes;
        cr_assert(e->size > 0 && e->offset < lmdb.size && e->size <= lmdb.size - e->offset);
        status = lmdb_reader_value(&lmdb, e, &scratch, &bytes, err);
        for (uint32_t k = 0; k < e->size && status == APL_OK; k++)
            *sum ^= bytes[k];
        cr_assert_eq(lmdb_reader_find(&lmdb, e->key), e);
    }
    buffer_free(&scratch);
    lmdb_reader_close(&lmdb);
    return status;
}

/* Mapped and read, which must come to the same. */
static apl_status open_hurt(struct hurt *h, apl_error *err)
{
    apl_error read_err;
    uint8_t sum = 0, read_sum = 0;
    apl_status status = open_by(h, APL_IO_MAP, &sum, err);
    cr_assert_eq(open_by(h, APL_IO_READ, &read_sum, &read_err), status);
    cr_assert_eq(sum, read_sum);
    if (status != APL_OK)
        cr_assert_str_eq(err->message, read_err.message);
    return status;
}

/* With `value` in the `bytes` bytes at `at`, the file is refused for the reason `why` ("": any). */
static void refused(struct hurt *h, size_t at, unsigned bytes, uint64_t value, const char *why)
{
    uint8_t p[8];
    apl_error err = {.message = "none"};
    store_le(p, value, bytes);
    write_at(h, p, at, bytes);
    apl_status status = open_hurt(h, &err);
    cr_assert_eq(status, APL_E_CORRUPT, "%llu at %zu, for \"%s\": accepted", (unsigned long long)value, at,
                 why);
    cr_assert_not_null(strstr(err.message, why), "\"%s\" does not say \"%s\"", err.message, why);
    write_at(h, h->data + at, at, bytes);
}

/* Where node `i` of the page at `page` lies, and its number of nodes. */
static size_t node_of(const struct hurt *h, size_t page, unsigned i)
{
    return page + (size_t)load_le(h->data + page + 16 + 2 * i, 2);
}

static unsigned nodes_of(const struct hurt *h, size_t page)
{
    return (unsigned)(load_le(h->data + page + 12, 2) - 16) / 2;
}

static size_t child_of(const struct hurt *h, size_t page, unsigned i)
{
    return (size_t)load_le(h->data + node_of(h, page, i), 4) * PAGE;
}

/* The `n`th node below the root whose value has pages of its own. */
static size_t big_node(const struct hurt *h, unsigned n)
{
    for (unsigned c = 0; c < nodes_of(h, h->root); c++) {
        size_t leaf = child_of(h, h->root, c);
        for (unsigned i = 0; i < nodes_of(h, leaf); i++) {
            size_t node = node_of(h, leaf, i);
            if (load_le(h->data + node + 4, 2) & 1 && n-- == 0)
                return node;
        }
    }
    cr_assert_fail("no such node");
    return 0;
}

/* The page number that the node of a big value leads to. */
static uint64_t run_of(const struct hurt *h, size_t node)
{
    return load_le(h->data + node + 8 + KEY_BYTES, 8);
}

static void hurt_tree(struct hurt *h)
{
    hurt_make(h, 200, 90);
    apl_error err;
    cr_assert_eq(open_hurt(h, &err), APL_OK, "%s", err.message);
    cr_assert_eq(load_le(h->data + h->meta + 88 + 6, 2), 2);
    cr_assert_eq(load_le(h->data + h->root + 10, 2), BRANCH);
    cr_assert(nodes_of(h, h->root) >= 3);
    cr_assert_eq(load_le(h->data + child_of(h, h->root, 0) + 10, 2), LEAF);
}

Test(lmdb_damage, metas)
{
    struct hurt h;
    hurt_tree(&h);
    for (size_t meta = 0; meta <= PAGE; meta += PAGE) {
        const char *what = meta ? "two meta pages do not agree" : "not an LMDB file";
        refused(&h, meta + 10, 2, LEAF, what);
        refused(&h, meta + 16, 4, 0xbeefc0df, what);
        refused(&h, meta + 20, 4, 2, what);
        static const uint32_t sizes[] = {0, 1, 2048, 4095, 4097, 6144, 1u << 17, 1u << 31, UINT32_MAX};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            refused(&h, meta + 40, 4, sizes[i], what);
        refused(&h, meta + 40, 4, 8192, "two meta pages do not agree");
    }
    refused(&h, h.meta + 136, 8, h.size / PAGE, "it has been truncated");
    refused(&h, h.meta + 136, 8, UINT64_MAX, "it has been truncated");
    refused(&h, h.meta + 136, 8, h.size / PAGE - 2, "it has been extended");
    refused(&h, h.meta + 136, 8, 0, "it has been extended");
    refused(&h, h.meta + 88 + 4, 2, 4, "its database is not an APL store's");
    refused(&h, h.meta + 88 + 40, 8, UINT64_MAX, "its database is not an APL store's");
    hurt_free(&h);
}

Test(lmdb_damage, roots)
{
    struct hurt h;
    hurt_tree(&h);
    size_t depth = h.meta + 88 + 6, root = h.meta + 88 + 40, entries = h.meta + 88 + 32;
    refused(&h, depth, 2, 0, "its database is not an APL store's");
    refused(&h, depth, 2, 33, "its database is not an APL store's");
    refused(&h, depth, 2, 1, "has a wrong type");
    refused(&h, depth, 2, 3, "has a wrong type");
    refused(&h, depth, 2, 32, "has a wrong type");
    refused(&h, root, 8, 0, "lies outside the file");
    refused(&h, root, 8, 1, "lies outside the file");
    refused(&h, root, 8, h.size / PAGE, "lies outside the file");
    refused(&h, root, 8, (uint64_t)1 << 52, "lies outside the file");
    refused(&h, root, 8, UINT64_MAX - 1, "lies outside the file");
    refused(&h, root, 8, child_of(&h, h.root, 0) / PAGE, "has a wrong type");
    refused(&h, root, 8, run_of(&h, big_node(&h, 0)), "has a wrong type");
    refused(&h, root, 8, run_of(&h, big_node(&h, 0)) + 1, "has another page's number");
    refused(&h, entries, 8, 202, "it has 203 entries, 202 expected");
    refused(&h, entries, 8, 0, "it has 203 entries, 0 expected");
    refused(&h, entries, 8, UINT64_MAX, "it has 203 entries");
    hurt_free(&h);
}

/* What is checked of branches and leaves alike. */
static void expect_page_checks(struct hurt *h, size_t page, unsigned least)
{
    unsigned nodes = nodes_of(h, page);
    uint64_t upper = load_le(h->data + page + 14, 2);
    refused(h, page, 8, page / PAGE + 1, "has another page's number");
    refused(h, page + 10, 2, 4, "has a wrong type");
    refused(h, page + 10, 2, 3, "has a wrong type");
    refused(h, page + 10, 2, 0x22, "has a wrong type");
    refused(h, page + 12, 2, 0, "has impossible bounds");
    refused(h, page + 12, 2, 14, "has impossible bounds");
    refused(h, page + 12, 2, 17, "has impossible bounds");
    refused(h, page + 12, 2, upper + 2 - upper % 2, "has impossible bounds");
    refused(h, page + 12, 2, 0xfffe, "has impossible bounds");
    refused(h, page + 12, 2, 16 + 2 * (least - 1), "has too few nodes");
    refused(h, page + 14, 2, PAGE + 2, "has impossible bounds");
    refused(h, page + 14, 2, 16 + 2 * nodes - 2, "has impossible bounds");
    refused(h, page + 14, 2, PAGE, "has a node outside of itself");
    for (unsigned i = 0; i < nodes; i += nodes - 1) {
        size_t at = page + 16 + 2 * i;
        refused(h, at, 2, load_le(h->data + at, 2) + 1, "has a node outside of itself");
        refused(h, at, 2, 0, "has a node outside of itself");
        refused(h, at, 2, upper - 2, "has a node outside of itself");
        refused(h, at, 2, PAGE, "has a node outside of itself");
        refused(h, at, 2, PAGE - 6, "has a node outside of itself");
        refused(h, at, 2, 0xfffe, "has a node outside of itself");
    }
}

Test(lmdb_damage, lmdb)
{
    struct hurt h;
    hurt_tree(&h);
    expect_page_checks(&h, h.root, 2);
    for (unsigned i = 0; i < nodes_of(&h, h.root); i++)
        expect_page_checks(&h, child_of(&h, h.root, i), 1);
    hurt_free(&h);
}

Test(lmdb_damage, branch_nodes)
{
    struct hurt h;
    hurt_tree(&h);
    unsigned last = nodes_of(&h, h.root) - 1;
    for (unsigned i = 0; i <= last; i++) {
        size_t node = node_of(&h, h.root, i);
        uint64_t other = child_of(&h, h.root, i ? i - 1 : i + 1) / PAGE;
        refused(&h, node, 4, 1, "lies outside the file");
        refused(&h, node, 4, h.size / PAGE, "lies outside the file");
        refused(&h, node + 4, 2, 1, "lies outside the file");
        refused(&h, node, 4, h.root / PAGE, "is used twice");
        refused(&h, node, 4, other, "is used twice");
        refused(&h, node + 6, 2, i ? 11 : 12, "has a key that no APL store has");
        refused(&h, node + 6, 2, 0xffff, "has a key that no APL store has");
        if (i) {
            refused(&h, node + 6, 2, 0, "has a key that no APL store has");
            refused(&h, node + 8, 1, 0xff, "has a key above its subtree");
            refused(&h, h.root + 16 + 2 * i, 2, PAGE - 12, "");
        }
    }
    /* A tree that is said to be deeper and goes round in a circle. */
    write_at(&h, (const uint8_t[]){32, 0}, h.meta + 88 + 6, 2);
    uint8_t root[8];
    store_le(root, h.root / PAGE, 8);
    write_at(&h, root, node_of(&h, h.root, 0), 4);
    apl_error err;
    cr_assert_eq(open_hurt(&h, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "is used twice"), "%s", err.message);
    hurt_free(&h);
}

Test(lmdb_damage, leaf_nodes)
{
    struct hurt h;
    hurt_tree(&h);
    size_t leaf = child_of(&h, h.root, 1);
    unsigned last = nodes_of(&h, leaf) - 1;
    cr_assert(last > 5);
    for (unsigned i = 0; i <= last; i++) {
        size_t node = node_of(&h, leaf, i);
        static const uint16_t flags[] = {2, 3, 4, 6, 0x80, 0x8000};
        for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
            refused(&h, node + 4, 2, flags[k], "no APL store has");
        static const uint16_t keys[] = {0, 11, 13, 511, 0xffff};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            refused(&h, node + 6, 2, keys[k], "no APL store has");
        refused(&h, node, 4, 0, "no APL store has");
        refused(&h, node, 4, PAGE, "has a node that is cut");
        refused(&h, node, 4, UINT32_MAX, "has a node that is cut");
        refused(&h, node, 4, PAGE - (node - leaf) - 8 - KEY_BYTES + 1, "has a node that is cut");
        refused(&h, node + 11, 1, i ? 1 : 3, "out of order");
        if (i) {
            uint64_t before = load_le(h.data + leaf + 16 + 2 * (i - 1), 2);
            refused(&h, leaf + 16 + 2 * i, 2, before, "out of order");
        }
    }
    refused(&h, leaf + 16 + 2 * last, 2, PAGE - 8, "");
    hurt_free(&h);
}

Test(lmdb_damage, big_values)
{
    struct hurt h;
    hurt_tree(&h);
    for (unsigned n = 0; n < 3; n++) {
        size_t node = big_node(&h, n), at = node + 8 + KEY_BYTES;
        uint64_t first = run_of(&h, node), length = load_le(h.data + first * PAGE + 12, 4);
        uint64_t size = load_le(h.data + node, 4), other = run_of(&h, big_node(&h, (n + 1) % 3));
        cr_assert_eq(length, (16 + size + PAGE - 1) / PAGE);
        refused(&h, at, 8, 0, "lies outside the file");
        refused(&h, at, 8, h.size / PAGE, "lies outside the file");
        refused(&h, at, 8, UINT64_MAX, "lies outside the file");
        refused(&h, at, 8, h.root / PAGE, "is used twice");
        refused(&h, at, 8, other, "");
        refused(&h, at, 8, first + 1, "");
        refused(&h, first * PAGE, 8, first + 1, "has another page's number");
        refused(&h, first * PAGE + 10, 2, LEAF, "has a wrong type");
        refused(&h, first * PAGE + 12, 4, length - 1, "begins a run of a wrong length");
        refused(&h, first * PAGE + 12, 4, length + 1, "begins a run of a wrong length");
        refused(&h, first * PAGE + 12, 4, 0, "begins a run of a wrong length");
        refused(&h, first * PAGE + 12, 4, UINT32_MAX, "begins a run of a wrong length");
        refused(&h, node, 4, length * PAGE - 15, "");
        refused(&h, node, 4, (length - 1) * PAGE - 16, "begins a run of a wrong length");
        refused(&h, node, 4, UINT32_MAX, "begins a run of a wrong length");
        refused(&h, node, 4, 0, "no APL store has");
    }
    hurt_free(&h);
}

/* A run that is longer, value and all, so that it goes over what comes behind it, or over the end. */
Test(lmdb_damage, runs_that_overlap)
{
    struct hurt h;
    hurt_tree(&h);
    for (unsigned n = 0; n < 3; n++)
        for (uint64_t more = 1; more <= h.size / PAGE; more++) {
            size_t node = big_node(&h, n);
            uint64_t first = run_of(&h, node), length = load_le(h.data + first * PAGE + 12, 4) + more;
            uint8_t p[4];
            apl_error err;
            store_le(p, length * PAGE - 16, 4);
            write_at(&h, p, node, 4);
            store_le(p, length, 4);
            write_at(&h, p, first * PAGE + 12, 4);
            apl_status status = open_hurt(&h, &err);
            bool over = first + length > h.size / PAGE || h.root / PAGE - first < length;
            cr_assert_eq(status, over ? APL_E_CORRUPT : status, "over the end, or the root");
            restore(&h);
        }
    hurt_free(&h);
}

/* Moves node `i` of the page at `page` so that only `there` bytes of it come before the page's end, with two at
 * `at` changed. The first node, whose place that may be, goes to where it was. */
static void refuse_at_end(struct hurt *h, size_t page, unsigned i, size_t there, size_t at, uint8_t value)
{
    uint8_t pointer[2], node[64];
    apl_error err = {.message = "accepted"};
    size_t from = node_of(h, page, i);
    memcpy(node, h->data + from, sizeof node);
    store_le(node + at, value, 2);
    write_at(h, h->data + node_of(h, page, 0), from, 8);
    write_at(h, h->data + page + 16 + 2 * i, page + 16, 2);
    write_at(h, node, page + PAGE - there, there);
    store_le(pointer, PAGE - there, 2);
    write_at(h, pointer, page + 16 + 2 * i, 2);
    cr_assert_eq(open_hurt(h, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "has a node that is cut"), "%s", err.message);
    restore(h);
}

/* Nodes whose key, or the place of whose value, would lie behind the page. */
Test(lmdb_damage, nodes_cut_by_the_end_of_the_page)
{
    struct hurt h;
    hurt_tree(&h);
    size_t leaf = child_of(&h, h.root, 0);
    for (size_t there = 8; there < 8 + KEY_BYTES; there += 2) {
        refuse_at_end(&h, leaf, 0, there, 6, KEY_BYTES);
        refuse_at_end(&h, h.root, 1, there, 6, KEY_BYTES);
    }
    for (size_t there = 8 + KEY_BYTES; there < 16 + KEY_BYTES; there += 2)
        refuse_at_end(&h, leaf, 0, there, 4, 1);
    hurt_free(&h);
}

/* The first node gets the run of higher pages, and the second one of lower pages that reaches into it. */
Test(lmdb_damage, runs_over_what_was_met_before)
{
    struct hurt h;
    hurt_tree(&h);
    size_t node[2] = {big_node(&h, 0), big_node(&h, 1)};
    uint64_t run[2] = {run_of(&h, node[0]), run_of(&h, node[1])};
    unsigned high = run[1] > run[0];
    uint64_t low_run = run[!high], pages = run[high] + 1 - low_run;
    uint8_t p[8];
    apl_error err = {.message = "accepted"};
    write_at(&h, h.data + node[high], node[0], 4);
    store_le(p, run[high], 8);
    write_at(&h, p, node[0] + 8 + KEY_BYTES, 8);
    store_le(p, pages * PAGE - 16, 4);
    write_at(&h, p, node[1], 4);
    store_le(p, low_run, 8);
    write_at(&h, p, node[1] + 8 + KEY_BYTES, 8);
    store_le(p, pages, 4);
    write_at(&h, p, low_run * PAGE + 12, 4);
    cr_assert_eq(open_hurt(&h, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "is used twice"), "%s", err.message);
    hurt_free(&h);
}

/* ------------------------------------------------------------------------------------------------ any bytes */

Test(lmdb_damage, cut_at_every_length)
{
    struct hurt h;
    apl_error err;
    hurt_make(&h, 1, 50);
    cr_assert_eq(open_hurt(&h, &err), APL_OK);
    for (size_t size = h.size; size-- > 0;) {
        cr_assert_eq(ftruncate(h.fd, (off_t)size), 0);
        cr_assert_eq(open_hurt(&h, &err), APL_E_CORRUPT, "%zu bytes", size);
    }
    restore(&h);
    counted("pages cut to %zu lengths", h.size);
    static const size_t more[] = {1, 100, PAGE - 1, PAGE, PAGE + 1, 10 * PAGE};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        cr_assert_eq(ftruncate(h.fd, (off_t)(h.size + more[i])), 0);
        cr_assert_eq(open_hurt(&h, &err), APL_E_CORRUPT, "%zu bytes more", more[i]);
    }
    cr_assert_not_null(strstr(err.message, "it has been extended"));
    hurt_free(&h);
}

Test(lmdb_damage, random_bytes)
{
    struct hurt h;
    apl_error err;
    uint32_t state = 20240607;
    hurt_tree(&h);
    int rounds = (int)(times(6000, 200000) / sweep_step());
    for (int round = 0; round < rounds; round++) {
        size_t at[4];
        unsigned n = 1 + sample_random(&state) % 4;
        for (unsigned i = 0; i < n; i++) {
            /* Headers, pointers and nodes more often than the values of big ones. */
            size_t page = (sample_random(&state) >> 4) % (h.size / PAGE) * PAGE;
            size_t within = (sample_random(&state) >> 4) % (round % 3 ? 160 : PAGE);
            if (round % 3 == 1)
                page = round & 4 ? h.root : h.meta;
            at[i] = page + within;
            uint8_t byte = (uint8_t)(sample_random(&state) >> 8);
            write_at(&h, &byte, at[i], 1);
        }
        apl_status status = open_hurt(&h, &err);
        cr_assert(status == APL_OK || status == APL_E_CORRUPT, "round %d: %s", round, err.message);
        for (unsigned i = 0; i < n; i++)
            write_at(&h, h.data + at[i], at[i], 1);
    }
    cr_assert_eq(open_hurt(&h, &err), APL_OK, "all is as it was");
    counted("%d random changes of pages", rounds);
    hurt_free(&h);
}
