/* Opening and closing a reader, and who is inside it. */
#ifndef LIFECYCLE_H
#define LIFECYCLE_H

#include "reader.h"

/* Holds the reader while a call is inside it: closing it meanwhile wakes the call, and its memory outlives it. With APL_OK, to be
 * followed by reader_leave(). APL_E_CANCELLED: it has been closed, and is not looked at. APL_E_FORKED: it is the parent's. */
apl_status reader_enter(apl_reader *r, apl_error *err);
void reader_leave(apl_reader *r);

#endif
