/*
 * What a reader was asked for, checked and completed: which stores and which of their records, which fields, and what is to be made of
 * them. Fixed once the reader is open, and then read without a lock.
 */
#ifndef SPEC_H
#define SPEC_H

#include "assemble.h"
#include "plan.h"
#include "pool.h"

/* How the values of a field of varying shape become an array. */
struct collation {
    apl_collate how;
    unsigned axis; /* the dimension that varies */
    uint64_t length;
    bool truncate;
    uint8_t fill[8]; /* an element */
};

/* An array that a collation adds to batches, and what a row of it takes (0: that varies). */
struct collation_part {
    unsigned field;
    apl_part part;
    size_t row_bytes;
};

/* The rows of tokens that values are packed into. */
struct packing {
    uint64_t row;      /* tokens of a row; 0: nothing is packed */
    unsigned field;    /* whose lengths count; others have the same */
    bool no_segments;  /* batches have neither segments nor positions */
    uint32_t *lengths; /* of each record's value, in the order of subset_block.before */
    uint64_t tokens;   /* of an epoch; deliveries of a sample may have more */
    uint64_t most,
        most_of_all; /* deliveries that are in one batch, at most, and in the batches of all ranks together */
};

/* What a field is to the images of another, and which other: masks and maps, boxes, what has an element for each of these, and planes: masks
 * of which each record has its own number, perhaps one for each box. */
enum follow_as { FOLLOW_NOTHING, FOLLOW_MASK, FOLLOW_BOXES, FOLLOW_WITH_BOXES, FOLLOW_PLANES };
/* Where masks are filled. */
enum follow_fill { FILL_PADDED, FILL_AFFINE, FILL_PERSPECTIVE, FILL_ELASTIC, FOLLOW_FILLS };
struct follow {
    enum follow_as as;
    unsigned image, boxes;          /* boxes: themselves, or those that it has elements for */
    bool per_boxes;                 /* planes: is there one for each box? */
    apl_form form;                  /* of boxes */
    uint8_t fills[FOLLOW_FILLS][8]; /* of a mask: an element each */
};

/* Batches of like lengths. */
struct bucket {
    uint64_t batches; /* of all ranks, that are sorted together; 0: batches are not sorted */
    uint64_t pool;    /* deliveries of these */
    unsigned field;
    uint32_t *lengths; /* of each record's value, in the order of subset_block.before */
};

/* A block of windows, and the records that they begin in. */
struct window_block {
    uint32_t records; /* its number among the blocks of windows.records */
    uint32_t skip;    /* joined: tokens before its first window */
    bool bad; /* it was corrupt when the reader was opened, and has one window a record, to be left out */
};

/* The windows over values that are delivered in the place of records. */
struct windows {
    uint64_t length; /* tokens of a window; 0: records are delivered */
    uint64_t stride;
    bool join;
    unsigned field;        /* whose lengths count; others have the same */
    struct subset records; /* what is read; the reader's subset is of windows */
    uint32_t *ends; /* of each record of a block, and those before it, its windows; joined: its tokens */
    struct window_block *block;      /* of each block of the reader's subset */
    uint8_t **heads[APL_MAX_FIELDS]; /* joined: of each block of records, its first length - 1 tokens */
    uint64_t tokens;                 /* of all records */
    uint64_t parts;                  /* values that a window is of, at most */
};

/* How the images of a batch are mixed with each other: checked and completed. */
struct blending {
    bool any;
    unsigned image, label; /* fields */
    apl_blend how;
};

/* What records' graphs are made of. */
struct graph {
    bool noded, indexed;   /* are there fields of nodes, of edge indices? */
    unsigned nodes, index; /* the first of them */
};

/* What was asked for, with all defaults filled in. */
struct reader_options {
    struct plan_options plan; /* its sampler is the reader's */
    bool wanted[APL_MAX_FIELDS];
    bool ragged;   /* a field of varying shape is wanted */
    bool bounded;  /* what it takes up in batches is bounded by the budget, which was given */
    bool ids_only; /* no field is wanted: blocks are planned as ever, but never read */
    bool stages;   /* what is read is to be kept in the cache, and nothing is made of it */
    size_t batch_size;
    bool drop_last, free_order;
    bool covers;         /* the window covers the split */
    bool fill;           /* free order takes nothing before all of the split stands */
    unsigned asked_bins; /* 0: as many as suit */
    uint32_t late; /* free order closes a bin when all but so many blocks that could fill it have been put */
    uint64_t first_epoch, budget, skip_corrupt;
    uint32_t expansion;   /* times their files' size that decoded values may take; 0: a budget was given */
    uint32_t spare_slots; /* that the budget leaves over: for blocks that the next epoch needs first */
    unsigned threads, loaders, consumers, queue_depth, world, timeout_ms;
    unsigned *ranks, rank_count; /* that are served */
    unsigned transform_count;
    apl_transform transforms[APL_MAX_FIELDS]; /* of each field; size 0: none */
    struct follow follows[APL_MAX_FIELDS];
    bool followed; /* any field follows another */
    struct blending blending;
    struct collation collations[APL_MAX_FIELDS];
    struct packing pack;
    struct windows windows;
    struct bucket bucket;
    struct graph graph;
    unsigned part_count;
    struct collation_part parts[POOL_MAX_PARTS];
    void (*on_batch)(void *user, apl_batch *batch);
    void *on_batch_user;
};

/* Deliveries of a full batch of all ranks; where they are packed, tokens. */
static inline uint64_t options_global_batch(const struct reader_options *o)
{
    return (uint64_t)o->world * o->batch_size * (o->pack.row ? o->pack.row : 1);
}

/* The most deliveries that one batch has to do with. */
static inline size_t options_most(const struct reader_options *o)
{
    return o->pack.row ? (size_t)o->pack.most : o->batch_size;
}

/* Batches that each rank always has memory for: those in its queue, and what its callers hold. */
static inline unsigned options_buffers(const struct reader_options *o)
{
    return o->queue_depth + (o->consumers ? o->consumers : 1);
}

/* The most pieces that a batch has; 0: it has no list of pieces. */
static inline size_t options_pieces(const struct reader_options *o)
{
    return o->pack.row ? o->batch_size + options_most(o) : o->batch_size * (size_t)o->windows.parts;
}

/* Is an epoch at its end, of which that many deliveries are left? */
static inline bool options_end_epoch(const struct reader_options *o, uint64_t left)
{
    return left == 0 || (o->drop_last && left < options_global_batch(o));
}

/* The stores that are read: the reader's own, and those that are mixed with it. */
struct mix_source {
    apl_store *store;
    char *split; /* the name of the split that is read */
    /* The number that a field of the reader's schema has in this store; of those that are wanted. */
    uint8_t field[APL_MAX_FIELDS];
    uint64_t fields; /* a bit for each of the store's that are wanted */
};

struct mix_sources {
    struct mix_source *source;
    uint32_t count;
};

struct spec {
    apl_store *store;
    const struct schema *schema; /* of that, or `own` */
    struct schema own; /* the same, but for what is taken otherwise than stored: see field_kinds.h */
    bool declared[APL_MAX_FIELDS]; /* the kinds of these are the reader's */
    struct reader_options options;
    struct mix_sources sources;
    bool elsewhere;       /* one of them is at a URL */
    struct subset subset; /* the records, of all sources */
};

#endif
