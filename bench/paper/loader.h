/*
 * How training gets its batches: one interface to all loaders that are compared. Whatever the loader, an image of
 * the training split is shifted and flipped at random, normalised, and handed over as f32[32][32][3]: by the same
 * kernels, so that loaders differ in how they store, read and wait, and in nothing else.
 */
#ifndef PAPER_LOADER_H
#define PAPER_LOADER_H

#include "apl.h"

#include <stdbool.h>

#define PAPER_SIDE    32u
#define PAPER_CLASSES 10u
#define PAPER_PIXELS  ((size_t)3 * PAPER_SIDE * PAPER_SIDE) /* numbers in an image */
#define PAPER_ROW     (1 + PAPER_PIXELS)                    /* bytes of a record: label, planes */

/* What a loader is asked for. */
struct loading {
    const char *db, *raw,
        *lmdb; /* where the same records lie: a store, CIFAR's own files, LMDBs of records (lmdb_records.h) */
    const char *staging; /* a directory in memory */
    const char *split;   /* "train" or "test" */
    size_t batch_size;
    uint64_t seed;
    uint64_t window; /* of APL's reader; 0: its default */
    unsigned
        ahead; /* threads that load ahead of training; 0: training loads what it needs, when it needs it */
    unsigned readers; /* threads that share a batch, where none load ahead */
    bool processes;   /* those that load ahead are processes: each has opened the records for itself */
    bool shuffled;    /* in a new order each epoch; otherwise in the store's order */
    bool augmented;   /* shifted and flipped at random */
};

/* Images f32[count][32][32][3] and their labels, valid until the next call. */
struct batch {
    const float *images;
    const uint8_t *labels;
    size_t count;
};

struct loader;

/* A way of loading. Each call ends the program with a message if it fails. */
struct loader_kind {
    const char *name;
    struct loader *(*open)(const struct loading *asked);
    bool (*next)(struct loader *loader,
                 struct batch *batch); /* false at the end of an epoch: then comes another */
    size_t (*staged)(
        const struct loader *loader); /* bytes that it keeps in memory, of which RSS tells nothing */
    void (*close)(struct loader *loader);
};

extern const struct loader_kind paper_plain, paper_burst, paper_lmdb, paper_lmdb_raw, paper_apl;

/* The transform that all loaders apply. */
apl_transform paper_transform(bool augmented);

/* Ends the program with a message, or with what errno says about `path`. */
_Noreturn void paper_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void paper_die_of(const char *path);

#endif
