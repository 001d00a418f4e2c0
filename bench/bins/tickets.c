/* Bins without locks: see tickets.h. */
#include "tickets.h"
#include "segments.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 8 /* to find a place that is not just being filled or drawn from */

struct tickets {
    struct segments cells;
    struct random_key draws;
    bool in_order;
    _Alignas(64) _Atomic uint64_t tail;
    _Alignas(64) _Atomic uint64_t head;
    _Alignas(64) _Atomic uint64_t standing;
};

apl_status tickets_new(bool in_order, struct tickets **tickets, apl_error *err)
{
    struct tickets *t = aligned_alloc(64, sizeof *t);
    if (!t)
        return fail_nomem(err);
    memset(t, 0, sizeof *t);
    t->in_order = in_order;
    *tickets = t;
    return APL_OK;
}

void tickets_free(struct tickets *t)
{
    if (!t)
        return;
    segments_free(&t->cells);
    free(t);
}

void tickets_begin(struct tickets *t, struct random_key draws)
{
    t->draws = draws;
    atomic_store(&t->tail, 0);
    atomic_store(&t->head, 0);
    atomic_store(&t->standing, 0);
    segments_begin(&t->cells);
}

uint64_t tickets_standing(struct tickets *t)
{
    return atomic_load_explicit(&t->standing, memory_order_acquire);
}

uint64_t tickets_bytes(struct tickets *t)
{
    return segments_bytes(&t->cells);
}

static _Atomic uint64_t *cell_of(struct tickets *t, uint64_t ticket)
{
    return &segment_of(&t->cells, ticket)->cells[ticket % SEGMENT_CELLS];
}

/* --------------------------------------------------------------------------------------------- putting */

/* A put under way. */
struct put {
    struct tickets *tickets;
    uint64_t head; /* as last seen */
    struct random_stream random;
};

/* Reserves n tickets. They have cells before anybody can see that they are out: a draw never needs memory. */
static bool reserve_tickets(struct tickets *t, uint32_t n, uint64_t *first)
{
    *first = atomic_load_explicit(&t->tail, memory_order_relaxed);
    do
        if (!segments_install(&t->cells, *first + n))
            return false;
    while (!atomic_compare_exchange_weak_explicit(&t->tail, first, *first + n, memory_order_relaxed,
                                                  memory_order_relaxed));
    return true;
}

/* Numbers that no other put of the epoch uses: of 64 at a time, 16 counters. */
static struct put begin_put(struct tickets *t, uint64_t first)
{
    struct put put = {.tickets = t, .head = atomic_load_explicit(&t->head, memory_order_relaxed)};
    random_stream_init(&put.random, t->draws);
    put.random.counter = first << 5;
    return put;
}

/* Leaves the delivery in a random place that is filled, and says which one was there; or says it itself, to go to `ticket`. */
static uint32_t exchange(struct put *put, uint64_t ticket, uint32_t delivery)
{
    struct tickets *t = put->tickets;
    for (unsigned i = 0; i < TRIES && put->head < ticket; i++) {
        uint64_t place = put->head + random_below(&put->random, (uint32_t)(ticket - put->head) + 1);
        if (place == ticket)
            return delivery;
        _Atomic uint64_t *there = cell_of(t, place);
        uint64_t c = atomic_load_explicit(there, memory_order_relaxed);
        /* acq_rel: what is at hand now is passed on, with all that came before it */
        if (cell_is_filled(c, place) &&
            atomic_compare_exchange_strong_explicit(there, &c, cell(CELL_FILLED, place, delivery),
                                                    memory_order_acq_rel, memory_order_relaxed))
            return cell_value(c);
        put->head = atomic_load_explicit(&t->head, memory_order_relaxed);
    }
    return delivery;
}

/* Fills a cell; false: a draw has passed it by. */
static bool fill(struct tickets *t, uint64_t ticket, uint32_t delivery)
{
    uint64_t empty = cell(CELL_EMPTY, ticket, 0);
    return atomic_compare_exchange_strong_explicit(cell_of(t, ticket), &empty,
                                                   cell(CELL_FILLED, ticket, delivery), memory_order_release,
                                                   memory_order_relaxed);
}

static bool put_one(struct put *put, uint64_t ticket, uint32_t delivery)
{
    struct tickets *t = put->tickets;
    for (;;) {
        if (!t->in_order)
            delivery = exchange(put, ticket, delivery);
        if (fill(t, ticket, delivery))
            return true;
        if (!reserve_tickets(t, 1, &ticket))
            return false;
    }
}

bool tickets_put(struct tickets *t, const uint32_t *deliveries, uint32_t n)
{
    uint64_t first;
    uint32_t done = 0;
    if (n == 0)
        return true;
    if (!reserve_tickets(t, n, &first))
        return false;
    struct put put = begin_put(t, first);
    while (done < n && put_one(&put, first + done, deliveries[done]))
        done++;
    /* Only now can they be claimed: a claim always finds what it stands for. */
    atomic_fetch_add_explicit(&t->standing, done, memory_order_release);
    return done == n;
}

/* --------------------------------------------------------------------------------------------- drawing */

static size_t claim(struct tickets *t, size_t least, size_t n)
{
    uint64_t standing = atomic_load_explicit(&t->standing, memory_order_acquire), claimed;
    do
        claimed = standing < least ? 0 : n < standing ? n : standing;
    while (claimed && !atomic_compare_exchange_weak_explicit(&t->standing, &standing, standing - claimed,
                                                             memory_order_acquire, memory_order_acquire));
    return (size_t)claimed;
}

/* Takes tickets of one segment. Returns how many of their cells were filled. */
static size_t take_cells(struct tickets *t, uint64_t ticket, uint32_t n, uint32_t *deliveries)
{
    struct segment *segment = segment_of(&t->cells, ticket);
    uint64_t taken = cell(CELL_TAKEN, ticket, 0);
    size_t got = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t c = atomic_exchange_explicit(&segment->cells[(ticket + i) % SEGMENT_CELLS], taken,
                                              memory_order_acquire);
        if (cell_is_filled(c, ticket))
            deliveries[got++] = cell_value(c);
    }
    segments_taken(&t->cells, segment, n);
    return got;
}

/* Takes n tickets from this one on, which are the caller's. */
static size_t take(struct tickets *t, uint64_t ticket, size_t n, uint32_t *deliveries)
{
    size_t got = 0;
    while (n > 0) {
        size_t rest = SEGMENT_CELLS - ticket % SEGMENT_CELLS, some = n < rest ? n : rest;
        got += take_cells(t, ticket, (uint32_t)some, deliveries + got);
        ticket += some;
        n -= some;
    }
    return got;
}

size_t tickets_draw(struct tickets *t, uint32_t *deliveries, size_t least, size_t n, uint64_t *position)
{
    size_t claimed = claim(t, least, n), got = 0;
    while (got < claimed) {
        size_t more = claimed - got;
        uint64_t ticket = atomic_fetch_add_explicit(&t->head, more, memory_order_relaxed);
        if (position && got == 0)
            *position = ticket;
        got += take(t, ticket, more, deliveries + got);
    }
    return claimed;
}
