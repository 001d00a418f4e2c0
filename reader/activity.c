/* How many threads are at work: see activity.h. */
#include "reader.h"

void activity_enter(apl_reader *r)
{
    r->activity.active++;
}

void activity_leave(apl_reader *r)
{
    r->activity.active--;
}

void activity_pause(apl_reader *r)
{
    r->activity.paused = true;
}

void activity_resume(apl_reader *r)
{
    r->activity.paused = false;
}
