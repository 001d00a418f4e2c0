/* Sums for means and deviations, and counts of classes, against naive loops. */
#include "statistics.h"

#include "records.h"

static void expect_moments(const struct moments *m, uint64_t count, uint64_t sum, uint64_t squares)
{
    cr_assert(m->count == count && m->sum == sum && m->squares == squares, "%llu elements: %llu %llu",
              (unsigned long long)m->count, (unsigned long long)m->sum, (unsigned long long)m->squares);
}

Test(statistics, moments_of_any_size)
{
    static const size_t sizes[] = {0, 1, 2, 255, 256, 257, 511, 512, 513, 1023, 1024, 3072, 100001};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = 0; kind < SAMPLES; kind++) {
            uint8_t *data = malloc(sizes[s] + 1);
            struct moments m = {0};
            uint64_t sum = 0, squares = 0;
            sample_fill(data, sizes[s], (enum sample)kind, 32, 255);
            for (size_t i = 0; i < sizes[s]; i++) {
                sum += data[i];
                squares += (uint64_t)data[i] * data[i];
            }
            moments_add(&m, data, sizes[s]);
            expect_moments(&m, sizes[s], sum, squares);
            moments_add(&m, data, sizes[s]);
            expect_moments(&m, 2 * sizes[s], 2 * sum, 2 * squares);
            free(data);
        }
}

Test(statistics, the_largest_values)
{
    static uint8_t data[1 << 22];
    struct moments m = {0};
    memset(data, 255, sizeof data);
    moments_add(&m, data, sizeof data);
    expect_moments(&m, sizeof data, 255ull * sizeof data, 255ull * 255 * sizeof data);
}

/* A block, and two splits with room for its statistics. */
struct sums {
    struct manifest m;
    struct raw_block block;
};

static void sums_make(struct sums *s)
{
    apl_error err;
    static const char *const names[] = {"a", "b", "c"};
    memset(s, 0, sizeof *s);
    add_field(&s->m.schema, "image", APL_U8, APL_INPUT, SHAPE_OF(3, 8, 8));
    add_field(&s->m.schema, "label", APL_U16, APL_TARGET, 0, NULL);
    add_field(&s->m.schema, "grey", APL_U8, APL_INPUT, SHAPE_OF(-1, -1));
    add_field(&s->m.schema, "crop", APL_U8, APL_INPUT, SHAPE_OF(2, -1, 3));
    add_field(&s->m.schema, "wide", APL_F32, APL_INPUT, 0, NULL);
    cr_assert_eq(schema_set_classes(&s->m.schema, 1, names, NULL, 3, &err), APL_OK);
    s->m.splits = calloc(2, sizeof *s->m.splits);
    s->m.split_count = 2;
    for (uint32_t i = 0; i < 2; i++)
        for (unsigned f = 0; f < s->m.schema.count; f++)
            cr_assert_eq(manifest_new_summary(&s->m.schema, &s->m.splits[i], f, &err), APL_OK);
    append_records(&s->block, &s->m.schema, 1, 20);
    for (uint32_t i = 0; i < 20; i++)
        store_le(s->block.columns[1].values.data + 2 * i, i % 7 % 3, 2);
}

static void sums_free(struct sums *s)
{
    raw_block_free(&s->block);
    manifest_free(&s->m);
}

static apl_status add(struct sums *s, uint32_t split, unsigned f, uint32_t from, uint32_t to, apl_error *err)
{
    return statistics_add(&s->m.splits[split], f, &s->m.schema.fields[f], &s->block.columns[f], from, to,
                          err);
}

static void expect_field(const struct sums *s, uint32_t split, unsigned f, uint32_t from, uint32_t to)
{
    const apl_field *field = &s->m.schema.fields[f];
    unsigned channels = field_channels(field);
    for (unsigned c = 0; c < channels; c++) {
        uint64_t count = 0, sum = 0, squares = 0;
        for (uint32_t i = from; i < to; i++) {
            size_t bytes;
            const uint8_t *value = raw_column_value(&s->block.columns[f], field, i, &bytes);
            for (size_t k = bytes / channels * c; k < bytes / channels * (c + 1); k++) {
                count++;
                sum += value[k];
                squares += (uint64_t)value[k] * value[k];
            }
        }
        expect_moments(&split_summary(&s->m.splits[split], f).moments[c], count, sum, squares);
    }
    for (uint64_t cls = 0; cls < field->class_count; cls++) {
        uint64_t count = 0;
        for (uint32_t i = from; i < to; i++)
            count += load_le(s->block.columns[f].values.data + 2 * i, 2) == cls;
        cr_assert_eq(split_summary(&s->m.splits[split], f).classes[cls], count);
    }
}

Test(statistics, of_some_records_of_a_block)
{
    struct sums s;
    apl_error err;
    sums_make(&s);
    for (unsigned f = 0; f < s.m.schema.count; f++) {
        cr_assert_eq(add(&s, 0, f, 5, 5, &err), APL_OK);
        expect_field(&s, 0, f, 5, 5);
        cr_assert_eq(add(&s, 0, f, 3, 11, &err), APL_OK);
        cr_assert_eq(add(&s, 0, f, 11, 20, &err), APL_OK);
        expect_field(&s, 0, f, 3, 20);
        expect_field(&s, 1, f, 0, 0);
    }
    sums_free(&s);
}

Test(statistics, splits_add_up)
{
    struct sums s;
    apl_error err;
    sums_make(&s);
    for (unsigned f = 0; f < s.m.schema.count; f++) {
        cr_assert_eq(add(&s, 0, f, 0, 7, &err), APL_OK);
        cr_assert_eq(add(&s, 1, f, 7, 20, &err), APL_OK);
    }
    statistics_merge(&s.m.splits[0], &s.m.splits[1], &s.m.schema);
    for (unsigned f = 0; f < s.m.schema.count; f++) {
        expect_field(&s, 0, f, 0, 20);
        expect_field(&s, 1, f, 7, 20);
    }
    sums_free(&s);
}

Test(statistics, a_value_that_is_no_class)
{
    struct sums s;
    apl_error err;
    sums_make(&s);
    store_le(s.block.columns[1].values.data + 2 * 4, 3, 2);
    cr_assert_eq(add(&s, 0, 1, 0, 4, &err), APL_OK);
    cr_assert_eq(add(&s, 0, 1, 4, 20, &err), APL_E_INVALID);
    cr_assert_not_null(strstr(err.message, "field label: a record has class 3 of 3"), "%s", err.message);
    store_le(s.block.columns[1].values.data + 2 * 4, 0xffff, 2);
    cr_assert_eq(add(&s, 0, 1, 4, 5, &err), APL_E_INVALID);
    sums_free(&s);
}

/* Of images of any size, those with up to four channels have colours. */
Test(statistics, colours_of_up_to_four_channels)
{
    struct manifest m = {0};
    apl_error err;
    add_field(&m.schema, "image", APL_U8, APL_INPUT, SHAPE_OF(-1, -1, -1));
    m.splits = calloc(1, sizeof *m.splits);
    m.split_count = 1;
    cr_assert_eq(manifest_new_summary(&m.schema, &m.splits[0], 0, &err), APL_OK);
    uint64_t images = 0;
    for (int64_t channels = 0; channels <= 6; channels++) {
        static const uint8_t data[64];
        struct raw_block block = {0};
        const apl_value value = {data, (const int64_t[]){channels, 2, 3}};
        cr_assert_eq(raw_block_append(&block, &m.schema, &value, &err), APL_OK);
        cr_assert_eq(statistics_add(&m.splits[0], 0, &m.schema.fields[0], &block.columns[0], 0, 1, &err),
                     APL_OK);
        images += channels >= 1 && channels <= 4;
        cr_assert_eq(split_summary(&m.splits[0], 0).colours->images, images, "%d channels", (int)channels);
        raw_block_free(&block);
    }
    manifest_free(&m);
}
