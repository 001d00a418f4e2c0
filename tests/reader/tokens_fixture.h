/* A store of documents to collate, in the place of the reader fixture's own: tokens and a weight for each, and a pair of tracks whose
 * second dimension varies. Values are functions of the id. Some documents are empty, a few are long. */
#ifndef TOKENS_FIXTURE_H
#define TOKENS_FIXTURE_H

#include "reader_fixture.h"

enum { TOKENS_TOKENS, TOKENS_WEIGHTS, TOKENS_PAIR, TOKENS_SIZE, TOKENS_FIELDS };
#define TOKENS_LONGEST 400

static inline size_t tokens_length(uint64_t id)
{
    return id % 7 == 3 ? 0 : id % 23 == 5 ? TOKENS_LONGEST - id % 5 : 1 + id * 37 % 61;
}

/* Token i of a document. */
static inline uint16_t tokens_at(uint64_t id, size_t i)
{
    return (uint16_t)(1 + id * 251 + i);
}

static inline uint8_t tokens_weight(uint64_t id, size_t i)
{
    return (uint8_t)(id + 3 * i);
}

static inline size_t tokens_pair_length(uint64_t id)
{
    return id % 4;
}

static inline int32_t tokens_pair_at(uint64_t id, size_t row, size_t i)
{
    return (int32_t)(id * 100 + row * 10 + i);
}

static inline void tokens_append(apl_writer *w, uint64_t id)
{
    static uint16_t tokens[TOKENS_LONGEST];
    static uint8_t weights[TOKENS_LONGEST];
    int32_t pair[2 * 4];
    int64_t n = (int64_t)tokens_length(id), pair_shape[2] = {2, (int64_t)tokens_pair_length(id)};
    uint32_t size = (uint32_t)n;
    for (size_t i = 0; i < (size_t)n; i++) {
        tokens[i] = tokens_at(id, i);
        weights[i] = tokens_weight(id, i);
    }
    for (size_t row = 0; row < 2; row++)
        for (size_t i = 0; i < tokens_pair_length(id); i++)
            pair[row * tokens_pair_length(id) + i] = tokens_pair_at(id, row, i);
    apl_value values[TOKENS_FIELDS] = {{tokens, &n}, {weights, &n}, {pair, pair_shape}, {&size, NULL}};
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
}

/* With APL_TEST_KEPT in the environment, weights are kept files: the same bytes, stored in another way. */
static inline void tokens_schema(apl_writer *w)
{
    int64_t one[1] = {-1}, pair[2] = {2, -1};
    cr_assert_eq(apl_writer_add_field(w, "tokens", APL_U16, APL_INPUT, 1, one, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "weights", APL_U8, APL_TARGET, 1, one, NULL), APL_OK);
    if (getenv("APL_TEST_KEPT"))
        cr_assert_eq(apl_writer_set_media(w, "weights", "application/octet-stream", NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "pair", APL_I32, APL_INPUT, 2, pair, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "size", APL_U32, APL_INPUT, 0, NULL, NULL), APL_OK);
}

/* Writes `records` documents into two members of "train", and opens them as fx.store. */
static inline void tokens_make(unsigned records, uint32_t block_records)
{
    apl_error err = {0};
    apl_writer *w = NULL;
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    char db[sizeof fx.db + 8];
    fixture_make(8, 0, 8);
    apl_store_close(fx.store);
    snprintf(db, sizeof db, "%s-tokens", fx.db);
    o.block_records = block_records;
    o.codec = "raw";
    o.threads = 1;
    fx.train = records;
    cr_assert_eq(apl_writer_open(db, &o, &w, &err), APL_OK, "%s", err.message);
    tokens_schema(w);
    for (unsigned id = 0; id < records; id++) {
        if (id == 0 || id == records / 2 + 3)
            cr_assert_eq(apl_writer_begin_member(w, id ? "second" : "first", "train", id > 0, NULL), APL_OK);
        tokens_append(w, id);
    }
    cr_assert_eq(apl_writer_commit(w, &err), APL_OK, "%s", err.message);
    apl_writer_close(w);
    cr_assert_eq(apl_store_open(db, NULL, &fx.store, &err), APL_OK, "%s", err.message);
}

/* Another byte of a document, wherever the file has it (pages that are free may too): before a reader is opened, or behind its back. */
static inline void tokens_damage(uint64_t id)
{
    static uint8_t bytes[1 << 20];
    uint16_t tokens[TOKENS_LONGEST];
    long n = (long)(tokens_length(id) * sizeof *tokens), found = 0;
    char path[160];
    for (size_t i = 0; i < tokens_length(id); i++)
        tokens[i] = tokens_at(id, i);
    fixture_shell("chmod -R u+w '%s%s'", fx.place, "");
    snprintf(path, sizeof path, "%s-tokens/data.mdb", fx.db);
    FILE *f = fopen(path, "r+b");
    cr_assert_not_null(f);
    long size = (long)fread(bytes, 1, sizeof bytes, f);
    cr_assert(size > 0 && size < (long)sizeof bytes);
    for (long at = 0; at + n <= size; at++) {
        if (memcmp(bytes + at, tokens, (size_t)n) != 0)
            continue;
        found++;
        cr_assert_eq(fseek(f, at + 3, SEEK_SET), 0);
        fputc(bytes[at + 3] ^ 8, f);
    }
    cr_assert_gt(found, 0);
    cr_assert_eq(fclose(f), 0);
}

static inline apl_collation tokens_collation(const char *field, apl_collate how)
{
    apl_collation c = APL_COLLATION_INIT;
    c.field = field;
    c.how = how;
    return c;
}

#endif
