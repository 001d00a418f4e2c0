/* Blocks: round trips, rows, choosing codecs, hashes of records. */
#include "block_case.h"

/* -------------------------------------------------------------------------------------------- round trips */

static void expect_round_trip(struct bench *b)
{
    apl_error err;
    uint32_t n = b->block.records;
    bench_encode(b);
    cr_assert_eq(parse_and_decode(b, &err), APL_OK, "%s", err.message);
    cr_assert(b->view.records == n && b->view.segment == 77 && b->view.first == 123456789012u);
    cr_assert(b->decoded.records == n && b->decoded.segment == 77 && b->decoded.first == 123456789012u);
    for (uint32_t i = 0; i < n; i++) {
        expect_record(&b->decoded, &b->schema, i, 1 + i);
        struct hash128 is = block_record_hash(&b->coder, &b->schema, &b->decoded, i);
        struct hash128 stored = block_stored_hash(&b->view, i);
        cr_assert(is.low == stored.low && is.high == stored.high, "record %u", i);
    }
}

static void no_inputs(struct schema *s)
{
    add_field(s, "label", APL_U8, APL_TARGET, 0, NULL);
}

Test(block, round_trips)
{
    static void (*const schemas[])(struct schema *) = {add_every_kind, one_picture, small_and_varying,
                                                       sixteen_bytes};
    static const uint32_t counts[] = {1, 2, 33, 300};
    for (int s = 0; s < 4; s++)
        for (int i = 0; i < 4; i++) {
            struct bench *b = bench_new(schemas[s], counts[i]);
            expect_round_trip(b); /* as it is */
            bench_choose(b);
            expect_round_trip(b); /* with the codecs that suit best */
            bench_free(b);
        }
}

Test(block, round_trips_with_every_codec)
{
    static const int8_t levels[] = {-128, 1, 9};
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++)
        for (int l = 0; l < 3; l++) {
            struct bench *b = bench_new(add_every_kind, 70);
            for (unsigned f = 0; f < b->schema.count; f++)
                b->schema.choices[f] = (struct codec_choice){(uint8_t)codec, levels[l]};
            expect_round_trip(b);
            bench_free(b);
        }
}

Test(block, the_same_records_give_the_same_bytes)
{
    struct bench *b = bench_coded(add_every_kind, 100), *other = bench_coded(one_picture, 10);
    other->schema.count = 0;
    apl_error err;
    struct buffer again = {0};
    cr_assert_eq(block_encode(&other->coder, &b->schema, &b->block, &again, &err), APL_OK);
    cr_assert(again.size == b->coded.size && memcmp(again.data, b->coded.data, again.size) == 0);
    buffer_free(&again);
    other->schema.count = 1;
    bench_free(b);
    bench_free(other);
}

Test(block, rows)
{
    struct bench *b = bench_coded(add_every_kind, 130);
    apl_error err;
    static uint8_t room[130][256];
    uint8_t *rows[130];
    cr_assert_eq(parse(b, &err), APL_OK);
    for (unsigned f = 0; f < b->schema.count; f++) {
        const apl_field *field = &b->schema.fields[f];
        if (field_varying(field))
            continue;
        memset(room, 0xee, sizeof room);
        for (unsigned i = 0; i < 130; i++)
            rows[i] = room[(i * 37 + 11) % 130];
        cr_assert_eq(block_decode_rows(&b->coder, &b->schema, &b->view, f, rows, &err), APL_OK, "%s",
                     err.message);
        for (unsigned i = 0; i < 130; i++) {
            size_t bytes;
            const uint8_t *value = raw_column_value(&b->block.columns[f], field, i, &bytes);
            cr_assert(memcmp(rows[i], value, bytes) == 0, "field %s, record %u", field->name, i);
            cr_assert_eq(rows[i][bytes], 0xee, "written past its end");
        }
    }
    bench_free(b);
}

Test(block, choosing)
{
    struct bench *b = bench_new(small_and_varying, 30);
    apl_error err;
    cr_assert_eq(block_choose(&b->coder, &b->schema, &b->block, CODEC_PICTURE, 0, &err), APL_E_INVALID);
    cr_assert_not_null(strstr(err.message, "field part: codec picture does not suit"), "%s", err.message);
    cr_assert_eq(block_choose(&b->coder, &b->schema, &b->block, CODEC_ZSTD, 3, &err), APL_OK);
    cr_assert(b->schema.choices[2].id == CODEC_ZSTD && b->schema.choices[2].level == 3);
    cr_assert_str_eq(b->schema.fields[2].codec, "zstd");
    cr_assert_eq(b->schema.fields[2].level, 3);
    expect_round_trip(b);
    bench_free(b);
}

/* ----------------------------------------------------------------------------------------- record hashes */

/* The hash of a record is that of its input fields, one after another, dimensions before values. */
static void expect_hashes(void (*fields)(struct schema *))
{
    static struct record r;
    struct bench *b = bench_new(fields, 40);
    for (uint32_t i = 0; i < 40; i++) {
        struct buffer all = {0};
        make_record(&r, &b->schema, 1 + i);
        for (unsigned f = 0; f < b->schema.count; f++) {
            const apl_field *field = &b->schema.fields[f];
            if (field->mark != APL_INPUT)
                continue;
            for (unsigned d = 0; d < field->ndim; d++)
                if (field->shape[d] < 0)
                    buffer_le(&all, (uint64_t)r.shapes[f][d], 4);
            buffer_put(&all, r.data[f], r.bytes[f]);
        }
        struct hash128 is = block_record_hash(&b->coder, &b->schema, &b->block, i);
        struct hash128 naive = hash_xxh3_128(all.data, all.size);
        cr_assert(is.low == naive.low && is.high == naive.high, "record %u", i);
        buffer_free(&all);
    }
    bench_free(b);
}

static void no_input(struct schema *s)
{
    add_field(s, "label", APL_U8, APL_TARGET, 0, NULL);
}

Test(block, record_hashes)
{
    expect_hashes(one_picture);
    expect_hashes(add_every_kind);
    expect_hashes(small_and_varying);
    expect_hashes(sixteen_bytes);
    expect_hashes(no_input);
}

Test(block, no_records)
{
    struct bench *b = bench_coded(one_picture, 0);
    apl_error err;
    cr_assert_eq(parse(b, &err), APL_E_CORRUPT, "there is no such block in a store");
    bench_free(b);
}

/* Targets and names take the codec that suits them: no input is there that the one asked for could not suit. */
Test(block, codec_without_inputs)
{
    struct bench *b = bench_new(no_inputs, 3);
    apl_error err;
    cr_assert_eq(block_choose(&b->coder, &b->schema, &b->block, CODEC_PICTURE, 0, &err), APL_OK);
    bench_encode(b);
    cr_assert_eq(parse_and_decode(b, &err), APL_OK, "%s", err.message);
    bench_free(b);
}
