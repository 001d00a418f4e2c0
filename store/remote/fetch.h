/*
 * Ranges of an object, whatever it takes: what may pass is tried again, after pauses that double and are drawn at random, until a
 * deadline. What has come is kept, and only the rest is asked for again. All ranges are of one and the same object: each request
 * says which (If-Match), and each answer is compared, so that one that is replaced is an error and never a mixture.
 */
#ifndef FETCH_H
#define FETCH_H

#include "object.h"

/* Asks for the first `*n` bytes, and so finds out what there is: size and validator; *n becomes how many have come, fewer if there are
 * no more. APL_E_NOTFOUND if there is no such object. */
apl_status object_begin(struct object *object, uint8_t *to, size_t *n, apl_error *err);

/* Bytes offset ... offset+n-1, which it has. Errors do not name the object: the caller knows which of its names to use. cancel: NULL, or set when nobody wants them (APL_E_CANCELLED). */
apl_status object_fetch(struct object *object, uint64_t offset, uint8_t *to, size_t n,
                        const atomic_bool *cancel, apl_error *err);

#endif
