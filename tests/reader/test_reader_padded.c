/* Values of varying shape as one array: ragged, and padded. */
#include "exact_value.h"
#include "tokens_fixture.h"

#define TRAIN 150
#define BLOCK 8

static void set_up(void)
{
    tokens_make(TRAIN, BLOCK);
}

TestSuite(reader_padded, .init = set_up, .fini = fixture_free, .timeout = 60);

static const unsigned counts[] = {APL_NO_THREADS, 1, 3};

static void check_dims(const apl_column *c, unsigned dims, const int64_t *dim)
{
    cr_assert_eq(c->dims, dims);
    size_t n = apl_dtype_size(c->dtype);
    for (unsigned d = 0; d < dims; d++) {
        cr_assert_eq(c->dim[d], dim[d], "dimension %u is %lld", d, (long long)c->dim[d]);
        n *= (size_t)dim[d];
    }
    cr_assert_eq(c->bytes, n);
}

/* ---------------------------------------------------------------------------------------------- padding */

static uint8_t byte_at(const apl_column *c, size_t row, size_t length, size_t i)
{
    return ((const uint8_t *)c->data)[row * length + i];
}

/* Rows padded with 7 to `length`; 0: to the longest. */
static void check_tokens(const apl_batch *b, size_t length)
{
    const apl_column *c = apl_batch_column(b, TOKENS_TOKENS),
                     *lengths = apl_batch_part(b, TOKENS_TOKENS, APL_PART_LENGTHS),
                     *mask = apl_batch_part(b, TOKENS_TOKENS, APL_PART_MASK);
    size_t rows = apl_batch_rows(b), longest = 0;
    const uint64_t *ids = apl_batch_ids(b);
    for (size_t k = 0; k < rows; k++)
        longest = tokens_length(ids[k]) > longest ? tokens_length(ids[k]) : longest;
    length = length ? length : longest;
    check_dims(c, 2, (int64_t[]){(int64_t)rows, (int64_t)length});
    check_dims(lengths, 1, (int64_t[]){(int64_t)rows});
    check_dims(mask, 2, (int64_t[]){(int64_t)rows, (int64_t)length});
    cr_assert(c->how == APL_COLLATE_PAD && !c->offsets && !c->shapes);
    cr_assert(lengths->dtype == APL_I64 && mask->dtype == APL_BOOL && (uintptr_t)mask->data % 64 == 0);
    for (size_t k = 0; k < rows; k++) {
        size_t n = tokens_length(ids[k]) < length ? tokens_length(ids[k]) : length;
        cr_assert_eq(((const int64_t *)lengths->data)[k], (int64_t)n);
        for (size_t i = 0; i < length; i++) {
            cr_assert_eq(((const uint16_t *)c->data)[k * length + i], i < n ? tokens_at(ids[k], i) : 7);
            cr_assert_eq(byte_at(mask, k, length, i), i < n);
        }
    }
}

static void read_padded(const apl_reader_options *o, size_t length)
{
    struct sequence s = {0};
    apl_reader *r = fixture_reader(o);
    for (unsigned epoch = 0; epoch < 2; epoch++) {
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
            check_tokens(b, length);
            sequence_add(&s, b);
        }
        fixture_next_epoch(r);
    }
    check_once(&s, 0, TRAIN, 2, false);
    apl_reader_close(r);
    sequence_free(&s);
}

Test(reader_padded, pads_to_the_longest_or_to_a_length)
{
    for (unsigned i = 0; i < 6; i++) {
        apl_reader_options o = fixture_options();
        apl_collation c = tokens_collation("tokens", APL_COLLATE_PAD);
        c.fill = 7;
        c.length = i % 2 ? TOKENS_LONGEST : 0;
        o.collations = &c;
        o.collation_count = 1;
        o.threads = counts[i / 2];
        o.window = i < 3 ? 24 : 0;
        read_padded(&o, (size_t)c.length);
    }
}

Test(reader_padded, truncates_where_asked)
{
    apl_reader_options o = fixture_options();
    apl_collation c = tokens_collation("tokens", APL_COLLATE_PAD);
    c.fill = 7;
    c.length = 5;
    c.truncate = 1;
    o.collations = &c;
    o.collation_count = 1;
    read_padded(&o, 5);
}

/* Of each run of a value the front is left. */
Test(reader_padded, truncates_inner_dimensions)
{
    apl_reader_options o = fixture_options();
    apl_collation c = tokens_collation("pair", APL_COLLATE_PAD);
    c.length = 2;
    c.truncate = 1;
    c.fill = -1;
    o.collations = &c;
    o.collation_count = 1;
    apl_reader *r = fixture_reader(&o);
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
        const apl_column *pair = apl_batch_column(b, TOKENS_PAIR);
        check_dims(pair, 3, (int64_t[]){(int64_t)apl_batch_rows(b), 2, 2});
        for (size_t k = 0; k < apl_batch_rows(b) * 4; k++) {
            uint64_t id = apl_batch_ids(b)[k / 4];
            cr_assert_eq(((const int32_t *)pair->data)[k],
                         k % 2 < tokens_pair_length(id) ? tokens_pair_at(id, k / 2 % 2, k % 2) : -1);
        }
    }
    apl_reader_close(r);
}

Test(reader_padded, too_long_a_value_is_an_error_that_names_its_record)
{
    apl_reader_options o = fixture_options();
    apl_collation c = tokens_collation("tokens", APL_COLLATE_PAD);
    apl_error err = {0};
    apl_batch *b;
    c.length = 61;
    o.collations = &c;
    o.collation_count = 1;
    o.sequential = 1;
    apl_reader *r = fixture_reader(&o);
    cr_assert_eq(apl_reader_next(r, &b, &err), APL_E_INVALID);
    cr_assert_str_eq(
        err.message,
        "record 5: field tokens is 400 long, and is to be padded to 61: truncate it, or pad to more");
    cr_assert(err.first_record == 5 && err.records == 1);
    cr_assert_eq(apl_reader_next(r, &b, &err), APL_E_INVALID, "it stays");
    apl_reader_close(r);
}

/* The dimension that varies need not be the first. */
Test(reader_padded, pads_inner_dimensions)
{
    apl_reader_options o = fixture_options();
    apl_collation c[2] = {tokens_collation("pair", APL_COLLATE_PAD),
                          tokens_collation("weights", APL_COLLATE_PAD)};
    c[0].fill = -1;
    o.collations = c;
    o.collation_count = 2;
    apl_reader *r = fixture_reader(&o);
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
        const apl_column *pair = apl_batch_column(b, TOKENS_PAIR);
        const uint64_t *ids = apl_batch_ids(b);
        check_dims(pair, 3, (int64_t[]){(int64_t)apl_batch_rows(b), 2, 3});
        check_dims(apl_batch_part(b, TOKENS_PAIR, APL_PART_MASK), 2,
                   (int64_t[]){(int64_t)apl_batch_rows(b), 3});
        for (size_t k = 0; k < apl_batch_rows(b) * 6; k++)
            cr_assert_eq(((const int32_t *)pair->data)[k], k % 3 < tokens_pair_length(ids[k / 6])
                                                               ? tokens_pair_at(ids[k / 6], k / 3 % 2, k % 3)
                                                               : -1);
        const apl_column *weights = apl_batch_column(b, TOKENS_WEIGHTS);
        for (size_t k = 0, n = (size_t)weights->dim[1]; k < apl_batch_rows(b) * n; k++)
            cr_assert_eq(byte_at(weights, k / n, n, k % n),
                         k % n < tokens_length(ids[k / n]) ? tokens_weight(ids[k / n], k % n) : 0);
        cr_assert_null(apl_batch_part(b, TOKENS_TOKENS, APL_PART_MASK));
        cr_assert_null(apl_batch_part(b, TOKENS_SIZE, APL_PART_MASK));
    }
    apl_reader_close(r);
}

/* ----------------------------------------------------------------------------------------------- ragged */

Test(reader_padded, ragged_is_one_array_with_offsets)
{
    apl_reader_options o = fixture_options();
    apl_collation c = tokens_collation("tokens", APL_COLLATE_RAGGED);
    o.collations = &c;
    o.collation_count = 1;
    apl_reader *r = fixture_reader(&o);
    apl_batch *b = fixture_next(r);
    const apl_column *tokens = apl_batch_column(b, TOKENS_TOKENS), *pair = apl_batch_column(b, TOKENS_PAIR);
    cr_assert(tokens->how == APL_COLLATE_RAGGED && pair->how == APL_COLLATE_NONE);
    check_dims(tokens, 1, (int64_t[]){(int64_t)tokens->offsets[16]});
    check_dims(pair, 1, (int64_t[]){(int64_t)pair->offsets[16]});
    check_dims(apl_batch_column(b, TOKENS_SIZE), 1, (int64_t[]){16});
    apl_batch_release(b);
    apl_reader_close(r);
}

/* Of more dimensions; and of batches that no reader has made. */
Test(reader_padded, dims_are_those_of_data)
{
    apl_reader_options o = fixture_options();
    apl_collation c = tokens_collation("track", APL_COLLATE_RAGGED);
    apl_batch *b;
    apl_store *own = fx.store;
    cr_assert_eq(apl_store_open(fx.db, NULL, &fx.store, NULL), APL_OK);
    o.collations = &c;
    o.collation_count = 1;
    apl_reader *r = fixture_reader(&o);
    b = fixture_next(r);
    const apl_column *track = apl_batch_column(b, FIELD_TRACK);
    check_dims(track, 2, (int64_t[]){(int64_t)(track->offsets[8] / 3), 3});
    apl_batch_release(b);
    apl_reader_close(r);
    cr_assert_eq(apl_store_get(fx.store, 3, &b, NULL), APL_OK);
    check_dims(apl_batch_column(b, FIELD_IMAGE), 4, (int64_t[]){1, 3, SIDE, SIDE});
    check_dims(apl_batch_column(b, FIELD_TRACK), 1, (int64_t[]){9});
    cr_assert_null(apl_batch_part(b, FIELD_TRACK, APL_PART_MASK));
    cr_assert_null(apl_batch_part(NULL, 0, APL_PART_MASK));
    apl_batch_release(b);
    apl_store_close(fx.store);
    fx.store = own;
}

/* --------------------------------------------------------------------------------------------- refusals */

static const char *refused(apl_collation a, apl_collation b, size_t count, apl_status status)
{
    apl_reader_options o = fixture_options();
    apl_collation c[2] = {a, b};
    static const char *const fields[] = {"tokens", "pair", "size"};
    o.fields = fields;
    o.field_count = 3;
    o.collations = c;
    o.collation_count = count;
    return fixture_refused(&o, status);
}

Test(reader_padded, refuses_what_makes_no_sense)
{
    apl_collation pad = tokens_collation("tokens", APL_COLLATE_PAD), other = pad, none = {0};
    cr_assert_str_eq(refused(pad, pad, 2, APL_E_INVALID), "field tokens: two collations");
    cr_assert_str_eq(refused(none, none, 1, APL_E_INVALID),
                     "apl_collation: size is not set: start from APL_COLLATION_INIT");
    other.field = "size";
    cr_assert_str_eq(refused(other, none, 1, APL_E_INVALID),
                     "field size: is u32; pad is for fields with one varying dimension");
    other.field = "pair";
    other.how = APL_COLLATE_RAGGED;
    cr_assert_str_eq(refused(other, none, 1, APL_E_INVALID),
                     "field pair: is i32[2,*]; ragged is for fields with one varying dimension, the first");
    other.field = "weights";
    cr_assert_str_eq(refused(other, none, 1, APL_E_INVALID),
                     "field weights: has a collation, but is not read");
    other.field = "nothing";
    refused(other, none, 1, APL_E_NOTFOUND);
    other = pad;
    other.fill = 65536;
    cr_assert_str_eq(refused(other, none, 1, APL_E_INVALID),
                     "field tokens: u16 cannot hold fill 65536 exactly");
    other.fill = 0.5;
    cr_assert_str_eq(refused(other, none, 1, APL_E_INVALID),
                     "field tokens: u16 cannot hold fill 0.5 exactly");
    other = pad;
    other.truncate = 1;
    cr_assert_str_eq(refused(other, none, 1, APL_E_INVALID), "field tokens: truncate without a length");
    other.length = UINT64_MAX;
    refused(other, none, 1, APL_E_INVALID);
    other = tokens_collation("tokens", APL_COLLATE_RAGGED);
    other.length = 4;
    cr_assert_str_eq(refused(other, none, 1, APL_E_INVALID),
                     "field tokens: length, fill and truncate have no meaning for ragged");
    other = pad;
    other.how = (apl_collate)99;
    refused(other, none, 1, APL_E_INVALID);
}

Test(exact_value, holds_numbers_that_are_exact)
{
    uint8_t x[8];
    uint64_t most = UINT64_MAX;
    cr_assert(exact_value(APL_I8, -128, x) && x[0] == 128 && !exact_value(APL_I8, -129, x) &&
              !exact_value(APL_I8, 128, x));
    cr_assert(exact_value(APL_BOOL, 1, x) && !exact_value(APL_BOOL, 2, x) && !exact_value(APL_UTF8, 0, x));
    cr_assert(!exact_value(APL_U64, 18446744073709551616.0, x) &&
              exact_value(APL_U64, 9223372036854775808.0, x));
    cr_assert(exact_value(APL_I64, -1, x) && memcmp(x, &most, 8) == 0);
    cr_assert(!exact_value(APL_U32, 0.0 / 0.0, x) && exact_value(APL_F32, 0.0 / 0.0, x) &&
              exact_value(APL_F16, 0.0 / 0.0, x));
    cr_assert(exact_value(APL_F32, 0.5, x) && !exact_value(APL_F32, 0.1, x) && exact_value(APL_F64, 0.1, x));
    cr_assert(exact_value(APL_F16, 65504, x) && !exact_value(APL_F16, 65505, x) &&
              exact_value(APL_F16, -0.5, x));
    cr_assert(exact_value(APL_F16, 1.0 / 16777216, x) && !exact_value(APL_F16, 1.0 / 33554432, x));
    cr_assert(exact_value(APL_F16, 1.0 / 0.0, x) && x[1] == 0x7c && exact_value(APL_BF16, -1.0 / 0.0, x));
    cr_assert(exact_value(APL_BF16, -100, x) && !exact_value(APL_BF16, 257, x) &&
              exact_value(APL_BF16, 256, x));
}
