/* Stores rewritten with something in them that is not so, all checksums being right. */
#ifndef LIES_H
#define LIES_H

#include "bytes.h"
#include "digests.h"
#include "hash.h"
#include "lmdb_file.h"
#include "readback.h"
#include "statistics.h"
#include "store.h"
#include "store_fixture.h"

static const struct fx_member members[] = {{"a", "train", 0, 70}, {"b", "test", 1, 40}};
static const struct fx_recipe recipe = {fx_fields, COUNT(fx_fields), members, COUNT(members)};

static const apl_field placed_fields[] = {
    {.name = "image", .dtype = APL_U8, .role = APL_INPUT, .ndim = 3, .shape = {3, 6, 5}},
    {.name = "place", .dtype = APL_U64, .role = APL_TARGET},
};
static const struct fx_recipe placed = {placed_fields, COUNT(placed_fields), members, COUNT(members)};

/* What is told instead. */
struct lie {
    const struct fx_recipe *of; /* NULL: the one above */
    bool shuffled;
    bool not_counted; /* classes are not counted */
    void (*values)(struct raw_block *block,
                   unsigned number); /* of blocks that are then encoded again; digests follow */
    void (*manifest)(struct manifest *m);
    void (*block)(uint8_t *bytes, unsigned number);
    void (*whole)(struct buffer *block, unsigned number); /* a block that may become of another size */
    const struct entry *(*instead)(const apl_store *s, size_t entry);
    const struct key *extra; /* of an entry more */
};

/* Makes a block's header checksum right again. */
static inline void seal(uint8_t *block)
{
    store_le(block + 8, hash_xxh3_64(block + 16, (size_t)load_le(block + 4, 4) - 16), 8);
}

/* Decodes a block, changes its values, and encodes it again. */
static inline void recode(const struct lie *lie, const struct schema *schema, unsigned number,
                          struct buffer *bytes)
{
    struct block_coder bc;
    struct block_view view;
    struct raw_block block = {0};
    cr_assert_eq(block_coder_init(&bc, &fx_err), APL_OK);
    bc.any_class = true;
    OK(block_parse(&bc, bytes->data, bytes->size, schema, &view, &fx_err));
    OK(block_decode(&bc, schema, &view, &block, &fx_err));
    lie->values(&block, number);
    OK(block_encode(&bc, schema, &block, bytes, &fx_err));
    raw_block_free(&block);
    block_coder_free(&bc);
}

/* And their digests. */
static inline void put_blocks(struct lmdb_writer *writer, apl_store *s, const struct lie *lie,
                              struct buffer *digests)
{
    digests->size = 0;
    for (size_t i = 1; i < s->lmdb.count; i++) {
        const struct entry *e = &s->lmdb.entries[i], *from = lie->instead ? lie->instead(s, i) : e;
        struct buffer bytes = {0};
        buffer_put(&bytes, s->lmdb.map + from->offset, from->size);
        if (lie->block)
            lie->block(bytes.data, (unsigned)i - 1);
        if (lie->whole)
            lie->whole(&bytes, (unsigned)i - 1);
        if (lie->block || lie->whole)
            seal(bytes.data);
        if (lie->values)
            recode(lie, &s->manifest.schema, (unsigned)i - 1, &bytes);
        OK(lmdb_writer_put(writer, e->key, bytes.data, bytes.size, &fx_err));
        cr_assert(buffer_reserve(digests, DIGEST_BYTES));
        hash_sha256(bytes.data, bytes.size, digests->data + digests->size);
        digests->size += DIGEST_BYTES;
        buffer_free(&bytes);
    }
}

/* Digests, sizes and statistics as a writer would have taken them of the blocks that have been put. */
static inline void take_digests(struct manifest *m, const struct lie *lie)
{
    struct findings found;
    struct lmdb_reader lmdb;
    int fd = open(fx_path("lie/data.mdb"), O_RDONLY);
    OK(lmdb_reader_open(fd, APL_IO_AUTO, &lmdb, &fx_err));
    close(fd);
    for (uint32_t s = 0; s < m->split_count; s++) {
        split_free_summaries(&m->splits[s]);
        for (unsigned f = 0; f < m->schema.count; f++)
            if (!lie->not_counted || m->schema.fields[f].class_count == 0)
                OK(manifest_new_summary(&m->schema, &m->splits[s], f, &fx_err));
    }
    struct readback what = {.lmdb = &lmdb, .entries = lmdb.entries, .manifest = m, .threads = 1};
    OK(readback(&what, &found, &fx_err));
    for (unsigned f = 0; f < m->schema.count; f++) {
        memcpy(m->schema.fields[f].digest, found.digests[f], 32);
        m->schema.fields[f].raw_bytes = found.raw_bytes[f];
        m->schema.fields[f].stored_bytes = found.stored_bytes[f];
    }
    for (uint32_t s = 0; s < m->split_count; s++)
        statistics_merge(&m->splits[s], &found.splits[s], &m->schema);
    OK(manifest_content_digest(&m->schema, m->info.content_digest, &fx_err));
    findings_free(&found, m);
    lmdb_reader_close(&lmdb);
}

/* Writes the entries of the store `db` to another, which is `lie`. */
static inline const char *rewrite_lie(const struct lie *lie)
{
    struct manifest m;
    struct buffer coded = {0};
    apl_error err;
    apl_store *s = fx_open(fx_path("db"));
    const struct entry *head = s->lmdb.entries;
    cr_assert_eq(manifest_decode(s->lmdb.map + head->offset, head->size, &m, &err), APL_OK);
    cr_assert_eq(mkdir(fx_path("lie"), 0755), 0);
    struct lmdb_writer *writer = new_lmdb(fx_path("lie/data.mdb"));
    put_blocks(writer, s, lie, &m.digests);
    if (lie->manifest) {
        m.digests.size = 0; /* it may tell of other blocks */
        lie->manifest(&m);
    }
    if (lie->values) {
        OK(lmdb_writer_commit(writer, &fx_err));
        take_digests(&m, lie);
    }
    cr_assert_eq(manifest_encode(&m, &coded, &err), APL_OK);
    cr_assert_eq(lmdb_writer_put(writer, head->key, coded.data, coded.size, &err), APL_OK);
    if (lie->extra)
        put_value(writer, *lie->extra, 10);
    finish_lmdb(writer);
    buffer_free(&coded);
    manifest_free(&m);
    apl_store_close(s);
    return fx_path("lie");
}

/* Makes that store, too. */
static inline const char *write_lie(const struct lie *lie)
{
    apl_writer_options o = fx_options(1, 16);
    o.shuffle = lie->shuffled;
    fx_make(fx_path("db"), lie->of ? lie->of : &recipe, &o);
    return rewrite_lie(lie);
}

#endif
