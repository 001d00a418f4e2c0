/* Being inside a reader: a call of its user, or a callback of its own. */
#ifndef INSIDE_H
#define INSIDE_H

#include "reader.h"

/* Holds the reader while a call is inside it: closing it meanwhile wakes the call, and its memory outlives it. With APL_OK, to be
 * followed by reader_leave(). APL_E_CANCELLED: it has been closed, and is not looked at. APL_E_FORKED: it is the parent's. */
apl_status reader_enter(apl_reader *r, apl_error *err);
void reader_leave(apl_reader *r);

/* Around a call of one of the user's functions by the reader. Returns what inside_callback_end() is to be given: the reader that
 * this thread is in a callback of already, such as one that asks this reader. */
const apl_reader *inside_callback_begin(const apl_reader *r);
void inside_callback_end(const apl_reader *before);

/* Is this thread inside the reader's own callback? */
bool inside_callback(const apl_reader *r);

#endif
