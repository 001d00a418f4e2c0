/*
 * apl.h - keep a training set in one sealed, compressed, checked file, and read it back.
 *
 * A store is a directory that holds one file, data.mdb. The file is written once and never changed; it can only be
 * replaced as a whole. It holds records, numbered 0 ... N-1. A record has one value for each field of the store's
 * schema: an image, a label, a name. Records are stored in blocks, which are compressed and checksummed. No byte of a
 * store is handed out before its checksum has been verified.
 *
 * Reading:
 *
 *     apl_error err;
 *     apl_store *store;
 *     if (apl_store_open("db", NULL, &store, &err) != APL_OK)
 *         die(err.message);
 *     apl_batch *one;
 *     if (apl_store_get(store, 17, &one, &err) != APL_OK)
 *         die(err.message);
 *     show(apl_batch_column(one, 0)->data);
 *     apl_batch_release(one);
 *     apl_store_close(store);
 *
 * Training on shuffled batches, which the reader's own threads prepare ahead of time (check every call as above):
 *
 *     apl_reader_options options = APL_READER_OPTIONS_INIT;
 *     options.split = "train";
 *     options.batch_size = 512;
 *     apl_reader *reader;
 *     apl_batch *batch;
 *     apl_reader_open(store, &options, &reader, &err);
 *     for (int epoch = 0; epoch < 10; epoch++) {
 *         apl_status st;
 *         while ((st = apl_reader_next(reader, &batch, &err)) == APL_OK) {
 *             train(apl_batch_column(batch, 0)->data, apl_batch_rows(batch));
 *             apl_batch_release(batch);
 *         }
 *         if (st != APL_END)
 *             die(err.message);
 *         apl_reader_next_epoch(reader, &err);
 *     }
 *     apl_reader_close(reader);
 *
 * Where to look (each header can be read on its own; docs/API.md and apl(3) are organised by task):
 *
 *     apl/status.h      status codes and errors
 *     apl/kind.h        what fields are: images, masks, boxes, ...
 *     apl/store.h       open and describe a store, get records, find records, verify
 *     apl/set.h         open many stores as one
 *     apl/writer.h      make a store
 *     apl/split.h       divide the records: validation, folds, clients
 *     apl/reader.h      batches for training: orders, ranks, budgets, resuming
 *     apl/transform.h   decode, crop, augment and normalise images on their way into a batch
 *     apl/collation.h   make arrays of values of varying shape: pad, pack, windows, buckets, graphs
 *     apl/sampling.h    epochs that are samples: balanced, weighted
 *     apl/serve.h       one reader for the processes of a machine
 *     apl/stats.h       what has been delivered, and where the time went
 *     apl_ingest.h      turn archives into stores, with libaplingest
 *
 * Rules that hold everywhere:
 *
 *   - A call that can fail returns an apl_status; APL_OK is 0. On failure it fills in the apl_error, which may be NULL,
 *     and leaves its results untouched, except the required size or count, where stated. APL_OK and APL_END leave
 *     apl_error alone.
 *   - Anything a call returns as `const ... *` belongs to the handle it came from and lives as long as that handle.
 *   - Any number of threads may use a store and its batches at once. A writer may be used by only one thread at a
 *     time. Neither may be used in a child after fork(): there, a writer's calls return APL_E_FORKED, and closing it
 *     touches nothing.
 *   - The size of a struct that a call fills in or reads is passed along with it, if a later version may append members.
 *     A call fills in the members that both versions know, and sets to 0 what lies beyond them up to the given size.
 *     A size that nobody has set, 0 or more than 64 KiB, is a wrong argument, and nothing is written.
 *   - Numbers are in native byte order. Sizes are in bytes unless another unit is given.
 *   - close, release and free functions accept NULL. If a handle, a batch or a pointer for results is NULL, calls that
 *     return a status return APL_E_INVALID; calls that describe return 0 or NULL, or -1 for a number.
 *   - A thread that calls the library needs a stack of 256 KiB, and what its own callbacks use.
 *   - A thread must not be cancelled (pthread_cancel()) inside a call: locks that it holds would stay locked. A library
 *     opened with dlopen() may be closed once its readers and writers are closed.
 *
 * What 1.0 freezes. Until then, a minor version may change this interface, and CHANGELOG.md says how to migrate. From
 * 1.0 on, until a 2.0 with its own soname:
 *
 *   - A program compiled against older headers runs with a newer library, and one that uses nothing new runs with an
 *     older library. No exported function goes away, or takes or returns something else.
 *   - No number of an enum or APL_ constant changes its meaning. Enums may gain members, so expect statuses that you
 *     do not know.
 *   - Structs that begin with `size`, those whose size is passed along, and those that the library returns by pointer
 *     grow only at the end; 0 in a new member means the old behaviour. All other structs keep their size; new members
 *     take the place of what is `reserved`.
 *   - Later versions can read all stores, split files and states that a version has written.
 *   - In strict order, what an epoch delivers for a given content, split, options and seed stays the same, and so do
 *     the sides of splits. Defaults count as options: one that affects the order does not change.
 *
 * What may change: the wording of messages, which of several errors is reported, speed, use of memory and threads, the
 * bytes of new stores (but not their content digests), and everything that is in no header.
 */
#ifndef APL_H
#define APL_H

#include "apl/collation.h"
#include "apl/kind.h"
#include "apl/reader.h"
#include "apl/sampling.h"
#include "apl/serve.h"
#include "apl/set.h"
#include "apl/split.h"
#include "apl/stats.h"
#include "apl/status.h"
#include "apl/store.h"
#include "apl/transform.h"
#include "apl/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define APL_VERSION_MAJOR  0
#define APL_VERSION_MINOR  1
#define APL_VERSION_PATCH  0
#define APL_VERSION_STRING "0.1.0"

/* The version of the library at run time, as "major.minor.patch"; APL_VERSION_STRING is that of this header. */
APL_API const char *apl_version(void);

#ifdef __cplusplus
}
#endif
#endif
