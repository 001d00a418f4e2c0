/* How many threads are at work for a reader, and whether any may begin. With the reader's lock held. */
#ifndef ACTIVITY_H
#define ACTIVITY_H

#include "apl.h"

#include <stdbool.h>

struct activity {
    unsigned active; /* threads that are at an action, most of them without the lock */
    bool paused;     /* nobody begins another */
};

/* Around an action. */
void activity_enter(apl_reader *r);
void activity_leave(apl_reader *r);

/* From now on, or no longer, does nobody begin one. */
void activity_pause(apl_reader *r);
void activity_resume(apl_reader *r);

static inline bool activity_is_paused(const struct activity *a)
{
    return a->paused;
}

static inline bool activity_is_quiet(const struct activity *a)
{
    return a->active == 0;
}

#endif
