/* Memory for batches that Python code makes known to a device: page-locked by CUDA, for instance. */
#ifndef PIN_H
#define PIN_H

#include "core.h"

/* Lives as long as the Python object that made it, and memory that came from it. */
struct pin;

/* pin(address, bytes) and unpin(address, bytes) are called with the GIL held, from any thread. NULL: an error is set. */
struct pin *pin_new(PyObject *pin, PyObject *unpin);
void pin_free(struct pin *pin);

/* The allocator that uses it. */
apl_allocator pin_allocator(struct pin *pin);

#endif
