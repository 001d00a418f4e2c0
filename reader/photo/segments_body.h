/*
 * The decoding of segments, which each variant includes with an inverse DCT of its own:
 *
 *   IDCT_BLOCKS                      blocks that it does at once; their rows of coefficients lie side by side
 *   idct_group(struct group *)       coefficients to samples, of all its blocks; leaves coefficients of 0
 *
 * Two segments are decoded at once, by turns, symbol by symbol: each waits for its own last symbol, and not for the other's.
 */
#ifndef SEGMENTS_BODY_H
#define SEGMENTS_BODY_H

#include "idct.h"
#include "segments.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define INLINE      __attribute__((always_inline)) static inline

/* ------------------------------------------------------------------------------------------------- bits */

/* A place in the bits of a segment, and in a block of it. */
struct track {
    uint64_t
        word; /* what is to come, from the highest bit on; behind it a 1, so that it tells how much has been taken */
    const uint8_t *at; /* where the word was loaded from */
    const struct code_table *ac;
    uint32_t k; /* places of the zigzag that have been passed */
    int16_t *coef;
};

#define WORD_BITS 56 /* that are there once it has been loaded */

static inline uint64_t track_load(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return __builtin_bswap64(word) | 1;
}

static inline void track_refill(struct track *t)
{
    unsigned taken = (unsigned)__builtin_ctzll(t->word);
    t->at += taken >> 3;
    t->word = track_load(t->at) << (taken & 7);
}

static inline uint32_t track_long(struct track *t, const struct code_table *h, uint32_t entry)
{
    track_refill(t);
    entry = code_table_long(h, t->word, entry);
    t->word <<= entry & 63;
    track_refill(t);
    return entry;
}

/* An entry, taken. CODE_BITS must be there. */
static inline uint32_t track_take(struct track *t, const struct code_table *h)
{
    uint32_t entry = h->look[t->word >> (64 - CODE_BITS)];
    if (UNLIKELY((uint8_t)entry == 0))
        return track_long(t, h, entry);
    t->word <<= entry & 63;
    return entry;
}

static const uint16_t zigzag_places[256];

static inline void track_step(struct track *t)
{
    uint32_t entry = track_take(t, t->ac);
    t->k += entry >> 8 & 255;
    t->coef[zigzag_places[t->k]] = (int16_t)(entry >> 16);
}

/* ---------------------------------------------------------------------------------------------- groups */

/* Blocks that wait for their inverse DCT. */
struct group {
    _Alignas(64) int16_t
        coef[IDCT_BLOCKS * (64 + 8)]; /* 0, but for those blocks; behind the last row: what has no place */
    unsigned count, last;             /* blocks; the last place in the zigzag that is taken in any */
    unsigned size;                    /* of each: 8, 4 or 2 */
    const int16_t *quant[IDCT_BLOCKS];
    uint8_t *out[IDCT_BLOCKS];
    size_t stride[IDCT_BLOCKS];
    uint8_t unwanted[64]; /* samples of blocks that are not there */
};

static void idct_group(struct group *g);

static void group_flush(struct group *g)
{
    if (g->count == 0)
        return;
    for (unsigned i = g->count; i < IDCT_BLOCKS; i++) {
        g->quant[i] = g->quant[0];
        g->out[i] = g->unwanted;
        g->stride[i] = 8;
    }
    idct_group(g);
    g->count = g->last = 0;
}

/* ------------------------------------------------------------------------------------------------ lanes */

enum turn { TURN_ON, TURN_DONE, TURN_BAD };

/* A segment on its way. */
struct lane {
    const struct segment_run *run;
    unsigned mcu, block; /* of the segment, of the MCU */
    int16_t dc[SEGMENTS_PLANES];
    struct group group;
    int16_t unwanted[IDCT_BLOCKS * (64 + 8)]; /* coefficients of blocks that nobody wants */
};

struct work {
    const struct segments *s;
    const struct segment_run *next, *end;
};

static inline int64_t bits_taken(const struct lane *l, const struct track *t)
{
    return 8 * (t->at - l->run->bytes) + __builtin_ctzll(t->word);
}

static inline bool needs_samples(const struct work *work, const struct lane *l)
{
    return l->mcu >= l->run->first && work->s->plane[work->s->block[l->block].plane].size > 1;
}

/* Where the coefficients of the block go that begins. */
static inline int16_t *place_of(const struct work *work, struct lane *l)
{
    struct group *g = &l->group;
    if (!needs_samples(work, l))
        return l->unwanted;
    if (g->count > 0 && g->size != work->s->plane[work->s->block[l->block].plane].size)
        group_flush(g);
    return g->coef + 8 * g->count;
}

static inline enum turn begin_block(const struct work *work, struct lane *l, struct track *t)
{
    const struct segments *s = work->s;
    unsigned plane = s->block[l->block].plane, table = plane > 0;
    track_refill(t);
    uint32_t entry = track_take(t, &s->dc[table]);
    track_refill(t);
    l->dc[plane] = idct_low16(l->dc[plane] + (int16_t)(entry >> 16));
    t->k = 1;
    t->ac = &s->ac[table];
    t->coef = place_of(work, l);
    t->coef[0] = l->dc[plane];
    return (entry >> 8 & 255) == 0 ? TURN_ON : TURN_BAD;
}

static enum turn begin_run(struct work *work, struct lane *l, struct track *t)
{
    if (work->next == work->end)
        return TURN_DONE;
    l->run = work->next++;
    l->mcu = l->block = 0;
    memset(l->dc, 0, sizeof l->dc);
    t->at = l->run->bytes;
    t->word = track_load(t->at);
    return begin_block(work, l, t);
}

/* To samples: at once where they are all the same, else with others. */
static inline void end_block(const struct work *work, struct lane *l, struct track *t, unsigned last)
{
    const struct segments *s = work->s;
    struct group *g = &l->group;
    unsigned plane = s->block[l->block].plane, size = s->plane[plane].size;
    size_t stride = s->plane[plane].stride;
    uint8_t *out =
        l->run->out[plane] + (l->mcu - l->run->first) * s->plane[plane].step + s->block[l->block].offset;
    if (last == 0 || size == 1) {
        idct_fill(out, stride, size, idct_flat(l->dc[plane], s->quant[plane][0], size));
        t->coef[0] = 0;
        return;
    }
    g->size = size;
    g->quant[g->count] = s->quant[plane];
    g->out[g->count] = out;
    g->stride[g->count] = stride;
    g->last = last > g->last ? last : g->last;
    if (++g->count == IDCT_BLOCKS)
        group_flush(g);
}

/* Only what has been decoded to its end is known to end where its bytes do. */
static inline bool ends_well(const struct work *work, const struct lane *l, const struct track *t)
{
    return l->run->end < work->s->per_segment || 8 * (int64_t)l->run->size - bits_taken(l, t) < 8;
}

/* Where a block has come to its end: on to the next one, or to the next run. */
static inline enum turn lane_turn(struct work *work, struct lane *l, struct track *t)
{
    unsigned last = t->k == 64 ? 63 : t->k - 1 - CODE_END; /* huge, or above 63, if it is neither */
    if (UNLIKELY(last > 63 || bits_taken(l, t) > 8 * (int64_t)l->run->size))
        return TURN_BAD;
    if (l->mcu >= l->run->first)
        end_block(work, l, t, last);
    if (++l->block == work->s->blocks) {
        l->block = 0;
        if (++l->mcu == l->run->end)
            return ends_well(work, l, t) ? begin_run(work, l, t) : TURN_BAD;
    }
    return begin_block(work, l, t);
}

/* ------------------------------------------------------------------------------------------------ loops */

/* The turn works on a copy, so that what it is a copy of stays in registers. */
static inline enum turn turn_of(struct work *work, struct lane *l, struct track *t)
{
    struct track copy = *t;
    enum turn turn = lane_turn(work, l, &copy);
    *t = copy;
    return turn;
}

/* One step; true: the block has come to its end. */
static inline bool track_steps_to_end(struct track *t)
{
    track_step(t);
    return UNLIKELY(t->k > 63);
}

/* What is loaded is enough for five steps: each takes CODE_BITS at most, or loads anew. */
_Static_assert(5 * CODE_BITS <= WORD_BITS, "five steps");

static enum turn run_alone(struct work *work, struct lane *l, struct track *from)
{
    struct track t = *from;
    for (;;) {
        enum turn turn = TURN_ON;
        if (t.k > 63 && (turn = turn_of(work, l, &t)) != TURN_ON)
            return turn;
        do
            track_refill(&t);
        while (!(track_steps_to_end(&t) || track_steps_to_end(&t) || track_steps_to_end(&t) ||
                 track_steps_to_end(&t) || track_steps_to_end(&t)));
    }
}

/* Steps by turns; true: one has come to the end of its block. *first says which; it is known on each way out of here, so that nobody
 * has to ask for it. */
static inline bool both_step(struct track *a, struct track *b, bool *first)
{
    *first = true;
    if (track_steps_to_end(a))
        return true;
    *first = false;
    return track_steps_to_end(b);
}

/* Until one has no more to do; *alone is the other. */
static enum turn run_both(struct work *work, struct lane lane[2], struct track from[2], unsigned *alone)
{
    struct track a = from[0], b = from[1];
    enum turn turn = TURN_ON;
    while (turn == TURN_ON) {
        bool first;
        track_refill(&a);
        track_refill(&b);
        if (!(both_step(&a, &b, &first) || both_step(&a, &b, &first) || both_step(&a, &b, &first) ||
              both_step(&a, &b, &first) || both_step(&a, &b, &first)))
            continue;
        turn = first ? turn_of(work, &lane[0], &a) : turn_of(work, &lane[1], &b);
        *alone = first;
    }
    from[0] = a;
    from[1] = b;
    return turn;
}

static enum turn run_all(struct work *work, struct lane lane[2], unsigned *which)
{
    struct track track[2];
    unsigned alone = 0;
    enum turn turn = begin_run(work, &lane[0], &track[0]);
    *which = 0;
    if (turn != TURN_ON)
        return turn;
    turn = begin_run(work, &lane[1], &track[1]);
    if (turn == TURN_ON)
        turn = run_both(work, lane, track, &alone);
    *which = 1 - alone;
    if (turn != TURN_DONE)
        return turn;
    *which = alone;
    return run_alone(work, &lane[alone], &track[alone]);
}

static size_t decode_runs(const struct segments *s, const struct segment_run *runs, size_t n)
{
    struct work work = {.s = s, .next = runs, .end = runs + n};
    struct lane lane[2];
    unsigned which;
    for (int i = 0; i < 2; i++) {
        lane[i].group.count = lane[i].group.last = 0;
        memset(lane[i].group.coef, 0, sizeof lane[i].group.coef);
    }
    if (run_all(&work, lane, &which) == TURN_BAD)
        return (size_t)(lane[which].run - runs);
    group_flush(&lane[0].group);
    group_flush(&lane[1].group);
    return n;
}

#define Z(row, column) ((row)*8 * IDCT_BLOCKS + (column))
#define NOWHERE        (64 * IDCT_BLOCKS)
#define NOWHERE_8      NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE
#define NOWHERE_32     NOWHERE_8, NOWHERE_8, NOWHERE_8, NOWHERE_8
#define NOWHERE_64     NOWHERE_32, NOWHERE_32

/* Of the last coefficient, once so many have been passed in the order of the zigzag (T.81, figure A.6), in the rows of a group. */
static const uint16_t zigzag_places[256] = {
    NOWHERE,   Z(0, 0), Z(0, 1), Z(1, 0), Z(2, 0), Z(1, 1),    Z(0, 2),    Z(0, 3),    Z(1, 2),   Z(2, 1),
    Z(3, 0),   Z(4, 0), Z(3, 1), Z(2, 2), Z(1, 3), Z(0, 4),    Z(0, 5),    Z(1, 4),    Z(2, 3),   Z(3, 2),
    Z(4, 1),   Z(5, 0), Z(6, 0), Z(5, 1), Z(4, 2), Z(3, 3),    Z(2, 4),    Z(1, 5),    Z(0, 6),   Z(0, 7),
    Z(1, 6),   Z(2, 5), Z(3, 4), Z(4, 3), Z(5, 2), Z(6, 1),    Z(7, 0),    Z(7, 1),    Z(6, 2),   Z(5, 3),
    Z(4, 4),   Z(3, 5), Z(2, 6), Z(1, 7), Z(2, 7), Z(3, 6),    Z(4, 5),    Z(5, 4),    Z(6, 3),   Z(7, 2),
    Z(7, 3),   Z(6, 4), Z(5, 5), Z(4, 6), Z(3, 7), Z(4, 7),    Z(5, 6),    Z(6, 5),    Z(7, 4),   Z(7, 5),
    Z(6, 6),   Z(5, 7), Z(6, 7), Z(7, 6), Z(7, 7), NOWHERE_64, NOWHERE_64, NOWHERE_32, NOWHERE_8, NOWHERE_8,
    NOWHERE_8, NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE,    NOWHERE,    NOWHERE,
};

#undef Z
#undef NOWHERE
#undef NOWHERE_8
#undef NOWHERE_32
#undef NOWHERE_64

#endif
