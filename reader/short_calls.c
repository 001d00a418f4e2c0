/* Calls of the public header that do not wait. */
#include "forks.h"
#include "handles.h"
#include "inside.h"
#include "mix.h"
#include "transform.h"

/* In a child too: then without the lock, which a thread that is not here may hold for ever. */
static uint64_t epoch_of(apl_reader *r, const struct outlet *o)
{
    bool own = r->forks == forks_so_far();
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
    uint64_t whole = options_global_batch(&r->spec.options), length = r->outlets[0].tally.length;
    uint64_t batches = r->spec.options.drop_last ? length / whole : (length + whole - 1) / whole;
    handles_drop(handle);
    return batches;
}

size_t apl_reader_batch_size(apl_reader *r)
{
    struct handle *handle = handles_hold(r);
    if (!handle)
        return 0;
    size_t rows = r->spec.options.batch_size;
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

static apl_status not_served(apl_error *err)
{
    return fail(err, APL_E_UNSUPPORTED,
                "apl_reader_source: a server makes this reader's batches, and does not tell their stores");
}

apl_status apl_reader_source(apl_reader *r, uint64_t id, size_t *source, uint64_t *own, apl_error *err)
{
    if (!source || !own)
        return fail(err, APL_E_INVALID, "apl_reader_source: source or own_id is NULL");
    TRY(reader_enter(r, err));
    apl_status status = r->provider ? not_served(err) : mix_find(&r->spec, id, source, own, err);
    reader_leave(r);
    return status;
}

apl_status apl_reader_transform_complete(apl_reader *r, apl_transform *transform, apl_error *err)
{
    if (!transform)
        return fail(err, APL_E_INVALID, "apl_reader_transform_complete: transform is NULL");
    TRY(reader_enter(r, err));
    apl_status status = r->provider
                            ? fail(err, APL_E_UNSUPPORTED,
                                   "apl_reader_transform_complete: a server makes this reader's batches: ask "
                                   "apl_transform_complete()")
                            : transform_complete(&r->spec, transform, err);
    reader_leave(r);
    return status;
}
