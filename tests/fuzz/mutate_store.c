/*
 * Mutates a data.mdb where it matters: meta pages, page headers, nodes, keys, the manifest, blocks. Then, most of
 * the time, makes the checksums right.
 */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz.h"
#include "readback.h"
#include "repair.h"
#include "store.h"

#include <sys/mman.h>
#include <unistd.h>

#define PAGE_HEAD 16u
#define NODE_HEAD 8u
#define VALUES    256u

static size_t page_size; /* of the store at hand */

/* A value, and where it can grow to. */
struct value {
    uint8_t *node, *bytes;
    size_t size, room;
};

struct values {
    struct value value[VALUES];
    unsigned count;
};

/* ------------------------------------------------------------------------------------------ finding things */

static void add_value(struct values *values, uint8_t *data, size_t size, uint8_t *page, size_t at)
{
    uint8_t *node = page + at;
    size_t bytes = load_le(node, 2) | load_le(node + 2, 2) << 16;
    struct value v = {node, node + NODE_HEAD + load_le(node + 6, 2), bytes, bytes};
    size_t left = (size_t)(page + page_size - v.bytes);
    if (v.bytes > page + page_size || (load_le(node + 4, 2) & 1 && left < 8))
        return;
    if (load_le(node + 4, 2) & 1) {
        uint64_t first = load_le(v.bytes, 8);
        if (first >= size / page_size)
            return;
        v.bytes = data + first * page_size + PAGE_HEAD;
        left = size - first * page_size - PAGE_HEAD;
        v.room = (bytes + PAGE_HEAD + page_size - 1) / page_size * page_size - PAGE_HEAD;
        v.room = v.room < left ? v.room : left;
    }
    if (bytes <= left && values->count < VALUES)
        values->value[values->count++] = v;
}

static void find_values(struct values *values, uint8_t *data, size_t size)
{
    values->count = 0;
    for (size_t p = 2; p < size / page_size; p++) {
        uint8_t *page = data + p * page_size;
        size_t lower = load_le(page + 12, 2);
        if (load_le(page + 10, 2) != 2)
            continue;
        for (size_t i = PAGE_HEAD; i + 2 <= lower && i + 2 <= page_size; i += 2) {
            size_t at = load_le(page + i, 2);
            if (at + NODE_HEAD <= page_size)
                add_value(values, data, size, page, at);
        }
    }
}

static bool is(const struct value *v, const char *magic)
{
    return v->size > 24 && memcmp(v->bytes, magic, 4) == 0;
}

/* Some value of the file that begins so; NULL: none. */
static struct value *some_value(struct values *values, const char *magic, unsigned *seed)
{
    unsigned start = draw(seed, values->count);
    for (unsigned i = 0; i < values->count; i++) {
        struct value *v = &values->value[(start + i) % values->count];
        if (is(v, magic))
            return v;
    }
    return NULL;
}

/* Digests and sizes as the blocks have them, in a manifest that has the same size then; its statistics go, which may be left out. */
static void take_digests(struct manifest *m, const struct findings *found)
{
    for (unsigned f = 0; f < m->schema.count; f++) {
        memcpy(m->schema.fields[f].digest, found->digests[f], 32);
        m->schema.fields[f].raw_bytes = found->raw_bytes[f];
        m->schema.fields[f].stored_bytes = found->stored_bytes[f];
    }
    for (uint32_t s = 0; s < m->split_count; s++)
        split_free_summaries(&m->splits[s]);
    MUST(manifest_content_digest(&m->schema, m->info.content_digest, NULL) == APL_OK);
}

static void put_manifest(struct values *values, const struct manifest *m)
{
    struct buffer coded = {0};
    unsigned seed = 0;
    struct value *v = some_value(values, "APLM", &seed);
    if (v && manifest_encode(m, &coded, NULL) == APL_OK && coded.size <= v->room) {
        memcpy(v->bytes, coded.data, coded.size);
        store_le(v->node, coded.size, 2);
        store_le(v->node + 2, coded.size >> 16, 2);
    }
    buffer_free(&coded);
}

#define SOME_RECORDS 4096u

/* Makes digests right too, of a store that can be opened: so nothing but rules about what they are of can tell that it was changed. */
static void repair_digests(struct values *values, const uint8_t *data, size_t size)
{
    struct lmdb_reader lmdb;
    struct manifest m = {0};
    const struct entry *blocks;
    struct findings found;
    int fd = memfd_create("store", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    apl_status status = lmdb_reader_open(fd, APL_IO_MAP, &lmdb, NULL);
    close(fd);
    if (status != APL_OK)
        return;
    if (store_index(&lmdb, &m, &blocks, NULL) == APL_OK && m.info.records <= SOME_RECORDS) {
        struct readback what = {.lmdb = &lmdb,
                                .entries = blocks,
                                .manifest = &m,
                                .take_digests = m.digests.data, /* NULL, where there are none */
                                .threads = 1};
        if (readback(&what, &found, NULL) == APL_OK) {
            take_digests(&m, &found);
            put_manifest(values, &m);
            findings_free(&found, &m);
        }
    }
    manifest_free(&m);
    lmdb_reader_close(&lmdb);
}

static void repair(struct values *values, uint8_t *data, size_t size)
{
    struct manifest m = {0};
    bool known = false;
    find_values(values, data, size);
    for (unsigned i = 0; i < values->count && !known; i++) {
        struct value *v = &values->value[i];
        if (!is(v, "APLM"))
            continue;
        repair_manifest(v->bytes, v->size);
        known = manifest_decode(v->bytes, v->size, &m, NULL) == APL_OK;
    }
    for (unsigned i = 0; i < values->count; i++)
        if (is(&values->value[i], "APLB"))
            repair_block(values->value[i].bytes, values->value[i].size, known ? &m.schema : NULL);
    if (known)
        manifest_free(&m);
}

/* --------------------------------------------------------------------------------------------- mutations */

static void change_meta(uint8_t *data, unsigned *seed)
{
    static const struct {
        uint8_t at, bytes;
    } fields[] = {{0, 8},  {10, 2}, {12, 4}, {16, 4},  {20, 4},  {32, 8},  {40, 4},  {44, 2},  {88, 4},
                  {92, 2}, {94, 2}, {96, 8}, {104, 8}, {112, 8}, {120, 8}, {128, 8}, {136, 8}, {144, 8}};
    unsigned pick = draw(seed, sizeof fields / sizeof *fields), which = draw(seed, 3);
    /* Half of the time both metas, or the newer one would hide the change. */
    if (which != 1)
        put_interesting(data + fields[pick].at, fields[pick].bytes, seed);
    if (which != 0)
        put_interesting(data + page_size + fields[pick].at, fields[pick].bytes, seed);
}

static void change_page_head(uint8_t *page, size_t pages, unsigned *seed)
{
    switch (draw(seed, 5)) {
    case 0:
        store_le(page, draw(seed, (unsigned)pages), 8);
        break;
    case 1:
        store_le(page + 10, (uint64_t)1 << draw(seed, 5), 2);
        break;
    case 2:
        put_interesting(page + 12, 4, seed);
        break;
    default:
        put_interesting(page + 10 + 2 * draw(seed, 3), 2, seed);
    }
}

static void change_node(uint8_t *page, size_t pages, unsigned *seed)
{
    size_t nodes = (load_le(page + 12, 2) - PAGE_HEAD) / 2;
    if (nodes == 0 || nodes > 512)
        return;
    uint8_t *pointer = page + PAGE_HEAD + 2 * draw(seed, (unsigned)nodes);
    size_t at = load_le(pointer, 2);
    if (draw(seed, 6) == 0 || at + NODE_HEAD + 20 > page_size) {
        put_interesting(pointer, 2, seed);
        return;
    }
    switch (draw(seed, 4)) {
    case 0:
        put_interesting(page + at + 2 * draw(seed, 4), 2, seed);
        break;
    case 1: /* the number of the page that a branch leads to, or that a big value begins at */
        store_le(page + at, draw(seed, (unsigned)pages), 2);
        break;
    case 2:
        store_le(page + at + NODE_HEAD + 12, draw(seed, (unsigned)pages), 8);
        break;
    default:
        page[at + NODE_HEAD + draw(seed, 12)] = (uint8_t)draw(seed, 8);
    }
}

/* The manifest may change its size, as far as its page has room. */
static void change_manifest(struct value *v, unsigned *seed)
{
    size_t now = mutate_entries(v->bytes, v->size, v->room, seed);
    store_le(v->node, now, 2);
    store_le(v->node + 2, now >> 16, 2);
}

static void change_block(struct value *v, unsigned *seed)
{
    size_t head = load_le(v->bytes + 4, 4);
    unsigned width = 1u << draw(seed, 4);
    if (head < 48 || head >= v->size)
        return;
    switch (draw(seed, 4)) {
    case 0:
        put_interesting(v->bytes + 4 * draw(seed, 9), 4, seed);
        break;
    case 1:
        put_interesting(v->bytes + 40 + draw(seed, (unsigned)(head - 47)), width, seed);
        break;
    default:
        LLVMFuzzerMutate(v->bytes + head, v->size - head, v->size - head);
    }
}

static size_t change_pages(uint8_t *data, size_t size, size_t room, unsigned *seed)
{
    size_t pages = size / page_size, a = draw(seed, (unsigned)pages), b = draw(seed, (unsigned)pages);
    switch (draw(seed, 4)) {
    case 0:
        memmove(data + a * page_size, data + b * page_size, page_size);
        return size;
    case 1:
        LLVMFuzzerMutate(data + a * page_size, page_size, page_size);
        return size;
    case 2:
        return size + page_size <= room && pages < 16 ? size + page_size
                                                      : size - draw(seed, (unsigned)page_size);
    default:
        return pages > 3 ? size - page_size : size;
    }
}

static size_t mutate(struct values *values, uint8_t *data, size_t size, size_t room, unsigned *seed)
{
    size_t pages = size / page_size;
    uint8_t *page = data + page_size * (2 + draw(seed, (unsigned)pages - 2));
    struct value *v;
    find_values(values, data, size);
    switch (draw(seed, 10)) {
    case 0:
        change_meta(data, seed);
        return size;
    case 1:
        change_page_head(page, pages, seed);
        return size;
    case 2:
    case 3:
        change_node(page, pages, seed);
        return size;
    case 4:
        return change_pages(data, size, room, seed);
    case 5:
    case 6:
        if ((v = some_value(values, "APLB", seed)))
            change_block(v, seed);
        return size;
    default:
        if ((v = some_value(values, "APLM", seed)))
            change_manifest(v, seed);
        return size;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static struct values values;
    page_size = size > 44 ? load_le(data + 40, 4) : 0;
    if (page_size < 4096 || page_size > 65536 || page_size & (page_size - 1))
        page_size = 4096;
    if (size < 3 * page_size)
        return LLVMFuzzerMutate(data, size, room);
    for (unsigned n = 1 + draw(&seed, 3); n > 0 && size >= 3 * page_size; n--)
        size = mutate(&values, data, size, room, &seed);
    if (draw(&seed, 16))
        repair(&values, data, size);
    if (draw(&seed, 3) == 0)
        repair_digests(&values, data, size);
    return size;
}
