/* Threads: the one place where they are started. All of them block all signals, so that those reach the
 * caller's threads. */
#ifndef PARALLEL_H
#define PARALLEL_H

#include "status.h"

#include <pthread.h>
#include <stdbool.h>

/* Cores that this process may use, by its affinity mask and its control group's quota; at least 1. */
unsigned cores(void);

/* How many threads work, the caller's among them, where an option `threads` asks for that: 0: one per core; APL_NO_THREADS: the
 * caller's alone. At least 1, and at most MAX_THREADS. */
#define MAX_THREADS 256u
unsigned threads_for(unsigned asked);

/* Starts a thread that blocks all signals. */
apl_status thread_start(pthread_t *thread, void *(*run)(void *), void *argument, apl_error *err);

/*
 * Runs work(context, worker, task) for every task below `tasks` on up to `threads` threads, of which the
 * caller is worker 0. Tasks are handed out in order. Of several failures that of the lowest task is returned,
 * whatever the threads; no task above one that has failed begins. Where threads cannot be started, fewer do the
 * work.
 */
typedef apl_status (*parallel_work)(void *context, unsigned worker, size_t task, apl_error *err);
apl_status parallel_for(unsigned threads, size_t tasks, parallel_work work, void *context, apl_error *err);

/*
 * A pipeline of numbered items: one producer fills slots, `workers` threads work on them in any order, one
 * more thread drains them in the order of their numbers. With no workers there are no threads: the producer, as
 * worker 0, works on an item and drains it where it submits it. Bounded by its `depth` slots, whose memory the
 * caller owns.
 */
struct pipeline;

struct pipeline_stages {
    void *context;
    apl_status (*work)(void *context, unsigned worker, unsigned slot, apl_error *err);
    apl_status (*drain)(void *context, unsigned slot, apl_error *err);
};

apl_status pipeline_start(unsigned workers, unsigned depth, const struct pipeline_stages *stages,
                          struct pipeline **pipeline, apl_error *err);

/* Waits for a free slot to fill. After a failure in a stage, that failure. */
apl_status pipeline_slot(struct pipeline *pipeline, unsigned *slot, apl_error *err);

/* Hands over the slot that pipeline_slot() gave. */
void pipeline_submit(struct pipeline *pipeline);

/* Waits until all that was submitted has been drained, or a stage has failed. */
apl_status pipeline_flush(struct pipeline *pipeline, apl_error *err);

/* Stops the threads and frees the pipeline; what has not been drained is dropped. NULL is fine. */
void pipeline_stop(struct pipeline *pipeline);

#endif
