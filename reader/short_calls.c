/* Calls of the public header that wait for nothing, and ask or tell one thing. */
#include "handles.h"
#include "inside.h"

#include <unistd.h>

/* In a child too: then without the lock, which a thread that is not here may hold for ever. */
static uint64_t epoch_of(apl_reader *r, const struct outlet *o)
{
    bool own = r->pid == (int)getpid();
    if (own)
        pthread_mutex_lock(&r->lock);
    uint64_t epoch = o ? o->tally.epoch : outlets_epoch(r);
    if (own)
        pthread_mutex_unlock(&r->lock);
    return epoch;
}

uint64_t apl_reader_epoch(apl_reader *r)
{
    struct handle *handle = handles_hold(r);
    if (!handle)
        return 0;
    uint64_t epoch = epoch_of(r, NULL);
    handles_drop(handle);
    return epoch;
}

uint64_t apl_reader_epoch_of(apl_reader *r, unsigned rank)
{
    struct outlet *o;
    struct handle *handle = handles_hold(r);
    if (!handle)
        return 0;
    uint64_t epoch = outlet_find(r, rank, &o, NULL) == APL_OK ? epoch_of(r, o) : 0;
    handles_drop(handle);
    return epoch;
}

uint64_t apl_reader_batches(apl_reader *r)
{
    struct handle *handle = handles_hold(r);
    if (!handle)
        return 0;
    uint64_t whole = options_global_batch(&r->options), length = r->outlets[0].tally.length;
    uint64_t batches = r->options.drop_last ? length / whole : (length + whole - 1) / whole;
    handles_drop(handle);
    return batches;
}

size_t apl_reader_batch_size(apl_reader *r)
{
    struct handle *handle = handles_hold(r);
    if (!handle)
        return 0;
    size_t rows = r->options.batch_size;
    handles_drop(handle);
    return rows;
}

void apl_reader_cancel(apl_reader *r)
{
    if (reader_enter(r, NULL) != APL_OK)
        return;
    pthread_mutex_lock(&r->lock);
    calls_cancel(r);
    pthread_mutex_unlock(&r->lock);
    reader_leave(r);
}
