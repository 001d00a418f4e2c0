/* Values of varying shape count: what blocks hold of them is memory of the reader's, and no room for batches. */
#include "reader.h"
#include "reader_fixture.h"
#include "window.h"

#define COUNT   600u
#define LONGEST 8192u
#define BLOCK   8u

static void fill(apl_writer *w, uint64_t from, uint64_t to)
{
    static const uint8_t value[LONGEST];
    for (uint64_t id = from; id < to; id++) {
        int64_t shape = (int64_t)(id * 2654435761u % LONGEST);
        cr_assert_eq(apl_writer_append(w, &(apl_value){value, &shape}, NULL), APL_OK);
    }
}

/* All splits are of the same sizes, on average. */
static void set_up(void)
{
    fixture_make(8, 0, BLOCK);
    char path[128];
    snprintf(path, sizeof path, "%s/varying", fx.place);
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w;
    o.block_records = BLOCK;
    o.codec = "raw";
    cr_assert_eq(apl_writer_open(path, &o, &w, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "value", APL_U8, APL_INPUT, 1, (int64_t[]){-1}, NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "all", "train", 0, NULL), APL_OK);
    fill(w, 0, COUNT);
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
    apl_store_close(fx.store);
    cr_assert_eq(apl_store_open(path, NULL, &fx.store, NULL), APL_OK);
}

TestSuite(reader_memory, .init = set_up, .fini = fixture_free, .timeout = 60);

static uint64_t value_bytes(void)
{
    return fx.store->manifest.schema.fields[0].raw_bytes;
}

static apl_stats stats_of(apl_reader *r)
{
    apl_stats s;
    cr_assert_eq(apl_reader_stats(r, &s, sizeof s), APL_OK);
    return s;
}

static void read_all(apl_reader *r)
{
    for (apl_batch *b; (b = fixture_next(r));)
        apl_batch_release(b);
}

Test(reader_memory, values_that_stay_are_counted)
{
    apl_reader_options o = fixture_options();
    apl_reader *first = fixture_reader(&o), *second = fixture_reader(&o);
    uint64_t before = stats_of(first).memory;
    read_all(first);
    apl_stats s = stats_of(first);
    cr_assert_geq(s.memory, before + value_bytes());
    cr_assert_leq(s.memory, s.memory_budget);
    cr_assert_lt(stats_of(second).memory, value_bytes());
    read_all(second);
    cr_assert_geq(stats_of(second).memory, value_bytes(), "each reader counts what it shares");
    apl_reader_close(first);
    apl_reader_close(second);
}

/* Under a window that does not cover the split, they count as long as their block is there. */
Test(reader_memory, values_that_go_are_counted_no_more)
{
    apl_reader_options o = fixture_options();
    o.window = 4 * BLOCK;
    apl_reader *r = fixture_reader(&o);
    uint64_t most = 0;
    for (apl_batch *b; (b = fixture_next(r));) {
        uint64_t now = stats_of(r).memory;
        most = now > most ? now : most;
        apl_batch_release(b);
    }
    cr_assert_gt(most, o.window * LONGEST / 3);
    cr_assert_lt(most, value_bytes());
    cr_assert_eq(r->cache.varying_bytes, 0, "all blocks are gone");
    apl_reader_close(r);
}

/* Batches that are held get the room that values in blocks leave. */
Test(reader_memory, room_for_batches_is_what_values_leave)
{
    for (unsigned small = 0; small < 2; small++) {
        static apl_batch *held[20 * COUNT];
        apl_reader_options o = fixture_options();
        apl_status status;
        size_t n = 0;
        o.batch_size = 4;
        o.window = small ? 16 * BLOCK : 0;
        o.memory_budget = value_bytes() * 3 / 2;
        apl_reader *r = fixture_reader(&o);
        while ((status = apl_reader_next(r, &held[n], NULL)) != APL_E_LENT && n < 20 * COUNT)
            if (status == APL_OK)
                n++;
            else
                fixture_next_epoch(r);
        cr_assert_eq(status, APL_E_LENT);
        apl_stats s = stats_of(r);
        /* Blocks of a small window may hold more than is reckoned, and batches get no more for it, and no less. */
        uint64_t reckoned = window_varying_bytes(&r->spec, r->spec.options.plan.window);
        cr_assert_gt(s.memory, s.memory_budget / 2);
        cr_assert_leq(s.memory - r->cache.varying_bytes + reckoned, s.memory_budget + s.memory_budget / 16);
        cr_assert(small || s.memory <= s.memory_budget + s.memory_budget / 16);
        while (n)
            apl_batch_release(held[--n]);
        apl_reader_close(r);
    }
}

/* The least budget has room for batches too, and not for the one alone that comes next. */
Test(reader_memory, the_least_budget_has_room_for_batches)
{
    apl_reader_options o = fixture_options();
    apl_batch *held[3];
    o.batch_size = BLOCK;
    o.memory_budget = 1;
    o.window = BLOCK;
    o.memory_budget = strtoull(strstr(fixture_refused(&o, APL_E_INVALID), "needs ") + 6, NULL, 10);
    apl_reader *r = fixture_reader(&o);
    for (unsigned i = 0; i < 3; i++)
        held[i] = fixture_next(r);
    for (unsigned i = 0; i < 3; i++)
        apl_batch_release(held[i]);
    apl_reader_close(r);
}

/* A budget that is too small for the window names the largest that it has room for. */
Test(reader_memory, the_largest_window_is_named)
{
    apl_reader_options o = fixture_options();
    o.memory_budget = 1;
    uint64_t least = strtoull(strstr(fixture_refused(&o, APL_E_INVALID), "needs ") + 6, NULL, 10);
    for (o.memory_budget = least; o.memory_budget < least + value_bytes() / 2; o.memory_budget += 50021) {
        o.window = 0;
        const char *said = strstr(fixture_refused(&o, APL_E_INVALID), "are enough for one of ");
        cr_assert_not_null(said);
        o.window = strtoull(said + strlen("are enough for one of "), NULL, 10);
        cr_assert(o.window >= BLOCK && o.window < COUNT);
        apl_reader_close(fixture_reader(&o));
        o.window++;
        fixture_refused(&o, APL_E_INVALID);
    }
}

/* Blocks are decoded whole: records of theirs that are not of the split take memory too. */
Test(reader_memory, records_of_other_splits_count)
{
    apl_split_options split = APL_SPLIT_OPTIONS_INIT;
    apl_reader_options o = fixture_options();
    split.name = "few";
    split.ratio = 0.1;
    cr_assert_eq(apl_split_make(fx.store, &split, NULL), APL_OK);
    o.split = "few";
    apl_reader *r = fixture_reader(&o);
    read_all(r);
    apl_stats s = stats_of(r);
    cr_assert_gt(s.memory, value_bytes() / 4);
    cr_assert_leq(s.memory, s.memory_budget);
    apl_reader_close(r);
}
