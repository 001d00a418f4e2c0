/* Batches as Python objects. */
#ifndef PY_BATCH_H
#define PY_BATCH_H

#include "core.h"

/* A Batch that takes `batch` over, also where it fails; `store`: what it was read from; `parts`: a tuple of (name, number of a field,
 * apl_part) for each part that it has, or NULL. */
PyObject *batch_object(struct core_state *state, apl_batch *batch, PyObject *store, PyObject *parts);

/* The library's batch in a Batch, which lives as long as the lease that is returned and must be ended; NULL: an error is
 * set. */
struct lease *batch_lease(struct core_state *state, PyObject *object);

#endif
