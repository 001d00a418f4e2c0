/* When a reader fails for good; with its lock held. */
#ifndef FAILURE_H
#define FAILURE_H

#include "status.h"

#include <stdbool.h>

/* The first failure for good, if its status is not APL_OK. */
struct failure {
    apl_status status;
    apl_error error;
};

/* Every call for batches answers this error from now on, once those before it have been handed out. Of several, the first holds. */
void failure(apl_reader *r, apl_status status, const apl_error *error);
void failure_nomem(apl_reader *r);

static inline bool failure_is(const struct failure *f)
{
    return f->status != APL_OK;
}

/* Its status, and its error if there is one. */
apl_status failure_tell(const struct failure *f, apl_error *err);

#endif
