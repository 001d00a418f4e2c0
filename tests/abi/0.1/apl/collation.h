/* apl/collation.h - how values of varying shape become arrays; part of apl.h, which states the general rules. */
#ifndef APL_COLLATION_H
#define APL_COLLATION_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How the values of one field become an array.
 *
 * PACK makes batches of the tokens of an epoch, one after another: batch_size is the number of rows. Other fields may
 * be packed too (a weight for each token, say), to the same length; each record's values must have the same lengths.
 * Fields that are not packed are not read; naming one is an error. A batch's ids and copies are those of each row's
 * first record; apl_batch_pieces() has all parts of each row. The positions of batches, states and receipts count
 * tokens. For the receipt, a record is delivered with the batch that has its end. A state taken after any batch
 * resumes with the very next token, even with another batch size, length, or number of ranks. drop_last drops the
 * last batch unless its rows are full. Corrupt blocks that faults.skip_corrupt leaves out are not packed; if one
 * becomes corrupt while the reader is open, its tokens are padding.
 *
 * Opening a reader that packs reads the lengths of all records and holds 4 bytes for each; fields that are not kept
 * files are decoded for that. PACK needs strict order, without lanes; its epochs are samples only where the stores of
 * a mix have weights (see apl_mix).
 *
 * WINDOWS delivers windows in place of records: window k of a value has its tokens k * stride ... k * stride + length
 * - 1. Tokens at the end of a value that do not fill a window are not read. With `join`, the values of all records
 * that are read, in the order of their ids, are one stream of tokens for each store, and windows run on from record
 * to record; a corrupt block that is left out ends the stream. Windows are numbered in this order from 0: these
 * numbers are the batch's ids, and positions, states, receipts, the reader's `window` and `reuse` count windows. They
 * are shuffled as records are, in strict or free order, with lanes and ranks, and sampled alike, or by weights of the
 * stores of a mix; weights of classes and records are not supported. Fields that are not made into windows are not
 * read; each record's values in those that are must have the same length. apl_batch_pieces() says which record each
 * row is from; apl_reader_source() takes these record ids, and errors name them. A block of records is decoded once for
 * all of its windows.
 *
 * Opening a reader that makes windows reads the lengths of all records. With `join` it holds the first length - 1
 * tokens of each block. A record of a block that is corrupt by then counts as one window, which is left out.
 *
 * Members that `how` does not use must be 0. Start from APL_COLLATION_INIT.
 */
typedef struct apl_collation {
    size_t size;       /* sizeof(apl_collation) */
    const char *field; /* a field of varying shape, not of text */
    apl_collate how;
    /* PAD: the length to pad to; 0: that of the longest value of the batch. PACK: tokens per row (elements along the
     * first dimension are called tokens here). WINDOWS: tokens per window. */
    uint64_t length;
    /* The padding of PAD, and of the end of an epoch's last row of PACK; the field's dtype must hold it exactly. */
    double fill;
    /* PAD with a length: 1: longer values are truncated; 0: they are an error, which names the record. */
    int truncate;
    uint64_t
        stride; /* WINDOWS: tokens from the start of a window to that of the next, to 2^31 - 1; 0: its length */
    int join;   /* WINDOWS: 1: windows run on from record to record */
    /* RAGGED and PAD, for at most one field: make batches of records of similar length. Each pool of `bucket` batches
     * (of all ranks together, world * batch_size records each) is sorted by length and cut into batches, which come
     * in random order; records left over at the end of the epoch come last, unsorted. Within a batch, records keep
     * the order that was drawn. If the window covers the split, each record is at each place of the epoch with the
     * same probability. Needs strict, shuffled order without lanes; a state needs the same world * batch_size. 0:
     * batches are not sorted. */
    uint64_t bucket;
    /* PACK, alike for all packed fields: 1: batches have no APL_PART_SEGMENTS and APL_PART_POSITIONS, which take 8 bytes
     * a token, and more time than the tokens themselves; apl_batch_pieces() says as much. */
    int no_segments;
} apl_collation;
#define APL_COLLATION_INIT                                                 \
    {                                                                      \
        sizeof(apl_collation), NULL, APL_COLLATE_NONE, 0, 0, 0, 0, 0, 0, 0 \
    }

/* An array that collating a field adds to a batch. */
typedef enum apl_part {
    /* PAD: how long each value is (truncated ones: what is left): i64, {rows}. */
    APL_PART_LENGTHS = 0,
    /* PAD: which elements along the padded dimension are of the value: bool, {rows, length}. */
    APL_PART_MASK = 1,
    /* PACK, of the first packed field: the number of each token's piece in its row, from 1; 0: padding; and its place
     * in that piece, from 0: both i32, {rows, length}. */
    APL_PART_SEGMENTS = 2,
    APL_PART_POSITIONS = 3,
    /* NODES, of the first such field given: the row of each node: i64, {nodes}; and where the nodes of each row begin,
     * followed by their number: i64, {rows + 1}. */
    APL_PART_GRAPHS = 4,
    APL_PART_STARTS = 5
} apl_part;

/*
 * The array `part` of the batch, for field `field` (its number in the schema); NULL if the field is not collated in a
 * way that adds it. It belongs to the batch, as columns do, and is aligned as they are.
 */
APL_API const apl_column *apl_batch_part(const apl_batch *batch, unsigned field, apl_part part);

/* A part of a record's value in one row of a batch of packed rows or of windows. Later versions may append members. */
typedef struct apl_piece {
    uint64_t id;
    uint64_t offset; /* where in the value the piece begins */
    uint32_t copy;   /* as in apl_batch_copies() */
    uint32_t row, start, length;
} apl_piece;

/* The pieces of a batch of packed rows or windows, row by row, from left to right; NULL for other batches. */
APL_API const apl_piece *apl_batch_pieces(const apl_batch *batch, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
