/* The calls that are inside a reader, and what ends them. With the reader's lock held. */
#ifndef CALLS_H
#define CALLS_H

#include "status.h"

#include <stdbool.h>

struct outlet;

struct calls {
    unsigned next, next_epoch; /* threads inside apl_reader_next(), and inside apl_reader_next_epoch() */
    bool closing, cancelled;
    bool wanted;  /* a batch has been asked for: see workers_set_patience() */
    bool working; /* one of them is at an action, where the reader has no threads */
};

/* A batch is asked for: threads that wait for that begin. With the lock held. */
void calls_want(apl_reader *r);

/* Around apl_reader_next() for a rank: takes the lock, and gives it back. */
void calls_enter_next(apl_reader *r, struct outlet *o);
void calls_leave_next(apl_reader *r, struct outlet *o);

/* Around apl_reader_next_epoch(), likewise. */
void calls_enter_epoch(apl_reader *r);
void calls_leave_epoch(apl_reader *r);

/* Makes all calls of apl_reader_next() fail from now on; likewise all calls, and wakes everybody. */
void calls_cancel(apl_reader *r);
void calls_close(apl_reader *r);

/* Where the reader has no threads: lets a caller do one action of what is to be done, one caller at a time, since there is one
 * worker's worth of memory. False: another is at it. */
bool calls_begin_work(apl_reader *r);
void calls_end_work(apl_reader *r);

/* Has the reader been closed or, if that counts, cancelled? Then APL_E_CANCELLED. */
apl_status calls_check(const struct calls *c, bool cancel, apl_error *err);

#endif
