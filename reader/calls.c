/* The calls that are inside a reader: see calls.h. */
#include "reader.h"

void calls_want(apl_reader *r)
{
    if (r->calls.wanted)
        return;
    r->calls.wanted = true;
    pthread_cond_broadcast(&r->work);
}

void calls_enter_next(apl_reader *r, struct outlet *o)
{
    pthread_mutex_lock(&r->lock);
    r->calls.next++;
    o->calls++;
    calls_want(r);
}

void calls_leave_next(apl_reader *r, struct outlet *o)
{
    r->calls.next--;
    o->calls--;
    if (r->calls.closing ||
        r->workers.running == 0) /* where there are no threads, another caller takes over */
        pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
}

void calls_enter_epoch(apl_reader *r)
{
    pthread_mutex_lock(&r->lock);
    r->calls.next_epoch++;
}

void calls_leave_epoch(apl_reader *r)
{
    r->calls.next_epoch--;
    if (r->calls.closing)
        pthread_cond_broadcast(&r->done);
    pthread_mutex_unlock(&r->lock);
}

void calls_cancel(apl_reader *r)
{
    r->calls.cancelled = true;
    pthread_cond_broadcast(&r->done);
    if (r->provider)
        r->provider->wake(r);
}

void calls_close(apl_reader *r)
{
    r->calls.closing = true;
    pthread_cond_broadcast(&r->work);
    pthread_cond_broadcast(&r->done);
    if (r->provider)
        r->provider->wake(r);
}

bool calls_begin_work(apl_reader *r)
{
    if (r->calls.working)
        return false;
    r->calls.working = true;
    return true;
}

void calls_end_work(apl_reader *r)
{
    r->calls.working = false;
}

apl_status calls_check(const struct calls *c, bool cancel, apl_error *err)
{
    if (!c->closing && !(cancel && c->cancelled))
        return APL_OK;
    return fail(err, APL_E_CANCELLED, c->closing ? "the reader has been closed" : "cancelled");
}
