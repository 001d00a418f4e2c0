/* What a seed's run does, drawn from the seed: a pure function of it. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "apl.h"
#include "sim.h"

#define MOST_WORLD   3
#define MOST_CALLERS 3
#define STORES       6
#define MOST_RECORDS 96 /* of a store */

/* How a part of an epoch ends for its readers. */
enum ending {
    TO_THE_END, /* of the epoch */
    LEAVE,      /* next_epoch in the middle */
    RESUME,     /* others go on from the state */
    CANCEL,     /* while callers are inside */
    CLOSE,      /* likewise */
    ENDINGS
};

/* A store: records of one split, after those of another. */
struct shape {
    uint64_t records, first;
    uint32_t block;
    bool named, kept; /* has names; which are files, read late */
};
extern const struct shape shapes[STORES];

struct scenario {
    uint64_t seed;
    unsigned store, epochs;
    apl_reader_options order; /* what shapes the order, and no more; points at what follows */
    apl_sampling sampling;
    double weights[MOST_RECORDS];
    uint64_t ids[MOST_RECORDS];
    apl_source source; /* its store is opened by run.c: number `other` */
    unsigned other;
    uint64_t bad; /* a bit for each block of the split that is damaged */
    struct sim_faults faults;
    uint32_t slow_load, slow_batch,
        slow_memory;  /* of 100: loads, callbacks and allocations that take their time */
    bool read;        /* the file, instead of mapping it */
    bool close_first; /* the store, before its readers */
    bool callbacks;
    char text[400];
};

struct part {
    apl_reader_options options;
    unsigned world, callers,
        budget; /* budget: 0 default, 1 the least, 2 a bit more, 3 for the next epoch too */
    enum ending ending;
    long long batches;     /* for each rank, until the ending */
    bool observed, hoards; /* hoards: callers keep what they can */
    bool grouped;          /* one reader serves all ranks */
    char text[800];
};

/* A source of choices of its own: what is drawn from it does not depend on who goes on when. */
struct draws {
    uint64_t state;
};
uint32_t draw(struct draws *d, uint32_t below);

void scenario_draw(struct scenario *s, struct draws *d, uint64_t seed);

/* Takes back what does not go together with the rest. */
void scenario_simplify(struct scenario *s);
void scenario_part(const struct scenario *s, struct draws *d, struct part *part);

#endif
