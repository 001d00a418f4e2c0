/* Many readers in one process, each a rank: together they read what one does. */
#include "load.h"
#include "reader_fixture.h"

#include <time.h>

#define TRAIN     101
#define BLOCK     4
#define MOST      9
#define MAX_STEPS 1024

static void set_up(void)
{
    fixture_make(TRAIN, 9, BLOCK);
}

TestSuite(reader_ranks, .init = set_up, .fini = fixture_free, .timeout = 120);

/* What one rank was given in an epoch. */
struct rank {
    apl_reader *reader;
    struct sequence ids;
    size_t rows[MAX_STEPS];
    uint64_t position[MAX_STEPS];
    apl_receipt receipt;
};

static void read_rank(struct rank *k)
{
    apl_batch *b;
    size_t steps = 0;
    sequence_free(&k->ids);
    while ((b = fixture_next(k->reader))) {
        check_values(b);
        cr_assert_lt(steps, MAX_STEPS);
        k->rows[steps] = apl_batch_rows(b);
        k->position[steps++] = apl_batch_position(b);
        sequence_add(&k->ids, b);
        apl_batch_release(b);
    }
    cr_assert_eq(apl_reader_receipt(k->reader, &k->receipt, sizeof k->receipt, NULL), APL_OK);
}

/* The ids of all ranks in the order of the steps, and within a step of the ranks: the order of one reader. */
static void merge(struct rank *ranks, unsigned world, struct sequence *all)
{
    size_t at[MOST] = {0};
    all->ids = calloc((size_t)TRAIN * 3, sizeof *all->ids);
    for (size_t step = 0; step < ranks[0].ids.batches; step++)
        for (unsigned k = 0; k < world; k++)
            for (size_t i = 0; i < ranks[k].rows[step]; i++)
                all->ids[all->count++] = ranks[k].ids.ids[at[k]++];
}

static void check_steps(const struct rank *ranks, unsigned world, const apl_reader_options *o)
{
    size_t b = o->batch_size, whole = world * b, length = TRAIN * (size_t)(o->reuse ? o->reuse : 1);
    size_t steps = o->drop_last ? length / whole : (length + whole - 1) / whole;
    for (unsigned k = 0; k < world; k++) {
        cr_assert_eq(ranks[k].ids.batches, steps);
        cr_assert_eq(apl_reader_batches(ranks[k].reader), steps);
        for (size_t i = 0; i < steps; i++) {
            size_t due = (i + 1) * whole <= length ? b : 0, rest = length - i * whole;
            cr_assert(due ? ranks[k].rows[i] == b
                          : ranks[k].rows[i] == rest * (k + 1) / world - rest * k / world,
                      "rank %u of %u, step %zu: %zu rows", k, world, i, ranks[k].rows[i]);
        }
    }
}

static void add_sums(uint64_t *sum, const uint64_t *more)
{
    sum[0] += more[0];
    sum[1] += more[1] + (sum[0] < more[0]);
}

static void check_receipts(const struct rank *ranks, unsigned world, const apl_receipt *alone)
{
    uint64_t sum[2] = {0, 0}, delivered = 0;
    for (unsigned k = 0; k < world; k++) {
        add_sums(sum, ranks[k].receipt.sum);
        delivered += ranks[k].receipt.delivered;
        cr_assert_eq(ranks[k].receipt.first, alone->first);
        cr_assert_eq(ranks[k].receipt.repeated, 0);
        cr_assert_eq(ranks[k].receipt.epoch, alone->epoch);
    }
    cr_assert_eq(delivered, alone->delivered);
    cr_assert(sum[0] == alone->sum[0] && sum[1] == alone->sum[1]);
}

/* A few epochs of that many ranks, against one reader of the same order. */
static void check_world(const apl_reader_options *options, unsigned world)
{
    static struct rank ranks[MOST], alone;
    apl_reader_options o = *options;
    o.drop_last = 0;
    o.ranks.world = 1;
    alone.reader = fixture_reader(&o);
    o.drop_last = options->drop_last;
    for (unsigned k = 0; k < world; k++) {
        o.ranks.world = world;
        o.ranks.rank = k;
        ranks[k].reader = fixture_reader(&o);
    }
    for (unsigned epoch = 0; epoch < 5; epoch++) {
        struct sequence all = {0};
        read_rank(&alone);
        for (unsigned k = 0; k < world; k++)
            read_rank(&ranks[k]);
        check_steps(ranks, world, &o);
        merge(ranks, world, &all);
        cr_assert(o.drop_last ? all.count <= alone.ids.count : all.count == alone.ids.count);
        cr_assert(memcmp(all.ids, alone.ids.ids, all.count * sizeof *all.ids) == 0,
                  "the ranks' order is not that of one reader");
        if (!o.drop_last)
            check_receipts(ranks, world, &alone.receipt);
        sequence_free(&all);
        for (unsigned k = 0; k < world; k++)
            fixture_next_epoch(ranks[k].reader);
        fixture_next_epoch(alone.reader);
    }
    for (unsigned k = 0; k < world; k++) {
        apl_reader_close(ranks[k].reader);
        sequence_free(&ranks[k].ids);
    }
    apl_reader_close(alone.reader);
    sequence_free(&alone.ids);
}

Test(reader_ranks, share_one_order)
{
    for (unsigned world = 1; world <= MOST; world++) {
        apl_reader_options o = fixture_options();
        o.batch_size = 5;
        o.seed = world;
        check_world(&o, world);
        o.window = 10;
        check_world(&o, world);
        o.batch_size = 1;
        o.drop_last = 1;
        check_world(&o, world);
    }
}

/* Blocks whose records all go to other ranks, some of them while they are being loaded. */
Test(reader_ranks, share_one_order_with_threads_and_small_windows)
{
    for (unsigned world = 2; world <= MOST; world++)
        for (unsigned i = 0; i < 6; i++) {
            apl_reader_options o = fixture_options();
            o.batch_size = i % 3 ? i : 40;
            o.window = i < 3 ? BLOCK : 20;
            o.reuse = 1 + i % 2;
            o.threads = 1 + i % 4;
            o.seed = i;
            o.drop_last = world % 2;
            check_world(&o, world);
        }
}

static apl_status dawdle(void *user, uint64_t number, apl_error *err)
{
    (void)user;
    (void)err;
    nanosleep(&(struct timespec){0, number % 3 ? 300000 : 0}, NULL);
    return APL_OK;
}

/* Planning gets far ahead of loading: whole blocks are passed over while they are being loaded. */
Test(reader_ranks, share_one_order_when_loading_is_slow)
{
    static const struct load_hook slow = {dawdle, NULL};
    load_set_hook(&slow);
    for (unsigned i = 0; i < 4; i++) {
        apl_reader_options o = fixture_options();
        o.batch_size = 1 + i % 2;
        o.window = i < 2 ? BLOCK : 12;
        o.threads = 3;
        o.queue_depth = 8;
        o.seed = i;
        check_world(&o, MOST);
    }
    load_set_hook(NULL);
}

Test(reader_ranks, batches_may_be_empty_at_the_end)
{
    apl_reader_options o = fixture_options();
    struct sequence s = {0};
    o.batch_size = 50; /* one record is left for the second step of two ranks */
    o.ranks.world = 2;
    o.fields = (const char *const[]){"image", "track"};
    o.field_count = 2;
    apl_reader *r = fixture_reader(&o);
    read_batches(r, &s, 1);
    apl_batch *b = fixture_next(r);
    cr_assert_eq(apl_batch_rows(b), 0);
    cr_assert_eq(apl_batch_column(b, FIELD_IMAGE)->bytes, 0);
    cr_assert_eq(apl_batch_column(b, FIELD_TRACK)->bytes, 0);
    cr_assert_eq(apl_batch_column(b, FIELD_TRACK)->offsets[0], 0);
    apl_batch_release(b);
    cr_assert_null(fixture_next(r));
    apl_reader_close(r);
    sequence_free(&s);
}

/* -------------------------------------------------------------------------------------------- who am I? */

/* Rows of an epoch: tells the world that the reader took itself to be in. */
static size_t rows_of(const apl_reader_options *o)
{
    struct sequence s = {0};
    apl_reader *r = fixture_reader(o);
    read_epoch(r, &s);
    size_t rows = s.count;
    apl_reader_close(r);
    sequence_free(&s);
    return rows;
}

Test(reader_ranks, launchers_tell_rank_and_world)
{
    static const char *const names[][2] = {{"RANK", "WORLD_SIZE"},
                                           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    apl_reader_options o = fixture_options();
    o.batch_size = 1;
    for (unsigned i = 0; i < 4; i++) {
        setenv(names[i][0], "2", 1);
        cr_assert_eq(rows_of(&o), TRAIN, "a rank without a world");
        setenv(names[i][1], "4", 1);
        cr_assert_eq(rows_of(&o), TRAIN / 4); /* 101 = 4 x 25 + 1, of which the last has one */
        o.ranks.world = 1;
        cr_assert_eq(rows_of(&o), TRAIN, "options go before the environment");
        o.ranks.world = 0;
        unsetenv(names[i][0]);
        unsetenv(names[i][1]);
    }
}

Test(reader_ranks, the_first_launcher_counts)
{
    apl_reader_options o = fixture_options();
    o.batch_size = 1;
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_STEP_NUM_TASKS", "1", 1);
    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "2", 1);
    cr_assert_eq(rows_of(&o), TRAIN / 2);
}

Test(reader_ranks, impossible_ranks_are_refused)
{
    apl_reader_options o = fixture_options();
    o.ranks.world = 3;
    o.ranks.rank = 3;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "rank 3 of 3: ranks are 0 to 2") != NULL);
    o.ranks.world = (1u << 20) + 1;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "at most 1048576") != NULL);
    o.ranks.world = 0;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "ranks.world is 0") != NULL);
    o.ranks.world = 3;
    o.ranks.rank = 0;
    o.ranks.list = (const unsigned[]){2, 0, 2};
    o.ranks.count = 3;
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "ranks.list has rank 2 twice") != NULL);
    o.ranks.list = NULL;
    o.ranks.count = 0;
    o.ranks.world = 2;
    o.order = APL_FREE;
    cr_assert(strstr(fixture_refused(&o, APL_E_UNSUPPORTED), "strict") != NULL);
}

/* Not to be taken for a process that is alone, which would read everything. */
Test(reader_ranks, a_launcher_that_contradicts_itself)
{
    static const char *const pairs[][2] = {{"5", "4"}, {"4", "4"},  {"0", "0"},
                                           {"x", "2"}, {"1", "2x"}, {"-1", "2"}};
    apl_reader_options o = fixture_options();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        setenv("RANK", pairs[i][0], 1);
        setenv("WORLD_SIZE", pairs[i][1], 1);
        cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "WORLD_SIZE") != NULL);
    }
}
