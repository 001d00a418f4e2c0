/* What is hashed to find a record's side: contents, keys, ids, groups. */
#include "split_fixture.h"

#include "split_unit.h"

#include <math.h>

TestSuite(split_units, .init = set_up, .fini = tear_down);

#define TRAIN  6000u
#define GROUPS 300u

static apl_split_options asked(const char *name, double ratio, apl_split_by by, const char *group)
{
    apl_split_options o = split_options(name, ratio, NULL);
    o.by = by;
    o.group = group;
    return o;
}

static unsigned torn(const uint8_t *has, uint32_t n)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += has[i] != has[input_of(i)];
    return count;
}

Test(split_units, ids_and_keys_are_drawn_one_by_one)
{
    static const apl_split_by all[] = {APL_BY_ID, APL_BY_KEY};
    apl_store *store = plain_store(TRAIN, 100);
    for (size_t i = 0; i < 2; i++) {
        apl_split_options o = asked("val", 0.25, all[i], NULL);
        o.replace = 1;
        OK(apl_split_make(store, &o, &err));
        OK(apl_split_verify(store, "val", 2, &err));
        uint64_t n;
        uint8_t *has = records_of(store, "val", TRAIN);
        OK(apl_split_ids(store, "val", NULL, &n, &err));
        cr_assert(fabs((double)n - 0.25 * TRAIN) < 6 * sqrt(0.25 * 0.75 * TRAIN), "%llu",
                  (unsigned long long)n);
        cr_assert_gt(torn(has, TRAIN), 100, "equal inputs are drawn by themselves");
        free(has);
    }
    apl_store_close(store);
}

/* The hashes of docs/FORMAT.md, computed here. */
Test(split_units, are_what_the_format_says)
{
    apl_store *store = plain_store(600, 0);
    apl_split_options o = asked("val", 0.25, APL_BY_KEY, NULL);
    o.seed = 77;
    OK(apl_split_make(store, &o, &err));
    o = asked("dev", 0.25, APL_BY_CONTENT, "label");
    OK(apl_split_make(store, &o, &err));
    uint8_t *val = records_of(store, "val", 600), *dev = records_of(store, "dev", 600);
    struct random_key keys = random_epoch_key(77, 0, RANDOM_SPLIT),
                      groups = random_epoch_key(0, 0, RANDOM_SPLIT);
    for (uint32_t i = 0; i < 600; i++) { /* the members one and two have the numbers 0 and 1 */
        uint64_t key[2] = {i < 200 ? i : ((uint64_t)1 << 32) + i - 200, 0};
        uint8_t label = label_of(i);
        struct hash128 value = hash_xxh3_128(&label, 1);
        cr_assert_eq(val[i], siphash(keys, key, 2) >> 62 == 0);
        cr_assert_eq(dev[i], siphash(groups, (uint64_t[]){value.low, value.high}, 2) >> 62 == 0);
    }
    free(val);
    free(dev);
    apl_store_close(store);
}

/* Makes the splits of a store of one kind, and tells which of its records the one of that name has. */
static uint8_t *made_of(const struct kind *kind, const char *path, apl_split_by by, const char *stratify)
{
    apl_store *store;
    make_store(path, kind);
    OK(apl_store_open(path, NULL, &store, &err));
    apl_split_options o = asked("val", 0.3, by, NULL);
    o.stratify = stratify;
    OK(apl_split_make(store, &o, &err));
    OK(apl_split_verify(store, "val", 1, &err));
    uint8_t *has = records_of(store, "val", kind->train);
    apl_store_close(store);
    return has;
}

Test(split_units, keys_stay_where_a_store_is_shuffled)
{
    static const char *const fields[] = {NULL, "label"};
    char other[128];
    struct kind plain = {900, 90, APL_WRITER_OPTIONS_INIT, false}, shuffled = plain;
    plain.options.block_records = shuffled.options.block_records = 64;
    plain.options.replace = shuffled.options.replace = 1;
    shuffled.options.shuffle = 1;
    shuffled.options.shuffle_seed = 5;
    snprintf(other, sizeof other, "%s/other", place);
    for (size_t i = 0; i < 2; i++) {
        shell("rm -rf '%s' '%s'", db, other);
        uint8_t *a = made_of(&plain, db, APL_BY_KEY, fields[i]);
        uint8_t *b = made_of(&shuffled, other, APL_BY_KEY, fields[i]);
        cr_assert_eq(memcmp(a, b, 900), 0, "stratified by %s", fields[i] ? fields[i] : "nothing");
        free(a);
        free(b);
        shell("rm -rf '%s' '%s'", db, other);
        a = made_of(&plain, db, APL_BY_ID, fields[i]);
        b = made_of(&shuffled, other, APL_BY_ID, fields[i]);
        cr_assert_neq(memcmp(a, b, 900), 0, "ids are others");
        free(a);
        free(b);
    }
}

Test(split_units, stratified_by_id_is_exact)
{
    apl_store *store = plain_store(TRAIN, 0);
    apl_split_options o = asked("val", 0.2, APL_BY_ID, NULL);
    uint64_t part[CLASSES], all[CLASSES];
    o.stratify = "label";
    OK(apl_split_make(store, &o, &err));
    OK(apl_split_class_counts(store, "val", 1, part, &err));
    OK(apl_split_class_counts(store, "train", 1, all, &err));
    for (unsigned c = 0; c < CLASSES; c++)
        cr_assert_eq(part[c], (uint64_t)(0.2 * (double)all[c] + 0.5)); /* each record is a group of one */
    apl_store_close(store);
}

/* --------------------------------------------------------------------------------------------- groups */

/* Record i is of patient `patient_of(i)`, whose records are of various classes, but mostly of one. */
static uint32_t patient_of(uint32_t i)
{
    return (i * 2654435761u >> 8) % GROUPS;
}

static uint8_t diagnosis_of(uint32_t i)
{
    return (uint8_t)(i % 5 == 0 ? i / 5 % 3 : patient_of(i) % 3);
}

static apl_store *patients(uint32_t n)
{
    apl_store *store;
    apl_writer *w;
    static const int64_t shape[1] = {VALUE}, text[1] = {-1}, six[1] = {6}, grid[2] = {-1, -1};
    OK(apl_writer_open(db, NULL, &w, &err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, shape, &err));
    OK(apl_writer_add_field(w, "diagnosis", APL_U8, APL_TARGET, 0, NULL, &err));
    OK(apl_writer_add_field(w, "patient", APL_I32, APL_TARGET, 0, NULL, &err));
    OK(apl_writer_add_field(w, "code", APL_U8, APL_TARGET, 1, six, &err));
    OK(apl_writer_add_field(w, "who", APL_UTF8, APL_NAME, 1, text, &err));
    OK(apl_writer_add_field(w, "weight", APL_F32, APL_TARGET, 0, NULL, &err));
    OK(apl_writer_add_field(w, "mask", APL_U8, APL_TARGET, 2, grid, &err));
    OK(apl_writer_begin_member(w, "one", "train", 0, &err));
    for (uint32_t i = 0; i < n; i++) {
        uint8_t value[VALUE], diagnosis = diagnosis_of(i), code[6], mask[1] = {1};
        int32_t patient = -(int32_t)patient_of(i);
        int64_t one[2] = {1, 1};
        float weight = 60;
        char who[24];
        int64_t length = snprintf(who, sizeof who, "%.*u", (int)(patient_of(i) % 4), patient_of(i));
        length = patient_of(i) == 4 ? 0 : length; /* one is nameless */
        value_of(i, value);
        snprintf((char *)code, sizeof code, "%05u", patient_of(i));
        OK(apl_writer_append(w,
                             (apl_value[]){{value, NULL},
                                           {&diagnosis, NULL},
                                           {&patient, NULL},
                                           {code, NULL},
                                           {who, &length},
                                           {&weight, NULL},
                                           {mask, one}},
                             &err));
    }
    OK(apl_writer_commit(w, &err));
    apl_writer_close(w);
    OK(apl_store_open(db, NULL, &store, &err));
    return store;
}

/* No patient is on both sides; returns how many are in the part. */
static unsigned whole_patients(apl_store *store, const char *name)
{
    uint8_t sides[GROUPS] = {0};
    uint64_t n, *ids = ids_of(store, name, &n);
    uint8_t *in = calloc(TRAIN, 1);
    unsigned parts = 0;
    for (uint64_t i = 0; i < n; i++)
        in[ids[i]] = 1;
    for (uint32_t i = 0; i < TRAIN; i++)
        sides[patient_of(i)] |= in[i] ? 1 : 2;
    for (unsigned p = 0; p < GROUPS; p++) {
        cr_assert_neq(sides[p], 3, "patient %u is on both sides of %s", p, name);
        parts += sides[p] == 1;
    }
    free(ids);
    free(in);
    return parts;
}

Test(split_units, groups_stay_together)
{
    static const char *const fields[] = {"patient", "code", "who"};
    apl_store *store = patients(TRAIN);
    for (size_t i = 0; i < 3; i++) {
        apl_split_options o = asked(fields[i], 0.3, APL_BY_CONTENT, fields[i]);
        OK(apl_split_make(store, &o, &err));
        OK(apl_split_verify(store, fields[i], 0, &err));
        unsigned parts = whole_patients(store, fields[i]);
        cr_assert(fabs(parts - 0.3 * GROUPS) < 6 * sqrt(0.3 * 0.7 * GROUPS), "%u patients", parts);
    }
    apl_split_list *list;
    OK(apl_split_list_open(store, &list, &err));
    const apl_split_file *f = apl_split_list_file(list, 0);
    cr_assert(f->by == APL_BY_GROUP && strcmp(f->group, "code") == 0 && !f->stratify);
    apl_split_list_close(list);
    apl_store_close(store);
}

Test(split_units, folds_and_clients_of_whole_groups)
{
    static const double concentrations[] = {0, 0.5};
    apl_store *store = patients(TRAIN);
    for (size_t i = 0; i < 4; i++) {
        apl_split_options o = asked("cv", 0, APL_BY_CONTENT, "patient");
        unsigned parts = 0;
        o.replace = 1;
        o.stratify = i % 2 || concentrations[i / 2] > 0 ? "diagnosis" : NULL;
        OK(apl_split_parts(store, &o, 5, concentrations[i / 2], &err));
        for (unsigned k = 0; k < 5; k++) {
            char name[16];
            snprintf(name, sizeof name, "cv-%u", k);
            parts += whole_patients(store, name);
            OK(apl_split_verify(store, name, 2, &err));
        }
        cr_assert_eq(parts, GROUPS, "each patient is in one");
    }
    apl_store_close(store);
}

/* Of each class of patients the part has as many records as whole patients allow. */
Test(split_units, stratified_groups_fall_short_by_less_than_one)
{
    apl_store *store = patients(TRAIN);
    apl_split_options o = asked("val", 0.2, APL_BY_CONTENT, "patient");
    o.stratify = "diagnosis";
    OK(apl_split_make(store, &o, &err));
    (void)whole_patients(store, "val");
    uint64_t n, *ids = ids_of(store, "val", &n);
    double part[3] = {0}, all[3] = {0}, largest = 0, size[GROUPS] = {0};
    for (uint32_t i = 0; i < TRAIN; i++) {
        all[patient_of(i) % 3]++;
        size[patient_of(i)]++;
    }
    for (unsigned p = 0; p < GROUPS; p++)
        largest = fmax(largest, size[p]);
    for (uint64_t i = 0; i < n; i++)
        part[patient_of((uint32_t)ids[i]) % 3]++;
    for (unsigned c = 0; c < 3; c++)
        cr_assert(part[c] <= 0.2 * all[c] + 0.5 && part[c] > 0.2 * all[c] - largest, "class %u: %g of %g", c,
                  part[c], all[c]);
    free(ids);
    apl_store_close(store);
}

Test(split_units, what_cannot_be_hashed)
{
    static const struct {
        const char *group, *words;
        apl_split_by by;
        apl_status status;
    } wrong[] = {{"weight", "floating-point", APL_BY_CONTENT, APL_E_INVALID},
                 {"mask", "varies", APL_BY_CONTENT, APL_E_INVALID},
                 {"none", "no field none", APL_BY_CONTENT, APL_E_NOTFOUND},
                 {"patient", "nothing else", APL_BY_ID, APL_E_INVALID},
                 {NULL, "does not know (3)", APL_BY_GROUP, APL_E_INVALID},
                 {NULL, "does not know (99)", (apl_split_by)99, APL_E_INVALID}};
    apl_store *store = patients(300);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        apl_split_options o = asked("val", 0.3, wrong[i].by, wrong[i].group);
        FAILS(wrong[i].status, wrong[i].words, apl_split_make(store, &o, &err));
        o.ratio = 0;
        FAILS(wrong[i].status, wrong[i].words, apl_split_parts(store, &o, 3, 0, &err));
    }
    shell("test \"$(ls '%s')\" = data.mdb", db);
    apl_store_close(store);
}

/* Equal numbers may have different bytes in all of these. */
Test(split_units, floating_point_fields_group_nothing)
{
    static const apl_dtype types[] = {APL_F16, APL_BF16, APL_F32, APL_F64};
    static const char *const fields[] = {"a", "b", "c", "d"};
    static const uint8_t zero[8];
    const apl_value values[] = {{zero, NULL}, {zero, NULL}, {zero, NULL}, {zero, NULL}};
    apl_store *store;
    apl_writer *w;
    OK(apl_writer_open(db, NULL, &w, &err));
    for (size_t i = 0; i < 4; i++)
        OK(apl_writer_add_field(w, fields[i], types[i], i ? APL_TARGET : APL_INPUT, 0, NULL, &err));
    OK(apl_writer_begin_member(w, "one", "train", 0, &err));
    for (int i = 0; i < 9; i++)
        OK(apl_writer_append(w, values, &err));
    OK(apl_writer_commit(w, &err));
    apl_writer_close(w);
    OK(apl_store_open(db, NULL, &store, &err));
    for (size_t i = 0; i < 4; i++) {
        apl_split_options o = asked("val", 0.3, APL_BY_CONTENT, fields[i]);
        FAILS(APL_E_INVALID, "floating-point", apl_split_make(store, &o, &err));
    }
    apl_store_close(store);
}

/* Groups of two records. Of those of an odd number both have class 1; the others have classes 0 and 1, and count as class 0. */
Test(split_units, a_group_of_two_classes_is_of_the_lower)
{
    apl_store *store;
    apl_writer *w;
    OK(apl_writer_open(db, NULL, &w, &err));
    OK(apl_writer_add_field(w, "group", APL_U32, APL_INPUT, 0, NULL, &err));
    OK(apl_writer_add_field(w, "class", APL_U8, APL_TARGET, 0, NULL, &err));
    OK(apl_writer_begin_member(w, "one", "train", 0, &err));
    for (uint32_t i = 0; i < 2 * 400; i++) {
        uint32_t group = i / 2;
        uint8_t class = (uint8_t)(group % 2 || i % 2);
        OK(apl_writer_append(w, (apl_value[]){{&group, NULL}, {&class, NULL}}, &err));
    }
    OK(apl_writer_commit(w, &err));
    apl_writer_close(w);
    OK(apl_store_open(db, NULL, &store, &err));
    for (uint64_t seed = 0; seed < 5; seed++) {
        apl_split_options o = asked("val", 0.5, APL_BY_CONTENT, "group");
        o.stratify = "class";
        o.seed = seed;
        o.replace = 1;
        OK(apl_split_make(store, &o, &err));
        uint64_t n, mixed = 0, *ids = ids_of(store, "val", &n);
        for (uint64_t i = 0; i < n; i++)
            mixed += ids[i] / 2 % 2 == 0;
        cr_assert_eq(mixed, 200, "%llu records of mixed groups", (unsigned long long)mixed);
        cr_assert_eq(n, 400);
        free(ids);
    }
    apl_store_close(store);
}

/* Callers that were built before there were groups have shorter options. */
Test(split_units, options_of_an_older_version)
{
    apl_store *store = plain_store(600, 0);
    apl_split_options o = asked("val", 0.25, APL_BY_ID, "no such field");
    o.size = offsetof(apl_split_options, group);
    OK(apl_split_make(store, &o, &err));
    apl_split_list *list;
    OK(apl_split_list_open(store, &list, &err));
    cr_assert(apl_split_list_file(list, 0)->by == APL_BY_CONTENT && !apl_split_list_file(list, 0)->group);
    apl_split_list_close(list);
    o.size--;
    FAILS(APL_E_INVALID, "APL_SPLIT_OPTIONS_INIT", apl_split_make(store, &o, &err));
    apl_store_close(store);
}
