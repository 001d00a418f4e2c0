/* A batch, or a copy of a part of one, that several Python objects, and tensors of other frameworks, hold together. It is
 * released with the last of them, from whatever thread, with or without the GIL. */
#ifndef LEASE_H
#define LEASE_H

#include "apl.h"

struct lease;

/* Takes the batch over, also where it fails (NULL: no memory). */
struct lease *lease_new(apl_batch *batch);
/* A copy of `bytes` bytes, aligned as frameworks want it, which outlives the batch that it was made of (NULL: no memory). */
struct lease *lease_copy(const void *data, size_t bytes);

struct lease *lease_share(struct lease *lease);
void lease_end(struct lease *lease);

apl_batch *lease_batch(const struct lease *lease); /* NULL: it is a copy */
void *lease_memory(struct lease *lease);           /* of a copy */

#endif
