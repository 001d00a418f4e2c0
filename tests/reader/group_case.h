/* A reader that serves several ranks, and beside it one for each of them, which has to agree with it. */
#ifndef GROUP_CASE_H
#define GROUP_CASE_H

#include "reader_fixture.h"
#include "same_batch.h"

#define TRAIN 203 /* members of 113 and 90 records: blocks of 8, but for the last of each */
#define BLOCK 8
#define MOST  4

static inline void group_set_up(void)
{
    fixture_make(TRAIN, 8, BLOCK);
}

struct group {
    unsigned world, count;
    unsigned list[MOST];
    apl_reader *one, *own[MOST]; /* serves all ranks of the list; serve one each */
};

static inline struct group open_group(const apl_reader_options *options, unsigned world, unsigned count)
{
    struct group g = {.world = world, .count = count};
    apl_reader_options o = *options;
    o.ranks.world = world;
    for (unsigned i = 0; i < count; i++) {
        g.list[i] = (i + 1) % world;
        o.ranks.rank = g.list[i];
        g.own[i] = fixture_reader(&o);
    }
    o.ranks.rank = 0;
    o.ranks.list = g.list;
    o.ranks.count = count;
    g.one = fixture_reader(&o);
    return g;
}

static inline void close_group(struct group *g)
{
    for (unsigned i = 0; i < g->count; i++)
        apl_reader_close(g->own[i]);
    apl_reader_close(g->one);
}

static inline apl_batch *next_for(const struct group *g, unsigned i, apl_status *status, apl_error *err)
{
    apl_batch *b = NULL;
    *status = apl_reader_next_of(g->one, g->list[i], &b, err);
    return b;
}

static inline void check_same_state(const struct group *g, unsigned i)
{
    uint8_t a[APL_STATE_BYTES], b[APL_STATE_BYTES];
    size_t a_size = sizeof a, b_size = sizeof b;
    apl_receipt x, y;
    cr_assert_eq(apl_reader_state(g->own[i], a, &a_size, NULL), APL_OK);
    cr_assert_eq(apl_reader_state_of(g->one, g->list[i], b, &b_size, NULL), APL_OK);
    cr_assert_eq(a_size, b_size);
    check_same_bytes(a, b, a_size, "states");
    cr_assert_eq(apl_reader_receipt(g->own[i], &x, sizeof x, NULL), APL_OK);
    cr_assert_eq(apl_reader_receipt_of(g->one, g->list[i], &y, sizeof y, NULL), APL_OK);
    check_same_bytes(&x, &y, sizeof x, "receipts");
    cr_assert_eq(apl_reader_epoch(g->own[i]), apl_reader_epoch_of(g->one, g->list[i]));
}

/* The next batch of a rank, or the same answer. False: the epoch is over for it. */
static inline bool same_next(const struct group *g, unsigned i)
{
    apl_error errors[2] = {{0}, {0}};
    apl_batch *own = NULL;
    apl_status status, expected = apl_reader_next(g->own[i], &own, &errors[0]);
    apl_batch *b = next_for(g, i, &status, &errors[1]);
    cr_assert_eq(status, expected, "%s: %s", apl_status_text(status), errors[1].message);
    if (status == APL_OK)
        check_same_batch(own, b);
    else if (status != APL_END)
        cr_assert_str_eq(errors[0].message, errors[1].message);
    apl_batch_release(own);
    apl_batch_release(b);
    check_same_state(g, i);
    return status == APL_OK;
}

/* A step of all ranks, the last first every other time. */
static inline bool same_step(const struct group *g, unsigned step)
{
    bool more = false;
    for (unsigned i = 0; i < g->count; i++)
        more |= same_next(g, step & 1 ? g->count - 1 - i : i);
    return more;
}

static inline void same_begin(const struct group *g, unsigned i)
{
    apl_error err;
    fixture_next_epoch(g->own[i]);
    cr_assert_eq(apl_reader_next_epoch_of(g->one, g->list[i], &err), APL_OK, "%s", err.message);
    check_same_state(g, i);
}

/* Orders, windows, lanes, threads and sizes in turns. */
static inline apl_reader_options group_way(unsigned i)
{
    apl_reader_options o = fixture_options();
    o.seed = i;
    o.threads = (unsigned[]){APL_NO_THREADS, 1, 3}[i % 3];
    o.batch_size = (size_t[]){5, 16, 1, 33}[i % 4];
    o.window = (uint64_t[]){0, 40, 90}[i / 2 % 3];
    o.reuse = i % 5 == 3 ? 2 : 1;
    o.drop_last = i % 7 == 2;
    o.sequential = i % 11 == 10;
    o.queue_depth = i % 6 == 5 ? 1 : 0;
    return o;
}

#endif
