/* Counting who holds a batch, or a copy: see lease.h. */
#include "lease.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 64 }; /* what JAX and TensorFlow ask of memory that they use where it lies */

struct lease {
    atomic_uint holders;
    int pid;
    apl_batch *batch; /* NULL: a copy, which follows the structure, aligned */
};

_Static_assert(sizeof(struct lease) <= ALIGNMENT, "a copy begins at the next aligned place");

struct lease *lease_new(apl_batch *batch)
{
    struct lease *lease = malloc(sizeof *lease);
    if (!lease) {
        apl_batch_release(batch);
        return NULL;
    }
    atomic_init(&lease->holders, 1);
    lease->pid = (int)getpid();
    lease->batch = batch;
    return lease;
}

struct lease *lease_copy(const void *data, size_t bytes)
{
    size_t padded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct lease *lease =
        padded < bytes || padded > SIZE_MAX - ALIGNMENT ? NULL : aligned_alloc(ALIGNMENT, ALIGNMENT + padded);
    if (!lease)
        return NULL;
    atomic_init(&lease->holders, 1);
    lease->pid = 0;
    lease->batch = NULL;
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
    /* In a child, threads of the parent may have held locks of the pool at the fork: the copy is left to the end of the
     * process. */
    if (lease->batch && lease->pid == (int)getpid())
        apl_batch_release(lease->batch);
    free(lease);
}

apl_batch *lease_batch(const struct lease *lease)
{
    return lease->batch;
}

void *lease_memory(struct lease *lease)
{
    return (char *)lease + ALIGNMENT;
}
