/*
 * Several stores read by one reader, with threads that load and several callers that take: every record of every store comes as
 * often as it should, under its own id, whatever the order and the window; and readers that end early leave nothing behind.
 * A plain main, to be run under the thread sanitizer too.
 */
#include "reader_case.h"

#define CALLERS 3u
#define STORES  3u

static struct case_store stores[STORES] = {{"one", 700, 0, 32, 4, false, ""},
                                           {"two", 400, 50, 64, 4, false, ""},
                                           {"three", 150, 0, 128, 4, false, ""}};
#define RECORDS 1300u /* ids, those of test included */

struct round {
    apl_reader *reader;
    uint64_t most; /* batches until everybody leaves */
    atomic_ullong batches;
    atomic_uint seen[RECORDS];
};

static unsigned count_of_rounds(void)
{
    return times(SANITIZED ? 24 : 96, SANITIZED ? 400 : 2000);
}

static void check_row(struct round *round, const apl_batch *batch, size_t row)
{
    const uint8_t *image = apl_batch_column(batch, 0)->data, *label = apl_batch_column(batch, 1)->data;
    uint64_t id = apl_batch_ids(batch)[row], own;
    size_t source, bytes = 3 * 4 * 4;
    apl_error err;
    MUST(apl_reader_source(round->reader, id, &source, &own, &err), &err);
    CHECK(source < STORES && id < RECORDS && own >= stores[source].first);
    for (size_t i = 0; i < bytes; i++)
        CHECK(image[row * bytes + i] == case_pixel(own, i));
    CHECK(label[row] == own * 7 % 10);
    atomic_fetch_add(&round->seen[id], 1);
}

static void *take(void *argument)
{
    struct round *round = argument;
    apl_batch *batch;
    apl_error err;
    apl_status status = APL_OK;
    while (atomic_fetch_add(&round->batches, 1) < round->most &&
           (status = apl_reader_next(round->reader, &batch, &err)) == APL_OK) {
        for (size_t row = 0; row < apl_batch_rows(batch); row++)
            check_row(round, batch, row);
        apl_batch_release(batch);
    }
    CHECK(status == APL_OK || status == APL_END);
    return NULL;
}

static void take_epoch(struct round *round)
{
    pthread_t callers[CALLERS];
    atomic_store(&round->batches, 0);
    for (unsigned i = 0; i < CALLERS; i++)
        CHECK(pthread_create(&callers[i], NULL, take, round) == 0);
    for (unsigned i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
}

/* Once each; or, by weights 1 : 2 : 1 of 1250 deliveries, so often as shares of 312 or 313 and 625 have it. */
static void check_seen(struct round *round, bool weighted)
{
    unsigned sums[STORES] = {0}, id = 0;
    for (unsigned s = 0; s < STORES; s++) {
        uint64_t ids = stores[s].first + stores[s].records;
        for (uint64_t own = 0; own < ids; own++, id++) {
            unsigned n = atomic_exchange(&round->seen[id], 0), least = s == 0 ? 0 : s == 1 ? 1 : 2;
            CHECK(own >= stores[s].first || n == 0);
            CHECK(own < stores[s].first || (weighted ? n >= least && n <= least + 1 : n == 1));
            sums[s] += n;
        }
    }
    CHECK(id == RECORDS);
    CHECK(!weighted || (sums[1] == 625 && sums[0] + sums[2] == 625 && sums[0] >= 312 && sums[2] >= 312));
}

static apl_reader *open_reader(apl_store *const open[STORES], unsigned i)
{
    bool weighted = i & 4;
    apl_source mix[STORES - 1] = {{sizeof *mix, open[1], "train", weighted ? 2 : 0},
                                  {sizeof *mix, open[2], NULL, weighted ? 1 : 0}};
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    apl_error err;
    o.mix.sources = mix;
    o.mix.count = STORES - 1;
    o.mix.weight = weighted ? 1 : 0;
    o.seed = i;
    o.batch_size = 50;
    o.order = i & 1 ? APL_FREE : APL_STRICT;
    o.window = i & 2 ? 300 : 0;
    o.threads = i % 3 ? i % 3 : APL_NO_THREADS;
    MUST(apl_reader_open(open[0], &o, &reader, &err), &err);
    return reader;
}

/* Two epochs and the beginning of a third, of stores that are closed meanwhile. */
static void run(unsigned i)
{
    static struct round round;
    apl_store *open[STORES];
    apl_error err;
    for (unsigned s = 0; s < STORES; s++)
        open[s] = case_open(&stores[s]);
    round.reader = open_reader(open, i);
    for (unsigned s = 0; s < STORES; s++)
        apl_store_close(open[s]);
    round.most = UINT64_MAX;
    for (unsigned epoch = 0; epoch < 2; epoch++) {
        take_epoch(&round);
        check_seen(&round, i & 4);
        MUST(apl_reader_next_epoch(round.reader, &err), &err);
    }
    round.most = i % 9;
    take_epoch(&round);
    for (unsigned id = 0; id < RECORDS; id++)
        atomic_store(&round.seen[id], 0);
    apl_reader_close(round.reader);
}

int main(void)
{
    char doing[64];
    case_begin();
    case_doing = doing;
    for (unsigned s = 0; s < STORES; s++)
        case_write(&stores[s], case_folder);
    for (unsigned i = 0; i < count_of_rounds(); i++) {
        snprintf(doing, sizeof doing, "round %u", i);
        run(i);
    }
    case_end("reader_union");
    return 0;
}
