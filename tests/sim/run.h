/* A seed's run, while it goes on, and what must hold of it (check.c). */
#ifndef RUN_H
#define RUN_H

#include "scenario.h"

#include "reader.h"

#define MOST_DELIVERIES 576 /* of an epoch */

#define HOLDS(what)                                                         \
    do {                                                                    \
        if (!(what))                                                        \
            sim_fail("%s:%d: %s does not hold", __FILE__, __LINE__, #what); \
    } while (0)

struct rank {
    apl_reader *reader;
    unsigned number;
    bool grouped;           /* the reader serves other ranks too */
    long long left;         /* batches that its callers may still take */
    uint64_t rows, skipped; /* of this epoch, by this reader */
    uint64_t after;         /* position behind the last batch, where there is one caller */
    bool ended;
    apl_status error;   /* that ended it */
    apl_batch *mailbox; /* held for others to release */
    unsigned lent;
    uint64_t cancelled_at;
};

struct run {
    struct scenario scenario;
    struct part part;
    struct draws draws;
    apl_store *store, *other; /* other: to be mixed with it */
    struct rank ranks[MOST_WORLD];
    uint64_t epoch, length;           /* deliveries of an epoch */
    uint64_t first;                   /* the position at which its readers began */
    uint64_t total;                   /* of this epoch: delivered or skipped, by whatever reader */
    uint64_t ids[MOST_DELIVERIES];    /* of each delivery, in the order of ids; */
    uint32_t copies[MOST_DELIVERIES]; /* and its copy */
    uint8_t seen[MOST_DELIVERIES];
    uint32_t order[MOST_DELIVERIES]; /* strict: which delivery comes at each position */
    bool cancelled, broken;          /* broken: the epoch will not be whole */
    bool fresh;                      /* its readers have read no other part */
};

/* What this epoch should bring, from the plan alone; false if the options do not go together. */
bool check_expect(struct run *t);

/* A batch that was handed out now; and, when it is released, that it has not been written to meanwhile. */
void check_batch(struct run *t, struct rank *rank, const apl_batch *batch);
void check_values(const struct run *t, const apl_batch *batch);

/* What its reader tells of a rank. */
size_t rank_state(const struct rank *rank, uint8_t *state, size_t room);
apl_receipt rank_receipt(const struct rank *rank);

/* An answer other than APL_OK, which came after so much time. */
void check_answer(struct run *t, struct rank *rank, apl_status status, uint64_t took);

/* After the callers have left. */
void check_receipts(struct run *t);
void check_epoch(struct run *t);

/* Stores to read, in a folder of their own. */
void stores_write(void);
void stores_remove(void);
apl_store *store_open(const struct scenario *s, unsigned number);

/* What has happened in all seeds so far. */
struct tally_of_runs {
    uint64_t batches, timeouts, lent, cancelled, corrupt, failed, resumed, closed, steps, simplified;
};
extern struct tally_of_runs run_tally;

/* For sim_run(). */
void run_seed(void *seed);

#endif
