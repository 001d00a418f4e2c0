/* Batches on their way, from when they are planned until they are handed out: a ring, in the order of planning. With the reader's
 * lock held. */
#ifndef BATCH_QUEUE_H
#define BATCH_QUEUE_H

#include "job.h"

struct outlet;

struct batch_queue {
    struct job **jobs; /* a ring of `depth`, by number */
    unsigned depth;
    uint64_t head, tail; /* numbers of the next batch to hand out, and to plan */
    bool any;            /* free order: any finished batch of the epoch may be handed out next */
};

apl_status queue_open(struct batch_queue *q, unsigned depth, size_t batch_size, bool any, apl_error *err);
void queue_free(struct batch_queue *q);

static inline bool queue_is_empty(const struct batch_queue *q)
{
    return q->head == q->tail;
}

static inline bool queue_is_full(const struct batch_queue *q)
{
    return q->tail - q->head >= q->depth;
}

/* How many there are, and number `i` of them, from 0. */
static inline uint64_t queue_length(const struct batch_queue *q)
{
    return q->tail - q->head;
}

static inline struct job *queue_at(const struct batch_queue *q, uint64_t i)
{
    return q->jobs[(q->head + i) % q->depth];
}

/* How many of them may be handed out next, once they are finished. */
static inline uint64_t queue_front(const struct batch_queue *q)
{
    return q->any || queue_is_empty(q) ? queue_length(q) : 1;
}

/* The free job to be planned next, where the queue is not full; once it is, queue_push() appends it. */
static inline struct job *queue_next_free(const struct batch_queue *q)
{
    return q->jobs[q->tail % q->depth];
}
void queue_push(struct batch_queue *q);

/* A thread begins to collate a planned batch; it is finished, with an error or without. Callers wait for that at `done`: who finishes
 * it wakes them. */
void queue_begin(struct job *job);
void queue_put_off(struct job *job); /* it cannot be collated yet, after all */
void queue_finish(apl_reader *r, struct job *job);

/* The finished batch of this epoch that may be handed out, brought to the front; NULL: none. */
struct job *queue_finished(struct batch_queue *q, uint64_t epoch);

/* Hands out the first, and with it its buffer. */
struct batch_buffer *queue_pop(struct batch_queue *q);

/* Drops all that is planned; only while no thread is at work. */
void queue_clear(struct batch_queue *q);

/* Is one of those being collated that are to be handed out next? */
bool queue_is_collating(const struct batch_queue *q);

/* How many are finished. */
unsigned queue_count_finished(const struct batch_queue *q);

#endif
