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

/* A place in the bits of a segment, and in a block of it. The loops keep two of these in registers. */
struct track {
    uint64_t
        word; /* what is to come, from the highest bit on; behind it a 1, so that it tells how much has been taken */
    const uint8_t *at;    /* where the word was loaded from */
    const uint32_t *look; /* of the code of AC coefficients */
    uint64_t k;           /* places of the zigzag that have been passed */
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

/* An entry, taken, whatever its length: CODE_BITS must be there. */
static inline uint32_t track_take(struct track *t, const struct code_table *h)
{
    uint32_t entry = h->look[t->word >> (64 - CODE_BITS)];
    if (UNLIKELY((uint8_t)entry == 0)) {
        track_refill(t);
        entry = code_table_long(h, t->word, entry);
    }
    t->word <<= entry & 63;
    return entry;
}

static const uint16_t zigzag_places[256];

static inline void track_add(struct track *t, uint64_t entry)
{
    t->word <<= entry & 63;
    t->k += entry >> 8 & 255;
    t->coef[zigzag_places[t->k]] = (int16_t)(entry >> 16);
}

/* One step; true: the block has come to its end, or the code is a long one. */
INLINE bool track_step(struct track *t)
{
    track_add(t, t->look[t->word >> (64 - CODE_BITS)]);
    return UNLIKELY(t->k > 63);
}

/* What is loaded is enough for four steps: each takes CODE_BITS at most. */
_Static_assert(4 * CODE_BITS <= WORD_BITS, "four steps");

/* ---------------------------------------------------------------------------------------------- groups */

/* Blocks of one plane that wait for their inverse DCT. */
struct group {
    _Alignas(64) int16_t
        coef[IDCT_BLOCKS * (64 + 8)]; /* 0, but for those blocks; behind the last row: what has no place */
    unsigned count, last;             /* blocks; the last place in the zigzag that is taken in any */
    unsigned size;                    /* of each: 8, 4 or 2 */
    const int16_t *quant;
    size_t stride;
    uint8_t *out[IDCT_BLOCKS];
};

static void idct_group(struct group *g);

/* Blocks that are not there have the samples of the first one, and lie where it does. */
static void group_flush(struct group *g)
{
    if (g->count == 0)
        return;
    for (unsigned i = g->count; i < IDCT_BLOCKS; i++)
        for (unsigned row = 0; row < 8; row++) {
            int16_t *rows = g->coef + 8 * IDCT_BLOCKS * row;
            memcpy(rows + 8 * i, rows, 8 * sizeof *rows);
            g->out[i] = g->out[0];
        }
    idct_group(g);
    g->count = g->last = 0;
}

/* ------------------------------------------------------------------------------------------------ lanes */

enum turn { TURN_ON, TURN_DONE, TURN_BAD };

/* One of the blocks of an MCU. */
struct kind {
    const struct code_table *dc, *ac;
    const struct kind *next; /* in turn: the first one follows the last one */
    size_t offset, step;     /* of its samples: from those of the MCU, from MCU to MCU */
    unsigned plane;
    bool is_last; /* of the MCU */
};

/* A segment on its way. */
struct lane {
    struct track track; /* while a turn is taken */
    const struct segment_run *run;
    const struct kind *kind; /* of the block that is decoded */
    unsigned mcu;            /* of the segment */
    int16_t dc[SEGMENTS_PLANES];
    struct group group[SEGMENTS_PLANES];
    int16_t unwanted[IDCT_BLOCKS * (64 + 8)]; /* coefficients of blocks that nobody wants */
};

struct work {
    const struct segments *s;
    const struct segment_run *next, *end;
    struct kind kind[SEGMENTS_BLOCKS];
};

static void make_kinds(const struct segments *s, struct kind *kind)
{
    for (unsigned i = 0; i < s->blocks; i++) {
        unsigned plane = s->block[i].plane, table = plane > 0;
        kind[i] = (struct kind){.dc = &s->dc[table],
                                .ac = &s->ac[table],
                                .next = &kind[(i + 1) % s->blocks],
                                .offset = s->block[i].offset,
                                .step = s->plane[plane].step,
                                .plane = plane,
                                .is_last = i + 1 == s->blocks};
    }
}

static inline int64_t bits_taken(const struct lane *l)
{
    return 8 * (l->track.at - l->run->bytes) + __builtin_ctzll(l->track.word);
}

static inline bool has_takers(const struct lane *l)
{
    return l->mcu >= l->run->first;
}

static inline enum turn begin_block(struct lane *l)
{
    const struct kind *kind = l->kind;
    struct track *t = &l->track;
    struct group *g = &l->group[kind->plane];
    track_refill(t);
    uint32_t entry = track_take(t, kind->dc);
    l->dc[kind->plane] = idct_low16(l->dc[kind->plane] + (int16_t)(entry >> 16));
    t->k = 1;
    t->look = kind->ac->look;
    t->coef = has_takers(l) && g->size > 1 ? g->coef + 8 * g->count : l->unwanted;
    t->coef[0] = l->dc[kind->plane];
    return (entry >> 8 & 255) == 0 ? TURN_ON : TURN_BAD;
}

static enum turn begin_run(struct work *work, struct lane *l)
{
    if (work->next == work->end)
        return TURN_DONE;
    l->run = work->next++;
    l->mcu = 0;
    l->kind = work->kind;
    memset(l->dc, 0, sizeof l->dc);
    l->track.at = l->run->bytes;
    l->track.word = track_load(l->track.at);
    return begin_block(l);
}

/* To samples: at once where they are all the same, else with others. */
static inline void end_block(struct lane *l, unsigned last)
{
    const struct kind *kind = l->kind;
    struct group *g = &l->group[kind->plane];
    uint8_t *out = l->run->out[kind->plane] + (l->mcu - l->run->first) * kind->step + kind->offset;
    if (last == 0 || g->size == 1) {
        idct_fill(out, g->stride, g->size, idct_flat(l->dc[kind->plane], g->quant[0], g->size));
        l->track.coef[0] = 0;
        return;
    }
    g->out[g->count] = out;
    g->last = last > g->last ? last : g->last;
    if (++g->count == IDCT_BLOCKS)
        group_flush(g);
}

/* Only what has been decoded to its end is known to end where its bytes do. */
static inline bool ends_well(const struct work *work, const struct lane *l)
{
    return l->run->end < work->s->per_segment || 8 * (int64_t)l->run->size - bits_taken(l) < 8;
}

/* Takes the long code that the step has met instead of what it was. */
static inline void step_long(struct lane *l)
{
    struct track *t = &l->track;
    const struct code_table *h = l->kind->ac;
    t->k -= CODE_LONG;
    track_refill(t);
    track_add(t, code_table_long(h, t->word, h->look[t->word >> (64 - CODE_BITS)]));
}

/* Where a block has come to its end: on to the next one, or to the next run. */
static enum turn lane_turn(struct work *work, struct lane *l)
{
    struct track *t = &l->track;
    if (t->k > CODE_LONG) {
        step_long(l);
        if (LIKELY(t->k <= 63))
            return TURN_ON;
    }
    uint64_t last = t->k == 64 ? 63 : t->k - 1 - CODE_END; /* huge, or above 63, if it is neither */
    if (UNLIKELY(last > 63 || bits_taken(l) > 8 * (int64_t)l->run->size))
        return TURN_BAD;
    if (has_takers(l))
        end_block(l, (unsigned)last);
    bool is_last = l->kind->is_last;
    l->kind = l->kind->next;
    if (is_last && ++l->mcu == l->run->end)
        return ends_well(work, l) ? begin_run(work, l) : TURN_BAD;
    return begin_block(l);
}

/* ------------------------------------------------------------------------------------------------ loops */

/* Between a lane and a loop, by fields: so the loop's track stays in registers. */
INLINE struct track track_of(const struct lane *l)
{
    const struct track *t = &l->track;
    return (struct track){.word = t->word, .at = t->at, .look = t->look, .k = t->k, .coef = t->coef};
}

INLINE void track_keep(struct lane *l, const struct track *t)
{
    l->track.word = t->word;
    l->track.at = t->at;
    l->track.k = t->k;
}

INLINE enum turn turn_of(struct work *work, struct lane *l, struct track *t)
{
    track_keep(l, t);
    enum turn turn = lane_turn(work, l);
    *t = track_of(l);
    return turn;
}

static enum turn run_alone(struct work *work, struct lane *l)
{
    struct track t = track_of(l);
    enum turn turn = TURN_ON;
    while (turn == TURN_ON) {
        do
            track_refill(&t);
        while (!(track_step(&t) || track_step(&t) || track_step(&t) || track_step(&t)));
        turn = turn_of(work, l, &t);
    }
    return turn;
}

/* Steps by turns; true: one has come to the end of its block. *first says which; it is known on each way out of here, so that nobody
 * has to ask for it. */
INLINE bool both_step(struct track *a, struct track *b, bool *first)
{
    *first = true;
    if (track_step(a))
        return true;
    *first = false;
    return track_step(b);
}

/* Until one has no more to do; *alone is the other. */
static enum turn run_both(struct work *work, struct lane lane[2], unsigned *alone)
{
    struct track a = track_of(&lane[0]), b = track_of(&lane[1]);
    enum turn turn = TURN_ON;
    while (turn == TURN_ON) {
        bool first;
        do {
            track_refill(&a);
            track_refill(&b);
        } while (!(both_step(&a, &b, &first) || both_step(&a, &b, &first) || both_step(&a, &b, &first) ||
                   both_step(&a, &b, &first)));
        turn = first ? turn_of(work, &lane[0], &a) : turn_of(work, &lane[1], &b);
        *alone = first;
    }
    if (*alone)
        track_keep(&lane[1], &b);
    else
        track_keep(&lane[0], &a);
    return turn;
}

static enum turn run_all(struct work *work, struct lane lane[2], unsigned *which)
{
    unsigned alone = 0;
    enum turn turn = begin_run(work, &lane[0]);
    *which = 0;
    if (turn != TURN_ON)
        return turn;
    turn = begin_run(work, &lane[1]);
    if (turn == TURN_ON)
        turn = run_both(work, lane, &alone);
    *which = 1 - alone;
    if (turn != TURN_DONE)
        return turn;
    *which = alone;
    return run_alone(work, &lane[alone]);
}

static void lane_init(struct lane *l, const struct segments *s)
{
    for (unsigned i = 0; i < SEGMENTS_PLANES; i++) {
        struct group *g = &l->group[i];
        g->count = g->last = 0;
        g->size = s->plane[i].size;
        g->stride = s->plane[i].stride;
        g->quant = s->quant[i];
        memset(g->coef, 0, sizeof g->coef);
    }
}

static size_t decode_runs(const struct segments *s, const struct segment_run *runs, size_t n)
{
    struct work work = {.s = s, .next = runs, .end = runs + n};
    struct lane lane[2];
    unsigned which;
    make_kinds(s, work.kind);
    for (int i = 0; i < 2; i++)
        lane_init(&lane[i], s);
    if (run_all(&work, lane, &which) == TURN_BAD)
        return (size_t)(lane[which].run - runs);
    for (int i = 0; i < 2; i++)
        for (unsigned plane = 0; plane < SEGMENTS_PLANES; plane++)
            group_flush(&lane[i].group[plane]);
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
