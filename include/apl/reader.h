/* apl/reader.h - batches for training; part of apl.h, where the rules stand. */
#ifndef APL_READER_H
#define APL_READER_H

#include "sampling.h"
#include "transform.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A reader hands out the records of a split in batches, epoch after epoch, in random order, decoded and
 * augmented ahead of time by threads of its own:
 *
 *     apl_reader_options opt = APL_READER_OPTIONS_INIT;
 *     opt.split = "train";
 *     opt.batch_size = 512;
 *     apl_reader *reader;
 *     if (apl_reader_open(store, &opt, &reader, &err) != APL_OK)
 *         die(err.message);
 *     for (int epoch = 0; epoch < 10; epoch++) {
 *         apl_batch *batch;
 *         apl_status st;
 *         while ((st = apl_reader_next(reader, &batch, &err)) == APL_OK) {
 *             train(apl_batch_column(batch, 0)->data, apl_batch_rows(batch));
 *             apl_batch_release(batch);
 *         }
 *         if (st != APL_END || apl_reader_next_epoch(reader, &err) != APL_OK)
 *             die(err.message);
 *     }
 *     apl_reader_close(reader);
 *
 * Threads: any number of threads may call apl_reader_next(), and release batches from anywhere; so may they the
 * other calls, apl_reader_next_epoch() one at a time. A reader may be closed while threads are inside its calls:
 * see apl_reader_close(). Fork: in a child, every call on the parent's reader answers APL_E_FORKED, and close
 * frees nothing that a thread of the parent could hold.
 */
typedef struct apl_reader apl_reader;

/* How the order of an epoch comes about. Either way each record comes exactly once an epoch (`reuse` times,
 * if asked). */
typedef enum apl_order {
    /* A pure function of content, split, seed, epoch, window and bins: the same on every machine, whatever
     * the number of threads. With a window that covers the split it is a uniform permutation. */
    APL_STRICT = 0,
    /* Whoever is ready goes: a slow block delays nobody. Uniform among the records that stand. */
    APL_FREE = 1
} apl_order;

/* Memory for batches that the caller provides: pinned, on huge pages, visible to a device. Called from any
 * thread. */
typedef struct apl_allocator {
    void *(*allocate)(void *user, size_t bytes); /* aligned to 64 bytes, or NULL */
    void (*deallocate)(void *user, void *memory, size_t bytes);
    void *user;
} apl_allocator;

/* A store to be read together with a reader's own. Start from APL_SOURCE_INIT. */
typedef struct apl_source {
    size_t size;       /* sizeof(apl_source) */
    apl_store *store;  /* the reader keeps it alive, as it does its own */
    const char *split; /* its name; NULL: the first of the store */
    double weight; /* how often its records are delivered in relation to those of others: see mix; 0: none */
} apl_source;
#define APL_SOURCE_INIT                   \
    {                                     \
        sizeof(apl_source), NULL, NULL, 0 \
    }

#define APL_NO_THREADS ((unsigned)-1)

/* Zeros mean defaults. Start from APL_READER_OPTIONS_INIT. */
typedef struct apl_reader_options {
    size_t size;       /* sizeof(apl_reader_options) */
    const char *split; /* its name; NULL: the first of the store */
    /* Names of the fields wanted; NULL: all. field_count 0 with fields not NULL: no values, only ids and
     * positions: nothing is read or decoded, so no block is found corrupt either. The order, and with it the
     * state and the receipt, is that of a reader of all fields. */
    const char *const *fields;
    size_t field_count;
    size_t batch_size; /* records in a batch; 0: 256 */
    int drop_last;  /* 1: no batch at the end of an epoch that is not full; with ranks, no step that is not */
    int sequential; /* 1: in the order of ids, nothing is shuffled: for evaluation */
    apl_order order;
    /* 1, with free order: nothing is drawn before all of the split stands, which the window has to cover; what
     * is drawn is then a uniform permutation. Only the first epoch waits: later ones find all standing. */
    int fill;
    uint64_t seed;
    uint64_t first_epoch; /* at most 2^63 - 1 */
    /* Records that mix. 0: the whole split while that is at most 4 GiB decoded, else what 4 GiB hold. With
     * `reuse`, a window that does not cover the split takes up to `reuse` times its memory, which the default
     * allows for. */
    uint64_t window;
    unsigned bins;  /* 1 ... 4096; 0: 64 */
    unsigned reuse; /* times that each record is delivered in an epoch; 0: 1 */
    /* Bytes that the reader may allocate, batches and plan included; 0: what the window needs. What it leaves
     * over keeps decoded blocks for the next epoch, those that it needs first. Where the window covers the split,
     * readers of this process that read the same records and fields of the same files hold them decoded once
     * between them, each block decoded by the one that needs it first; each counts all of them in its budget. */
    uint64_t memory_budget;
    /* That load and assemble. 0: the cores this process may use, but one. APL_NO_THREADS: none, the caller
     * does the work inside apl_reader_next(). */
    unsigned threads;
    /* If not 0: threads that only load, and threads that only assemble, instead of `threads`. */
    unsigned loaders, consumers;
    unsigned queue_depth; /* finished batches that may wait, and one more of each consumer; 0: 4 */
    /* This process among how many. world 0: as the launcher says (RANK and WORLD_SIZE, or the variables of
     * Open MPI, MPICH or Slurm), else 0 of 1. All ranks read one order between them: each record once over
     * all of them, and equally many batches each, of which the last may be short or empty. */
    unsigned rank, world;
    /* Parts that blocks are dealt to, anew each epoch; 0: 1, the order of a single reader. A multiple of
     * world: positions go round the lanes, and a rank decodes its own lanes' blocks alone (but for a few at
     * the end of an epoch), where with one lane each decodes nearly all. Uniform within a lane, with a share
     * of the window for each. */
    unsigned lanes;
    unsigned timeout_ms; /* the longest that apl_reader_next() waits; 0: for ever */
    /* So many records of corrupt blocks are left out before that is an error; 0: the first is one. */
    uint64_t skip_corrupt;
    const apl_transform *transforms; /* of picture fields, at most one each */
    size_t transform_count;
    const apl_allocator *allocator; /* of the memory of batches; NULL: the library's own */
    /* Called on the library's threads with every batch before it is handed out; may write into its columns;
     * may not call its reader (APL_E_REENTRANT). apl_reader_close() does not wait for a call that hangs: batch and
     * thread stay until it returns, and so must what on_batch_user points to. */
    void (*on_batch)(void *user, apl_batch *batch);
    void *on_batch_user;
    const void *state; /* to go on where apl_reader_state() was taken; NULL: the beginning of first_epoch */
    size_t state_size;
    const apl_sampling *sampling; /* NULL: each record, `reuse` times */
    /* Only these records of the split (with `mix`: of the splits), each once; their order here means nothing.
     * Means and deviations to normalise by stay those of the training split. NULL: all. Copied. */
    const uint64_t *ids;
    size_t id_count;
    /* More stores, also such as have come before: an epoch is a single order of the records of them all. Ids go
     * on from store to store: a record's is that in its own store plus the numbers of records of the stores before
     * it, the reader's own being the first (apl_reader_source() tells which store). The fields that are wanted
     * must be alike in all stores, and so must their class names; means and deviations to normalise by are those
     * of the training splits of all stores together, whatever the weights.
     *
     * With weights, of all stores or none, an epoch is a sample (see apl_sampling) as if each store's records were a
     * class: without replacement, a store comes in proportion to its weight, and its records equally often but for a
     * uniform subset, anew each epoch, that comes once more; with replacement (sampling->replacement), each delivery by
     * itself is of a store with a probability in proportion to its weight, and then of any of its records.
     * sampling->field and sampling->weights have to be NULL then. */
    const apl_source *mix;
    size_t mix_count;
    double weight; /* of the reader's own store in the mix */
} apl_reader_options;
#define APL_READER_OPTIONS_INIT                                                                             \
    {                                                                                                       \
        sizeof(apl_reader_options), NULL, NULL, 0, 0, 0, 0, APL_STRICT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, 0                       \
    }

/*
 * Opens a reader on `store`, which it keeps alive: the store may be closed first. Its threads begin at once.
 * `options` may be NULL. Likely errors: APL_E_INVALID (the message says which option and what would do),
 * APL_E_NOTFOUND (split or field), APL_E_NOMEM, APL_E_MISMATCH (a state for another store or order, stores whose
 * fields differ).
 */
APL_API APL_MUST_USE apl_status apl_reader_open(apl_store *store, const apl_reader_options *options,
                                                apl_reader **reader, apl_error *err);

/*
 * Hands out the next batch, waiting for it if need be. APL_END, to every caller, when all of the epoch has
 * been handed out, until apl_reader_next_epoch(). A rank's batch may have no rows at the end of an epoch.
 * Errors: APL_E_CORRUPT (the message names member and block; it stays an error, and batches before it still
 * come), APL_E_LENT (the budget is used up by batches that were not released), APL_E_TIMEOUT (after
 * timeout_ms; the message names the block, or on_batch(), that is waited for; the next call goes on waiting),
 * APL_E_CANCELLED (cancelled or closed), APL_E_FORKED, APL_E_REENTRANT.
 */
APL_API APL_MUST_USE apl_status apl_reader_next(apl_reader *reader, apl_batch **batch, apl_error *err);

/* Goes to the next epoch; in the middle of one, what is left of that is given up. Nobody may be inside
 * apl_reader_next(). */
APL_API APL_MUST_USE apl_status apl_reader_next_epoch(apl_reader *reader, apl_error *err);

/* The epoch that is being handed out, and how many batches all of it has. */
APL_API uint64_t apl_reader_epoch(apl_reader *reader);
APL_API uint64_t apl_reader_batches(apl_reader *reader);

/* Of a record that the reader hands out, or could: whose it is, 0 for the reader's own store and i + 1 for mix[i], and its
 * id there. APL_E_NOTFOUND for an id that is none. */
APL_API APL_MUST_USE apl_status apl_reader_source(apl_reader *reader, uint64_t id, size_t *source,
                                                  uint64_t *own_id, apl_error *err);

/* apl_transform_complete() by all stores that the reader reads: for code that does itself, such as on a device, what a
 * transform of this reader would. */
APL_API APL_MUST_USE apl_status apl_reader_transform_complete(apl_reader *reader, apl_transform *transform,
                                                              apl_error *err);

/* Makes every call of apl_reader_next(), those that wait included, return APL_E_CANCELLED from now on. From
 * any thread. */
APL_API void apl_reader_cancel(apl_reader *reader);

/*
 * Ends the threads and frees the reader, within a second; what a thread that is stuck in a read still holds is
 * freed when it comes back. Batches that are lent stay valid until they are released. `reader` may be NULL.
 *
 * Other threads may be inside calls on the reader, or begin one before close returns. Close wakes those that wait,
 * in apl_reader_next() or apl_reader_next_epoch(), and waits until they have left, within the same second. They
 * return what they would have anyway, or APL_E_CANCELLED (apl_reader_epoch() and apl_reader_batches(): 0), and the
 * reader's memory stays until the last of them has left. If two threads close a reader at once, one does and the
 * other returns. A call that begins after close has returned is an error, like any use of memory that was freed.
 */
APL_API void apl_reader_close(apl_reader *reader);

/* Of a reader's batch: its epoch; the position of its first row in the epoch's order; the ids of rows that
 * were left out because their block is corrupt; which of its `reuse` copies, from 0, each row is (NULL for a
 * batch of another origin). */
APL_API uint64_t apl_batch_epoch(const apl_batch *batch);
APL_API uint64_t apl_batch_position(const apl_batch *batch);
APL_API const uint64_t *apl_batch_skipped(const apl_batch *batch, size_t *count);
APL_API const uint32_t *apl_batch_copies(const apl_batch *batch);

/*
 * Where the reader stands after the last batch that was handed out, in *size bytes: with `state` NULL or
 * *size too small, only sets *size (APL_E_INVALID if too small). Another reader that is opened with it goes
 * on with the very next batch, also with other threads, batch size, world or transforms; it refuses
 * (APL_E_MISMATCH) a state of another store, split, seed, order, window, number of bins, lanes, reuse, sampling, ids
 * or mix. Of a state that was taken when all of an epoch had been handed out, whether or not APL_END had been
 * answered, the very next is APL_END: the epoch is over, and apl_reader_next_epoch() goes to the next one.
 */
#define APL_STATE_BYTES 96 /* of strict order; free order adds a bit for each delivery of an epoch */
APL_API APL_MUST_USE apl_status apl_reader_state(apl_reader *reader, void *state, size_t *size,
                                                 apl_error *err);

/* Of a state: its epoch, and how many deliveries of that had been handed out, over all ranks. Needs no reader, and no
 * store. APL_E_INVALID: the bytes are damaged, or no state; APL_E_VERSION: of a later version. */
APL_API APL_MUST_USE apl_status apl_state_position(const void *state, size_t size, uint64_t *epoch,
                                                   uint64_t *position, apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
