/* What a thread does next: see schedule.h. */
#include "schedule.h"

#include "block_cache.h"
#include "collate.h"
#include "inside.h"
#include "load.h"
#include "mix.h"
#include "planner.h"
#include "stats.h"

/* --------------------------------------------------------------------------------------------- loading */

/* Decoded, of fields of fixed shape. */
static uint64_t block_bytes(const apl_reader *r, uint32_t index)
{
    uint64_t bytes = 0;
    for (unsigned f = 0; f < r->schema->count; f++)
        bytes += r->slab.value_bytes[f];
    return bytes * r->subset.block[index].records;
}

static void count_load(apl_reader *r, uint32_t index)
{
    r->counters.blocks++;
    r->counters.bytes_decoded += block_bytes(r, index);
    if (!r->ids_only)
        r->counters.bytes_read += mix_source_of(r, index)->store->blocks[r->subset.block[index].number].size;
}

static bool step_load(struct worker *w)
{
    apl_reader *r = w->reader;
    struct load_item item;
    if (!w->loads || !residents_take(r, &item))
        return false;
    r->active++;
    pthread_mutex_unlock(&r->lock);
    apl_error error;
    uint64_t begin = now_ns();
    bool found;
    apl_status status = load_block(w, item.index, &r->residents[item.parity][item.index], &found, &error);
    uint64_t end = now_ns();
    pthread_mutex_lock(&r->lock);
    r->active--;
    r->counters.load_ns += end - begin;
    if (!found)
        count_load(r, item.index);
    residents_loaded(r, item, status, &error);
    return true;
}

/* ---------------------------------------------------------------------------------------------- making */

/* The error that a batch with a bad block ends in, unless such rows are to be left out. */
static bool tolerated(apl_reader *r, struct job *job, uint32_t index)
{
    const struct resident *b = &r->residents[job->epoch & 1][index];
    if (!r->known_bad[index])
        r->skipped_records += r->subset.block[index].count;
    r->known_bad[index] = 1;
    if (r->options.skip_corrupt && r->skipped_records <= r->options.skip_corrupt)
        return true;
    job->status = APL_E_CORRUPT;
    if (b->error)
        job->error = *b->error;
    else
        fail_nomem(&job->error);
    return false;
}

/* Have all batches before this one all that they need, or an error? Bad blocks count in the order of batches, so that in
 * strict order the limit is exceeded at the same place whoever loads. */
static bool is_first_unchecked(const apl_reader *r, const struct job *job)
{
    for (uint64_t i = r->head; r->jobs[i % r->depth] != job; i++) {
        const struct job *before = r->jobs[i % r->depth];
        if (before->stage == JOB_PLANNED && before->checked < before->rows)
            return false;
    }
    return true;
}

/* Are all blocks of a batch there? Also if it cannot be made for one that never will. */
static bool is_ready(apl_reader *r, struct job *job)
{
    const struct resident *residents = r->residents[job->epoch & 1];
    if (r->options.kept && r->blocks_in == r->subset.blocks)
        return true;
    for (; job->checked < job->rows; job->checked++) {
        uint32_t member, copy, index = delivery_block(r, job->deliveries[job->checked], &member, &copy);
        const struct resident *b = &residents[index];
        if (b->stage != BLOCK_IN && b->stage != BLOCK_BAD)
            return false;
        if (b->stage == BLOCK_BAD && !r->known_bad[index] && !is_first_unchecked(r, job))
            return false;
        if (b->stage == BLOCK_BAD && !tolerated(r, job, index))
            return true;
    }
    return true;
}

/* The block that the batch to come waits for: that of its first row that is not here, or any that is being loaded. */
bool schedule_waits_for(apl_reader *r, uint32_t *index)
{
    struct job *job = r->head < r->tail ? r->jobs[r->head % r->depth] : NULL;
    if (job && job->stage == JOB_PLANNED && !is_ready(r, job)) {
        uint32_t member, copy;
        *index = delivery_block(r, job->deliveries[job->checked], &member, &copy);
        return true;
    }
    for (unsigned parity = 0; parity < (r->options.kept ? 1u : 2u); parity++)
        for (*index = 0; *index < r->subset.blocks; ++*index)
            if (r->residents[parity][*index].stage == BLOCK_LOADING)
                return true;
    return false;
}

static struct job *ready_job(apl_reader *r)
{
    for (uint64_t i = r->head; i < r->tail; i++) {
        struct job *job = r->jobs[i % r->depth];
        if (job->stage == JOB_PLANNED && is_ready(r, job))
            return job;
    }
    return NULL;
}

/* Gives back what a batch has taken from slots that are not kept. */
static void release_rows(struct worker *w, const struct job *job)
{
    apl_reader *r = w->reader;
    const struct resident *residents = r->residents[job->epoch & 1];
    for (uint32_t k = 0; k < job->rows; k++) {
        uint32_t member, copy, index = delivery_block(r, job->deliveries[k], &member, &copy);
        w->slots[k] = resident_slot(r, &residents[index], index, member);
    }
    slab_release(&r->slab, w->slots, job->rows);
}

static apl_status make_job(struct worker *w, struct job *job)
{
    const struct reader_options *o = &w->reader->options;
    TRY(make_batch(w, job, &job->error));
    if (!o->kept)
        release_rows(w, job);
    if (o->on_batch) {
        const apl_reader *before = inside_callback_begin(w->reader);
        o->on_batch(o->on_batch_user, &job->buffer->batch);
        inside_callback_end(before);
    }
    return APL_OK;
}

static bool step_make(struct worker *w)
{
    apl_reader *r = w->reader;
    struct job *job = w->makes ? ready_job(r) : NULL;
    if (!job)
        return false;
    if (job->status == APL_OK) {
        job->stage = JOB_MAKING;
        r->active++;
        pthread_mutex_unlock(&r->lock);
        uint64_t begin = now_ns();
        apl_status status = make_job(w, job);
        uint64_t end = now_ns();
        pthread_mutex_lock(&r->lock);
        r->active--;
        job->status = status;
        r->counters.make_ns += end - begin;
        for (uint32_t k = 0; !r->options.kept && k < job->rows; k++) {
            uint32_t member, copy, index = delivery_block(r, job->deliveries[k], &member, &copy);
            residents_less(r, &r->residents[job->epoch & 1][index]);
        }
    }
    job->stage = JOB_DONE;
    pthread_cond_broadcast(&r->done);
    if (!r->options.kept)
        pthread_cond_broadcast(&r->work); /* there is room again */
    return true;
}

bool schedule_step(struct worker *w)
{
    if (w->reader->paused)
        return false;
    return step_make(w) || planning_step(w) || step_load(w);
}

/* ------------------------------------------------------------------------------ ------------ clearing */

void schedule_clear(apl_reader *r)
{
    for (; r->head < r->tail; r->head++) {
        struct job *job = r->jobs[r->head % r->depth];
        if (job->buffer)
            pool_give(job->buffer);
        job->buffer = NULL;
        job->stage = JOB_FREE;
    }
    residents_clear(r);
}
