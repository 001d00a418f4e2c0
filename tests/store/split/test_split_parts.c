/* Divisions into many parts: each record in one, equal inputs in the same, shares as their law says. */
#include "split_fixture.h"

#include <math.h>

TestSuite(split_parts, .init = set_up, .fini = tear_down);

#define TRAIN 3000u
#define TEST  200u

/* The three rules. */
static const struct law {
    const char *stratify;
    double concentration;
} laws[] = {{NULL, 0}, {"label", 0}, {"label", 0.5}};
#define LAWS (sizeof laws / sizeof *laws)

static void make_parts(apl_store *store, const char *name, unsigned parts, const struct law *law,
                       uint64_t seed, unsigned threads)
{
    apl_split_options o = split_options(name, 0, NULL);
    o.stratify = law->stratify;
    o.seed = seed;
    o.threads = threads;
    o.replace = 1;
    OK(apl_split_parts(store, &o, parts, law->concentration, &err));
}

/* The number of each record's part, by the records' own numbers; all must be in exactly one. */
static uint8_t *parts_of(apl_store *store, const char *name, unsigned parts, uint32_t numbers)
{
    uint8_t *part = malloc(numbers);
    memset(part, 255, numbers);
    for (unsigned p = 0; p < parts; p++) {
        char text[32];
        snprintf(text, sizeof text, "%s-%u", name, p);
        uint8_t *has = records_of(store, text, numbers);
        for (uint32_t i = 0; i < numbers; i++) {
            cr_assert(!has[i] || part[i] == 255, "record %u is in parts %u and %u", i, part[i], p);
            part[i] = has[i] ? (uint8_t)p : part[i];
        }
        free(has);
    }
    for (uint32_t i = 0; i < numbers; i++)
        cr_assert(part[i] != 255, "record %u is in no part", i);
    return part;
}

static void check_rests(apl_store *store, const char *name, unsigned parts, const uint8_t *part)
{
    for (unsigned p = 0; p < parts; p++) {
        char text[48];
        snprintf(text, sizeof text, "train-%s-%u", name, p);
        uint8_t *rest = records_of(store, text, TRAIN);
        for (uint32_t i = 0; i < TRAIN; i++)
            cr_assert_eq(rest[i], part[i] != p, "record %u, %s", i, text);
        free(rest);
        OK(apl_split_verify(store, text + strlen("train-"), 2, &err));
    }
}

Test(split_parts, each_record_in_one_and_equals_in_the_same)
{
    static const unsigned numbers[] = {2, 5, 37};
    apl_store *store = plain_store(TRAIN, TEST);
    for (size_t l = 0; l < LAWS; l++)
        for (size_t k = 0; k < 3; k++) {
            char name[24];
            snprintf(name, sizeof name, "x%zu-%u", l, numbers[k]);
            make_parts(store, name, numbers[k], &laws[l], k, 2);
            uint8_t *part = parts_of(store, name, numbers[k], TRAIN);
            for (uint32_t i = 0; i < TRAIN; i++)
                cr_assert_eq(part[i], part[input_of(i)]);
            check_rests(store, name, numbers[k], part);
            free(part);
        }
    apl_store_close(store);
}

/* Without a look at classes, groups fall into parts alike; at pinned seeds. */
Test(split_parts, by_hash_parts_are_equal)
{
    apl_store *store = plain_store(TRAIN, TEST);
    double chi2 = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        make_parts(store, "cv", 10, &laws[0], seed, 0);
        uint8_t *part = parts_of(store, "cv", 10, TRAIN);
        double in[10] = {0}, all = 0;
        for (uint32_t i = 0; i < TRAIN; i++) {
            in[part[i]] += input_of(i) == i;
            all += input_of(i) == i;
        }
        for (unsigned p = 0; p < 10; p++)
            chi2 += (in[p] - all / 10) * (in[p] - all / 10) / (all / 10);
        free(part);
    }
    cr_assert(chi2 > 38 && chi2 < 168, "chi-square %g with 90 degrees of freedom",
              chi2); /* one in a million */
    apl_store_close(store);
}

/* A group is of the least class among its records. */
static void group_classes(uint8_t cls[TRAIN])
{
    memset(cls, 255, TRAIN);
    for (uint32_t i = 0; i < TRAIN; i++)
        cls[input_of(i)] = label_of(i) < cls[input_of(i)] ? label_of(i) : cls[input_of(i)];
    for (uint32_t i = 0; i < TRAIN; i++)
        cls[i] = cls[input_of(i)];
}

Test(split_parts, stratified_to_within_a_group)
{
    static const unsigned numbers[] = {2, 3, 7, 64};
    static uint8_t cls[TRAIN];
    group_classes(cls);
    apl_store *store = plain_store(TRAIN, TEST);
    for (size_t k = 0; k < 4; k++) {
        unsigned n = numbers[k];
        make_parts(store, "cv", n, &laws[1], k, 0);
        uint8_t *part = parts_of(store, "cv", n, TRAIN);
        double in[64][CLASSES] = {{0}}, all[CLASSES] = {0};
        for (uint32_t i = 0; i < TRAIN; i++) {
            in[part[i]][cls[i]]++;
            all[cls[i]]++;
        }
        for (unsigned p = 0; p < n; p++)
            for (unsigned c = 0; c < CLASSES; c++) /* groups have up to three records */
                cr_assert(fabs(in[p][c] - all[c] / n) < 3, "part %u of %u has %g of %g of class %u", p, n,
                          in[p][c], all[c], c);
        free(part);
        shell("rm -f '%s'/*.split", db);
    }
    apl_store_close(store);
}

Test(split_parts, growth_moves_no_record)
{
    apl_store *small = plain_store(900, 100);
    make_parts(small, "cv", 5, &laws[0], 3, 0);
    uint8_t *before = parts_of(small, "cv", 5, 900);
    apl_store_close(small);
    shell("mv '%s' '%s/small'", db, place);
    apl_store *large = plain_store(TRAIN, TEST);
    make_parts(large, "cv", 5, &laws[0], 3, 0);
    uint8_t *after = parts_of(large, "cv", 5, TRAIN);
    cr_assert_eq(memcmp(before, after, 900), 0);
    free(before);
    free(after);
    apl_store_close(large);
}

/* Digests of the parts, record by record. They never change: whatever holds the records, however many threads divide
 * them, and with any version. */
Test(split_parts, same_parts_everywhere)
{
    static const uint64_t pinned[LAWS] = {0xb5acbccfb7c23bdc, 0x25c9d157b1893f34, 0x25c7e3905225c615};
    static const unsigned threads[] = {1, 3, 8};
    for (unsigned k = 0; k < 3; k++) {
        struct kind kind = {TRAIN, TEST, APL_WRITER_OPTIONS_INIT, k == 1};
        kind.options.block_records = (uint32_t[]){64, 1, 1000}[k];
        kind.options.shuffle = k == 2;
        kind.options.replace = 1;
        apl_store *store;
        make_store(db, &kind);
        OK(apl_store_open(db, NULL, &store, &err));
        for (size_t l = 0; l < LAWS; l++) {
            make_parts(store, "cv", 5, &laws[l], 7, threads[k]);
            uint8_t *part = parts_of(store, "cv", 5, TRAIN);
            uint64_t digest = hash_xxh3_128(part, TRAIN).low;
            cr_expect_eq(digest, pinned[l], "rule %zu: 0x%016llx", l, (unsigned long long)digest);
            free(part);
        }
        apl_store_close(store);
    }
}

/* ------------------------------------------------------------------------------------------- Dirichlet */

/* Groups of each class in each part. */
static void count_groups(apl_store *store, unsigned parts, const uint8_t *cls, double in[][CLASSES],
                         double *all)
{
    uint8_t *part = parts_of(store, "c", parts, TRAIN);
    for (uint32_t i = 0; i < TRAIN; i++)
        if (input_of(i) == i) {
            in[part[i]][cls[i]]++;
            all[cls[i]]++;
        }
    free(part);
}

/* Dirichlet(1, 1) is the uniform distribution: each class's share of the first part is. At pinned seeds. */
Test(split_parts, dirichlet_of_one_is_uniform)
{
    static uint8_t cls[TRAIN];
    double bins[10] = {0}, chi2 = 0, seeds = 40;
    group_classes(cls);
    apl_store *store = plain_store(TRAIN, TEST);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        double in[2][CLASSES] = {{0}}, all[CLASSES] = {0};
        make_parts(store, "c", 2, &(struct law){"label", 1}, seed, 1);
        count_groups(store, 2, cls, in, all);
        for (unsigned c = 0; c < CLASSES; c++)
            bins[(unsigned)(10 * in[0][c] / (all[c] + 1))]++;
    }
    for (unsigned b = 0; b < 10; b++)
        chi2 += (bins[b] - seeds) * (bins[b] - seeds) / seeds;
    cr_assert(chi2 < 44.8, "chi-square %g with 9 degrees of freedom", chi2); /* one in a million is above */
    apl_store_close(store);
}

/* Squares of the shares sum up to (A + 1) / (K A + 1) on average; and so of what n draws make of the shares, to
 * 1 / n + (1 - 1 / n) (A + 1) / (K A + 1). */
Test(split_parts, dirichlet_skews_as_its_concentration_says)
{
    static const double concentrations[] = {0.000001, 0.1, 1, 10, 1000000};
    static uint8_t cls[TRAIN];
    group_classes(cls);
    apl_store *store = plain_store(TRAIN, TEST);
    for (size_t a = 0; a < 5; a++) {
        double is = 0, due = 0, A = concentrations[a];
        for (uint64_t seed = 0; seed < 12; seed++) {
            double in[5][CLASSES] = {{0}}, all[CLASSES] = {0};
            make_parts(store, "c", 5, &(struct law){"label", A}, seed, 1);
            count_groups(store, 5, cls, in, all);
            for (unsigned c = 0; c < CLASSES; c++) {
                for (unsigned p = 0; p < 5; p++)
                    is += in[p][c] * in[p][c] / (all[c] * all[c]);
                due += 1 / all[c] + (1 - 1 / all[c]) * (A + 1) / (5 * A + 1);
            }
        }
        cr_assert(fabs(is / due - 1) < 0.12, "concentration %g: %g, due %g", A, is, due);
    }
    apl_store_close(store);
}

/* --------------------------------------------------------------------------------------------- failing */

static apl_status make(apl_store *store, const char *name, unsigned parts, double concentration)
{
    apl_split_options o = split_options(name, 0, NULL);
    return apl_split_parts(store, &o, parts, concentration, &err);
}

Test(split_parts, arguments_that_are_none)
{
    static const double wrong[] = {-1, 1e-7, 1e7, NAN, INFINITY};
    apl_store *store = plain_store(300, 0);
    FAILS(APL_E_INVALID, "1 part: ", make(store, "cv", 1, 0));
    FAILS(APL_E_INVALID, "10001 parts", make(store, "cv", 10001, 0));
    for (size_t i = 0; i < 5; i++)
        FAILS(APL_E_INVALID, "concentration", make(store, "cv", 5, wrong[i]));
    apl_split_options o = split_options("cv", 0.5, NULL);
    FAILS(APL_E_INVALID, "without a ratio", apl_split_parts(store, &o, 5, 0, &err));
    char name[201];
    memset(name, 'n', sizeof name);
    name[200] = 0;
    FAILS(APL_E_INVALID, "names of its parts are too long", make(store, name, 5, 0));
    FAILS(APL_E_INVALID, "cannot be called", make(store, "a/b", 5, 0));
    FAILS(APL_E_INVALID, "APL_SPLIT_OPTIONS_INIT", apl_split_parts(store, NULL, 5, 0, &err));
    cr_assert_eq(apl_split_parts(NULL, NULL, 5, 0, NULL), APL_E_INVALID);
    OK(make(store, "c", 3, 0.1)); /* by the only target */
    OK(make(store, "test", 2, 0));
    apl_store_close(store);
}

Test(split_parts, all_files_or_none)
{
    apl_store *store = plain_store(300, 0);
    apl_split_options o = split_options("cv", 0, NULL);
    make_split(store, "cv-2", 0.5, NULL, NULL);
    FAILS(APL_E_EXISTS, "cv-2.split: it exists", make(store, "cv", 4, 0));
    shell("test \"$(ls -A '%s')\" = \"$(printf 'cv-2.split\ndata.mdb')\"", db);
    shell("rm -f '%s/cv-2.split' && mkdir '%s/cv-2.split'", db, db);
    o.replace = 1; /* which a directory does not let happen, when two files are in their places already */
    FAILS(APL_E_INVALID, "cv-2.split: it is not a regular file", apl_split_parts(store, &o, 4, 0, &err));
    shell("test \"$(ls -A '%s')\" = \"$(printf 'cv-2.split\ndata.mdb')\"", db);
    shell("rmdir '%s/cv-2.split' && mkdir '%s/.tmp-cv-1.split'", db, db); /* nor does this stand in the way */
    OK(make(store, "cv", 4, 0));
    shell("rmdir '%s/.tmp-cv-1.split' && ! ls -A '%s' | grep tmp", db, db);
    FAILS(APL_E_INVALID, "cv-3 is of 4 parts made before", apl_split_parts(store, &o, 3, 0, &err));
    OK(apl_split_parts(store, &o, 5, 0, &err));
    apl_store_close(store);
}

Test(split_parts, are_listed_and_divided_further)
{
    apl_store *store = plain_store(300, 0);
    OK(make(store, "c", 2, 0.25));
    apl_split_options o = split_options("dev", 0, "train-c-1");
    OK(apl_split_parts(store, &o, 3, 0, &err));
    apl_split_list *list;
    OK(apl_split_list_open(store, &list, &err));
    const apl_split_file *c = apl_split_list_file(list, 1), *dev = apl_split_list_file(list, 2);
    cr_assert(!strcmp(c->name, "c-1") && !strcmp(c->rest, "train-c-1") && !strcmp(c->stratify, "label"));
    cr_assert(c->part == 1 && c->parts == 2 && c->concentration == 0.25 && c->ratio == 0.5);
    cr_assert(!strcmp(dev->name, "dev-0") && dev->part == 0 && dev->parts == 3 && dev->concentration == 0);
    cr_assert(!dev->stratify && !strcmp(dev->rest, "train-c-1-dev-0"));
    cr_assert_eq(dev->records + dev->rest_records, c->rest_records);
    apl_split_list_close(list);
    OK(apl_split_verify(store, "dev-2", 1, &err));
    apl_store_close(store);
}
