/* Batches on their way: see batch_queue.h. */
#include "reader.h"

#include <stdlib.h>

apl_status queue_open(struct batch_queue *q, unsigned depth, size_t batch_size, bool any, apl_error *err)
{
    q->any = any;
    q->depth = depth;
    q->jobs = calloc(depth, sizeof *q->jobs);
    if (!q->jobs)
        return fail_nomem(err);
    for (unsigned i = 0; i < depth; i++) {
        q->jobs[i] = calloc(1, sizeof **q->jobs);
        if (!q->jobs[i] || !(q->jobs[i]->deliveries = calloc(batch_size, sizeof(uint32_t))))
            return fail_nomem(err);
    }
    return APL_OK;
}

void queue_free(struct batch_queue *q)
{
    for (unsigned i = 0; q->jobs && i < q->depth; i++) {
        if (q->jobs[i] && q->jobs[i]->buffer)
            pool_give(q->jobs[i]->buffer);
        if (q->jobs[i])
            free(q->jobs[i]->deliveries);
        free(q->jobs[i]);
    }
    free(q->jobs);
}

void queue_push(struct batch_queue *q)
{
    q->jobs[q->tail++ % q->depth]->stage = JOB_PLANNED;
}

void queue_begin(struct job *job)
{
    job->stage = JOB_COLLATING;
}

void queue_put_off(struct job *job)
{
    job->stage = JOB_PLANNED;
}

void queue_finish(apl_reader *r, struct job *job)
{
    job->stage = JOB_DONE;
    reader_notify(r);
}

struct job *queue_finished(struct batch_queue *q, uint64_t epoch)
{
    for (uint64_t i = 0; i < queue_front(q); i++) {
        struct job *job = queue_at(q, i);
        if (job->epoch != epoch || job->stage != JOB_DONE)
            continue;
        q->jobs[(q->head + i) % q->depth] = q->jobs[q->head % q->depth];
        q->jobs[q->head % q->depth] = job;
        return job;
    }
    return NULL;
}

struct batch_buffer *queue_pop(struct batch_queue *q)
{
    struct job *job = q->jobs[q->head++ % q->depth];
    struct batch_buffer *buffer = job->buffer;
    job->buffer = NULL;
    job->stage = JOB_FREE;
    return buffer;
}

void queue_clear(struct batch_queue *q)
{
    while (!queue_is_empty(q)) {
        struct batch_buffer *buffer = queue_pop(q);
        if (buffer)
            pool_give(buffer);
    }
}

bool queue_is_collating(const struct batch_queue *q)
{
    for (uint64_t i = 0; i < queue_front(q); i++)
        if (queue_at(q, i)->stage == JOB_COLLATING)
            return true;
    return false;
}

unsigned queue_count_finished(const struct batch_queue *q)
{
    unsigned n = 0;
    for (uint64_t i = 0; i < queue_length(q); i++)
        n += queue_at(q, i)->stage == JOB_DONE;
    return n;
}
