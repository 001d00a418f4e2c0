/* Divisions that a seed has made before are refused, those of chance never. */
#include "split_fixture.h"

#include <math.h>

TestSuite(split_chance, .init = set_up, .fini = tear_down);

/* The ranges of the hashes of so many distinct units; of those alone that are in from ... to of all hashes. */
static void draw(struct bitset *drawn, uint64_t seed, uint64_t units, double from, double to)
{
    struct random_key key = random_epoch_key(seed, 0, RANDOM_SPLIT);
    OK(bitset_init(drawn, SPLIT_RANGES, &err));
    for (uint64_t u = 0; u < units; u++) {
        uint64_t hash = siphash(key, &u, 1);
        double at = ldexp((double)hash, -64);
        if (at >= from && at < to)
            bitset_set(drawn, hash >> 52);
    }
}

static struct split_file in_two(double ratio)
{
    return (struct split_file){.rule = SPLIT_HASH, .ratio = (uint64_t)ldexp(ratio, 64)};
}

static struct split_file in_parts(uint32_t number, uint32_t parts)
{
    return (struct split_file){.rule = SPLIT_PARTS_HASH, .number = number, .parts = parts};
}

static const uint64_t units[] = {0, 1, 2, 3, 5, 10, 30, 100, 1000, 4000, 20000, 100000};
#define UNITS (sizeof units / sizeof *units)

Test(split_chance, never_refuses_chance_in_two)
{
    static const double ratios[] = {1e-12,  1e-5, 0.0002, 0.00025, 0.001, 0.01,   0.1,       0.25,
                                    1 / 3., 0.5,  0.7,    0.9,     0.99,  0.9999, 1 - 1e-12, 0.12345};
    double share;
    for (uint64_t seed = 0; seed < 100; seed++)
        for (size_t u = 0; u < UNITS - (seed > 10); u++) {
            struct bitset drawn;
            draw(&drawn, seed, units[u], 0, 1);
            for (size_t r = 0; r < sizeof ratios / sizeof *ratios; r++) {
                struct split_file file = in_two(ratios[r]);
                cr_assert(split_is_chance(&file, &drawn, &share), "%g of %llu, seed %llu: %g", ratios[r],
                          (unsigned long long)units[u], (unsigned long long)seed, share);
            }
            bitset_free(&drawn);
        }
}

Test(split_chance, never_refuses_chance_in_parts)
{
    static const uint32_t parts[] = {2, 3, 5, 10, 64, 1000, 4096, 5000};
    double share;
    for (uint64_t seed = 0; seed < 10; seed++)
        for (size_t u = 0; u < UNITS; u++) {
            struct bitset drawn;
            draw(&drawn, seed, units[u], 0, 1);
            for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
                for (uint32_t i = 0; i < parts[p]; i += 1 + parts[p] / 32) {
                    struct split_file file = in_parts(i, parts[p]);
                    cr_assert(split_is_chance(&file, &drawn, &share), "%u of %u: %g", i, parts[p], share);
                }
            bitset_free(&drawn);
        }
}

/* A range that the threshold cuts, or that holds a whole part, is on neither side. */
Test(split_chance, ranges_on_both_sides_do_not_count)
{
    struct bitset drawn;
    double share;
    OK(bitset_init(&drawn, SPLIT_RANGES, &err));
    bitset_set(&drawn, 10);
    struct split_file file = in_two(10.5 / SPLIT_RANGES);
    cr_assert(split_is_chance(&file, &drawn, &share) && fabs(share - 10. / (SPLIT_RANGES - 1)) < 1e-12);
    file = in_two(11. / SPLIT_RANGES);
    cr_assert(split_is_chance(&file, &drawn, &share) && share == 1);
    file = in_parts(10, SPLIT_RANGES);
    cr_assert(split_is_chance(&file, &drawn, &share) && share == 1);
    file = in_parts(25, 10000); /* within range 10 */
    cr_assert(split_is_chance(&file, &drawn, &share) && share == 0);
    bitset_free(&drawn);
}

Test(split_chance, refuses_what_the_seed_has_divided)
{
    struct bitset drawn;
    double share;
    draw(&drawn, 3, 600, 0.5, 1);
    struct split_file file = in_two(0.6);
    cr_assert(!split_is_chance(&file, &drawn, &share) && fabs(share - 0.2) < 0.05, "%g", share);
    file = in_two(0.5);
    cr_assert(!split_is_chance(&file, &drawn, &share) && share == 0, "%g", share);
    file = in_parts(4, 5);
    cr_assert(!split_is_chance(&file, &drawn, &share) && fabs(share - 0.4) < 0.05, "%g", share);
    bitset_free(&drawn);
    draw(&drawn, 3, 200000, 0, 0.7);
    file = in_two(0.5);
    cr_assert(!split_is_chance(&file, &drawn, &share) && fabs(share - 0.5 / 0.7) < 0.001, "%g", share);
    bitset_free(&drawn);
}

/* Records 0 ... n-1, or those of them that are in `some` (NULL: all); those below `same` have one input. */
static apl_store *store_of(uint32_t n, uint32_t same, const struct bitset *some)
{
    static const int64_t shape[1] = {VALUE};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w;
    apl_store *store;
    o.replace = 1;
    OK(apl_writer_open(db, &o, &w, &err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, shape, &err));
    OK(apl_writer_begin_member(w, "one", "train", 0, &err));
    for (uint32_t i = 0; i < n; i++) {
        uint8_t value[VALUE] = {0};
        uint32_t input = i < same ? 0 : i;
        memcpy(value, &input, sizeof input);
        if (!some || bitset_test(some, i))
            OK(apl_writer_append(w, (apl_value[]){{value, NULL}}, &err));
    }
    OK(apl_writer_commit(w, &err));
    apl_writer_close(w);
    OK(apl_store_open(db, NULL, &store, &err));
    return store;
}

/* An input that half of the records have, few inputs, few records. */
Test(split_chance, never_refuses_a_store)
{
    static const struct {
        uint32_t n, same;
    } stores[] = {{1, 0}, {2, 2}, {30, 0}, {31, 31}, {300, 150}, {2000, 1000}};
    static const double ratios[] = {0.001, 0.1, 0.5, 0.8, 0.999};
    for (size_t s = 0; s < sizeof stores / sizeof *stores; s++) {
        apl_store *store = store_of(stores[s].n, stores[s].same, NULL);
        for (unsigned i = 0; i < 100; i++) {
            apl_split_options o = split_options("val", ratios[i % 5], NULL);
            o.seed = i;
            o.threads = 2;
            o.replace = 1;
            OK(apl_split_make(store, &o, &err));
        }
        for (unsigned parts = 2; parts <= 20; parts++) {
            apl_split_options o = split_options("cv", 0, NULL);
            o.seed = parts;
            o.replace = 1;
            OK(apl_split_parts(store, &o, parts, 0, &err));
        }
        apl_store_close(store);
    }
}

/* The records of one side, as a store of their own: another seed divides them, or other hashes. */
Test(split_chance, refuses_a_side_that_has_become_a_store)
{
    apl_store *store = store_of(3000, 900, NULL);
    struct bitset side = {0};
    uint64_t n;
    make_split(store, "val", 0.5, NULL, NULL);
    uint64_t *ids = ids_of(store, "train-val", &n);
    apl_store_close(store);
    OK(bitset_init(&side, 3000, &err));
    for (uint64_t i = 0; i < n; i++)
        bitset_set(&side, ids[i]);
    free(ids);
    store = store_of(3000, 900, &side);
    bitset_free(&side);
    apl_split_options o = split_options("dev", 0.6, NULL);
    FAILS(APL_E_INVALID, "% of the inputs of", apl_split_make(store, &o, &err));
    cr_assert(strstr(err.message, "records, not 60 %: seed 0 has divided these before"), "%s", err.message);
    o.ratio = 0.4;
    FAILS(APL_E_INVALID, "would have none of", apl_split_make(store, &o, &err));
    o.ratio = 0;
    FAILS(APL_E_INVALID, "dev-0 would have none of", apl_split_parts(store, &o, 5, 0, &err));
    FAILS(APL_E_INVALID, "dev-0 would have ", apl_split_parts(store, &o, 2, 0, &err));
    o.ratio = 0.6;
    o.group = "image"; /* of the only input: the same hashes */
    FAILS(APL_E_INVALID, "% of the groups of", apl_split_make(store, &o, &err));
    o.group = NULL;
    o.by = APL_BY_ID;
    OK(apl_split_make(store, &o, &err));
    o = split_options("other", 0.6, NULL);
    o.seed = 1;
    OK(apl_split_make(store, &o, &err));
    o = split_options("third", 0.6, "train-dev"); /* of the next generation: another key */
    OK(apl_split_make(store, &o, &err));
    apl_store_close(store);
}
