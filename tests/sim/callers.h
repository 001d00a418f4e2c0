/* Those who read: what they do with batches, and what the reader calls back. */
#ifndef CALLERS_H
#define CALLERS_H

#include "run.h"

#include <pthread.h>

#define HELD 4

/* Of one reader. */
struct callback {
    struct run *run;
    apl_reader *reader; /* NULL while it is being opened or closed */
};

struct caller {
    struct run *run;
    struct rank *rank;
    apl_batch *held[HELD];
    uint64_t locked; /* when it went inside */
    bool inside;
    unsigned refused; /* in a row: all were lent */
    unsigned late;    /* in a row: the time was up */
    pthread_t thread;
    uint64_t number;
};

struct crew {
    struct callback *callbacks[MOST_WORLD];
    struct caller callers[MOST_WORLD * MOST_CALLERS];
    unsigned n;
};

void nap(uint32_t us);

/* Sets what is called back, for a reader that is about to be opened; the result is told of the reader afterwards. */
struct callback *callers_hook(struct run *t, apl_reader_options *o, apl_allocator *allocator);

/* Called before each block is loaded; `run` is a struct run. */
apl_status callers_before_load(void *run, uint64_t number, apl_error *err);

void callers_start(struct run *t, struct crew *crew);

/* Is nobody just about to call? Then it would be too late to close. */
bool callers_are_safe(const struct crew *crew);

/* Releases what a caller still holds. */
void callers_release(struct caller *c);

/* A thread that asks the reader of a rank all that may be asked at any time. */
void *callers_observe(void *rank);

#endif
