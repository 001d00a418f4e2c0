/*
 * The decoded records of a whole split, in memory once for all readers of this process that keep them: those whose window covers
 * the split, and that read the same blocks and fields of the same files. Each block is decoded by the reader that needs it first,
 * and found by the others; what does not decode is left to each of them to find out. Freed when the last reader is.
 *
 * Record i of the subset has slot i; values of varying shape lie in columns of the block.
 */
#ifndef DECODED_H
#define DECODED_H

#include "block.h"
#include "hash.h"
#include "slab.h"

struct decoded;

/* What a reader keeps: of `slots` records in `blocks` blocks, the values of fields that take value_bytes[f] each; 0: none, or of
 * varying shape. Readers of one key share. */
struct decoded_shape {
    struct hash128 key;
    uint32_t slots, blocks;
    unsigned fields;
    const size_t *value_bytes;
    bool ragged; /* some fields are of varying shape */
};

/* Finds what readers of this key have, or a new, empty one; to be given back by decoded_close(). */
apl_status decoded_open(const struct decoded_shape *shape, struct decoded **decoded, apl_error *err);
void decoded_close(struct decoded *decoded);

/* No reader that is opened from now on finds these: for when a thread is stuck in a block of them, for which such readers would
 * have to wait. NULL is fine. */
void decoded_retire(struct decoded *decoded);

/* From now on nobody is found: for tests that start over, with no thread in here. A child of fork() does so by itself. */
void decoded_forget(void);

/* Makes `slab` one whose values are these. It owns nothing, and must not outlive them. */
void decoded_lend(const struct decoded *decoded, struct slab *slab);

enum decoded_turn {
    DECODED_FOUND, /* the block is here, to stay */
    DECODED_YOURS, /* to be decoded by the caller: decoded_end() must follow */
    DECODED_NOMEM
};

/* Asks for a block; while another reader's thread decodes it, waits for that. *columns: of each field, for those of varying
 * shape; NULL without such fields. */
enum decoded_turn decoded_begin(struct decoded *decoded, uint32_t block, struct raw_column **columns);

/* It is decoded, or could not be: then the next who asks is to try. */
void decoded_end(struct decoded *decoded, uint32_t block, bool done);

#endif
