/* What `apldata view` computes: which records are looked at, numbers in short, images compared, labels suspected. */
#include "image_features.h"
#include "neighbours.h"
#include "sample.h"
#include "summary.h"
#include "suspects.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ sample */

static uint64_t take_sample(struct sample_plan plan, uint64_t ids[2000])
{
    uint64_t n = sample_ids(&plan, ids);
    cr_assert_eq(n, sample_size(&plan));
    cr_assert(n <= plan.most && n <= plan.records && n > 0);
    for (uint64_t i = 0; i < n; i++)
        cr_assert(ids[i] < plan.records && (i == 0 || ids[i] > ids[i - 1]));
    return n;
}

Test(sample, all_if_they_are_few)
{
    uint64_t ids[2000];
    cr_assert_eq(take_sample((struct sample_plan){1999, 21, 1000, 2000, 1 << 30}, ids),
                 1999); /* 4 in the last block */
    cr_assert_eq(take_sample((struct sample_plan){1, 128, 0, 2000, 1}, ids), 1);
}

Test(sample, spreads_evenly)
{
    uint64_t ids[2000];
    cr_assert_eq(take_sample((struct sample_plan){1000000, 128, 1000, 2000, 1 << 30}, ids), 2000);
    for (unsigned i = 0; i < 2000; i++)
        cr_assert(llabs((long long)ids[i] - i * 500ll) < 700, "%u: %llu", i, (unsigned long long)ids[i]);
}

/* Classes that come in turns of any length are all seen, though blocks have a length of their own. */
Test(sample, has_no_period)
{
    uint64_t ids[2000];
    for (unsigned period = 2; period <= 200; period++) {
        unsigned seen[200] = {0}, missing = 0;
        uint64_t n = take_sample((struct sample_plan){1000000, 128, 1000, 2000, 1 << 30}, ids);
        for (uint64_t i = 0; i < n; i++)
            seen[ids[i] % period]++;
        for (unsigned i = 0; i < period; i++)
            missing += !seen[i];
        cr_assert_eq(missing, 0, "of a period of %u, %u places are missing", period, missing);
    }
}

Test(sample, decodes_no_more_blocks_than_it_may)
{
    uint64_t ids[2000], blocks = 1;
    uint64_t n = take_sample((struct sample_plan){1000000, 100, 1000, 900, 10000}, ids);
    for (uint64_t i = 1; i < n; i++)
        blocks += ids[i] / 100 != ids[i - 1] / 100;
    cr_assert_eq(n, 900);
    cr_assert_eq(blocks, 10);
    cr_assert_eq(take_sample((struct sample_plan){1000000, 100, 1000, 900, 1}, ids),
                 100); /* there is always one */
}

Test(sample, any_sizes)
{
    uint64_t ids[2000];
    for (uint64_t records = 1; records < 300; records += 7)
        for (uint64_t block = 1; block < 40; block += 3)
            for (uint64_t most = 1; most < 320; most += 11)
                take_sample((struct sample_plan){records, block, 10, most, 10 * (records % 23)}, ids);
    take_sample((struct sample_plan){UINT64_MAX / 2, 65536, UINT64_MAX, 2000, UINT64_MAX}, ids);
}

/* ----------------------------------------------------------------------------------------------- summary */

static size_t binned(const struct summary *s)
{
    size_t n = s->far;
    for (unsigned i = 0; i < s->bins; i++)
        n += s->bin[i];
    return n;
}

Test(summary, of_whole_numbers)
{
    const double v[] = {3, 1, 2, 2, NAN, 5, 2, INFINITY};
    struct summary s;
    cr_assert(summarise(v, 8, &s));
    cr_assert_eq(s.count, 6);
    cr_assert(s.least == 1 && s.most == 5 && s.least_at == 1 && s.most_at == 5);
    cr_assert(s.distinct == 4 && s.common == 2 && s.common_count == 3);
    cr_assert(s.whole && s.step == 1 && s.bins == 5 && s.bin[0] == 1 && s.bin[1] == 3 && s.bin[3] == 0 &&
              s.far == 0);
    cr_assert_float_eq(s.mean, 2.5, 1e-12);
    cr_assert_float_eq(s.deviation, sqrt(9.5 / 6), 1e-12);
}

/* Ages, for example: no bin has more numbers than another, but for the last. */
Test(summary, bins_hold_equally_many_whole_numbers)
{
    double v[73];
    struct summary s;
    for (unsigned i = 0; i < 73; i++)
        v[i] = 18 + i;
    cr_assert(summarise(v, 73, &s));
    cr_assert(s.whole && s.step == 3 && s.bins == 25 && binned(&s) == 73);
    for (unsigned i = 0; i < 24; i++)
        cr_assert_eq(s.bin[i], 3);
    cr_assert_eq(s.bin[24], 1);
}

Test(summary, names_what_is_far_out)
{
    double v[202];
    struct summary s;
    for (unsigned i = 0; i < 200; i++)
        v[i] = i * 0.01;
    v[200] = 1e6;
    v[201] = -1e9;
    cr_assert(summarise(v, 202, &s));
    cr_assert(s.far == 2 && s.far_at[0] == 201 && s.far_at[1] == 200);
    cr_assert(s.from == 0 && s.to == 1.99 && s.bins == SUMMARY_BINS && binned(&s) == 202);
    cr_assert(s.least_at == 201 && s.most_at == 200);
}

Test(summary, of_anything)
{
    const double sets[][3] = {
        {0, 0, 0},       {-1.7e308, 1.7e308, 0}, {5e-324, 0, -5e-324}, {1e300, 1e300, 1e-300},
        {NAN, NAN, NAN}, {0.1, 0.1, 0.2},        {-0.0, 0, 1e17}};
    struct summary s;
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++) {
        cr_assert(summarise(sets[i], 3, &s));
        cr_assert(s.count == 0 || (binned(&s) == s.count && isfinite(s.mean) && s.bins <= SUMMARY_BINS), "%u",
                  i);
    }
    cr_assert(summarise(NULL, 0, &s) && s.count == 0);
}

/* -------------------------------------------------------------------------------------------- neighbours */

Test(features, of_images_of_any_size)
{
    uint8_t pixels[3 * 40 * 30], a[FEATURES], b[FEATURES];
    memset(pixels, 200, sizeof pixels);
    features_of(pixels, 40, 30, 3, a);
    features_of(pixels, 1, 1, 1, b);
    cr_assert_eq(features_distance(a, b), 0);
    memset(pixels, 190, sizeof pixels / 2);
    features_of(pixels, 40, 30, 3, b);
    cr_assert(features_distance(a, b) >= 8 * 4 * 9 && features_distance(a, b) <= 8 * 5 * 10);
    for (size_t i = 0; i < sizeof pixels; i += 3)
        pixels[i] = 255;
    features_of(pixels, 40, 30, 3, a);
    cr_assert(a[64] > b[64] && a[128] < b[128]);
}

static bool goes_on(void *user, uint32_t done)
{
    uint32_t *limit = user;
    return done < *limit;
}

#define ROWS 700u

static int nearer(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;
    return x->distance < y->distance ? -1 : x->distance > y->distance;
}

Test(neighbours, are_those_of_a_plain_search)
{
    uint8_t *features = malloc(ROWS * FEATURES), counts[ROWS];
    struct neighbour *found = malloc(sizeof *found * ROWS * NEIGHBOURS), all[ROWS];
    uint32_t limit = UINT32_MAX;
    for (unsigned i = 0; i < ROWS * FEATURES; i++)
        features[i] = (uint8_t)((i * 2654435761u) >> 13);
    for (unsigned i = 0; i < ROWS; i++)
        counts[i] = i % 7 != 0;
    cr_assert(neighbours_find(features, counts, ROWS, found, goes_on, &limit));
    for (unsigned i = 1; i < ROWS; i += 31) {
        unsigned n = 0;
        for (unsigned k = 0; k < ROWS; k++)
            if (k != i && counts[k])
                all[n++] = (struct neighbour){
                    k, features_distance(features + i * FEATURES, features + k * FEATURES)};
        qsort(all, n, sizeof *all, nearer);
        for (unsigned k = 0; k < NEIGHBOURS && counts[i]; k++)
            cr_assert_eq(found[i * NEIGHBOURS + k].distance, all[k].distance);
        cr_assert(counts[i] || found[i * NEIGHBOURS].at == UINT32_MAX);
    }
    limit = 100;
    cr_assert(!neighbours_find(features, counts, ROWS, found, goes_on, &limit));
    free(features);
    free(found);
}

Test(neighbours, of_few_records_are_few)
{
    uint8_t features[2 * FEATURES] = {1}, counts[2] = {1, 1};
    struct neighbour found[2 * NEIGHBOURS];
    uint32_t limit = UINT32_MAX;
    cr_assert(neighbours_find(features, counts, 2, found, goes_on, &limit));
    cr_assert(found[0].at == 1 && found[0].distance == 1 && found[1].at == UINT32_MAX &&
              found[NEIGHBOURS].at == 0);
}

/* ---------------------------------------------------------------------------------------------- suspects */

#define CLUSTER 20u

/* Two clusters of each one class, far apart, but for one record of the second class in the first cluster. */
Test(suspects, are_those_in_the_wrong_cluster)
{
    uint8_t *features = calloc(2 * CLUSTER, FEATURES), counts[2 * CLUSTER];
    struct neighbour *found = malloc(sizeof *found * 2 * CLUSTER * NEIGHBOURS);
    uint32_t classes[2 * CLUSTER], limit = UINT32_MAX;
    struct suspect list[2];
    memset(counts, 1, sizeof counts);
    for (unsigned i = 0; i < 2 * CLUSTER; i++) {
        classes[i] = i < CLUSTER ? 3 : 8;
        memset(features + i * FEATURES, i < CLUSTER ? 10 : 200, FEATURES);
        features[i * FEATURES] = (uint8_t)(features[i * FEATURES] + i % CLUSTER);
    }
    classes[5] = 8;
    classes[6] = UINT32_MAX;
    cr_assert(neighbours_find(features, counts, 2 * CLUSTER, found, goes_on, &limit));
    struct agreement a = suspects_find(classes, 2 * CLUSTER, found, list, 2);
    cr_assert(a.judged == 2 * CLUSTER - 1 && a.suspects == 1 && a.listed == 1);
    cr_assert(list[0].at == 5 && list[0].cls == 3 && list[0].votes == NEIGHBOURS - 1 && list[0].own == 0);
    cr_assert_float_eq(a.agree, 38.0 / 39, 1e-9);
    cr_assert_float_eq(a.chance, (18.0 * 18 + 21 * 21) / 39 / 39, 1e-9);
    cr_assert_eq(suspects_find(classes, 2 * CLUSTER, found, NULL, 0).suspects, 1);
    free(features);
    free(found);
}
