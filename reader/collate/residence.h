/*
 * Are the pages of files in memory anyway? Then asking the kernel for them ahead of their turn costs, and saves nothing. To find out, now and
 * then a read is a probe, which nobody asks for. After some probes in a row that came at once a thread asks for nothing more, until
 * reads take their time: not a single one, as the thread may have lost its processor meanwhile.
 */
#ifndef RESIDENCE_H
#define RESIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#define RESIDENCE_PROBES 4u
#define RESIDENCE_SLOW   16u /* one in so many, or more, is too slow */

/* What a thread has seen. */
struct residence {
    unsigned probes; /* in a row, that came at once */
    unsigned slow;
};

static inline bool residence_is_sure(const struct residence *r)
{
    return r->probes >= RESIDENCE_PROBES;
}

/* As memory is read: at 2 GB/s at least. */
static inline bool residence_at_once(uint64_t ns, uint64_t bytes)
{
    return ns < 50000 + bytes / 2;
}

static inline void residence_note(struct residence *r, bool probe, bool at_once)
{
    bool sure = residence_is_sure(r);
    if (!sure && probe)
        r->probes = at_once ? r->probes + 1 : 0;
    r->slow = !sure ? 0 : !at_once ? r->slow + RESIDENCE_SLOW : r->slow - (r->slow > 0);
    if (r->slow >= 4 * RESIDENCE_SLOW)
        *r = (struct residence){0, 0};
}

#endif
