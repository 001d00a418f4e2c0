/* Blocks: round trips, rows, choosing codecs, hashes of records. */
#include "block_case.h"

#include <stdio.h>

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
    cr_assert_eq(b->schema.choices[0].id, CODEC_RAW, "what is asked for is for inputs");
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
            if (field->role != APL_INPUT)
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

/* ------------------------------------------------------------------------------------------------- classes */

static void labels_of_three_widths(struct schema *s)
{
    static const char *const names[] = {"cat", "dog", "emu"};
    apl_error err;
    add_field(s, "narrow", APL_U8, APL_TARGET, 0, NULL);
    add_field(s, "wide", APL_U16, APL_TARGET, 0, NULL);
    add_field(s, "wider", APL_U32, APL_TARGET, 0, NULL);
    for (unsigned f = 0; f < s->count; f++)
        cr_assert_eq(schema_set_classes(s, f, names, NULL, 3, &err), APL_OK);
}

#define LABELS 75

/* All labels are known but for one, of field f. */
static struct bench *labels_but_one(unsigned f, uint32_t record, uint64_t value)
{
    struct bench *b = bench_new(labels_of_three_widths, LABELS);
    for (unsigned i = 0; i < b->schema.count; i++)
        for (uint32_t k = 0; k < LABELS; k++) {
            size_t bytes = b->schema.fields[i].value_bytes;
            store_le(b->block.columns[i].values.data + k * bytes, i == f && k == record ? value : k % 3,
                     (unsigned)bytes);
        }
    bench_choose(b);
    bench_encode(b);
    return b;
}

static apl_status decode_label_rows(struct bench *b, unsigned f, apl_error *err)
{
    uint8_t values[LABELS * 4], *rows[LABELS];
    for (uint32_t k = 0; k < LABELS; k++)
        rows[k] = values + (LABELS - 1 - k) * b->schema.fields[f].value_bytes;
    return block_decode_rows(&b->coder, &b->schema, &b->view, f, rows, err);
}

Test(block, labels_beyond_the_class_names)
{
    static const uint64_t values[3][3] = {{3, 4, 255}, {3, 0x100, 0xffff}, {3, 0x10000, 0xffffffff}};
    static const uint32_t records[] = {0, 1, 31, 64, LABELS - 1};
    struct raw_column column = {0};
    apl_error err;
    char words[64];
    for (unsigned f = 0; f < 3; f++)
        for (unsigned v = 0; v < 3; v++)
            for (unsigned r = 0; r < sizeof records / sizeof *records; r++) {
                struct bench *b = labels_but_one(f, records[r], values[f][v]);
                cr_assert_eq(parse(b, &err), APL_OK);
                snprintf(words, sizeof words, "record %u of the block has class %llu, but there are 3",
                         records[r], (unsigned long long)values[f][v]);
                for (unsigned i = 0; i < 3; i++) {
                    apl_status due = i == f ? APL_E_CORRUPT : APL_OK;
                    cr_assert_eq(
                        block_decode_column(&b->coder, &b->schema, &b->view, i, false, &column, &err), due);
                    cr_assert(due == APL_OK || strstr(err.message, words), "%s", err.message);
                    cr_assert_eq(decode_label_rows(b, i, &err), due);
                    cr_assert(due == APL_OK || strstr(err.message, words), "%s", err.message);
                    cr_assert_eq(block_decode_column(&b->coder, &b->schema, &b->view, i, true, &column, &err),
                                 APL_OK);
                    cr_assert_eq(block_class_ok(&b->schema.fields[i], &column, records[r]), i != f);
                }
                b->coder.any_class = true;
                cr_assert_eq(parse_and_decode(b, &err), APL_OK, "a writer tells of it otherwise");
                bench_free(b);
            }
    buffer_free(&column.values);
}

static void one_image_of_any_size(struct schema *s)
{
    add_field(s, "image", APL_U8, APL_INPUT, 3, (const int64_t[]){-1, -1, -1});
}

/* Only the first images are looked at: those that follow may be anything. Of the first ones, noise keeps a column as it is. */
Test(block, images_are_chosen_for_by_the_first_ones)
{
    const size_t bytes = (size_t)3 << 20;
    uint8_t *noise = malloc(bytes), *flat = calloc(1, bytes);
    apl_error err;
    sample_fill(noise, bytes, SAMPLE_RANDOM, 16, 5);
    for (unsigned flat_first = 0; flat_first < 2; flat_first++) {
        struct bench *b = bench_new(one_image_of_any_size, 0);
        const int64_t shape[APL_MAX_DIMS] = {3, 1024, 1024};
        for (unsigned i = 0; i < 3; i++) {
            const apl_value value = {(i == 0) == flat_first ? flat : noise, shape};
            cr_assert_eq(raw_block_append(&b->block, &b->schema, &value, &err), APL_OK);
        }
        bench_choose(b);
        cr_assert_eq(b->schema.choices[0].id, flat_first ? CODEC_ZSTD : CODEC_RAW);
        bench_free(b);
    }
    free(noise);
    free(flat);
}
