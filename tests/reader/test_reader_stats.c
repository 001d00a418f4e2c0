/* Where the time went: numbers that agree with what was done. */
#include "reader_fixture.h"

#include "load.h"

#include <time.h>

#define TRAIN 120
#define BLOCK 8

static void set_up(void)
{
    fixture_make(TRAIN, 0, BLOCK);
}

TestSuite(reader_stats, .init = set_up, .fini = fixture_free, .timeout = 60);

static apl_stats stats_of(apl_reader *r)
{
    apl_stats s;
    memset(&s, 0xff, sizeof s);
    cr_assert_eq(apl_reader_stats(r, &s, sizeof s), APL_OK);
    return s;
}

Test(reader_stats, count_what_was_done)
{
    for (unsigned k = 0; k < 4; k++) {
        apl_reader_options o = fixture_options();
        struct sequence seen = {0};
        o.threads = k & 1 ? 2 : APL_NO_THREADS;
        o.window = k & 2 ? 24 : 0;
        apl_reader *r = fixture_reader(&o);
        apl_batch *held = fixture_next(r);
        apl_stats s = stats_of(r);
        cr_assert(s.batches == 1 && s.records == 16 && s.lent == 1);
        cr_assert(s.first_batch > 0 && s.first_batch <= s.elapsed);
        sequence_add(&seen, held);
        apl_batch_release(held);
        read_epoch(r, &seen);
        s = stats_of(r);
        cr_assert(s.batches == 8 && s.records == TRAIN && s.lent == 0);
        cr_assert_geq(s.blocks, 16); /* members of 67 and 53: 9 and 7 blocks */
        cr_assert_geq(s.bytes_decoded, TRAIN * (IMAGE_BYTES + 1));
        cr_assert_geq(s.bytes_assembled, TRAIN * (IMAGE_BYTES + 1));
        cr_assert_gt(s.bytes_read, TRAIN * IMAGE_BYTES / 2);
        cr_assert_leq(s.memory, s.memory_budget);
        cr_assert(s.memory > 0 && s.slots > 0 && s.standing_slots <= s.slots && s.queued <= 8);
        cr_assert(s.wait_p50 <= s.wait_p99 && s.wait_p99 <= s.wait_p999 && s.wait_p999 <= s.wait_max);
        cr_assert(s.wait_mean <= s.wait_max && s.wait_max <= s.wait && s.wait <= s.elapsed);
        cr_assert(s.stall >= 0 && s.stall <= 1 && s.loading > 0 && s.assembling > 0 && s.cpu > 0);
        cr_assert(s.reading > 0 && s.reading <= s.loading && s.images == 0 && s.callback == 0);
        cr_assert(s.starved > 0 && s.starved <= s.wait && s.starved <= s.elapsed - s.first_batch);
        cr_assert(s.wait_planning + s.wait_loading + s.wait_assembling <= s.wait);
        cr_assert(s.unused_loaders <= 2 * s.starved && s.unused_consumers == s.unused_loaders);
        cr_assert(s.threads == (k & 1 ? 2 : 0) && s.ranks == 1 && s.waiting == 0 && s.cores == apl_cores());
        apl_reader_close(r);
        sequence_free(&seen);
    }
}

/* In the caller's own time, what is not kept is loaded in every epoch, what is kept once. */
Test(reader_stats, kept_blocks_are_loaded_once)
{
    for (unsigned k = 0; k < 2; k++) {
        apl_reader_options o = fixture_options();
        struct sequence seen = {0};
        o.window = k ? 24 : 0;
        apl_reader *r = fixture_reader(&o);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            read_epoch(r, &seen);
            fixture_next_epoch(r);
        }
        uint64_t blocks = stats_of(r).blocks;
        cr_assert(k ? blocks >= 48 : blocks == 16, "%llu", (unsigned long long)blocks);
        apl_reader_close(r);
        sequence_free(&seen);
    }
}

Test(reader_stats, are_json)
{
    apl_reader_options o = fixture_options();
    apl_reader *r = fixture_reader(&o);
    char text[4096], cut[20];
    apl_batch_release(fixture_next(r));
    apl_stats s = stats_of(r);
    size_t n = apl_stats_json(&s, text, sizeof text);
    cr_assert_eq(n, strlen(text));
    int depth = 0, quotes = 0;
    for (size_t i = 0; i < n; i++) {
        depth += (text[i] == '{') - (text[i] == '}');
        quotes += text[i] == '"';
        cr_assert(depth > 0 || i == n - 1);
    }
    cr_assert(depth == 0 && quotes % 2 == 0, "%s", text);
    cr_assert_not_null(strstr(text, "\"records\": 16,"), "%s", text);
    cr_assert_not_null(strstr(text, "\"batches\": 1,"));
    cr_assert_not_null(strstr(text, "\"p999\": "));
    cr_assert_null(strstr(text, "nan"));
    cr_assert_eq(apl_stats_json(&s, cut, sizeof cut), n);
    cr_assert_eq(strlen(cut), sizeof cut - 1);
    cr_assert_eq(apl_stats_json(&s, NULL, 0), n);
    cr_assert_null(strstr(text, "starved"), "older callers have no such member");
    size_t all = apl_stats_json_all(&s, sizeof s, text, sizeof text);
    cr_assert(all > n && all == strlen(text));
    cr_assert_not_null(strstr(text, "\"starved\": "));
    cr_assert_not_null(strstr(text, "\"cache_damaged\": 0}, \"cpu_since_open\": "));
    cr_assert(text[all - 2] != '}' && text[all - 1] == '}');
    cr_assert(strstr(text, ", \"served\": 0, \"remote\": {\"requests\": 0, "));
    cr_assert_eq(apl_stats_json_all(&s, sizeof s, NULL, 0), all);
    cr_assert_eq(apl_stats_json_all(&s, sizeof s, text, n), all);
    cr_assert_eq(strlen(text), n - 1);
    cr_assert_eq(apl_stats_json_all(&s, 0, text, sizeof text), 0);
    apl_reader_close(r);
}

Test(reader_stats, refuse_what_is_no_struct)
{
    apl_reader_options o = fixture_options();
    apl_reader *r = fixture_reader(&o);
    apl_stats s;
    cr_assert_eq(apl_reader_stats(r, &s, 0), APL_E_INVALID);
    s.slots = 77;
    cr_assert_eq(apl_reader_stats(r, &s, offsetof(apl_stats, slots)), APL_OK);
    cr_assert_eq(s.slots, 77, "an older caller's figures end before");
    cr_assert_eq(apl_reader_stats(r, NULL, sizeof s), APL_E_INVALID);
    cr_assert_eq(apl_reader_stats(NULL, &s, sizeof s), APL_E_INVALID);
    apl_reader_close(r);
}

static apl_status dawdle(void *user, uint64_t number, apl_error *err)
{
    (void)user;
    (void)err;
    nanosleep(&(struct timespec){.tv_nsec = number == 0 ? 80000000 : 0}, NULL);
    return APL_OK;
}

/* A caller that waits in small portions, to look at signals between them, has waited all the same. */
Test(reader_stats, waits_that_time_out_are_counted)
{
    load_set_hook(&(struct load_hook){dawdle, NULL});
    apl_reader_options o = fixture_options();
    o.threads = 1;
    o.sequential = 1;
    o.faults.timeout_ms = 5;
    apl_reader *r = fixture_reader(&o);
    apl_batch *batch = NULL;
    unsigned portions = 0;
    while (apl_reader_next(r, &batch, NULL) == APL_E_TIMEOUT)
        portions++;
    cr_assert_gt(portions, 0);
    cr_assert_gt(stats_of(r).wait, portions * 0.005);
    apl_batch_release(batch);
    apl_reader_close(r);
    load_set_hook(NULL);
}

/* Of many blocks: a caller that does the work looks at the clock between them, and goes on where it stopped. */
Test(reader_stats, readers_without_threads_keep_to_the_timeout)
{
    load_set_hook(&(struct load_hook){dawdle, NULL});
    apl_reader_options o = fixture_options();
    o.threads = APL_NO_THREADS;
    o.batch_size = TRAIN;
    o.faults.timeout_ms = 1;
    apl_reader *r = fixture_reader(&o);
    apl_batch *batch = NULL;
    apl_error err;
    unsigned portions = 0;
    while (apl_reader_next(r, &batch, &err) == APL_E_TIMEOUT) {
        cr_assert(strstr(err.message, "no batch came in time"), "%s", err.message);
        portions++;
    }
    cr_assert_gt(portions, 0);
    cr_assert_not_null(batch);
    cr_assert_eq(apl_batch_rows(batch), TRAIN);
    apl_batch_release(batch);
    apl_reader_close(r);
    load_set_hook(NULL);
}

Test(reader_stats, before_anything_was_waited_for)
{
    apl_reader_options o = fixture_options();
    apl_reader *r = fixture_reader(&o);
    apl_stats s = stats_of(r);
    cr_assert(s.wait_mean == 0 && s.wait_p50 == 0 && s.wait_max == 0 && s.batches == 0);
    r->forks++; /* as in a child of the process that opened it */
    cr_assert_eq(apl_reader_stats(r, &s, sizeof s), APL_E_FORKED);
    r->forks--;
    apl_reader_close(r);
}
