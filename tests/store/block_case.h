/* A block with all that it takes to code it. */
#ifndef BLOCK_CASE_H
#define BLOCK_CASE_H

#include "records.h"

#define HEAD  40u
#define ENTRY 40u

/* A schema, a coder, records, their coded form, and room to decode into. */
struct bench {
    struct schema schema;
    struct block_coder coder;
    struct raw_block block, decoded;
    struct buffer coded;
    struct block_view view;
    uint8_t *copy; /* of the coded bytes, of just their size, to be damaged */
};

static inline struct bench *bench_new(void (*fields)(struct schema *), uint32_t records)
{
    struct bench *b = calloc(1, sizeof *b);
    apl_error err;
    fields(&b->schema);
    cr_assert_eq(block_coder_init(&b->coder, &err), APL_OK);
    b->block.segment = 77;
    b->block.first = 123456789012u;
    append_records(&b->block, &b->schema, 1, records);
    return b;
}

static inline void bench_encode(struct bench *b)
{
    apl_error err;
    cr_assert_eq(block_encode(&b->coder, &b->schema, &b->block, &b->coded, &err), APL_OK, "%s", err.message);
    b->copy = realloc(b->copy, b->coded.size);
    memcpy(b->copy, b->coded.data, b->coded.size);
}

static inline void bench_choose(struct bench *b)
{
    apl_error err;
    cr_assert_eq(block_choose(&b->coder, &b->schema, &b->block, -1, 0, &err), APL_OK, "%s", err.message);
}

static inline struct bench *bench_coded(void (*fields)(struct schema *), uint32_t records)
{
    struct bench *b = bench_new(fields, records);
    bench_choose(b);
    bench_encode(b);
    return b;
}

static inline void bench_free(struct bench *b)
{
    raw_block_free(&b->block);
    raw_block_free(&b->decoded);
    buffer_free(&b->coded);
    block_coder_free(&b->coder);
    schema_free(&b->schema);
    free(b->copy);
    free(b);
}

static inline apl_status parse(struct bench *b, apl_error *err)
{
    return block_parse(&b->coder, b->copy, b->coded.size, &b->schema, &b->view, err);
}

static inline apl_status parse_and_decode(struct bench *b, apl_error *err)
{
    TRY(parse(b, err));
    return block_decode(&b->coder, &b->schema, &b->view, &b->decoded, err);
}

static inline void one_picture(struct schema *s)
{
    add_field(s, "image", APL_U8, APL_INPUT, SHAPE_OF(3, 8, 8));
}

static inline void small_and_varying(struct schema *s)
{
    add_field(s, "label", APL_U8, APL_TARGET, 0, NULL);
    add_field(s, "name", APL_UTF8, APL_NAME, SHAPE_OF(-1));
    add_field(s, "part", APL_U16, APL_INPUT, SHAPE_OF(-1, 2, -1));
}

static inline void sixteen_bytes(struct schema *s)
{
    for (int i = 0; i < 16; i++)
        add_field(s, (char[]){(char)('a' + i), 0}, APL_U8, i % 2 ? APL_INPUT : APL_TARGET, 0, NULL);
}

#endif
