/* Splits by their names: what a name means, which names are free, and how splits are described. */
#include "split_fixture.h"

#include <math.h>

TestSuite(split, .init = set_up, .fini = tear_down);

static apl_status make(apl_store *store, const char *name, double ratio, const char *parent)
{
    apl_split_options o = split_options(name, ratio, parent);
    return apl_split_make(store, &o, &err);
}

Test(split, source_comes_first_then_files_then_rests)
{
    apl_store *store = plain_store(500, 100);
    uint64_t n = 0;
    OK(make(store, "val", 0.5, "train"));
    OK(make(store, "b", 0.5, "val"));
    OK(make(store, "x-y", 0.1, "val-b"));
    uint64_t sizes[8], all;
    static const char *const names[] = {"train", "test",  "val", "train-val",
                                        "b",     "val-b", "x-y", "val-b-x-y"};
    for (unsigned i = 0; i < 8; i++)
        OK(apl_split_ids(store, names[i], NULL, &sizes[i], &err));
    cr_assert(sizes[0] == 500 && sizes[1] == 100);
    cr_assert_eq(sizes[2] + sizes[3], 500);
    cr_assert_eq(sizes[4] + sizes[5], sizes[2]);
    cr_assert_eq(sizes[6] + sizes[7], sizes[5]);
    OK(apl_split_ids(store, NULL, NULL, &all, &err));
    cr_assert_eq(all, 500);
    static const char *const none[] = {"dev",   "test-val", "train-", "-val", "-",           "",
                                       "val-y", "../val",   "b-x-y",  ".",    "train-val-b", "val-"};
    for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
        FAILS(APL_E_NOTFOUND, "has no split", apl_split_ids(store, none[i], NULL, &n, &err));
    apl_store_close(store);
}

Test(split, names_that_are_taken)
{
    apl_store *store = plain_store(500, 100);
    FAILS(APL_E_INVALID, "source has a split train already", make(store, "train", 0.5, NULL));
    OK(make(store, "val", 0.5, NULL));
    FAILS(APL_E_EXISTS, "val.split: it exists already", make(store, "val", 0.5, NULL));
    FAILS(APL_E_INVALID, "train-val is what split val leaves", make(store, "train-val", 0.5, "test"));
    OK(make(store, "test-dev", 0.5, "train"));
    FAILS(APL_E_INVALID, "there is a split test-dev already", make(store, "dev", 0.5, "test"));
    OK(make(store, "a-b", 0.5, "train")); /* leaves train-a-b */
    OK(make(store, "a", 0.5, "train"));   /* leaves train-a */
    FAILS(APL_E_INVALID, "train-a-b is what split a-b leaves", make(store, "b", 0.5, "train-a"));
    apl_split_options o = split_options("val", 0.1, NULL);
    o.replace = 1;
    OK(apl_split_make(store, &o, &err));
    apl_store_close(store);
}

Test(split, arguments_that_are_none)
{
    apl_store *store = plain_store(500, 100);
    static const char *const names[] = {"", ".", "..", ".val", "a/b", "a\nb", "\xff"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        FAILS(APL_E_INVALID, "cannot be called", make(store, names[i], 0.5, NULL));
    char name[260];
    memset(name, 'n', sizeof name);
    name[201] = 0;
    FAILS(APL_E_INVALID, "cannot be called", make(store, name, 0.5, NULL));
    name[200] = 0;
    OK(make(store, name, 0.5, NULL));
    char parent[280];
    snprintf(parent, sizeof parent, "train-%s", name);
    FAILS(APL_E_INVALID, "too long",
          make(store, "and-this-makes-more-than-255-bytes-with-it-in-all", 0.5, parent));
    FAILS(APL_E_INVALID, "needs a name", make(store, NULL, 0.5, NULL));
    static const double ratios[] = {0, 1, -1, 2, NAN, INFINITY};
    for (unsigned i = 0; i < sizeof ratios / sizeof *ratios; i++)
        FAILS(APL_E_INVALID, "between 0 and 1", make(store, "val", ratios[i], NULL));
    FAILS(APL_E_NOTFOUND, "has no split dev", make(store, "val", 0.5, "dev"));
    apl_split_options o = split_options("val", 0.5, NULL);
    o.stratify = "image";
    FAILS(APL_E_INVALID, "image", apl_split_make(store, &o, &err));
    o.stratify = "colour";
    FAILS(APL_E_NOTFOUND, "colour", apl_split_make(store, &o, &err));
    o = (apl_split_options){0};
    FAILS(APL_E_INVALID, "APL_SPLIT_OPTIONS_INIT", apl_split_make(store, &o, &err));
    cr_assert_eq(apl_split_make(NULL, NULL, NULL), APL_E_INVALID);
    apl_store_close(store);
}

Test(split, nothing_to_work_on)
{
    apl_store *store = plain_store(50, 10);
    apl_split_list *list;
    uint64_t n = 0, counts[CLASSES];
    FAILS(APL_E_INVALID, "store or list is NULL", apl_split_list_open(NULL, &list, &err));
    FAILS(APL_E_INVALID, "store or list is NULL", apl_split_list_open(store, NULL, &err));
    FAILS(APL_E_INVALID, "store or count is NULL", apl_split_ids(NULL, "train", NULL, &n, &err));
    FAILS(APL_E_INVALID, "store or counts is NULL", apl_split_class_counts(NULL, "train", 1, counts, &err));
    FAILS(APL_E_INVALID, "store or counts is NULL", apl_split_class_counts(store, "train", 1, NULL, &err));
    cr_assert_eq(apl_split_class_counts(store, "train", 1, counts, NULL), APL_OK);
    apl_store_close(store);
}

Test(split, lists_files)
{
    apl_store *store = plain_store(500, 100);
    apl_split_list *list;
    OK(apl_split_list_open(store, &list, &err));
    cr_assert_null(apl_split_list_file(list, 0));
    apl_split_list_close(list);
    OK(make(store, "val", 0.125, NULL));
    make_split(store, "dev", 0.5, "train-val", "label");
    shell("printf junk >'%s/bad.split'; : >'%s/.split'; : >'%s/other'", db, db, db);
    OK(apl_split_list_open(store, &list, &err));
    const apl_split_file *bad = apl_split_list_file(list, 0), *dev = apl_split_list_file(list, 1),
                         *val = apl_split_list_file(list, 2);
    cr_assert_null(apl_split_list_file(list, 3));
    cr_assert(!strcmp(bad->name, "bad") && bad->status == APL_E_CORRUPT && !bad->rest);
    cr_assert(strstr(bad->message, "bad.split: it is not a split file"), "%s", bad->message);
    cr_assert(!strcmp(dev->name, "dev") && !strcmp(dev->rest, "train-val-dev") && dev->status == APL_OK);
    cr_assert(!strcmp(dev->parent, "train-val") && !strcmp(dev->source, "train") &&
              !strcmp(dev->stratify, "label"));
    cr_assert(!strcmp(val->parent, "train") && !val->stratify && val->ratio == 0.125 && val->seed == 0);
    cr_assert_eq(val->records + val->rest_records, 500);
    cr_assert_eq(dev->records + dev->rest_records, val->rest_records);
    cr_assert_str_eq(val->message, "");
    apl_split_list_close(list);
    apl_store_close(store);
}

Test(split, counts_classes)
{
    apl_store *store = plain_store(3000, 100);
    OK(make(store, "val", 0.3, NULL));
    static const char *const names[] = {"train", "test", "val", "train-val"};
    uint64_t counts[4][CLASSES], sum = 0;
    for (unsigned i = 0; i < 4; i++)
        OK(apl_split_class_counts(store, names[i], 1, counts[i], &err));
    for (unsigned c = 0; c < CLASSES; c++) {
        for (unsigned s = 0; s < 2; s++)
            cr_assert_eq(counts[s][c], apl_store_class_count(store, s, 1, c));
        cr_assert_eq(counts[2][c] + counts[3][c], counts[0][c]);
        sum += counts[2][c];
    }
    uint8_t *val = records_of(store, "val", 3000);
    uint64_t n = 0;
    for (unsigned i = 0; i < 3000; i++) {
        n += val[i];
        counts[2][label_of(i)] -= val[i];
    }
    cr_assert_eq(n, sum);
    for (unsigned c = 0; c < CLASSES; c++)
        cr_assert_eq(counts[2][c], 0);
    free(val);
    FAILS(APL_E_INVALID, "no classes", apl_split_class_counts(store, "val", 0, counts[0], &err));
    FAILS(APL_E_INVALID, "no classes", apl_split_class_counts(store, "val", 99, counts[0], &err));
    FAILS(APL_E_NOTFOUND, "dev", apl_split_class_counts(store, "dev", 1, counts[0], &err));
    apl_store_close(store);
}

Test(split, ids_need_room)
{
    apl_store *store = plain_store(500, 100);
    uint64_t ids[10], n = 10;
    FAILS(APL_E_INVALID, "500 records", apl_split_ids(store, "train", ids, &n, &err));
    cr_assert_eq(n, 500);
    cr_assert_eq(apl_split_ids(store, "train", NULL, NULL, NULL), APL_E_INVALID);
    apl_store_close(store);
}

/* A damaged block is named, and no file is left. */
Test(split, damaged_store)
{
    apl_store_close(plain_store(500, 100));
    char path[160];
    snprintf(path, sizeof path, "%s/data.mdb", db);
    shell("chmod u+w '%s'", path);
    FILE *f = fopen(path, "r+b");
    static uint8_t bytes[1 << 17];
    size_t size = fread(bytes, 1, sizeof bytes, f);
    for (size_t at = 0; at + 21 < size; at++)
        if (memcmp(bytes + at, "APLB", 4) == 0)
            bytes[at + 20] ^= 1;
    rewind(f);
    cr_assert_eq(fwrite(bytes, 1, size, f), size);
    fclose(f);
    apl_store *store;
    OK(apl_store_open(db, NULL, &store, &err));
    FAILS(APL_E_CORRUPT, "one: block 0 (records 0 to 63)", make(store, "val", 0.5, "train"));
    FAILS(APL_E_CORRUPT, "three: block 0 (records 500 to 563)", make(store, "dev", 0.5, "test"));
    uint64_t counts[CLASSES];
    FAILS(APL_E_CORRUPT, "three: block 0", apl_split_class_counts(store, "test", 1, counts, &err));
    shell("test \"$(ls '%s' | wc -l)\" = 1", db);
    apl_store_close(store);
}

Test(split, names_that_are_nearly_those_of_a_rest)
{
    apl_store *store = plain_store(50, 10);
    uint64_t n = 0;
    OK(make(store, "val", 0.5, "train"));
    FAILS(APL_E_NOTFOUND, "has no split", apl_split_ids(store, "trail-val", NULL, &n, &err));
    FAILS(APL_E_NOTFOUND, "has no split", apl_split_ids(store, "train-x-val", NULL, &n, &err));
    FAILS(APL_E_NOTFOUND, "has no split", apl_split_ids(store, "trai-val", NULL, &n, &err));
    FAILS(APL_E_INVALID, "NULL", apl_split_verify(NULL, "val", 1, &err));
    FAILS(APL_E_INVALID, "NULL", apl_split_verify(store, NULL, 1, &err));
    cr_assert_eq(apl_split_verify(store, "val", 1, NULL), APL_OK);
    /* A parent of the same name and range that has other records. */
    OK(make(store, "dev", 0.5, "val"));
    apl_split_options o = split_options("val", 0.3, "train");
    o.replace = 1;
    OK(apl_split_make(store, &o, &err));
    FAILS(APL_E_MISMATCH, "replaced since", apl_split_verify(store, "dev", 1, &err));
    apl_store_close(store);
}

/* Targets that are no classes, whatever else they are. */
Test(split, fields_that_do_not_stratify)
{
    static const struct {
        const char *name;
        apl_dtype dtype;
        apl_role role;
        unsigned ndim;
        int works;
    } fields[] = {{"input", APL_U8, APL_INPUT, 0, 0},
                  {"pair", APL_U8, APL_TARGET, 1, 0},
                  {"real", APL_F32, APL_TARGET, 0, 0},
                  {"flag", APL_BOOL, APL_TARGET, 0, 1},
                  {"wide", APL_I64, APL_TARGET, 0, 1}};
    enum { N = sizeof fields / sizeof *fields };
    static const uint8_t zeros[16];
    static const int64_t two[] = {2};
    char path[160];
    apl_writer *w;
    apl_store *store;
    snprintf(path, sizeof path, "%s/fields", place);
    OK(apl_writer_open(path, NULL, &w, &err));
    for (int f = 0; f < N; f++)
        OK(apl_writer_add_field(w, fields[f].name, fields[f].dtype, fields[f].role, fields[f].ndim, two,
                                &err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &err));
    apl_value values[N];
    for (int f = 0; f < N; f++)
        values[f] = (apl_value){zeros, NULL};
    OK(apl_writer_append(w, values, &err));
    OK(apl_writer_commit(w, &err));
    apl_writer_close(w);
    OK(apl_store_open(path, NULL, &store, &err));
    for (int f = 0; f < N; f++) {
        apl_split_options o = split_options("val", 0.5, "train");
        o.stratify = fields[f].name;
        o.replace = 1;
        if (fields[f].works)
            OK(apl_split_make(store, &o, &err));
        else
            FAILS(APL_E_INVALID, "is not a scalar integer target", apl_split_make(store, &o, &err));
    }
    apl_store_close(store);
}
