/* When a reader fails for good: see failure.h. */
#include "failure.h"

void failure(apl_reader *r, apl_status status, const apl_error *error)
{
    if (r->status == APL_OK) {
        r->status = status;
        r->error = *error;
    }
    pthread_cond_broadcast(&r->done);
    pthread_cond_broadcast(&r->work);
}

void failure_nomem(apl_reader *r)
{
    apl_error nomem;
    apl_status status = fail_nomem(&nomem);
    failure(r, status, &nomem);
}
