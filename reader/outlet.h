/* What one of the ranks that a reader serves takes its batches from. All ranks have the plan, the blocks and the threads in common;
 * queue, memory of batches, position and receipt are their own, and so are the limits of what is left out: as if each had a reader
 * of its own. With the reader's lock held. */
#ifndef OUTLET_H
#define OUTLET_H

#include "bad_blocks.h"
#include "batch_queue.h"
#include "epoch_tally.h"
#include "pool.h"
#include "undecodable.h"

/* How long a rank may keep the others waiting where there is no other limit: longer than training pauses between two batches. */
#define RANK_PATIENCE_MS 300000u

struct outlet {
    unsigned rank;
    unsigned calls;       /* threads inside apl_reader_next() for it */
    bool asked;           /* by a server, in vain, which has not been notified since */
    bool starved;         /* when a batch was to be planned last, there was no memory for its */
    struct job *planning; /* its batch that is being planned; NULL: none */
    uint64_t waited;      /* by its callers, in nanoseconds */
    uint64_t waits_since; /* when one of them began to wait for the next batch; 0: none has */
    uint64_t took_at;     /* when one of them got a batch last; until then, when the reader was opened */
    struct bad_blocks bad;
    struct undecodable undecodable;
    struct batch_queue queue;
    struct pool *pool;
    struct epoch_tally tally;
};

/* One for each rank of the options, without memory for batches. */
apl_status outlets_open(apl_reader *r, apl_error *err);
void outlets_free(apl_reader *r);

/* The outlet of a rank; of the only rank that is served. APL_E_INVALID: it is not served; there are several. */
apl_status outlet_find(apl_reader *r, unsigned rank, struct outlet **outlet, apl_error *err);
apl_status outlet_only(apl_reader *r, struct outlet **outlet, apl_error *err);

/* The batch of a rank that is being planned; NULL: the rank is served elsewhere, or has left the epoch. */
struct job *outlets_planning(const apl_reader *r, uint64_t rank);

/* Around a call of apl_reader_next() for it. `over`: it has not just timed out, and will not go on waiting in another. */
void outlet_begin_wait(apl_reader *r, struct outlet *o, uint64_t now);
void outlet_end_wait(apl_reader *r, struct outlet *o, uint64_t now, uint64_t since, bool over);

/* Does it take batches of the epoch that is planned? It does not once it has left that. */
bool outlet_takes_part(const apl_reader *r, const struct outlet *o);

/* The earliest epoch of which any rank has batches to take, or planned; of which any has batches to take. */
uint64_t outlets_behind(const apl_reader *r);
uint64_t outlets_epoch(const apl_reader *r);

/* Can a batch be planned, for each rank that takes part: is no queue full; is there memory? */
bool outlets_have_places(const apl_reader *r);
bool outlets_have_memory(apl_reader *r);

/* Does a caller wait for a rank that has nothing planned, and was starved? If so, it gets APL_E_LENT. */
bool outlets_any_waits_in_vain(const apl_reader *r);

/* Is the batch of an epoch that its rank has left? Drops those of a rank that are finished. */
static inline bool job_is_stale(const struct job *job)
{
    return job->epoch < job->outlet->tally.epoch;
}
void outlet_drop_stale(apl_reader *r, struct outlet *o);

/* Another rank, for which nothing can be planned, so that nothing can be for `o` either: APL_E_TIMEOUT, with a message that names it
 * and says why, and since when it has taken nothing. APL_OK: none. */
apl_status outlet_held_up(const apl_reader *r, const struct outlet *o, unsigned *rank, apl_error *err);

#endif
