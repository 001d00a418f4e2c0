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
 * PACK makes batches of the tokens of an epoch, one after another: batch_size is the number of rows. Other fields may be
 * packed too (a weight for each token, say), to the same length; each record's values must be of the same lengths. Fields
 * that are not packed are not read; naming one is an error. A batch's ids and copies are those of each row's first
 * record; apl_batch_pieces() says what is where. The positions of batches, states and receipts count tokens. A record is
 * delivered, for the receipt, with the batch that has its end. A state that was taken after any batch resumes with the very
 * next token, also with another batch size, length, or number of ranks. drop_last drops the last batch unless its rows
 * are full. Of corrupt blocks, which faults.skip_corrupt leaves out, nothing is packed; where one becomes corrupt while
 * the reader is open, its tokens are padding.
 *
 * Opening a reader that packs reads the lengths of all records, which takes 4 bytes each, and for fields that are not
 * kept files as long as decoding them. PACK is for strict order, without lanes or sampling.
 *
 * WINDOWS makes the windows of the values what the reader delivers: window k of a value has its tokens k * stride ...
 * k * stride + length - 1. What is left at the end of a value and fills no window is not read. With `join`, the values of
 * all records that are read, in the order of their ids, are one stream of tokens for each store, and windows go on from
 * record to record; a corrupt block that is left out ends the stream. Windows are numbered in this order from 0: these
 * numbers are the batch's ids, and what positions, states, receipts, the window of the order and `reuse` count. A reader
 * shuffles them as any other shuffles records, in either order, with lanes, and with ranks; not with sampling. Fields
 * that are not made into windows are not read; of those that are, each record's values are of the same length.
 * apl_batch_pieces() says of which record each row is; these ids are those that apl_reader_source() takes, and that errors
 * name. A block of records is decoded once for all of its windows.
 *
 * Opening a reader that packs or makes windows reads the lengths of all records. With `join` it holds the first length - 1
 * tokens of each block. A record of a block that is corrupt by then counts as one window, which is left out.
 *
 * Members that a way of collating does not use must be 0. Start from APL_COLLATION_INIT.
 */
typedef struct apl_collation {
    size_t size;
    const char *field; /* a field of varying shape, not of text */
    apl_collate how;
    /* PAD: the length to pad to; 0: that of the longest value of the batch. PACK: tokens of a row, as the elements along
     * the first dimension are called here. WINDOWS: tokens of a window. */
    uint64_t length;
    /* PAD; PACK, for the end of an epoch's last row: what is padded with; the field's dtype must hold it exactly. */
    double fill;
    /* PAD with a length: 1: longer values are truncated; 0: they are an error, which names the record. */
    int truncate;
    uint64_t stride; /* WINDOWS: tokens from the start of a window to that of the next; 0: its length */
    int join;        /* WINDOWS: 1: windows go on from record to record */
    /* RAGGED and PAD, of one field at most: batches are of records of like lengths. Each pool of so many batches of all ranks, of
     * world * batch_size records each, is sorted by length and cut into batches, which come in random order: the pool's full ones
     * before what is left over at the epoch's end. Within a batch, records keep the order that was drawn. With the window
     * covering the split, each record is at each place of the epoch with the same probability. For strict order that is shuffled,
     * without lanes; states are for the same world * batch_size. 0: batches are not sorted. */
    uint64_t bucket;
} apl_collation;
#define APL_COLLATION_INIT                                              \
    {                                                                   \
        sizeof(apl_collation), NULL, APL_COLLATE_NONE, 0, 0, 0, 0, 0, 0 \
    }

/* An array that collating a field adds to a batch. */
typedef enum apl_part {
    /* PAD: how long each value is (truncated ones: what is left): i64, {rows}. */
    APL_PART_LENGTHS = 0,
    /* PAD: which elements along the padded dimension are of the value: bool, {rows, length}. */
    APL_PART_MASK = 1,
    /* PACK, of the field that is packed first: which piece of its row each token is of, from 1; 0: padding; and its place in
     * that piece, from 0: both i32, {rows, length}. */
    APL_PART_SEGMENTS = 2,
    APL_PART_POSITIONS = 3,
    /* NODES, of the first such field that is given: the row that each node is of: i64, {nodes}; and where the nodes of each
     * row begin, and at last their number: i64, {rows + 1}. */
    APL_PART_GRAPHS = 4,
    APL_PART_STARTS = 5
} apl_part;

/*
 * The array `part` of the batch, for field `field` (its number in the schema); NULL if the field is not collated in a way
 * that adds it. It belongs to the batch, as columns do, and is aligned as they are.
 */
APL_API const apl_column *apl_batch_part(const apl_batch *batch, unsigned field, apl_part part);

/* A part of a record's value in one row of a batch of packed rows or of windows. Later versions may append members. */
typedef struct apl_piece {
    uint64_t id;
    uint64_t offset; /* where in the value the piece begins */
    uint32_t copy;   /* as apl_batch_copies() has it */
    uint32_t row, start, length;
} apl_piece;

/* The pieces of a batch that is packed or of windows, row by row, each from left to right; NULL for other batches. */
APL_API const apl_piece *apl_batch_pieces(const apl_batch *batch, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
