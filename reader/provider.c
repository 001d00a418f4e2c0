/* Telling a server of a batch: see provider.h. */
#include "reader.h"

#include <unistd.h>

/* Has it been asked for a batch that is being made? */
static bool is_on_its_way(const struct outlet *o)
{
    const struct batch_queue *q = &o->queue;
    return o->asked && !queue_is_empty(q) && queue_at(q, 0)->stage != JOB_DONE &&
           queue_at(q, 0)->epoch == o->tally.epoch;
}

/* Ranks take each step together: the server is woken once for all batches of one, not for each. */
void reader_notify(apl_reader *r)
{
    static const uint64_t one = 1;
    if (r->notify < 0 || !r->asked)
        return;
    for (unsigned i = 0; i < r->outlet_count; i++)
        if (is_on_its_way(&r->outlets[i]))
            return;
    for (unsigned i = 0; i < r->outlet_count; i++)
        r->outlets[i].asked = false;
    r->asked = false;
    (void)!write(r->notify, &one, sizeof one); /* EAGAIN: a notification is pending already */
}
