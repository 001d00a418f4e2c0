/* When a reader fails for good: see failure.h. */
#include "reader.h"

void failure(apl_reader *r, apl_status status, const apl_error *error)
{
    if (r->failure.status == APL_OK) {
        r->failure.status = status;
        r->failure.error = *error;
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

apl_status failure_tell(const struct failure *f, apl_error *err)
{
    if (f->status != APL_OK)
        *err = f->error;
    return f->status;
}
