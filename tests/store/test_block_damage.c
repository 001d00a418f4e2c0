/* Blocks whose bytes are not what was written, by accident or on purpose. */
#include "block_case.h"
#include "block_layout.h"

/* ------------------------------------------------------------------------------------------------- damage */

Test(block_damage, every_truncation_is_an_error)
{
    struct bench *b = bench_coded(add_every_kind, 7);
    apl_error err;
    for (size_t size = 0; size < b->coded.size; size++) {
        uint8_t *cut = malloc(size + !size);
        memcpy(cut, b->coded.data, size);
        cr_assert_eq(block_parse(&b->coder, cut, size, &b->schema, &b->view, &err), APL_E_CORRUPT,
                     "%zu bytes", size);
        free(cut);
    }
    uint8_t *more = calloc(b->coded.size + 1, 1);
    memcpy(more, b->coded.data, b->coded.size);
    cr_assert_eq(block_parse(&b->coder, more, b->coded.size + 1, &b->schema, &b->view, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "1 bytes too many"));
    free(more);
    bench_free(b);
}

Test(block_damage, every_flip_is_an_error)
{
    struct bench *b = bench_coded(add_every_kind, 5);
    apl_error err;
    for (size_t bit = 0; bit < b->coded.size * 8; bit++) {
        b->copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_eq(parse_and_decode(b, &err), APL_E_CORRUPT, "bit %zu of byte %zu", bit % 8, bit / 8);
        b->copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    cr_assert_eq(parse_and_decode(b, &err), APL_OK);
    bench_free(b);
}

Test(block_damage, another_schema)
{
    struct bench *b = bench_coded(one_picture, 5), *two = bench_new(small_and_varying, 1);
    apl_error err;
    cr_assert_eq(block_parse(&b->coder, b->coded.data, b->coded.size, &two->schema, &b->view, &err),
                 APL_E_CORRUPT);
    b->schema.fields[0].value_bytes--;
    cr_assert_eq(parse(b, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "field image: impossible sizes"), "%s", err.message);
    bench_free(b);
    bench_free(two);
}

/* Makes the header's checksum right again, as a hostile writer would. */
static void repair(struct bench *b)
{
    uint32_t head = HEAD + ENTRY * b->schema.count + 16 * b->block.records;
    store_le(b->copy + 8, hash_xxh3_64(b->copy + 16, head - 16), 8);
}

/* Decodes whatever passes, in every way: all that counts is that nothing breaks. */
static void try_all(struct bench *b)
{
    apl_error err;
    static uint8_t room[64][512];
    uint8_t *rows[64];
    for (int i = 0; i < 64; i++)
        rows[i] = room[i];
    if (parse_and_decode(b, &err) != APL_OK && parse(b, NULL) != APL_OK)
        return;
    cr_assert(b->view.records <= 64);
    for (unsigned f = 0; f < b->schema.count; f++) {
        (void)!block_decode_column(&b->coder, &b->schema, &b->view, f, true, &b->decoded.columns[f], &err);
        if (field_varying(&b->schema.fields[f]) == 0)
            (void)!block_decode_rows(&b->coder, &b->schema, &b->view, f, rows, &err);
    }
}

Test(block_damage, hostile_headers)
{
    static void (*const schemas[])(struct schema *) = {add_every_kind, small_and_varying};
    static const uint8_t masks[] = {1, 2, 4, 8, 16, 32, 64, 128, 255, 0x7f};
    for (int s = 0; s < 2; s++) {
        struct bench *b = bench_coded(schemas[s], 4);
        uint32_t head = HEAD + ENTRY * b->schema.count + 16 * 4;
        for (uint32_t i = 0; i < head; i++)
            for (size_t m = 0; m < sizeof masks; m++) {
                b->copy[i] ^= masks[m];
                if (i < 8 || i >= 16)
                    repair(b);
                try_all(b);
                memcpy(b->copy, b->coded.data, b->coded.size);
            }
        bench_free(b);
    }
}

/* Coded bytes that are damaged under checksums that are right: the codecs see them. */
Test(block_damage, hostile_coded_bytes)
{
    uint32_t state = 20240607;
    for (unsigned codec = 0; codec < CODEC_COUNT; codec++) {
        struct bench *b = bench_new(add_every_kind, 20);
        apl_error err;
        for (unsigned f = 0; f < b->schema.count; f++)
            b->schema.choices[f] = (struct codec_choice){(uint8_t)codec, 1};
        bench_encode(b);
        cr_assert_eq(parse(b, &err), APL_OK);
        struct block_view sound = b->view;
        for (int round = 0; round < 600; round++) {
            unsigned f = sample_random(&state) % b->schema.count;
            const struct column_view *column = &sound.columns[f];
            uint8_t *coded = b->copy + (column->coded - b->copy), *entry = b->copy + HEAD + ENTRY * f;
            for (uint32_t n = 1 + sample_random(&state) % 3; n > 0; n--)
                coded[sample_random(&state) % column->coded_bytes] ^= (uint8_t)sample_random(&state);
            store_le(entry + 32, hash_xxh3_64(coded, column->coded_bytes), 8);
            if (column->codec == CODEC_RAW)
                store_le(entry + 24, hash_xxh3_64(coded, column->coded_bytes), 8);
            repair(b);
            try_all(b);
            memcpy(b->copy, b->coded.data, b->coded.size);
        }
        bench_free(b);
    }
}

/* Changes one number of field f's entry, with the checksum right, and says what parsing makes of it. */
static apl_status parse_with(struct bench *b, unsigned f, unsigned at, unsigned bytes, uint64_t value,
                             apl_error *err)
{
    store_le(b->copy + HEAD + ENTRY * f + at, value, bytes);
    repair(b);
    apl_status status = parse(b, err);
    memcpy(b->copy, b->coded.data, b->coded.size);
    return status;
}

Test(block_damage, hostile_sizes_are_refused_at_once)
{
    struct bench *b = bench_coded(small_and_varying, 4);
    apl_error err;
    static const uint64_t raws[] = {(1u << 30) + 1, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX, 0, 15};
    for (size_t i = 0; i < sizeof raws / sizeof *raws; i++) {
        cr_assert_eq(parse_with(b, 1, 8, 8, raws[i], &err), APL_E_CORRUPT);
        cr_assert_not_null(strstr(err.message, "field name: impossible sizes"), "%s", err.message);
        cr_assert_eq(parse_with(b, 0, 8, 8, raws[i], &err), APL_E_CORRUPT, "a fixed shape knows its size");
    }
    cr_assert_eq(parse_with(b, 1, 8, 8, 1u << 30, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "cannot decode to 1073741824"), "%s", err.message);
    cr_assert_eq(parse_with(b, 0, 8, 8, 5, &err), APL_E_CORRUPT);
    for (int i = 0; i < 3; i++) {
        uint64_t coded[] = {b->coded.size, UINT64_MAX, (uint64_t)1 << 63};
        cr_assert_eq(parse_with(b, 2, 16, 8, coded[i], &err), APL_E_CORRUPT);
    }
    uint64_t all = load_le(b->copy + HEAD + ENTRY * 2 + 16, 8);
    cr_assert_eq(parse_with(b, 2, 16, 8, all + 1, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "field part: impossible sizes"), "%s", err.message);
    cr_assert_eq(parse_with(b, 0, 0, 1, CODEC_KEPT, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "codec 5 is for fields that are kept"), "%s", err.message);
    cr_assert_eq(parse_with(b, 0, 0, 1, CODEC_VARYING + 1, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "codec 8 is not known"), "%s", err.message);
    cr_assert_eq(parse_with(b, 0, 1, 7, 0xffffffffffffff, &err), APL_OK, "zeros may come to mean something");
    bench_free(b);
}

/* A block of zstd takes 4 bytes and gives 128 KiB at most: what is more is refused before memory is taken for it. */
Test(block_damage, columns_larger_than_their_coded_bytes_can_be)
{
    struct bench *b = bench_coded(small_and_varying, 4);
    apl_error err;
    uint64_t coded = load_le(b->copy + HEAD + ENTRY + 16, 8);
    b->copy[HEAD + ENTRY] = b->coded.data[HEAD + ENTRY] = CODEC_ZSTD;
    cr_assert_eq(parse_with(b, 1, 8, 8, coded << 15, &err), APL_OK, "%s", err.message);
    cr_assert_eq(parse_with(b, 1, 8, 8, (coded << 15) + 1, &err), APL_E_CORRUPT);
    b->copy[HEAD + ENTRY] = b->coded.data[HEAD + ENTRY] = CODEC_RAW;
    cr_assert_eq(parse_with(b, 1, 8, 8, coded, &err), APL_OK, "%s", err.message);
    cr_assert_eq(parse_with(b, 1, 8, 8, coded + 1, &err), APL_E_CORRUPT);
    bench_free(b);
}

/* A number of records that, under a checksum that is right, makes a field of a fixed shape too large. */
Test(block_damage, hostile_numbers_of_records)
{
    struct bench *b = bench_coded(one_picture, 2);
    apl_error err;
    b->schema.fields[0].value_bytes = 1u << 30;
    cr_assert_eq(parse_with(b, 0, 8, 8, (uint64_t)2 << 30, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "impossible sizes"), "%s", err.message);
    bench_free(b);
}

/* A header that is right but for its number of records. */
Test(block_damage, more_records_than_a_block_may_have)
{
    struct bench *b = bench_new(one_picture, 1);
    apl_error err;
    for (uint32_t records = APL_MAX_BLOCK; records <= APL_MAX_BLOCK + 1; records++) {
        uint32_t head = HEAD + ENTRY + 16 * records;
        size_t raw = 192 * (size_t)records;
        uint8_t *bytes = calloc(head + raw, 1);
        store_le(bytes, BLOCK_MAGIC, 4);
        store_le(bytes + 4, head, 4);
        store_le(bytes + 16, records, 4);
        store_le(bytes + 32, 1, 4);
        store_le(bytes + HEAD + 8, raw, 8);
        store_le(bytes + HEAD + 16, raw, 8);
        store_le(bytes + 8, hash_xxh3_64(bytes + 16, head - 16), 8);
        cr_assert_eq(block_parse(&b->coder, bytes, head + raw, &b->schema, &b->view, &err),
                     records <= APL_MAX_BLOCK ? APL_OK : APL_E_CORRUPT, "%u: %s", records, err.message);
        free(bytes);
    }
    cr_assert_str_eq(err.message, "the block header is damaged");
    bench_free(b);
}

/* A varying field whose dimensions, under checksums that are right, do not fit its values of 2 x 2 x 3. */
static void expect_dims(uint32_t first, uint32_t second, const char *complaint)
{
    struct bench *b = bench_new(small_and_varying, 0);
    static const uint8_t data[64];
    const int64_t name[] = {1}, part[] = {2, 2, 3};
    apl_value values[] = {{data, NULL}, {data, name}, {data, part}};
    apl_error err;
    cr_assert_eq(raw_block_append(&b->block, &b->schema, values, &err), APL_OK);
    store_le(b->block.columns[2].dims.data, first, 4);
    store_le(b->block.columns[2].dims.data + 4, second, 4);
    bench_encode(b);
    apl_status status = parse_and_decode(b, &err);
    cr_assert_eq(status, complaint ? APL_E_CORRUPT : APL_OK, "%u x %u", first, second);
    cr_assert(!complaint || strstr(err.message, complaint), "%s", err.message);
    cr_assert_eq(b->decoded.records, complaint ? 0 : 1);
    bench_free(b);
}

/* The values that are left for the second of two records are fewer than its shape says. */
Test(block_damage, dimensions_that_the_first_record_leaves_no_room_for)
{
    struct bench *b = bench_new(small_and_varying, 0);
    static const uint8_t data[64];
    const int64_t name[] = {1}, part[] = {2, 2, 3};
    apl_value values[] = {{data, NULL}, {data, name}, {data, part}};
    apl_error err;
    for (int i = 0; i < 2; i++)
        cr_assert_eq(raw_block_append(&b->block, &b->schema, values, &err), APL_OK);
    store_le(b->block.columns[2].dims.data + 8, 3, 4);
    bench_encode(b);
    cr_assert_eq(parse_and_decode(b, &err), APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "field part: impossible shape of record 1"), "%s", err.message);
    bench_free(b);
}

Test(block_damage, hostile_dimensions)
{
    expect_dims(2, 3, NULL);
    expect_dims(3, 2, NULL);
    expect_dims(3, 3, "field part: impossible shape of record 0");
    expect_dims(UINT32_MAX, UINT32_MAX, "impossible shape");
    expect_dims(1u << 31, 1, "impossible shape");
    expect_dims(1u << 31, 2, "impossible shape");
    expect_dims(2, 2, "shapes and values do not agree");
    expect_dims(0, UINT32_MAX, "shapes and values do not agree");
}

/* ------------------------------------------------------------------------------------------------ despite */

Test(block_damage, despite_tells_which_record_is_hurt)
{
    struct bench *b = bench_new(one_picture, 10);
    apl_error err;
    bench_encode(b); /* CODEC_RAW: a byte of the file is a byte of a value */
    cr_assert_eq(parse(b, &err), APL_OK);
    b->copy[b->view.columns[0].coded - b->copy + 6 * 192 + 17] ^= 0x40;
    cr_assert_eq(block_decode_column(&b->coder, &b->schema, &b->view, 0, false, &b->decoded.columns[0], &err),
                 APL_E_CORRUPT);
    cr_assert_not_null(strstr(err.message, "field image: the checksum of its coded bytes"), "%s",
                       err.message);
    cr_assert_eq(block_decode_column(&b->coder, &b->schema, &b->view, 0, true, &b->decoded.columns[0], &err),
                 APL_E_CORRUPT);
    cr_assert_eq(b->decoded.columns[0].values.size, 1920);
    for (uint32_t i = 0; i < 10; i++) {
        struct hash128 is = block_record_hash(&b->coder, &b->schema, &b->decoded, i);
        struct hash128 stored = block_stored_hash(&b->view, i);
        cr_assert_eq(is.low == stored.low && is.high == stored.high, i != 6, "record %u", i);
    }
    bench_free(b);
}

Test(block_damage, despite_where_the_codec_cannot)
{
    struct bench *b = bench_new(one_picture, 40);
    apl_error err;
    b->schema.choices[0] = (struct codec_choice){CODEC_ZSTD, 3};
    bench_encode(b);
    cr_assert_eq(parse(b, &err), APL_OK);
    cr_assert_eq(b->view.columns[0].codec, CODEC_ZSTD);
    memset(b->copy + (b->view.columns[0].coded - b->copy), 0, 8);
    for (int despite = 0; despite < 2; despite++) {
        cr_assert_eq(
            block_decode_column(&b->coder, &b->schema, &b->view, 0, despite, &b->decoded.columns[0], &err),
            APL_E_CORRUPT);
        cr_assert_not_null(strstr(err.message, "coded bytes is wrong"), "%s", err.message);
        cr_assert_eq(b->decoded.columns[0].values.size, 0);
    }
    bench_free(b);
}

/* Decoded row by row, too. */
Test(block_damage, rows_with_a_wrong_sum)
{
    struct bench *b = bench_coded(one_picture, 3);
    static uint8_t room[3][192];
    uint8_t *rows[] = {room[0], room[1], room[2]};
    apl_error err;
    for (int wrong = 0; wrong < 2; wrong++) {
        b->copy[HEAD + 24] ^= (uint8_t)wrong;
        repair(b);
        cr_assert_eq(parse(b, &err), APL_OK);
        cr_assert_eq(block_decode_rows(&b->coder, &b->schema, &b->view, 0, rows, &err),
                     wrong ? APL_E_CORRUPT : APL_OK);
    }
    cr_assert_not_null(strstr(err.message, "decoded bytes is wrong"), "%s", err.message);
    bench_free(b);
}

Test(block_damage, despite_a_wrong_sum_of_decoded_bytes)
{
    for (unsigned f = 0; f < 3; f++) {
        struct bench *b = bench_coded(small_and_varying, 9);
        apl_error err;
        b->copy[HEAD + ENTRY * f + 24] ^= 1;
        repair(b);
        cr_assert_eq(parse_and_decode(b, &err), APL_E_CORRUPT);
        cr_assert_not_null(strstr(err.message, "decoded bytes is wrong"), "%s", err.message);
        for (unsigned i = 0; i < 3; i++)
            cr_assert_eq(
                block_decode_column(&b->coder, &b->schema, &b->view, i, true, &b->decoded.columns[i], &err),
                i == f ? APL_E_CORRUPT : APL_OK);
        cr_assert_not_null(strstr(err.message, "decoded bytes is wrong"), "%s", err.message);
        for (uint32_t i = 0; i < 9; i++)
            expect_record(&b->decoded, &b->schema, i, 1 + i);
        bench_free(b);
    }
}
