/* The classes of records: the values of fields of whole numbers of any width, read from any part of a store. */
#include "classes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#define TRAIN 60
#define TEST  20

static const struct {
    const char *name;
    apl_dtype dtype;
    unsigned bytes;
    bool is_signed;
} kinds[] = {{"i8", APL_I8, 1, true},    {"i16", APL_I16, 2, true},  {"i32", APL_I32, 4, true},
             {"i64", APL_I64, 8, true},  {"u8", APL_U8, 1, false},   {"u16", APL_U16, 2, false},
             {"u32", APL_U32, 4, false}, {"u64", APL_U64, 8, false}, {"bool", APL_BOOL, 1, false}};

#define KINDS    (sizeof kinds / sizeof *kinds)
#define FRACTION KINDS /* the fields that are no whole numbers */
#define PAIR     (KINDS + 1)
#define TEXT     (KINDS + 2)
#define DOUBLE   (KINDS + 3)
#define FIELDS   (KINDS + 4)

static char place[64], db[96];
static apl_store *store;

/* Of many magnitudes; every other one negative where the field is signed. */
static uint64_t value_of(size_t kind, uint64_t id)
{
    uint64_t x = (id + 1) * 0x9e3779b97f4a7c15u;
    if (kinds[kind].dtype == APL_BOOL)
        return id % 3 == 0;
    x >>= 64 - 8 * kinds[kind].bytes + id % 7; /* what the field has room for */
    x = kinds[kind].is_signed ? x >> 1 : x;
    return kinds[kind].is_signed && id % 2 ? ~x : x;
}

static void append(apl_writer *w, uint64_t id)
{
    uint8_t data[FIELDS][8] = {{0}};
    apl_value values[FIELDS];
    int64_t length = (int64_t)(id % 5);
    for (size_t f = 0; f < FIELDS; f++)
        values[f] = (apl_value){data[f], f == TEXT ? &length : NULL};
    for (size_t f = 0; f < KINDS; f++) {
        uint64_t x = value_of(f, id);
        for (unsigned i = 0; i < kinds[f].bytes; i++)
            data[f][i] = (uint8_t)(x >> 8 * i);
    }
    memset(data[TEXT], 'a', 5);
    memcpy(data[FRACTION], &(float){(float)id / 8}, 4);
    memcpy(data[DOUBLE], &(double){(double)id / 3}, 8);
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
}

static void set_up(void)
{
    static const int64_t two[1] = {2}, any[1] = {-1};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_split_options split = APL_SPLIT_OPTIONS_INIT;
    apl_writer *w;
    o.block_records = 8;
    strcpy(place, "/tmp/apl-classes-XXXXXX");
    cr_assert_not_null(mkdtemp(place));
    snprintf(db, sizeof db, "%s/db", place);
    cr_assert_eq(apl_writer_open(db, &o, &w, NULL), APL_OK);
    for (size_t f = 0; f < KINDS; f++)
        cr_assert_eq(apl_writer_add_field(w, kinds[f].name, kinds[f].dtype, APL_TARGET, 0, NULL, NULL),
                     APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "fraction", APL_F32, APL_TARGET, 0, NULL, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "pair", APL_U8, APL_TARGET, 1, two, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "text", APL_UTF8, APL_NAME, 1, any, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "double", APL_F64, APL_TARGET, 0, NULL, NULL), APL_OK);
    for (uint64_t id = 0; id < TRAIN + TEST; id++) {
        if (id == 0 || id == TRAIN)
            cr_assert_eq(apl_writer_begin_member(w, id ? "b" : "a", id ? "test" : "train", id > 0, NULL),
                         APL_OK);
        append(w, id);
    }
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
    cr_assert_eq(apl_store_open(db, NULL, &store, NULL), APL_OK);
    split.name = "val", split.ratio = 0.4, split.by = APL_BY_ID;
    cr_assert_eq(apl_split_make(store, &split, NULL), APL_OK);
}

static void tear_down(void)
{
    char command[192];
    apl_store_close(store);
    snprintf(command, sizeof command, "chmod -R u+w '%s' && rm -r '%s'", place, place);
    cr_assert_eq(system(command), 0);
}

TestSuite(classes, .init = set_up, .fini = tear_down, .timeout = 60);

Test(classes, are_the_values_of_the_records)
{
    static const char *const splits[] = {"train", "test", "val", "train-val"};
    for (size_t s = 0; s < sizeof splits / sizeof *splits; s++)
        for (size_t f = 0; f < KINDS; f++) {
            struct subset subset;
            apl_error err;
            uint64_t values[TRAIN + TEST], ids[TRAIN + TEST], count = TRAIN + TEST;
            cr_assert_eq(apl_split_ids(store, splits[s], ids, &count, NULL), APL_OK);
            cr_assert_eq(subset_open(store, splits[s], &subset, &err), APL_OK, "%s", err.message);
            cr_assert(subset.records == count && count > 0);
            cr_assert_eq(classes_read(&subset, kinds[f].name, values, NULL), APL_OK);
            for (uint64_t i = 0; i < count; i++)
                cr_assert_eq(values[i], value_of(f, ids[i]), "%s, %s of record %llu: %llx", splits[s],
                             kinds[f].name, (unsigned long long)ids[i], (unsigned long long)values[i]);
            subset_close(&subset);
        }
}

static void refused(const char *field, apl_status status, const char *words)
{
    struct subset subset;
    uint64_t values[TRAIN];
    apl_error err;
    cr_assert_eq(subset_open(store, "train", &subset, NULL), APL_OK);
    cr_assert_eq(classes_read(&subset, field, values, &err), status);
    cr_assert(strstr(err.message, words), "%s", err.message);
    subset_close(&subset);
}

Test(classes, are_of_one_whole_number_a_record)
{
    refused("fraction", APL_E_INVALID, "field fraction does not hold one integer");
    refused("pair", APL_E_INVALID, "field pair does not hold one integer");
    refused("text", APL_E_INVALID, "field text does not hold one integer");
    refused("none", APL_E_NOTFOUND, "has no field none");
}

/* Weights of records are the same numbers, and fractions too. */
Test(classes, weights_are_numbers_of_any_type)
{
    struct subset subset;
    double weights[TRAIN];
    apl_error err;
    cr_assert_eq(subset_open(store, "train", &subset, NULL), APL_OK);
    for (size_t f = 0; f < KINDS; f++) {
        cr_assert_eq(field_weights_read(&subset, kinds[f].name, weights, NULL), APL_OK);
        for (uint64_t i = 0; i < TRAIN; i++) {
            uint64_t x = value_of(f, i);
            cr_assert_eq(weights[i], kinds[f].is_signed ? (double)(int64_t)x : (double)x, "%s",
                         kinds[f].name);
        }
    }
    cr_assert_eq(field_weights_read(&subset, "fraction", weights, NULL), APL_OK);
    for (uint64_t i = 0; i < TRAIN; i++)
        cr_assert_eq(weights[i], (double)i / 8);
    cr_assert_eq(field_weights_read(&subset, "double", weights, NULL), APL_OK);
    for (uint64_t i = 0; i < TRAIN; i++)
        cr_assert_eq(weights[i], (double)i / 3);
    cr_assert_eq(field_weights_read(&subset, "pair", weights, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "field pair does not hold one integer, f32 or f64"), "%s", err.message);
    subset_close(&subset);
}

static void refused_weights(const char *field, const char *words)
{
    apl_sampling sampling = APL_SAMPLING_INIT;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r = NULL;
    apl_error err;
    sampling.weight_field = field;
    o.split = "train";
    o.sampling = &sampling;
    cr_assert_neq(apl_reader_open(store, &o, &r, &err), APL_OK);
    cr_assert(strstr(err.message, words), "%s", err.message);
}

Test(classes, weights_of_a_field_are_judged_as_others)
{
    refused_weights("i8", "sampling: record 1 has the i8 -");
    refused_weights("none", "has no field none");
    refused_weights("text", "field text does not hold one integer, f32 or f64");
}

/* With a weight for each class, a value beyond them is refused. */
Test(classes, each_needs_a_weight)
{
    static const double weights[2] = {1, 1};
    apl_sampling sampling = APL_SAMPLING_INIT;
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r = NULL;
    apl_error err;
    sampling.field = "i32";
    sampling.weights = weights;
    sampling.weight_count = 2;
    sampling.replacement = 1;
    o.split = "train";
    o.sampling = &sampling;
    cr_assert_eq(apl_reader_open(store, &o, &r, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "there are 2 weights, but record "), "%s", err.message);
    sampling.field = "bool";
    o.threads = APL_NO_THREADS;
    cr_assert_eq(apl_reader_open(store, &o, &r, &err), APL_OK, "%s", err.message);
    apl_reader_close(r);
}
