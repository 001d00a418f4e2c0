/* Batches as Python objects. */
#ifndef PY_BATCH_H
#define PY_BATCH_H

#include "core.h"

/* A Batch that takes `batch` over, also where it fails. `names`: a tuple with the name of every field of the schema. */
PyObject *batch_object(struct core_state *state, apl_batch *batch, PyObject *names);

#endif
