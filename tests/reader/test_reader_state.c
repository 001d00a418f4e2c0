/* Saving where a reader stands after every batch, and going on there with another one. */
#include "bytes.h"
#include "counts.h"
#include "state_case.h"

#define EPOCHS 3u

TestSuite(reader_state, .init = state_set_up, .fini = fixture_free, .timeout = 120);

/* Reads EPOCHS epochs; saves before the first batch, after each, at the ends and behind them. */
static size_t read_all(const apl_reader_options *o, struct sequence *s, struct state *states)
{
    size_t n = 0;
    apl_reader *r = fixture_reader(o);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        save(r, &states[n++], s->count);
        while (read_batches(r, s, 1))
            save(r, &states[n++], s->count);
        save(r, &states[n++], s->count);
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
    return n;
}

static void read_rest(apl_reader *r, struct sequence *s)
{
    for (; apl_reader_epoch(r) < EPOCHS; fixture_next_epoch(r))
        read_epoch(r, s);
}

/* Another way to read the same order. */
static apl_reader_options other_way(const apl_reader_options *o, uint32_t seed)
{
    static const unsigned threads[] = {APL_NO_THREADS, 1, 2, 5};
    static const size_t batches[] = {1, 5, 16, TRAIN, 300};
    apl_reader_options other = *o;
    uint32_t state = seed * 2654435761u + 1;
    other.threads = threads[(sample_random(&state) >> 4) % 4];
    other.batch_size = batches[(sample_random(&state) >> 4) % 5];
    other.queue_depth = (sample_random(&state) >> 4) % 7;
    other.first_epoch = 77; /* the state knows better */
    return other;
}

/* Is [from, all) of `s` each record so often in every epoch, given what came before? */
static void check_epochs(const struct sequence *s, unsigned reuse)
{
    size_t length = (size_t)TRAIN * reuse;
    cr_assert_eq(s->count, EPOCHS * length);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        struct sequence one = {.ids = s->ids + epoch * length, .count = length};
        check_once(&one, 0, TRAIN, reuse, false);
    }
}

static void check_resumed(const apl_reader_options *o, const struct sequence *all, const struct state *state,
                          uint32_t seed)
{
    apl_reader_options other = other_way(o, seed);
    apl_reader *r = resume(other, state);
    struct sequence s = {.ids = malloc(all->count * sizeof *s.ids), .count = state->at, .room = all->count};
    memcpy(s.ids, all->ids, state->at * sizeof *s.ids);
    read_rest(r, &s);
    apl_reader_close(r);
    if (o->order == APL_STRICT)
        check_same(all, &s);
    else
        check_epochs(&s, o->reuse ? o->reuse : 1);
    sequence_free(&s);
}

static void check_every_state(apl_reader_options o)
{
    static struct state states[1024];
    struct sequence all = {0};
    size_t n = read_all(&o, &all, states);
    check_epochs(&all, o.reuse ? o.reuse : 1);
    cr_assert_geq(n, EPOCHS * (2 + all.batches / EPOCHS));
    for (size_t i = 0; i < n; i++)
        check_resumed(&o, &all, &states[i], (uint32_t)i);
    counted("%zu states resumed", n);
    sequence_free(&all);
}

Test(reader_state, strict_order_goes_on_after_every_batch)
{
    check_every_state(options(0, 0, APL_STRICT));
    check_every_state(options(BLOCK, 0, APL_STRICT));
    check_every_state(options(20, 2, APL_STRICT));
    check_every_state(options(0, 2, APL_STRICT));
}

Test(reader_state, free_order_brings_what_is_left_after_every_batch)
{
    check_every_state(options(0, 0, APL_FREE));
    check_every_state(options(BLOCK, 0, APL_FREE));
    check_every_state(options(20, 2, APL_FREE));
    apl_reader_options waits = options(0, 2, APL_FREE);
    waits.fill = 1;
    check_every_state(waits);
}

Test(reader_state, the_order_of_ids_goes_on_after_every_batch)
{
    apl_reader_options o = options(0, 0, APL_STRICT);
    o.sequential = 1;
    check_every_state(o);
    o.window = 20;
    o.reuse = 2;
    check_every_state(o);
}

Test(reader_state, goes_on_again_and_again)
{
    static const apl_order orders[] = {APL_STRICT, APL_FREE};
    for (unsigned k = 0; k < 4; k++) {
        apl_reader_options o = options(k / 2 ? 20 : 0, 1, orders[k % 2]);
        struct sequence s = {0};
        struct state state;
        o.seed = k;
        apl_reader *r = fixture_reader(&o);
        for (uint32_t i = 0; i < 6; i++) {
            if (!read_batches(r, &s, 2))
                fixture_next_epoch(r);
            save(r, &state, s.count);
            apl_reader_close(r);
            apl_reader_options other = other_way(&o, i);
            other.batch_size = 1 + i;
            r = resume(other, &state);
        }
        read_rest(r, &s);
        check_epochs(&s, 1);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

/* A reader that has threads is ahead of its caller: what counts is what was handed out. */
Test(reader_state, counts_what_was_handed_out)
{
    for (unsigned k = 0; k < 2; k++) {
        apl_reader_options o = options(20, 1, k ? APL_FREE : APL_STRICT);
        struct sequence s = {0};
        struct state state;
        o.threads = 3;
        apl_reader *r = fixture_reader(&o);
        read_batches(r, &s, 4);
        save(r, &state, s.count);
        apl_reader_close(r);
        cr_assert_eq(load_le(state.bytes + 72, 8), s.count);
        r = resume(o, &state);
        read_rest(r, &s);
        check_epochs(&s, 1);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

/* ------------------------------------------------------------------------------------------------- worlds */

/* One step of every rank, in the order of ranks; false: the epoch is over. */
static bool step(apl_reader **ranks, unsigned world, struct sequence *s)
{
    unsigned over = 0;
    for (unsigned i = 0; i < world; i++)
        over += !read_batches(ranks[i], s, 1);
    cr_assert(over == 0 || over == world);
    return over == 0;
}

static void open_world(apl_reader **ranks, unsigned world, apl_reader_options o, const struct state *state)
{
    for (unsigned i = 0; i < world; i++) {
        o.ranks.world = world;
        o.ranks.rank = i;
        ranks[i] = state ? resume(o, state) : fixture_reader(&o);
    }
}

static void close_world(apl_reader **ranks, unsigned world)
{
    for (unsigned i = 0; i < world; i++)
        apl_reader_close(ranks[i]);
}

static void check_worlds(const apl_reader_options *o)
{
    static const unsigned worlds[] = {1, 3, 2};
    struct sequence s = {0};
    struct state state;
    apl_reader *ranks[3];
    open_world(ranks, 1, *o, NULL);
    for (unsigned k = 0; k < 3; k++) {
        if (k)
            open_world(ranks, worlds[k], *o, &state);
        for (unsigned i = 0; i < 2; i++)
            step(ranks, worlds[k], &s);
        struct state other;
        save(ranks[0], &state, s.count);
        save(ranks[worlds[k] - 1], &other, s.count);
        cr_assert(memcmp(state.bytes, other.bytes, state.size) == 0, "ranks must stand at one place");
        close_world(ranks, worlds[k]);
    }
    open_world(ranks, 2, *o, &state);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        while (step(ranks, 2, &s)) {
        }
        fixture_next_epoch(ranks[0]);
        fixture_next_epoch(ranks[1]);
    }
    check_epochs(&s, 1);
    close_world(ranks, 2);
    sequence_free(&s);
}

Test(reader_state, the_world_may_change)
{
    apl_reader_options o = options(0, 1, APL_STRICT);
    o.batch_size = 4;
    check_worlds(&o);
    o.window = BLOCK;
    check_worlds(&o);
    o.batch_size = 1;
    o.threads = 2;
    check_worlds(&o);
}

/* ---------------------------------------------------------------------------------------------- afterwards */

/* After the epoch that was resumed, the bits that the state brought no longer count. */
Test(reader_state, receipt_of_the_epoch_after_that_of_the_state)
{
    apl_reader_options o = options(0, 1, APL_FREE);
    struct state s;
    struct sequence some = {0};
    apl_receipt receipt;
    apl_reader *r = fixture_reader(&o);
    read_batches(r, &some, 3);
    save(r, &s, 0);
    apl_reader_close(r);
    r = resume(o, &s);
    for (int epoch = 0; epoch < 2; epoch++) {
        read_epoch(r, &some);
        cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
        cr_assert(receipt.missing == 0 && receipt.repeated == 0 && receipt.last == TRAIN);
        fixture_next_epoch(r);
    }
    cr_assert_eq(receipt.delivered, TRAIN);
    apl_reader_close(r);
    sequence_free(&some);
}

Test(reader_state, of_an_end_is_the_end)
{
    for (unsigned k = 0; k < 4; k++) { /* before APL_END was answered, and after */
        apl_reader_options o = options(0, 2, k & 1 ? APL_FREE : APL_STRICT);
        struct sequence s = {0};
        struct state end;
        apl_batch *b;
        apl_reader *r = fixture_reader(&o);
        read_batches(r, &s, k & 2 ? SIZE_MAX : (size_t)apl_reader_batches(r));
        save(r, &end, s.count);
        apl_reader_close(r);
        r = resume(o, &end);
        cr_assert_eq(apl_reader_next(r, &b, NULL), APL_END);
        cr_assert_eq(apl_reader_epoch(r), 0);
        fixture_next_epoch(r);
        read_epoch(r, &s);
        cr_assert_eq(s.count, 2 * end.at);
        apl_reader_close(r);
        sequence_free(&s);
    }
}
