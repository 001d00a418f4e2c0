/* A thread's own things, for what it makes: those of the caller that is at work, where the reader has no threads. */
#ifndef WORKER_H
#define WORKER_H

#include "block.h"
#include "effects.h"
#include "job.h"
#include "photo.h"
#include "residence.h"
#include "scratch.h"
#include "spec.h"
#include "standing.h"
#include "trace.h"

#include <pthread.h>

#define NOT_UNDECODED UINT32_MAX
struct worker {
    apl_reader *reader; /* for the machine alone */
    const struct spec *spec;
    const struct standing *standing;
    /* Makes rows of a batch, with the help of other threads where that is worth it: see ../runs.h. */
    apl_status (*share)(struct worker *w, struct job *job, const struct run_work *work, apl_error *err);
    /* Asks for more values that the batch reads late, from number `at` on, which is read next (see ../late_ahead.h). */
    void (*ahead)(const struct worker *w, struct job *job, uint32_t at);
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
    struct scratch value;            /* that was read late */
    struct residence values, blocks; /* of the files that it reads */
    struct buffer file;              /* that was restored from it */
    uint64_t bytes_read;             /* of files, by what it does now */
    struct spent spent;              /* by that, too */
    uint64_t again; /* when the block that it loads from elsewhere is needed again: see future.h */
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

#endif
