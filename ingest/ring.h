/*
 * A few buffers going round between one thread that fills them and one that empties them, so that reading and
 * inflating run ahead of parsing by no more than the buffers hold.
 */
#ifndef RING_H
#define RING_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_BLOCKS 4
#define RING_BYTES  (256u << 10) /* of one buffer; a multiple of 512, so that no tar header straddles two */

struct ring;

struct ring *ring_new(void); /* NULL: out of memory */
void ring_free(struct ring *ring);

/* The filling thread. */

/* A free buffer of RING_BYTES, waiting for one if need be; NULL when the other side has stopped. */
uint8_t *ring_room(struct ring *ring);
/* Hands over the first `size` bytes of that buffer; size > 0. */
void ring_put(struct ring *ring, size_t size);
/* Nothing follows: APL_OK for the end of the stream, else why it broke off. */
void ring_end(struct ring *ring, apl_status status, const apl_error *why);
/* Has the other side stopped? */
bool ring_stopped(struct ring *ring);

/* The emptying thread. */

/* The next buffer's bytes, valid until the next call; APL_END, or the filling thread's failure, when there
 * are no more. `poll` (may be NULL) is called each time and some times a second while waiting; non-zero:
 * APL_E_CANCELLED. */
apl_status ring_take(struct ring *ring, int (*poll)(void *user), void *user, const uint8_t **data,
                     size_t *size, apl_error *err);
/* Makes the filling thread give up soon; to be called before it is joined. */
void ring_stop(struct ring *ring);

#endif
