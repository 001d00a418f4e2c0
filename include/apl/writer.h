/*
 * apl/writer.h - making a store; part of apl.h, where the rules stand.
 *
 * Every call is to be checked:
 *
 *     apl_writer *writer;
 *     int64_t shape[3] = {3, 32, 32};
 *     apl_writer_open("db", NULL, &writer, &err);
 *     apl_writer_add_field(writer, "image", APL_U8, APL_INPUT, 3, shape, &err);
 *     apl_writer_add_field(writer, "label", APL_U8, APL_TARGET, 0, NULL, &err);
 *     apl_writer_begin_member(writer, "mine", "train", 0, &err);
 *     while (more(&pixels, &label)) {
 *         apl_value values[2] = {{pixels, NULL}, {&label, NULL}};
 *         apl_writer_append(writer, values, &err);
 *     }
 *     apl_writer_commit(writer, &err);    (until this has come back with APL_OK there is no store)
 *     apl_writer_close(writer);
 */
#ifndef APL_WRITER_H
#define APL_WRITER_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct apl_writer apl_writer;

/* Zeros mean defaults. Start from APL_WRITER_OPTIONS_INIT. */
typedef struct apl_writer_options {
    size_t size;            /* sizeof(apl_writer_options) */
    unsigned threads;       /* threads that encode; 0: one per core */
    uint32_t block_records; /* 1 ... APL_MAX_BLOCK; 0: 128, or fewer where they would exceed 8 MiB */
    /* For the input fields that it suits, which must be one at least: "raw", "zstd", "shuffle", "delta" or
     * "picture"; NULL: tried and chosen by size. */
    const char *codec;
    int level;   /* of zstd, for that codec; 0: tried and chosen by size */
    int replace; /* 1: replace a store that exists */
    int shuffle; /* 1: store the records of each split in a keyed random order */
    uint64_t shuffle_seed;
    const char *tool; /* name and version of the program, kept in the store; NULL: the library's */
} apl_writer_options;
#define APL_WRITER_OPTIONS_INIT                                  \
    {                                                            \
        sizeof(apl_writer_options), 0, 0, NULL, 0, 0, 0, 0, NULL \
    }

/*
 * Begins a store in the directory `path`, which is made if need be. Nothing of it can be seen before commit.
 * A limit on the size of files (RLIMIT_FSIZE) is an error only in programs that ignore SIGXFSZ, as Python and the
 * commands do; the library leaves signals alone, and by default this one ends the process.
 * `options` may be NULL. Likely errors: APL_E_EXISTS, APL_E_BUSY, APL_E_IO, APL_E_NOSPACE.
 */
APL_API APL_MUST_USE apl_status apl_writer_open(const char *path, const apl_writer_options *options,
                                                apl_writer **writer, apl_error *err);

/*
 * Appends a field to the schema; before the first member only. A shape of ndim dimensions, each at least 1,
 * or -1 for "varies". A field of dtype APL_UTF8 has the shape {-1}. Names are unique, 1 ... APL_MAX_NAME
 * bytes of UTF-8.
 */
APL_API APL_MUST_USE apl_status apl_writer_add_field(apl_writer *writer, const char *name, apl_dtype dtype,
                                                     apl_mark mark, unsigned ndim, const int64_t *shape,
                                                     apl_error *err);

/* Names the classes 0 ... count-1 of a scalar target field of type u8, u16 or u32; any time before commit.
 * Records with other values make commit fail with APL_E_INVALID. */
APL_API APL_MUST_USE apl_status apl_writer_set_classes(apl_writer *writer, const char *field,
                                                       const char *const *names, uint64_t count,
                                                       apl_error *err);

/* Says where the records come from: a name for the source's format, and the source's SHA-256 or NULL. Before
 * commit. */
APL_API APL_MUST_USE apl_status apl_writer_set_source(apl_writer *writer, const char *format,
                                                      const uint8_t *sha256, apl_error *err);

/*
 * Begins a member: the records appended from now on belong to it, until the next one begins. Members may come
 * in any order; in the store they are ordered by `number`, which no two may share, and all members of a split
 * must have numbers next to each other.
 */
APL_API APL_MUST_USE apl_status apl_writer_begin_member(apl_writer *writer, const char *name,
                                                        const char *split, uint32_t number, apl_error *err);

/* A value to append. data: its elements, contiguous, any alignment. shape: ndim numbers where the field's
 * shape varies, else NULL. */
typedef struct apl_value {
    const void *data;
    const int64_t *shape;
} apl_value;

/*
 * Appends one record: values[i] for field i. The values are copied. Encoding and writing go on in other
 * threads, so an error of theirs may be reported by a later call; after any error only apl_writer_close() is
 * left to do.
 */
APL_API APL_MUST_USE apl_status apl_writer_append(apl_writer *writer, const apl_value *values,
                                                  apl_error *err);

/* How far a writer has come. */
typedef struct apl_progress {
    uint64_t records;      /* appended, or while reading back: read back */
    uint64_t raw_bytes;    /* of those */
    uint64_t stored_bytes; /* written to the file so far */
} apl_progress;

/* Fills `progress`; from the writer's thread only. */
APL_API void apl_writer_progress(const apl_writer *writer, apl_progress *progress);

/* Calls `callback` from the thread that called commit, some times a second, while it reads the store back;
 * non-zero makes commit give up with APL_E_CANCELLED. */
APL_API void apl_writer_on_commit(apl_writer *writer,
                                  int (*callback)(void *user, const apl_progress *progress), void *user);

/*
 * Writes what is left, reads every record back and compares it with what was appended, syncs, and puts the
 * store in its place in one step. After APL_OK the store is there to stay; after an error there is what was
 * there before.
 */
APL_API APL_MUST_USE apl_status apl_writer_commit(apl_writer *writer, apl_error *err);

/* Frees the writer; what was not committed vanishes without a trace. */
APL_API void apl_writer_close(apl_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
