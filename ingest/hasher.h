/* SHA-256 on a thread of its own, so that reading and inflating are not held up: hashing takes a sixth as
 * long as inflating does. Or XXH3, which is so fast that it needs none. */
#ifndef HASHER_H
#define HASHER_H

#include "status.h"

struct hasher;

/* NULL: out of memory. Where a thread cannot be started, the caller hashes. */
struct hasher *hasher_new(void);
/* The same of XXH3-128, with zeros behind it: enough to tell whether bytes are the same. */
struct hasher *hasher_new_quick(void);
void hasher_free(struct hasher *hasher);

/* Takes bytes, which are copied. One thread at a time. NULL: nothing is hashed. */
void hasher_add(struct hasher *hasher, const void *data, size_t size);

/* Waits until all bytes taken have been hashed, returns their digest, and starts over. NULL: the digest stays as it is. */
void hasher_end(struct hasher *hasher, uint8_t digest[32]);

#endif
