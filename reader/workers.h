/* A reader's threads. */
#ifndef WORKERS_H
#define WORKERS_H

#include "block.h"
#include "effects.h"
#include "made.h"
#include "photo.h"
#include "scratch.h"
#include "stats.h"
#include "trace.h"

#include <pthread.h>
#include <stdatomic.h>

struct batch_queue;

/* A thread's own things; where the reader has no threads, those of the caller that is at work. */
#define NOT_UNDECODED UINT32_MAX
struct worker {
    apl_reader *reader;
    pthread_t thread;
    bool started, loads, collates;
    const struct job *at; /* what it collates, or helps with; with the reader's lock held */
    /* The block, from 1, of the value that it is reading from the file for that; 0: none. For a message alone. */
    atomic_uint reading;
    struct block_coder bc;
    uint8_t **rows;                   /* of a block */
    uint8_t *scratch[APL_MAX_FIELDS]; /* for records of a block that are not in the split */
    const uint8_t **sources;          /* of a batch */
    struct placement *placements;
    uint32_t *slots;
    struct photo *photo; /* NULL before the first */
    struct scratch pixels, crop;
    struct geometry *geometry; /* of the images of a batch; NULL: nothing follows any */
    struct made_values *made;  /* of each field; NULL likewise */
    struct scratch places;     /* of what is taken of a mask, or of boxes */
    struct scratch last;       /* an image, or a label, of a batch that is being mixed */
    struct effects effects;
    struct scratch value; /* that was read late */
    struct buffer file;   /* that was restored from it */
    uint64_t bytes_read;  /* of files, by what it does now */
    struct spent spent;   /* by that, too */
    uint64_t again;       /* when the block that it loads from elsewhere is needed again: see future.h */
    uint32_t
        undecoded; /* the row whose image could not be decoded, which ended the collation; or NOT_UNDECODED */
};

/* The thread has read from the file, or URL, since `begin`: of that block. */
static inline void worker_has_read(struct worker *w, uint64_t begin, uint64_t block)
{
    uint64_t end = now_ns();
    w->spent.reading += end - begin;
    trace_span("read", begin, end, "block", block);
}

struct workers {
    struct worker *all; /* one at least */
    unsigned size;      /* threads that there are to be; 0: callers do the work */
    unsigned running;   /* threads that have not left; with the reader's lock held */
};

/* How long threads wait for the first batch to be asked for before they begin by themselves: so that a reader which is opened to be
 * looked at and closed decodes nothing, and one whose training begins later is ahead of it. For tests; process-wide. */
void workers_set_patience(uint64_t ns);

/* Starts the threads, if there are to be any. */
apl_status workers_start(apl_reader *r, apl_error *err);

/* Joins the threads if all of them have left, or leaves them to themselves. */
void workers_let_go(apl_reader *r, bool left);

void workers_free(struct workers *ws);

/* Is a value being read for one of the batches that are to be handed out next? *index: of which block. With the reader's lock held. */
bool workers_are_reading(const apl_reader *r, const struct batch_queue *q, uint32_t *index);

#endif
