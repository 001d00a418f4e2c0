/* apl/reader.h - batches for training; part of apl.h, which states the general rules. */
#ifndef APL_READER_H
#define APL_READER_H

#include "collation.h"
#include "sampling.h"
#include "transform.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A reader hands out the records of a split in batches, epoch after epoch, in random order. Its own threads decode
 * and augment them ahead of time:
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
 * Threads: any number of threads may use a reader at once and release batches from anywhere; only
 * apl_reader_next_epoch() must be called by one thread at a time. A reader may be closed while other threads are
 * inside its calls: see apl_reader_close(). Fork: in a child, every call on the parent's reader returns APL_E_FORKED,
 * and close frees nothing that a thread of the parent could hold.
 */
typedef struct apl_reader apl_reader;

/* How the order of an epoch is made. Either way, each record is delivered exactly once per epoch (or `reuse`
 * times). */
typedef enum apl_order {
    /* A pure function of content, split, seed, epoch, window and bins, and, if the window does not cover the split, of
     * records per block: the same on every machine, with any number of threads. If the window covers the split, it is a
     * uniform permutation. (With buckets it also depends on world x batch_size.) */
    APL_STRICT = 0,
    /* Whatever is ready comes first: a slow block delays nothing else, and its records come later in the epoch. Each goes
     * to any of the bins to come with the same chance. */
    APL_FREE = 1
} apl_order;

/* The caller's own memory for batches: pinned, on huge pages, or visible to a device. Called from any thread. */
typedef struct apl_allocator {
    void *(*allocate)(void *user, size_t bytes); /* aligned to 64 bytes, or NULL */
    void (*deallocate)(void *user, void *memory, size_t bytes);
    void *user;
} apl_allocator;

/*
 * Most readers leave these three structs zeroed: ranks, mix and faults. Their sizes never change; `reserved` must be 0
 * and is set aside for later versions.
 */

/* Identifies this process within a distributed run. The processes share one order: together they deliver each record
 * once, and each gets the same number of batches, of which the last may be short or empty. One reader may serve several
 * ranks: see `list`. */
typedef struct apl_ranks {
    /* This process's rank, and the number of processes. Both 0: taken from the launcher (RANK and WORLD_SIZE, or the
     * variables of Open MPI, MPICH or Slurm), otherwise 0 of 1. One variable of a pair without the other says nothing:
     * RANK without WORLD_SIZE, or SLURM_PROCID without SLURM_STEP_NUM_TASKS, as in a batch script that runs alone.
     * Free order is for a world of 1, without lanes. */
    unsigned rank, world;
    /* The number of lanes; 0: 1, the order of a single reader. A lane is an independent stream of blocks, which are
     * dealt to the lanes afresh each epoch; positions of the epoch go to the lanes in turn. So a rank decodes only
     * the blocks of its own lanes (but for a few at the end of an epoch); with one lane, every rank decodes nearly
     * all blocks. Each lane has a share of the window, and the order is uniform within a lane.
     *
     * If it is a multiple of world, each rank has its own lanes. Otherwise ranks take equal shares of the lanes, one
     * after another: with one lane per machine, the ranks of a machine share its lane; after a change of world, a
     * rank decodes its share, and also part of the lanes that its share cuts. The order is the same for any world. */
    unsigned lanes;
    /*
     * One reader for several ranks, such as those of one machine: list[0] ... list[count-1], all different; `rank` must
     * then be 0. apl_reader_next_of() and its like say for which rank they are called. Each rank gets the batches,
     * states and receipts that a reader of its own would give it, but each block is read and decoded once for all of
     * them, and the decoded records are in memory once. Copied. NULL: this process's rank alone.
     *
     * The ranks advance together: at most queue_depth finished batches (and one per thread that assembles) wait for
     * each. While a rank takes none of those that wait for it, releases none of those it holds, or does not begin the
     * epoch that the others have begun, the others get no more either. Their calls then return APL_E_TIMEOUT, after
     * faults.timeout_ms (0: after 5 minutes), with a message that names the rank; the next call resumes waiting.
     */
    unsigned count;
    const unsigned *list;
    uint32_t reserved[2];
} apl_ranks;

/* A store to read together with the reader's own. Start from APL_SOURCE_INIT. */
typedef struct apl_source {
    size_t size;       /* sizeof(apl_source) */
    apl_store *store;  /* the reader keeps it open, as it does its own */
    const char *split; /* its name; NULL: the first of the store */
    double weight;     /* how often its records are delivered, relative to the other stores; 0: no weights */
} apl_source;
#define APL_SOURCE_INIT                   \
    {                                     \
        sizeof(apl_source), NULL, NULL, 0 \
    }

/*
 * More stores; the same store may occur more than once. An epoch is a single order of the records of all of them. Ids
 * continue from store to store: a record's id is its id in its own store plus the number of records in all stores
 * before it, the reader's own store being the first (apl_reader_source() says which store). The requested fields and
 * their class names must be the same in all stores. Normalisation uses the mean and standard deviation of the training
 * splits of all stores together, whatever the weights.
 *
 * Give either all stores a weight or none. With weights, an epoch is a sample (see apl_sampling) in which each store's
 * records form a class. Without replacement, each store is delivered in proportion to its weight, and its records
 * equally often, except for a uniform subset, new in each epoch, that comes once more. With replacement
 * (sampling->replacement), each delivery independently picks a store with probability proportional to its weight, then
 * any of its records. With weights, sampling->field and sampling->weights must be NULL.
 *
 * Where values are packed (PACK), all epochs have the same number of tokens, that of sampling->records records on
 * average, and each store has its share of them: that of the records it would get by its weight, or with `by_tokens`
 * its weight itself. In one epoch the share is off by less than a value of the store, or, of the largest share, of each
 * store; on average over epochs by less than a value in all. What lies beyond the last token of an epoch is not
 * delivered. Draws with replacement are not supported there. Windows are all of one length, so that weights are of
 * windows and of tokens alike.
 */
typedef struct apl_mix {
    const apl_source *sources; /* the other stores */
    size_t count;
    double weight; /* of the reader's own store */
    int by_tokens; /* 1, with PACK or WINDOWS: weights are shares of tokens; 0: of records, or windows */
    uint32_t reserved[5];
} apl_mix;

/* What to do when something goes wrong. */
typedef struct apl_faults {
    /* The most records that may be left out before it is an error; 0: the first is an error. A corrupt block is left
     * out as a whole; an image that is intact but cannot be decoded is left out alone. */
    uint64_t skip_corrupt;
    /* The longest that apl_reader_next() and apl_reader_next_epoch() wait; 0: forever. Without threads, it is looked at
     * between two blocks that a call loads, or batches that it makes. */
    unsigned timeout_ms;
    uint32_t reserved[5];
} apl_faults;

/* Zeros mean defaults. Start from APL_READER_OPTIONS_INIT. */
typedef struct apl_reader_options {
    size_t size;       /* sizeof(apl_reader_options) */
    const char *split; /* its name; NULL: the first of the store */
    /* The names of the fields to read; NULL: all. With fields not NULL and field_count 0, batches hold no values, only
     * ids and positions: nothing is read or decoded, so no block is found corrupt either. Order, state and receipt are
     * those of a reader of all fields. Naming a field twice makes no difference. */
    const char *const *fields;
    size_t field_count;
    size_t batch_size; /* records per batch; 0: 256 */
    /* 1: drop the last batch of an epoch unless it is full; with several ranks, drop each rank's last batch unless all
     * of them are full */
    int drop_last;
    int sequential; /* 1: in id order, without shuffling: for evaluation */
    apl_order order;
    /* 1, with free order: take nothing until the whole split is loaded, so that the order is a uniform permutation.
     * The window has to cover the split. Only the first epoch waits: later ones find everything loaded. */
    int fill;
    /* With free order: the blocks that a bin may be closed without, of those that could fill it: all of the split, or,
     * where the window does not cover it, those that are being loaded. Their records go to bins still to come. 0: as
     * many as there are, so that nothing waits for a slow block. Not with `fill`, which leaves none behind. */
    unsigned late;
    uint64_t seed;
    uint64_t first_epoch;            /* at most 2^63 - 1; a state has its own */
    const apl_transform *transforms; /* of image fields, at most one per field; NULL: none */
    size_t transform_count;
    /* Only these records of the split (with `mix`: of the splits), each once; the order of this array has no effect.
     * Normalisation still uses the mean and standard deviation of the training split. NULL: all. Copied. */
    const uint64_t *ids;
    size_t id_count;
    const apl_sampling *sampling; /* NULL: each record, `reuse` times */
    const void *state; /* resumes where apl_reader_state() was called; NULL: starts at first_epoch */
    size_t state_size;

    /* The number of records to shuffle among. 0: the whole split if it is at most 4 GiB decoded, otherwise as many
     * records as 4 GiB hold. All fields count, so that the order is the same whichever are read; memory is used only
     * for those that are. Values of kept fields count 28 bytes each here, whatever their size: they are read from the
     * file when their batch is made, so by default the whole split is shuffled, however large it is. With
     * `reuse`, a window that does not cover the split takes up to `reuse` times its memory; the default allows for
     * that. */
    uint64_t window;
    /* 1 ... 4096: the bins that deliveries are scattered over, to be shuffled and taken one after the other. Part of
     * what shapes the order. 0: as many as suit the records, the window and the largest block. */
    unsigned bins;
    unsigned reuse; /* times each record is delivered in an epoch; 0: 1 */
    /* The number of bytes that the reader may allocate, batches and plan included; 0: what the window needs. Any
     * remaining memory caches decoded blocks for the next epoch, soonest needed first. If the window covers the
     * split, readers of this process that read the same records and fields of the same files share one decoded copy.
     * Each block is decoded by the reader that needs it first, and each reader counts the whole copy in its budget.
     * Values of varying shape count with their average size, those in blocks and those in batches.
     * Batches of values of varying shape, such as kept fields without a transform, are made as far as the budget has
     * room for their values; only the batch that a rank gets next is made whatever its size. So a batch that is
     * larger than what is left takes the reader beyond the budget until it is released. Values of varying shape
     * that are not kept stay in memory with their block until its last record has been delivered: under a window that
     * does not cover the split they take up to about two and a half times what the budget counts for them. Without a
     * budget, a window that takes more than 256 MiB, and more than 256 times the bytes of its files (APL_EXPANSION in
     * the environment says otherwise), is refused with APL_E_UNSUPPORTED. */
    uint64_t memory_budget;
    /* Threads that load blocks and assemble batches. 0: one less than the cores this process may use. APL_NO_THREADS:
     * none; the caller does the work inside apl_reader_next(). */
    unsigned threads;
    /* If not 0, these replace `threads`: the reader's threads that only load, and those that only assemble; not the
     * caller's that take batches. */
    unsigned loaders, consumers;
    unsigned queue_depth;           /* finished batches that may wait, plus one per assembling thread; 0: 4 */
    const apl_allocator *allocator; /* for the memory of batches; NULL: the library's own */
    /* Called on the library's threads with every batch before it is handed out. It may write into the batch's columns,
     * but must not call the reader (APL_E_REENTRANT). apl_reader_close() does not wait for a call that hangs: the batch
     * and the thread stay until it returns, and whatever on_batch_user points to must stay valid as long. */
    void (*on_batch)(void *user, apl_batch *batch);
    void *on_batch_user;

    apl_ranks ranks;
    apl_mix mix;
    apl_faults faults;

    /* How fields of varying shape are collated, at most one for each; NULL: one value after another. */
    const apl_collation *collations;
    size_t collation_count;

    const apl_blend *blend; /* NULL: the images of a batch are not mixed */

    /* 1: only copies what a reader with the same options would read to the stores' caches (apl_store_options.cache),
     * in the order in which it would need it. Batches have ids, but no columns; when one is handed out, what it needs
     * is in the cache. APL_E_NOSPACE: the cache is full (sys_errno is 0 if it has reached its budget). What is
     * already cached is checked, not fetched again. All stores must be at URLs. Excludes transforms, collations,
     * blend and on_batch. */
    int stage;

    /* What fields are, where the store does not say, or says otherwise: each as apl_kind_parse() reads it, such as
     * "boxes=boxes,xywh". What moves the pixels of an image moves what is declared to lie in it, and is refused
     * beside what cannot be moved, or beside arrays of numbers of which nobody has said what they are: see
     * apl_transform. */
    const char *const *kinds;
    size_t kind_count;

    /* An existing directory, in which a thread updates a file of the reader's figures every second, for `apldata
     * top`: see docs/MONITORING.md. NULL: $APL_MONITOR, if it is set; "": do not. */
    const char *monitor;
} apl_reader_options;
#define APL_READER_OPTIONS_INIT                                                                             \
    {                                                                                                       \
        sizeof(apl_reader_options), NULL, NULL, 0, 0, 0, 0, APL_STRICT, 0, 0, 0, 0, NULL, 0, NULL, 0, NULL, \
            NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, {0, 0, 0, 0, NULL, {0}},                     \
            {NULL, 0, 0, 0, {0}}, {0, 0, {0}}, NULL, 0, NULL, 0, NULL, 0, NULL                              \
    }

/*
 * Opens a reader on `store`, which it keeps open: the caller may close the store first. Its threads start work at the
 * first apl_reader_next(), or a millisecond after open, so a reader that is only queried decodes nothing.
 *
 * `options` may be NULL. All that it points to is copied and may be freed once this returns; only the stores, and
 * what the two `user` pointers (allocator->user, on_batch_user) point to, are used later. Likely errors:
 * APL_E_INVALID (the message says which option is wrong and what is accepted), APL_E_NOTFOUND (split or field),
 * APL_E_NOMEM, APL_E_MISMATCH (a state for another store or order; stores whose fields differ).
 *
 * To resume, open a reader with a state; apl_reader_state() says which options may then differ.
 */
APL_API APL_MUST_USE apl_status apl_reader_open(apl_store *store, const apl_reader_options *options,
                                                apl_reader **reader, apl_error *err);

/*
 * Hands out the next batch, waiting for it if necessary. Once the whole epoch has been handed out, returns APL_END to
 * every caller until apl_reader_next_epoch(). At the end of an epoch, a rank's batch may have no rows.
 *
 * Errors: APL_E_CORRUPT (the message names member and block, and the record if it is about a value of a kept field; the
 * error is permanent, but batches before it still come), APL_E_LENT (batches that have not been released use up the
 * budget: hold fewer, or raise memory_budget), APL_E_TIMEOUT (after faults.timeout_ms; the message names the block, or
 * on_batch(), that it waits for; the next call resumes waiting), APL_E_CANCELLED (cancelled or closed), APL_E_FORKED,
 * APL_E_REENTRANT, APL_E_INVALID (an image that is too small for its transform).
 */
APL_API APL_MUST_USE apl_status apl_reader_next(apl_reader *reader, apl_batch **batch, apl_error *err);

/* Starts the next epoch; in the middle of an epoch, abandons the rest of it. No thread may be inside
 * apl_reader_next(). Likely errors: APL_E_TIMEOUT (after faults.timeout_ms; call it again to resume waiting),
 * APL_E_CANCELLED, APL_E_FORKED, APL_E_REENTRANT. */
APL_API APL_MUST_USE apl_status apl_reader_next_epoch(apl_reader *reader, apl_error *err);

/* The current epoch, and the number of batches in the whole of it: after resuming, fewer are left, which
 * apl_state_position() helps to count. */
APL_API uint64_t apl_reader_epoch(apl_reader *reader);
APL_API uint64_t apl_reader_batches(apl_reader *reader);

/* The number of rows in each batch, except for the last of an epoch. */
APL_API size_t apl_reader_batch_size(apl_reader *reader);

/*
 * The same for one of the ranks that a reader serves (see apl_ranks.list). Ranks are independent of each other: their
 * calls may come from different threads, and one may begin the next epoch, or abandon the rest of one, before the
 * others do. A state belongs to a rank, but all ranks of a reader resume from a single state: take it when all of
 * them have taken the same number of batches. APL_E_INVALID: the reader does not serve that rank
 * (apl_reader_epoch_of(): 0).
 *
 * If a reader serves several ranks, calls without a rank return APL_E_INVALID, except for apl_reader_epoch(), which
 * returns the epoch of the rank furthest behind, and for those that concern the reader as a whole: batches, source,
 * transform_complete, cancel, close and stats.
 */
APL_API APL_MUST_USE apl_status apl_reader_next_of(apl_reader *reader, unsigned rank, apl_batch **batch,
                                                   apl_error *err);
APL_API APL_MUST_USE apl_status apl_reader_next_epoch_of(apl_reader *reader, unsigned rank, apl_error *err);
APL_API uint64_t apl_reader_epoch_of(apl_reader *reader, unsigned rank);

/* For any record that the reader can hand out: its store (0 for the reader's own, i + 1 for mix.sources[i]), and its id
 * there. APL_E_NOTFOUND if there is no such id. */
APL_API APL_MUST_USE apl_status apl_reader_source(apl_reader *reader, uint64_t id, size_t *source,
                                                  uint64_t *own_id, apl_error *err);

/* apl_transform_complete() over all stores that the reader reads. It is for code that applies a transform of this
 * reader itself, for instance on a device. */
APL_API APL_MUST_USE apl_status apl_reader_transform_complete(apl_reader *reader, apl_transform *transform,
                                                              apl_error *err);

/*
 * apl_field_action() of all fields of the store, for code that moves images itself, such as transforms of other libraries:
 * what becomes of them if the images that options->transforms name move; without transforms, all fields of kind image, or else the only one that is an
 * image by type and shape. Of the options, only the fields, kinds and names of the transforms' fields count. Sets
 * kinds[i] and actions[i] of each field i, which are the caller's: the kind is APL_KIND_NONE where nobody has said what
 * the field is, and it is no image that moves. Fields that are not read stay, and what lies in another image.
 * APL_E_NOTFOUND: there is no such field.
 */
APL_API APL_MUST_USE apl_status apl_reader_actions(apl_store *store, const apl_reader_options *options,
                                                   apl_kind *kinds, apl_action *actions, apl_error *err);

/* Makes every call of apl_reader_next(), including those that are waiting, return APL_E_CANCELLED from now on. May be
 * called from any thread. */
APL_API void apl_reader_cancel(apl_reader *reader);

/*
 * Stops the threads and frees the reader, within a second. If a thread is stuck in a read, whatever it holds is freed
 * when the read returns. Batches that the caller holds stay valid until released. `reader` may be NULL.
 *
 * Other threads may be inside calls on the reader, or start one before close returns. Close wakes those that wait in
 * apl_reader_next() or apl_reader_next_epoch(), and waits until they have left, within the same second. They return
 * what they would have returned anyway, or APL_E_CANCELLED (apl_reader_epoch() and apl_reader_batches(): 0). The
 * reader's memory stays valid until the last of them has left. If two threads close a reader at once, one of them
 * closes it and the other returns. Any call that starts after close has returned is a use after free.
 */
APL_API void apl_reader_close(apl_reader *reader);

/* For a reader's batch: its epoch; the position of its first row in the epoch's order; the ids of rows that were left
 * out (apl_faults.skip_corrupt); and, for each row, which copy of its record it is, from 0 (NULL for a batch
 * that is not from a reader). */
APL_API uint64_t apl_batch_epoch(const apl_batch *batch);
APL_API uint64_t apl_batch_position(const apl_batch *batch);
APL_API const uint64_t *apl_batch_skipped(const apl_batch *batch, size_t *count);
APL_API const uint32_t *apl_batch_copies(const apl_batch *batch);

/*
 * Saves the reader's position after the last batch handed out. *size is the room at `state`, and becomes the length of
 * what is saved; APL_STATE_BYTES are enough in strict order. If `state` is NULL, only sets *size (APL_OK); the same,
 * with APL_E_INVALID, if the room is too small.
 *
 * A reader opened with this state resumes with the very next record: a batch counts once it has been handed out.
 * Threads, batch size, drop_last, world and transforms may differ. A state of another store, split, seed, order,
 * window, number of bins, lanes, reuse, sampling, ids, mix or collation that counts otherwise (packed rows, windows,
 * buckets), or in which a field had another kind than here, is refused (APL_E_MISMATCH), and the message names what
 * differs; fields that only one of the two reads make no difference. If the whole epoch had been
 * handed out when the state was taken, whether or not APL_END had been returned, the first result is APL_END: the epoch
 * is over, and apl_reader_next_epoch() starts the next one.
 */
#define APL_STATE_BYTES 128 /* in strict order; free order adds one bit per delivery of an epoch */
APL_API APL_MUST_USE apl_status apl_reader_state(apl_reader *reader, void *state, size_t *size,
                                                 apl_error *err);

/* The same for one of the ranks that a reader serves. */
APL_API APL_MUST_USE apl_status apl_reader_state_of(apl_reader *reader, unsigned rank, void *state,
                                                    size_t *size, apl_error *err);

/* Reads a state's epoch, and the number of deliveries of that epoch that all ranks together had handed out. Needs
 * neither reader nor store. APL_E_INVALID: not a valid reader state; APL_E_VERSION: from a later version. */
APL_API APL_MUST_USE apl_status apl_state_position(const void *state, size_t size, uint64_t *epoch,
                                                   uint64_t *position, apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
