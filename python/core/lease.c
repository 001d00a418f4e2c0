/* Counting who holds a batch, or a copy: see lease.h. */
#include "lease.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 }; /* what JAX and TensorFlow ask of memory that they use where it lies */

struct lease {
    atomic_uint holders;
    apl_batch *batch; /* NULL: it is a copy */
    void *copy;       /* behind the structure, aligned */
};

struct lease *lease_new(apl_batch *batch)
{
    struct lease *lease = malloc(sizeof *lease);
    if (!lease) {
        apl_batch_release(batch);
        return NULL;
    }
    atomic_init(&lease->holders, 1);
    lease->batch = batch;
    lease->copy = NULL;
    return lease;
}

struct lease *lease_copy(const void *data, size_t bytes)
{
    const size_t more = sizeof(struct lease) + ALIGNMENT - 1;
    /* Aligned here: malloc() keeps small pieces at hand, which aligned_alloc() does not. */
    struct lease *lease = bytes > SIZE_MAX - more ? NULL : malloc(more + bytes);
    if (!lease)
        return NULL;
    atomic_init(&lease->holders, 1);
    lease->batch = NULL;
    char *behind = (char *)(lease + 1);
    lease->copy = behind + (ALIGNMENT - (uintptr_t)behind % ALIGNMENT) % ALIGNMENT;
    if (bytes > 0)
        memcpy(lease_memory(lease), data, bytes);
    return lease;
}

struct lease *lease_share(struct lease *lease)
{
    atomic_fetch_add_explicit(&lease->holders, 1, memory_order_relaxed);
    return lease;
}

void lease_end(struct lease *lease)
{
    if (!lease || atomic_fetch_sub_explicit(&lease->holders, 1, memory_order_acq_rel) != 1)
        return;
    apl_batch_release(lease->batch); /* in a child, that of a parent's reader does nothing */
    free(lease);
}

apl_batch *lease_batch(const struct lease *lease)
{
    return lease->batch;
}

void *lease_memory(struct lease *lease)
{
    return lease->copy;
}
