/*
 * A reader, for the files that share it. Who does what:
 *
 *   options.c   what was asked for, checked and completed
 *   mix.c       the stores that are read
 *   transform.c what is to be done to pictures, likewise
 *   sampling.c  what is to be sampled, likewise; sampler.c draws it
 *   pool.c      memory of batches
 *   schedule.c  what a thread does next: plan a batch, load a block, assemble a batch
 *   planner.c  planning batches
 *   block_cache.c which blocks are in memory, on their way, or to be let go
 *   decoded.c   the slots of a whole split, shared by the readers that keep them
 *   load.c      a block from the store into slots
 *   collate.c   a planned batch into its buffer
 *   photos.c    JPEG images in a batch
 *   augment.c   where crop, flip and square of a record fall
 *   handles.c   which readers are open, and who holds them
 *   inside.c    being inside a reader: calls and callbacks
 *   lifecycle.c opening, closing, threads
 *   failure.c   when a reader fails for good
 *   reader.c    handing out batches, epoch after epoch
 *   state.c     saving, resuming, receipts
 *   stats.c     where the time went
 *
 * One lock guards all that is scheduled; it is taken per batch and per block, never per record.
 */
#ifndef READER_H
#define READER_H

#include "assemble.h"
#include "batch.h"
#include "bins.h"
#include "decoded.h"
#include "hash.h"
#include "parallel.h"
#include "photo.h"
#include "plan.h"
#include "pool.h"
#include "scratch.h"
#include "slab.h"

/* What was asked for, with all defaults filled in. */
struct reader_options {
    struct plan_options plan;
    bool wanted[APL_MAX_FIELDS];
    size_t batch_size;
    bool drop_last, free_order, kept; /* kept: the window covers the split, and slots are never given back */
    bool fill;                        /* free order draws nothing before all of the split stands */
    uint64_t first_epoch, budget, skip_corrupt;
    uint32_t spare_slots; /* that the budget leaves over: for blocks that the next epoch needs first */
    unsigned threads, loaders, consumers, queue_depth, rank, world, timeout_ms;
    unsigned transform_count;
    apl_transform transforms[APL_MAX_FIELDS]; /* of each field; size 0: none */
    void (*on_batch)(void *user, apl_batch *batch);
    void *on_batch_user;
};

enum block_stage {
    BLOCK_OUT,     /* not here, and nobody waits for it */
    BLOCK_QUEUED,  /* to be loaded */
    BLOCK_LOADING, /* a thread is at it */
    BLOCK_IN,      /* its slots can be read */
    BLOCK_BAD      /* it could not be loaded: see error */
};

/* A block of the split, from when it enters an epoch until its last record has been delivered; or, where
 * slots are kept, for good. */
struct resident {
    enum block_stage stage;
    bool stays;       /* its slots are kept for the next epoch, which needs it early */
    bool demanded;    /* a planned batch waits for it */
    uint32_t left;    /* deliveries to come, of this epoch */
    uint32_t *slots;  /* of each member; NULL where slots are kept: then they are first_slot + i */
    uint16_t *passed; /* of each member: deliveries that went to others before it was loaded; NULL: none */
    struct raw_column
        *ragged;      /* of each field of varying shape, in r->decoded if there is that; NULL: none */
    apl_error *error; /* of a bad block */
};

enum job_stage { JOB_FREE, JOB_PLANNED, JOB_MAKING, JOB_DONE };

/* A batch on its way. */
struct job {
    enum job_stage stage;
    uint64_t epoch, position; /* of its first delivery in the epoch's order, over all ranks */
    uint64_t end;             /* position of the first delivery after its step */
    uint32_t rows;
    uint32_t *deliveries;
    uint32_t checked; /* so many rows are known to be here */
    struct batch_buffer *buffer;
    apl_status status;
    apl_error error;
};

/* A thread's own things. */
struct worker {
    apl_reader *reader;
    pthread_t thread;
    bool started, loads, makes, ready;
    struct block_coder bc;
    uint8_t **rows;                   /* of a block */
    uint8_t *scratch[APL_MAX_FIELDS]; /* for records of a block that are not in the split */
    const uint8_t **sources;          /* of a batch */
    struct placement *placements;
    uint32_t *slots;
    struct photo *photo; /* NULL before the first */
    struct scratch pixels;
};

#define WAIT_BUCKETS 96u

struct reader_counters {
    uint64_t batches, records, blocks, bytes_read, bytes_decoded, bytes_assembled;
    uint64_t load_ns, make_ns, plan_ns, blocked_ns, wait_ns, first_batch_ns, opened_at;
    uint64_t longest_wait_ns;
    uint32_t waits[WAIT_BUCKETS]; /* of callers: see stats.c */
};

struct apl_reader {
    apl_store *store;
    const struct schema *schema;
    struct mix_source *sources; /* the stores that are read: `store`, and those that are mixed with it */
    uint32_t source_count;
    struct subset subset;
    struct sampler *sampler; /* what is delivered of each epoch; NULL: each record `reuse` times */
    struct reader_options options;
    uint8_t content[32];   /* names what is read, */
    struct hash128 order;  /* digest of what shapes the order: see state.c */
    struct handle *handle; /* held by the owner, each thread, each caller inside */
    int pid;
    bool ragged;   /* a field of varying shape is wanted */
    bool ids_only; /* no field is wanted: blocks are planned as ever, but never read */

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t work, done;
    unsigned threads, active;
    unsigned callers, changing; /* threads inside apl_reader_next(), and inside apl_reader_next_epoch() */
    bool closing, cancelled, paused;
    bool working;      /* a caller is, where there are no threads */
    apl_status status; /* of the first failure for good */
    apl_error error;

    /* planning: by one thread at a time, which then needs no lock for the plan and the bins */
    bool planning;
    struct plan *plan;
    struct bins *bins[2]; /* of free order, by the parity of the epoch */
    struct bins_scratch *bins_scratch;
    uint32_t *step; /* deliveries of a step, over all ranks */
    uint64_t plan_epoch, plan_position, plan_length;
    uint32_t announced; /* blocks of the planned epoch that have been queued */
    uint32_t inserted;  /* blocks of the planned epoch whose records have been put into its bins */

    /* blocks */
    struct resident *residents[2]; /* by the parity of the epoch; one and the same where slots are kept */
    struct slab slab;
    struct decoded *decoded; /* whose values the slab has, where slots are kept; NULL: they are its own */
    struct load_ring {
        struct load_item {
            uint32_t index;
            uint32_t parity;
        } * items;
        uint64_t head, tail;
        uint32_t size;
    } queue,
        demand; /* blocks to load: as they enter, and (where slots are kept) as planned batches need them */
    uint8_t *stay;      /* of each block: the next epoch needs it early; NULL: there is no room to spare */
    uint32_t *peeked;   /* scratch: the order of the next epoch */
    uint32_t blocks_in; /* where slots are kept: so many are there to stay */
    uint8_t
        *known_bad; /* of each block: a batch has met it, and its records are counted in skipped_records */
    uint64_t skipped_records;

    /* batches */
    struct pool *pool;
    uint64_t fixed_bytes; /* of slab and plan */
    struct job **jobs;    /* a ring of `depth`, by number */
    unsigned depth;
    uint64_t head, tail;      /* numbers of the next batch to hand out, and to plan */
    uint64_t epoch, position; /* that is being handed out, and how far that has come */
    bool ended;               /* all of the epoch has been handed out */

    struct worker *workers;
    struct reader_counters counters;
    struct tally tally;   /* of what was handed out of this epoch, */
    uint64_t tally_first; /* and where that began */
    uint8_t *delivered; /* a bit a delivery of this epoch: deliveries of the records before its own, + copy */
    uint8_t *resumed;   /* free order: the bits of a state that the epoch was resumed from; NULL: none */
    uint64_t resumed_epoch;
    uint64_t shared, repeated; /* this reader's share of what was handed out; bits that were set already */
};

/* The sample of an epoch (or of that parity) that is planned or handed out; NULL: each record comes `reuse` times. */
static inline const uint32_t *sampled(const apl_reader *r, uint64_t epoch)
{
    return r->sampler ? sampler_first(r->sampler, epoch) : NULL;
}

#endif
