/* Counting who holds a batch: see lease.h. */
#include "lease.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct lease {
    atomic_uint holders;
    int pid;
    apl_batch *batch;
};

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
    if (lease->pid == (int)getpid())
        apl_batch_release(lease->batch);
    free(lease);
}

apl_batch *lease_batch(const struct lease *lease)
{
    return lease->batch;
}
