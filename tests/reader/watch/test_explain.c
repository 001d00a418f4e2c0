/* The diagnosis in words: made statistics of each bottleneck, and readers that are made to have it. */
#include "reader_fixture.h"

#include "load.h"

#include <pthread.h>
#include <time.h>

static char said[2048];

static apl_bottleneck explain(const apl_stats *now, const apl_stats *before)
{
    apl_bottleneck what = (apl_bottleneck)99;
    size_t n = apl_stats_explain(now, before, sizeof *now, &what, said, sizeof said);
    cr_assert(n > 0 && n == strlen(said) && n < sizeof said - 1);
    return what;
}

#define SAYS(words) cr_assert_not_null(strstr(said, (words)), "%s", said)

/* ------------------------------------------------------------------------------------------ made statistics */

/* Ten seconds since the first batch, of which training took six; one thread, always at work. */
static apl_stats a_run(void)
{
    return (apl_stats){.elapsed = 10.5,
                       .batches = 1000,
                       .records = 256000,
                       .blocks = 2000,
                       .wait = 4,
                       .stall = 0.38,
                       .first_batch = 0.5,
                       .bytes_read = 400000000,
                       .memory = 90000000,
                       .memory_budget = 100000000,
                       .cpu_since_open = 16,
                       .slots = 1000,
                       .standing_slots = 500,
                       .starved = 4,
                       .wait_loading = 3,
                       .wait_assembling = 1,
                       .threads = 1,
                       .queue_depth = 4,
                       .cores = 16,
                       .ranks = 1};
}

Test(explain, training_that_does_not_wait)
{
    apl_stats s = a_run();
    s.starved = s.wait_loading = 0.05;
    s.wait_assembling = 0;
    s.threads = 4;
    s.loading = 3;
    s.assembling = 1;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_TRAINING);
    SAYS("training does not wait for data");
    SAYS("One of the 4 threads would do");
    SAYS("0.5 % of the time");
}

Test(explain, decoding)
{
    apl_stats s = a_run();
    s.loading = 9;
    s.reading = 0.5;
    s.assembling = 1;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("training waits for decoding; one more thread would remove it");
    SAYS("waited    40.0 % of the time: 4.00 of 10.00 s");
    SAYS("decoding 85 %");
    s.starved = s.wait_loading = 8;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("five more threads would remove it"); /* 10 s of work in 2 s of training, and some room */
    s.elapsed = 40.5;
    s.first_batch = 30.5;
    s.cpu_since_open = 46;
    s.loading = 39; /* of which 29 before the first batch */
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("five more threads would remove it");
}

Test(explain, threads_that_have_no_cores)
{
    apl_stats s = a_run();
    s.loading = 10;
    s.starved = s.wait_loading = 8;
    s.cores = 3;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("one more thread would shorten it. It takes 5");
    s.cpu_since_open = 31.4;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("no core is idle for another thread");
}

Test(explain, threads_whose_cores_others_use)
{
    apl_stats s = a_run();
    s.loading = 10;
    s.cpu_since_open = 4;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("no core is idle for another thread");
    SAYS("had a core for 40 % of that time");
}

/* Between two snapshots only what happened between them counts, also of the cores. */
Test(explain, threads_whose_cores_others_use_now)
{
    apl_stats before = a_run(), now = before;
    now.elapsed += 10;
    now.batches += 1000;
    now.starved += 4;
    now.wait_loading += 3;
    now.wait_assembling += 1;
    now.loading += 10;
    now.cpu_since_open += 4;
    cr_assert_eq(explain(&now, &before), APL_BOTTLENECK_DECODING);
    SAYS("had a core for 40 % of that time");
}

Test(explain, decoding_images)
{
    apl_stats s = a_run();
    s.loading = 0.5;
    s.reading = 0.4;
    s.assembling = 9.5;
    s.reading_kept = 0.3;
    s.images = 8.9;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("training waits for decoding images; one more thread would remove it");
}

Test(explain, reading)
{
    apl_stats s = a_run();
    s.loading = 9.5;
    s.reading = 8;
    s.assembling = 0.5;
    s.cpu_since_open = 160; /* reading needs no core */
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_READING);
    SAYS("training waits for reading from storage; one more thread would remove it");
    SAYS("40.0 MB/s");
    s.loading = 1;
    s.reading = 0;
    s.assembling = 9;
    s.reading_kept = 8;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_READING);
}

Test(explain, assembling_and_callbacks)
{
    apl_stats s = a_run();
    s.loading = 2;
    s.assembling = 8;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_ASSEMBLING);
    SAYS("training waits for assembling batches");
    s.callback = 7;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_CALLBACK);
    SAYS("training waits for on_batch()");
}

Test(explain, threads_of_one_kind)
{
    apl_stats s = a_run();
    s.threads = 0;
    s.loaders = 2;
    s.consumers = 2;
    s.loading = 19;
    s.assembling = 1;
    s.unused_loaders = 0.1;
    s.unused_consumers = 7;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("two more loaders would remove it");
    s.loading = 1;
    s.assembling = 19;
    s.unused_loaders = 7;
    s.unused_consumers = 0.1;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_ASSEMBLING);
    SAYS("two more consumers would remove it");
}

Test(explain, no_threads)
{
    apl_stats s = a_run();
    s.threads = 0;
    s.loading = 3;
    s.assembling = 0.5;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("threads would do that while it trains (threads is 0)");
    SAYS("the caller's work: decoding 86 %");
}

Test(explain, a_queue_that_is_too_short)
{
    apl_stats s = a_run();
    s.threads = 8;
    s.loading = 20;
    s.reading = 18;
    s.unused_loaders = s.unused_consumers = 24;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_QUEUE);
    SAYS("queue_depth=16 (now 4)");
    cr_assert_null(strstr(said, "larger window"));
    s.standing_slots = 990;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_QUEUE);
    SAYS("a larger window");
    /* batches that are taken many at a time: the threads work meanwhile, but are idle on the whole */
    s.unused_loaders = s.unused_consumers = 1;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_QUEUE);
    SAYS("the threads keep up on the whole");
}

Test(explain, batches_that_are_held)
{
    apl_stats s = a_run();
    s.threads = 4;
    s.loading = 6;
    s.unused_loaders = s.unused_consumers = 14;
    s.held = 3.5;
    s.lent = 12;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_MEMORY);
    SAYS("12 are held");
}

Test(explain, a_rank_that_is_slow)
{
    apl_stats s = a_run();
    s.threads = 4;
    s.loading = 6;
    s.ranks = 4;
    s.slowest_rank = 2;
    s.starved = 9;
    s.wait_planning = 20;
    s.unused_loaders = s.unused_consumers = 33;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_RANK);
    SAYS("rank 2 is slower than the others");
    SAYS("60.0 % of the time"); /* 24 of 4 times 10 s */
}

Test(explain, a_server)
{
    apl_stats s = a_run();
    s.served = 1;
    s.threads = 0;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_SERVER);
    SAYS("40.0 % of the time");
    s.starved = 0;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_TRAINING);
}

Test(explain, a_loop_that_only_takes_batches)
{
    apl_stats s = a_run();
    s.starved = 9.9;
    s.wait_loading = 9.9;
    s.loading = 10;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("batches are taken as fast as they come: decoding sets the pace, 25,600 records/s");
    SAYS("With another thread it could reach 51,200 at most");
    s.threads = 4;
    s.loading = 40;
    s.cpu_since_open = 42;
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_DECODING);
    SAYS("With another thread it could reach 32,000 at most");
}

Test(explain, what_was_between_two_snapshots)
{
    apl_stats before = a_run(), now = a_run();
    before.loading = 10;
    now.loading = 10.5;
    now.assembling = 9;
    now.elapsed += 10;
    now.starved += 5;
    now.batches += 500;
    now.cpu_since_open += 10;
    cr_assert_eq(explain(&now, &before), APL_BOTTLENECK_ASSEMBLING);
    SAYS("5.00 of 10.00 s, 500 batches");
    cr_assert_eq(explain(&before, &before), APL_BOTTLENECK_UNKNOWN);
    cr_assert_eq(explain(&before, &now), APL_BOTTLENECK_UNKNOWN, "%s", said);
}

Test(explain, arguments)
{
    apl_stats s = a_run(), none = {0};
    char cut[10];
    s.loading = 9;
    size_t n = apl_stats_explain(&s, NULL, sizeof s, NULL, NULL, 0);
    explain(&s, NULL);
    cr_assert_eq(n, strlen(said));
    cr_assert_eq(apl_stats_explain(&s, NULL, sizeof s, NULL, cut, sizeof cut), n);
    cr_assert_str_eq(cut, "training ");
    cr_assert_eq(apl_stats_explain(NULL, NULL, sizeof s, NULL, said, sizeof said), 0);
    cr_assert_eq(apl_stats_explain(&s, NULL, 0, NULL, said, sizeof said), 0);
    cr_assert_eq(apl_stats_explain(&s, NULL, sizeof s, NULL, NULL, 7), 0);
    cr_assert_eq(explain(&none, NULL), APL_BOTTLENECK_UNKNOWN);
    SAYS("too few batches");
    apl_bottleneck what;
    cr_assert_gt(apl_stats_explain(&s, NULL, offsetof(apl_stats, starved), &what, said, sizeof said), 0);
    cr_assert_eq(what, APL_BOTTLENECK_TRAINING, "an older caller has no such figures");
}

/* -------------------------------------------------------------------------------------------- real readers */

static void pause_ms(unsigned ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
}

static apl_status slow_storage(void *user, uint64_t number, apl_error *err)
{
    (void)number, (void)err;
    pause_ms(*(const unsigned *)user);
    return APL_OK;
}

static void slow_callback(void *user, apl_batch *batch)
{
    (void)batch;
    pause_ms(*(const unsigned *)user);
}

static apl_stats stats_now(apl_reader *r)
{
    apl_stats s;
    cr_assert_eq(apl_reader_stats(r, &s, sizeof s), APL_OK);
    return s;
}

/* Takes batches, each of which it trains on for so long. */
static apl_bottleneck train(const apl_reader_options *o, unsigned batches, unsigned ms)
{
    apl_reader *r = fixture_reader(o);
    for (unsigned i = 0; i < batches; i++) {
        apl_batch *batch;
        apl_status status = apl_reader_next(r, &batch, NULL);
        if (status == APL_END) {
            fixture_next_epoch(r);
            continue;
        }
        cr_assert_eq(status, APL_OK);
        if (ms)
            pause_ms(ms);
        apl_batch_release(batch);
    }
    apl_stats s = stats_now(r);
    apl_bottleneck what = explain(&s, NULL);
    apl_reader_close(r);
    return what;
}

static apl_reader_options a_reader(void)
{
    apl_reader_options o = fixture_options();
    o.threads = 1;
    o.window = 24;
    return o;
}

static void set_up(void)
{
    fixture_make(480, 0, 8);
}

static void tear_down(void)
{
    load_set_hook(NULL);
    fixture_free();
}

TestSuite(explain_readers, .init = set_up, .fini = tear_down, .timeout = 60);

Test(explain_readers, a_loop_that_sleeps)
{
    apl_reader_options o = a_reader();
    cr_assert_eq(train(&o, 20, 10), APL_BOTTLENECK_TRAINING, "%s", said);
}

Test(explain_readers, storage_that_is_slow)
{
    unsigned ms = 10;
    apl_reader_options o = a_reader();
    load_set_hook(&(struct load_hook){slow_storage, &ms});
    cr_assert_eq(train(&o, 12, 5), APL_BOTTLENECK_READING, "%s", said);
    SAYS("more threads would remove it");
}

Test(explain_readers, a_callback_that_is_slow)
{
    unsigned ms = 20;
    apl_reader_options o = a_reader();
    o.on_batch = slow_callback;
    o.on_batch_user = &ms;
    cr_assert_eq(train(&o, 12, 5), APL_BOTTLENECK_CALLBACK, "%s", said);
}

/* Which part of the work of such small blocks is the largest depends on the machine. Batches of many, so that what they wait for is the
 * work, and not a thread to wake up on a machine that is busy. */
static void sets_the_pace(unsigned threads)
{
    apl_reader_options o = a_reader();
    o.threads = threads;
    o.batch_size = 160;
    apl_bottleneck what = train(&o, 300, 0);
    cr_assert(what >= APL_BOTTLENECK_READING && what <= APL_BOTTLENECK_ASSEMBLING, "%s", said);
}

Test(explain_readers, work_in_one_thread)
{
    sets_the_pace(1);
}

Test(explain_readers, work_in_the_caller)
{
    sets_the_pace(APL_NO_THREADS);
    SAYS("(threads is 0)");
}

/* What the process had done before the reader was opened is no work of its threads. */
Test(explain_readers, a_process_that_was_busy_before)
{
    apl_reader_options o = a_reader();
    while (clock() < CLOCKS_PER_SEC / 4)
        ;
    apl_reader *r = fixture_reader(&o);
    apl_stats s = stats_now(r);
    cr_assert(s.cpu >= 0.2 && s.cpu_since_open >= 0 && s.cpu_since_open <= s.cpu - 0.2, "%g of %g",
              s.cpu_since_open, s.cpu);
    apl_reader_close(r);
}

/* Sixteen threads, but room for a few loads at once. */
Test(explain_readers, a_queue_that_is_too_short)
{
    unsigned ms = 10;
    apl_reader_options o = a_reader();
    o.threads = 16;
    o.queue_depth = 1;
    o.batch_size = 8;
    load_set_hook(&(struct load_hook){slow_storage, &ms});
    cr_assert_eq(train(&o, 50, 0), APL_BOTTLENECK_QUEUE, "%s", said);
    SAYS("queue_depth=4 (now 1)");
}

struct rank {
    apl_reader *reader;
    unsigned rank, ms;
};

static void *train_rank(void *argument)
{
    const struct rank *k = argument;
    apl_batch *batch;
    while (apl_reader_next_of(k->reader, k->rank, &batch, NULL) == APL_OK) {
        if (k->ms)
            pause_ms(k->ms);
        apl_batch_release(batch);
    }
    return NULL;
}

Test(explain_readers, a_rank_that_is_slow)
{
    static const unsigned list[] = {0, 1};
    apl_reader_options o = a_reader();
    o.threads = 2;
    o.batch_size = 8;
    o.ranks.world = o.ranks.count = 2;
    o.ranks.list = list;
    apl_reader *r = fixture_reader(&o);
    struct rank fast = {r, 0, 0}, slow = {r, 1, 10};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, train_rank, &fast), 0);
    train_rank(&slow);
    pthread_join(thread, NULL);
    apl_stats s = stats_now(r);
    cr_assert_eq(explain(&s, NULL), APL_BOTTLENECK_RANK, "%s", said);
    SAYS("rank 1 is slower");
    apl_reader_close(r);
}
