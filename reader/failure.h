/* When a reader fails for good; with its lock held. */
#ifndef FAILURE_H
#define FAILURE_H

#include "reader.h"

/* Every call for batches answers this error from now on, once those before it have been handed out. Of several, the first holds. */
void failure(apl_reader *r, apl_status status, const apl_error *error);
void failure_nomem(apl_reader *r);

#endif
