/*
 * Is an order random? What a uniform permutation must show, of plans and of whole readers, with pinned seeds and
 * one chance in a million each to fail for nothing; and orders that are not uniform, which must be found out.
 */
#include "bins.h"
#include "counts.h"
#include "order_case.h"
#include "reader_fixture.h"

#include <math.h>

/* --------------------------------------------------------------------------- all orders of a few records */

/* How often each order is expected: of orders that are to be found out, always so often. */
#define PER_ORDER 1000u

static unsigned per_order(void)
{
    return is_repeated() ? PER_ORDER / 10 : PER_ORDER;
}

/* Writes an order of n records, made with that number. */
typedef void (*few_source)(void *user, uint64_t number, unsigned n, uint32_t *order);

static double few_chi(few_source source, void *user, unsigned n, unsigned each)
{
    static uint32_t counts[720];
    uint32_t order[MOST_ORDERED];
    unsigned cells = factorial(n);
    memset(counts, 0, sizeof counts);
    for (uint64_t i = 0; i < (uint64_t)each * cells; i++) {
        source(user, i, n, order);
        counts[order_number(order, n)]++;
    }
    return chi_square(counts, cells, each);
}

static double few_critical(unsigned n)
{
    return n == 3 ? CHI_5 : n == 4 ? CHI_23 : n == 5 ? CHI_119 : CHI_719;
}

/* Epochs of one plan. */
static void planned(void *user, uint64_t number, unsigned n, uint32_t *order)
{
    bool failed;
    bins_begin(user, number);
    cr_assert_eq(bins_take(user, order, n, &failed), n);
}

static double planned_chi(unsigned n, uint32_t block, unsigned bins)
{
    struct subset s = made_subset(n, block);
    struct plan_options o = {.seed = 2024, .window = n, .bins = bins, .lanes = 1, .reuse = 1};
    struct bins *p = NULL;
    cr_assert_eq(bins_new(&o, &s, &p, NULL), APL_OK);
    /* references have no gaps where only the last block is short */
    double x = few_chi(planned, p, n, per_order());
    bins_free(p);
    free(s.block);
    return x;
}

Test(reader_statistics, all_orders_of_a_few_records_are_equally_likely)
{
    static const unsigned bins[] = {1, 2, 64};
    for (unsigned n = 3; n <= MOST_ORDERED; n++)
        for (uint32_t block = 1; block <= n; block++) {
            double x = planned_chi(n, block, bins[block % 3]);
            cr_expect_lt(x, few_critical(n), "%u records in blocks of %u: %f", n, block, x);
        }
}

/* A bin, each equally likely while there is something in it, then one of its records: not uniform as soon as one
 * bin holds more than another. Records 2k and 2k+1 share a bin. */
static void uniform_bins(void *user, uint64_t number, unsigned n, uint32_t *order)
{
    struct random_stream r;
    uint32_t bins[MOST_ORDERED][2], sizes[MOST_ORDERED] = {0}, count = (n + 1) / 2;
    (void)user;
    random_stream_init(&r, random_epoch_key(2024, number, RANDOM_SHUFFLE));
    for (uint32_t i = 0; i < n; i++)
        bins[i / 2][sizes[i / 2]++] = i;
    for (unsigned k = 0; k < n; k++) {
        uint32_t b = random_below(&r, count);
        while (sizes[b] == 0)
            b = random_below(&r, count);
        uint32_t i = random_below(&r, sizes[b]);
        order[k] = bins[b][i];
        bins[b][i] = bins[b][--sizes[b]];
    }
}

Test(reader_statistics, uniform_bins_are_found_out)
{
    for (unsigned n = 3; n <= MOST_ORDERED; n++)
        cr_expect_gt(few_chi(uniform_bins, NULL, n, PER_ORDER), 2 * few_critical(n));
}

/* The classical mistake: every place changes with any place. */
static void naive_swaps(void *user, uint64_t number, unsigned n, uint32_t *order)
{
    struct random_stream r;
    (void)user;
    random_stream_init(&r, random_epoch_key(2024, number, RANDOM_SHUFFLE));
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = random_below(&r, n), t = order[k];
        order[k] = order[i];
        order[i] = t;
    }
}

Test(reader_statistics, naive_swaps_are_found_out)
{
    for (unsigned n = 3; n <= MOST_ORDERED; n++)
        cr_expect_gt(few_chi(naive_swaps, NULL, n, PER_ORDER), few_critical(n));
}

/* ------------------------------------------------------------------------------------ bins of free order */

struct free_bins {
    struct bins *bins;
    unsigned first; /* taken before the rest */
};

static void arrived(void *user, uint64_t number, unsigned n, uint32_t *order)
{
    static const uint32_t deliveries[] = {0, 1, 2, 3, 4, 5};
    struct free_bins *f = user;
    bool failed;
    bins_begin(f->bins, number);
    cr_assert(bins_put(f->bins, deliveries, deliveries, n));
    cr_assert_eq(bins_standing(f->bins), n);
    cr_assert_eq(bins_take(f->bins, order, f->first, &failed), f->first);
    cr_assert_eq(bins_take(f->bins, order + f->first, n, &failed), n - f->first);
}

Test(reader_statistics, what_has_arrived_comes_in_any_order)
{
    static const unsigned counts[] = {1, 3, 64};
    for (unsigned i = 0; i < 3; i++)
        for (unsigned n = 3; n <= MOST_ORDERED; n++) {
            struct subset s = made_subset(n, n);
            struct plan_options o = {.seed = 7, .window = n, .bins = counts[i], .reuse = 1, .arriving = true};
            struct free_bins f = {.first = i};
            cr_assert_eq(bins_new(&o, &s, &f.bins, NULL), APL_OK);
            double x = few_chi(arrived, &f, n, per_order());
            cr_expect_lt(x, few_critical(n), "%u records, %u bins: %f", n, counts[i], x);
            bins_free(f.bins);
            free(s.block);
        }
}

/* ----------------------------------------------------------------------------------- orders of many records */

#define GROUPS  64u
#define RECORDS (GROUPS * GROUPS)
#define CLASSED 16u /* batches, of RECORDS / CLASSED */
#define EPOCHS  50u

typedef void (*many_source)(void *user, uint64_t epoch, uint32_t *order);

/* What an order showed over EPOCHS epochs; each should be below (or between) what a uniform one exceeds once in
 * a million times. */
struct findings {
    double blocks;    /* chi-square, 63 x 63: from which 64th, at which 64th */
    double adjacency; /* deviations: neighbours that come from one 64th */
    double lag;       /* deviations: correlation of neighbours */
    double epochs;    /* deviations: correlation of a record's places in two epochs */
    double classes;   /* chi-square, EPOCHS x 15 x 9: classes in batches, the records being sorted by class */
};

static double class_chi(const uint32_t *order)
{
    uint32_t counts[CLASSED][CLASSES] = {{0}}, sizes[CLASSES] = {0};
    double x = 0;
    for (uint32_t i = 0; i < RECORDS; i++) {
        uint32_t class = order[i] * CLASSES / RECORDS;
        counts[i * CLASSED / RECORDS][class]++;
        sizes[class]++;
    }
    for (unsigned b = 0; b < CLASSED; b++)
        for (unsigned c = 0; c < CLASSES; c++)
            x += chi_square(&counts[b][c], 1, (double)sizes[c] / CLASSED);
    return x * (RECORDS - 1) / RECORDS; /* hypergeometric: drawn without replacement */
}

/* The correlation of n pairs of numbers 0 ... RECORDS-1. */
static double correlation(const uint32_t *a, const uint32_t *b, size_t n)
{
    double sum = 0, mean = (RECORDS - 1) / 2.0, variance = ((double)RECORDS * RECORDS - 1) / 12;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - mean) * (b[i] - mean);
    return sum / ((double)n * variance);
}

static struct findings look(many_source source, void *user)
{
    static uint32_t order[RECORDS], places[2][RECORDS], table[GROUPS * GROUPS];
    struct findings f = {0};
    uint32_t adjacent = 0;
    memset(table, 0, sizeof table);
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        source(user, epoch, order);
        for (uint32_t i = 0; i < RECORDS; i++) {
            table[order[i] / GROUPS * GROUPS + i / GROUPS]++;
            adjacent += i > 0 && order[i] / GROUPS == order[i - 1] / GROUPS;
            places[epoch & 1][order[i]] = i;
        }
        f.lag += correlation(order, order + 1, RECORDS - 1);
        f.epochs += epoch ? correlation(places[0], places[1], RECORDS) : 0;
        f.classes += class_chi(order);
    }
    f.blocks = chi_square(table, GROUPS * GROUPS, EPOCHS);
    /* of n-1 pairs each is from one group with probability (m-1)/(n-1); nearly independently */
    double p = (GROUPS - 1.0) / (RECORDS - 1), mean = EPOCHS * (GROUPS - 1.0);
    f.adjacency = fabs(adjacent - mean) / sqrt(mean * (1 - p));
    f.lag = fabs(f.lag + (double)EPOCHS / RECORDS) * sqrt((double)RECORDS / EPOCHS); /* expected: -1/n */
    f.epochs = fabs(f.epochs) * sqrt((RECORDS - 1.0) / (EPOCHS - 1));
    return f;
}

static unsigned count_failures(const struct findings *f, const char *what)
{
    unsigned n = f->blocks > CHI_3969 || f->blocks < CHI_3969_LEAST;
    n += f->adjacency > NORMAL;
    n += f->lag > NORMAL;
    n += f->epochs > NORMAL;
    n += f->classes > CHI_6750;
    if (n)
        printf("%s: blocks %.0f, adjacency %.2f, lag %.2f, epochs %.2f, classes %.0f\n", what, f->blocks,
               f->adjacency, f->lag, f->epochs, f->classes);
    return n;
}

static void planned_many(void *user, uint64_t epoch, uint32_t *order)
{
    bool failed;
    bins_begin(user, epoch);
    cr_assert_eq(bins_take(user, order, RECORDS, &failed), RECORDS);
}

Test(reader_statistics, plans_show_nothing)
{
    static const struct {
        uint32_t block;
        unsigned bins;
    } shapes[] = {{64, 64}, {128, 1}, {1, 256}, {RECORDS, 7}};
    for (unsigned i = 0; i < 4; i++) {
        struct subset s = made_subset(RECORDS, shapes[i].block);
        struct plan_options o = {
            .seed = i, .window = RECORDS, .bins = shapes[i].bins, .lanes = 1, .reuse = 1};
        struct bins *p = NULL;
        cr_assert_eq(bins_new(&o, &s, &p, NULL), APL_OK);
        struct findings f = look(planned_many, p);
        cr_expect_eq(count_failures(&f, "plan"), 0, "shape %u", i);
        bins_free(p);
        free(s.block);
    }
}

/* A buffer of a tenth of the records that are read in order: what comes out is drawn from it. */
static void shuffle_buffer(void *user, uint64_t epoch, uint32_t *order)
{
    static uint32_t buffer[RECORDS / 10];
    uint32_t held = 0, next = 0;
    struct random_stream r;
    (void)user;
    random_stream_init(&r, random_epoch_key(1, epoch, RANDOM_SHUFFLE));
    for (uint32_t i = 0; i < RECORDS; i++) {
        while (held < RECORDS / 10 && next < RECORDS)
            buffer[held++] = next++;
        uint32_t k = random_below(&r, held);
        order[i] = buffer[k];
        buffer[k] = buffer[--held];
    }
}

Test(reader_statistics, a_shuffle_buffer_is_found_out)
{
    struct findings f = look(shuffle_buffer, NULL);
    count_failures(&f, "shuffle buffer, as it should be");
    cr_expect_gt(f.blocks, 10 * CHI_3969);
    cr_expect_gt(f.adjacency, NORMAL);
    cr_expect_gt(f.classes, 10 * CHI_6750);
}

/* A step modulo the number of records, again and again: the cheapest permutation there is. */
static void congruential(void *user, uint64_t epoch, uint32_t *order)
{
    struct random_stream r;
    (void)user;
    random_stream_init(&r, random_epoch_key(1, epoch, RANDOM_SHUFFLE));
    uint32_t x = random_below(&r, RECORDS), step = 2 * random_below(&r, RECORDS / 2) + 1;
    for (uint32_t i = 0; i < RECORDS; i++)
        order[i] = x = (x + step) % RECORDS;
}

Test(reader_statistics, a_congruential_order_is_found_out)
{
    struct findings f = look(congruential, NULL);
    cr_expect_gt(count_failures(&f, "congruential, as it should be"), 0);
}

/* Blocks in random order, and within each its records: neighbours are of one block. */
static void blocks_only(void *user, uint64_t epoch, uint32_t *order)
{
    struct subset s = made_subset(RECORDS, GROUPS);
    struct plan_options o = {.seed = 1, .window = GROUPS, .bins = 8, .lanes = 1, .reuse = 1};
    struct bins *p = NULL;
    (void)user;
    cr_assert_eq(bins_new(&o, &s, &p, NULL), APL_OK);
    planned_many(p, epoch, order);
    bins_free(p);
    free(s.block);
}

Test(reader_statistics, blocks_without_a_window_are_found_out)
{
    struct findings f = look(blocks_only, NULL);
    count_failures(&f, "blocks, as it should be");
    cr_expect_gt(f.adjacency, 10 * NORMAL);
    cr_expect_gt(f.classes, CHI_6750);
}

/* ---------------------------------------------------------------------------------------- whole readers */

#define TRAIN 640u
#define BATCH 64u

static void set_up(void)
{
    fixture_make(TRAIN, 0, 16);
}

/* Classes of 30 epochs of batches, from a store that is sorted by class. */
static double reader_class_chi(apl_reader_options o)
{
    double x = 0;
    o.batch_size = BATCH;
    o.fields = (const char *const[]){"label"};
    o.field_count = 1;
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 30; epoch++, fixture_next_epoch(r))
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
            uint32_t counts[CLASSES] = {0};
            for (size_t i = 0; i < BATCH; i++)
                counts[((const uint8_t *)apl_batch_column(b, FIELD_LABEL)->data)[i]]++;
            x += chi_square(counts, CLASSES, (double)BATCH / CLASSES);
        }
    apl_reader_close(r);
    return x * (TRAIN - 1) / TRAIN;
}

Test(reader_statistics, batches_of_a_sorted_store_are_balanced, .init = set_up, .fini = fixture_free)
{
    apl_reader_options o = fixture_options();
    o.seed = 3;
    double x = reader_class_chi(o);
    cr_expect_lt(x, CHI_2430, "%f", x);
    o.window = TRAIN / 10; /* which is why the window covers the split if it can */
    cr_expect_gt(reader_class_chi(o), 2 * CHI_2430);
}
