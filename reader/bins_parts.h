/* What the files of the bins share: see bins.h. */
#ifndef BINS_PARTS_H
#define BINS_PARTS_H

#include "bins.h"
#include "places.h"

#include <pthread.h>
#include <stdatomic.h>

/* Written for each delivery that is scattered, and small so that all bins' are in the first-level cache. */
struct bin {
    uint32_t *deliveries;
    uint32_t count, capacity;
};

/* The rest of a bin. */
struct gate {
    pthread_mutex_t lock;  /* of the bin too */
    _Atomic uint64_t done; /* 1 more than the turn that it was last shuffled for; written with the lock */
    uint64_t turn;         /* arriving: that it is of */
};

/* What is drained by turns. Of the bins of turns 0, 1, 2, …, `slots` have a place at a time. */
struct lane {
    struct bin *bins;
    struct gate *gates;
    uint64_t left;     /* deliveries that have not been taken */
    uint64_t standing; /* ring: deliveries in bins */
    uint32_t at;       /* place in the bin that is drained */
    uint32_t next;     /* ring: place in the order of blocks of the one that enters next */
    uint32_t from, to; /* whole: its chunks */
    uint64_t first;    /* the turn that the epoch, or what is left of it, begins with */
    bool draining;     /* the bin of turn turns-1 is drained; else it has been gone past, or there is none */
    bool ending;       /* ring: all blocks have entered */
    /* With the lock of all: */
    uint64_t turns; /* that have begun */
    uint64_t begun; /* bins of turns before this have been shuffled, or somebody is about it */
    uint64_t ripe;  /* bins of turns before this are ripe */
};

/* Some blocks in a row, or a large one: what is sorted by bin at a time. */
struct chunk {
    uint32_t from, to; /* in by_lane */
    uint64_t offset;   /* in runs */
};

struct bins {
    struct plan_options options;
    struct plan_shape shape;
    const struct subset *subset;
    uint64_t epoch, position;
    bool cold;                  /* nothing has been filled yet */
    const uint32_t *cumulative; /* of the sample of the epoch; NULL: none */
    struct random_key place, shuffle, spread, end, late;
    uint32_t *order, *entered, entered_count;
    uint16_t *lane_of; /* each block's lane; NULL: there is one */
    unsigned lane;     /* that is taken from next */
    unsigned slots;    /* bins of a lane that have a place */

    uint32_t *by_lane; /* whole: blocks by lane, then by number */
    uint32_t *runs;    /* whole: the chunks' deliveries, each sorted by bin */
    uint32_t *starts; /* of each chunk: where the run of each bin begins in it, and where the last one ends */
    struct chunk *chunks;
    uint32_t chunk_count;

    uint64_t *turn_of; /* ring: at which turn each block has entered */
    uint32_t *delays;  /* ring: scratch for a block's places, and after them as many deliveries */
    bool *gone;        /* ring, sequential: blocks of which nothing is left beyond where the bins jumped */
    struct bin past;   /* what of the other blocks is before that */

    _Atomic uint64_t oldest, standing; /* arriving: the turn of the oldest open bin, and what stands */
    struct bin closed;                 /* arriving: what is drained */

    pthread_mutex_t lock; /* of all that follows, and of lanes where they say so */
    pthread_cond_t idle;  /* the last helper has finished */
    uint32_t next_chunk, filled;
    unsigned looked_at; /* the lane in which a bin to shuffle is looked for first */
    uint16_t **scratch; /* places for a chunk each: a stack */
    unsigned scratch_count, helping;

    struct lane lanes[];
};

/* whole: cuts the epoch into chunks; fills all that nobody fills, and waits for those who do. */
void bins_cut(struct bins *b);
void bins_fill_all(struct bins *b);

/* whole, before all is filled: adds to counts[bins] how many deliveries of a lane each of its bins gets. */
void bins_count_lane(const struct bins *b, const struct lane *lane, uint32_t *counts);

/* ring: lets blocks in at the turn that has begun. False: out of memory. */
bool bins_enter(struct bins *b, unsigned lane);

/* ring: how many bins after the turn at which it entered each delivery of a block goes, into b->delays. Returns how many these are. */
uint32_t bins_place_block(struct bins *b, uint32_t block);

/* ring: puts n deliveries, b->delays[i] bins after that of a turn. False: out of memory. */
bool bins_put_block(struct bins *b, struct lane *lane, uint64_t turn, const uint32_t *deliveries, uint32_t n);

/* Makes the bin of a turn ready to be drained, unless it is: gathers and shuffles it. False: out of memory. */
bool bins_ready(struct bins *b, unsigned lane, uint64_t turn);

/* As long as another thread is making it ready: does what else there is to do. */
void bins_help_until(struct bins *b, unsigned lane, uint64_t turn);

/* Begins to drain the bin of the lane's next turn beyond its first deliveries. False: out of memory. */
bool bins_skip(struct bins *b, unsigned lane, uint32_t skip);

/* arriving: the next n deliveries of what stands. */
size_t bins_take_arrived(struct bins *b, uint32_t *deliveries, size_t n);
void bins_begin_arriving(struct bins *b);

/* Room for more; false: out of memory, and the bin is as it was. */
bool bin_reserve(struct bin *bin, uint32_t more);

/* Deliveries of a block in this epoch. */
static inline uint32_t bins_of_block(const struct bins *b, uint32_t block)
{
    return deliveries_of_block(b->cumulative, &b->subset->block[block], b->options.reuse);
}

static inline struct bin *bins_at(const struct bins *b, const struct lane *lane, uint64_t turn)
{
    return &lane->bins[turn % b->slots];
}

static inline struct gate *gate_at(const struct bins *b, const struct lane *lane, uint64_t turn)
{
    return &lane->gates[turn % b->slots];
}

/* The deliveries of a block, in order of their numbers, into out[bins_of_block()]. */
static inline void bins_list(const struct bins *b, uint32_t block, uint32_t *out)
{
    const struct subset_block *s = &b->subset->block[block];
    uint32_t reuse = b->options.reuse, first = block * b->subset->stride * reuse;
    if (!b->cumulative) {
        for (uint32_t i = 0; i < s->count * reuse; i++)
            out[i] = first + i;
        return;
    }
    for (uint32_t i = 0; i < s->count; i++, first += reuse)
        for (uint32_t copy = 0, n = deliveries_of_record(b->cumulative, s->before + i, reuse); copy < n;
             copy++)
            *out++ = first + copy;
}

/* The nth delivery of a block in this epoch, where that is drawn. */
static inline uint32_t bins_nth(const struct bins *b, uint32_t block, uint32_t nth)
{
    const struct subset_block *s = &b->subset->block[block];
    uint32_t reuse = b->options.reuse, first = block * b->subset->stride * reuse;
    for (uint32_t i = 0, n; nth >= (n = deliveries_of_record(b->cumulative, s->before + i, reuse)); i++) {
        nth -= n;
        first += reuse;
    }
    return first + nth;
}

#endif
