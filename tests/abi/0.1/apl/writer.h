/*
 * apl/writer.h - make a store; part of apl.h, which states the general rules.
 *
 * Check the result of every call:
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
 *     apl_writer_commit(writer, &err);    (there is no store until this returns APL_OK)
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
    size_t size;      /* sizeof(apl_writer_options) */
    unsigned threads; /* encoding threads; 0: one per core; APL_NO_THREADS: only the caller's */
    /* 1 ... APL_MAX_BLOCK; 0: 128, or fewer to keep a block at about 8 MiB (2 MiB, but at least 4, with kept fields, see
     * apl_writer_set_media()), or more (at most 4096) to fill 64 KiB; where sizes vary, the first records tell */
    uint32_t block_records;
    /* "raw", "zstd", "shuffle", "delta" or "picture": used for every input field that it suits, which must be at
     * least one. NULL: all are tried, and the smallest result chosen. */
    const char *codec;
    int level;   /* zstd level for that codec; 0: chosen like the codec */
    int replace; /* 1: replace an existing store */
    /* 1: store the records of each split in a keyed random order. The writer then adds a u64 field "source_position"
     * (APL_POSITION), so that there are at most APL_MAX_FIELDS - 1 others, none of that name. */
    int shuffle;
    uint64_t shuffle_seed;
    const char *tool; /* name and version of the program, recorded in the store; NULL: the library's */
} apl_writer_options;
#define APL_WRITER_OPTIONS_INIT                                  \
    {                                                            \
        sizeof(apl_writer_options), 0, 0, NULL, 0, 0, 0, 0, NULL \
    }

/*
 * Begins a store in the directory `path`, which is created if necessary. Nothing of it is visible before commit.
 * `options` may be NULL. Likely errors: APL_E_EXISTS, APL_E_INVALID (the directory holds a set), APL_E_BUSY, APL_E_IO,
 * APL_E_NOSPACE.
 *
 * Exceeding a file-size limit (RLIMIT_FSIZE) is reported as an error only in programs that ignore SIGXFSZ, as Python
 * and the commands do. The library leaves signals alone, and by default this one kills the process.
 */
APL_API APL_MUST_USE apl_status apl_writer_open(const char *path, const apl_writer_options *options,
                                                apl_writer **writer, apl_error *err);

/*
 * Appends a field to the schema; only before the first member. The shape has ndim dimensions, each at least 1, or -1
 * for "varies". The last dimension of a field of dtype APL_UTF8 is -1: {-1} is a text, {-1, -1} a list of
 * texts (see APL_UTF8). Text that batches are to pad is stored as u8 of shape {-1}.
 * Names are unique, 1 ... APL_MAX_NAME bytes of UTF-8.
 */
APL_API APL_MUST_USE apl_status apl_writer_add_field(apl_writer *writer, const char *name, apl_dtype dtype,
                                                     apl_role role, unsigned ndim, const int64_t *shape,
                                                     apl_error *err);

/*
 * Makes a field a kept one: each value is a file of the media type `media`, such as "image/jpeg" or
 * "application/octet-stream" (in lower case), stored uncompressed with its own checksum, so that one can be read
 * without its block. The field must have type u8 and shape {-1}. Call it before the first member. A store with kept
 * fields has format 1.1, which readers of 1.0 refuse.
 */
APL_API APL_MUST_USE apl_status apl_writer_set_media(apl_writer *writer, const char *field, const char *media,
                                                     apl_error *err);

/*
 * Checks a JPEG file of `size` bytes before it is appended to a kept field: reads its header and, with `decode`, also
 * decodes it, as aplingest does, to make sure that a reader can. shape: components, height and width in pixels. Any
 * thread may call it. Likely errors: APL_E_CORRUPT, APL_E_UNSUPPORTED.
 */
APL_API APL_MUST_USE apl_status apl_check_jpeg(const void *file, size_t size, int decode, uint32_t shape[3],
                                               apl_error *err);

/*
 * Indexes the values of a kept field of media type "image/jpeg": each JPEG file that can be restored byte for byte is
 * stored losslessly in a form, about as large as the file (7 to 8 % larger if progressive), of which any part can be
 * decoded without the rest. Reading the value restores the file. All other values are stored as they are. Call it
 * before the first member.
 */
APL_API APL_MUST_USE apl_status apl_writer_set_indexed(apl_writer *writer, const char *field, apl_error *err);

/*
 * Says what a field is. The kind must suit the field's type and shape, so call it after apl_writer_set_media(), and before the
 * first member; the last call counts. The fields that it names in `of` and `per` may be added later, but must be there
 * when the first member begins: APL_E_INVALID, then or now, says which field and why.
 */
APL_API APL_MUST_USE apl_status apl_writer_set_kind(apl_writer *writer, const char *field,
                                                    const apl_kind *kind, apl_error *err);

/* Names the classes 0 ... count-1 of a scalar target field of type u8, u16 or u32; names must be distinct. At any time
 * before commit. If a record has any other value, commit fails with APL_E_INVALID. */
APL_API APL_MUST_USE apl_status apl_writer_set_classes(apl_writer *writer, const char *field,
                                                       const char *const *names, uint64_t count,
                                                       apl_error *err);

/*
 * Keeps the mean and the standard deviation of each channel of an image field, 0 ... 255, over the training split of the store
 * that the records come from: for a store that has no split "train" itself (see apl_store_training_moments()). The channels are
 * those of apl_store_moments(). Call it once a field, before commit. Likely errors: APL_E_INVALID (another number of channels),
 * APL_E_NOTFOUND (no such field).
 */
APL_API APL_MUST_USE apl_status apl_writer_keep_moments(apl_writer *writer, const char *field,
                                                        const double *mean, const double *std,
                                                        unsigned channels, apl_error *err);

/* Records where the data comes from: a name for the source's format, and the source's SHA-256 or NULL. Call it before
 * commit. */
APL_API APL_MUST_USE apl_status apl_writer_set_source(apl_writer *writer, const char *format,
                                                      const uint8_t *sha256, apl_error *err);

/*
 * Records that a file of the source was left out, and why; both are made safe to print and truncated to
 * APL_MAX_SKIPPED_TEXT bytes. All are counted, and the first APL_MAX_SKIPPED listed. Call it before commit.
 */
#define APL_MAX_SKIPPED_TEXT 1023
APL_API APL_MUST_USE apl_status apl_writer_skipped(apl_writer *writer, const char *path, const char *why,
                                                   apl_error *err);

/*
 * Begins a member: the records appended from now on belong to it, until the next one begins. Members may come in any
 * order; the store sorts them by `number`. Numbers must be unique, and the members of a split must be consecutive in
 * that order.
 */
APL_API APL_MUST_USE apl_status apl_writer_begin_member(apl_writer *writer, const char *name,
                                                        const char *split, uint32_t number, apl_error *err);

/* A value to append. data: its elements, contiguous, with any alignment; NULL if it has none. shape: ndim numbers if
 * the field's shape varies, otherwise NULL. */
typedef struct apl_value {
    const void *data;
    const int64_t *shape;
} apl_value;

/*
 * Appends one record: values[i] for field i. The values are copied. A bool other than 0 and 1 and text that is not
 * UTF-8 are refused (APL_E_INVALID). So is a record that contradicts what its fields are (apl_writer_set_kind()), as
 * apl_writer_check() says; then nothing has been appended, and the writer goes on. Other threads encode and write, so their errors may be reported by a later call.
 * After any other error, the only valid call is apl_writer_close().
 */
APL_API APL_MUST_USE apl_status apl_writer_append(apl_writer *writer, const apl_value *values,
                                                  apl_error *err);

/*
 * Checks a record against what its fields are, and appends nothing. Refused (APL_E_INVALID) is what no reading explains: boxes
 * with their right side left of the left one, or bottom and top so, or numbers that are not finite; another number of elements
 * than the field has that they are `per`; a mask of another size than its image (of JPEG and PNG files, as their headers say). The
 * message names field and value, not the record. Call it after the first member and before commit; the writer may have failed.
 */
APL_API APL_MUST_USE apl_status apl_writer_check(const apl_writer *writer, const apl_value *values,
                                                 apl_error *err);

/* What is common in good data and has been appended as it is: of a field of boxes, keypoints or masks so far. */
typedef struct apl_kind_counts {
    uint64_t elements; /* boxes or points */
    uint64_t
        outside; /* of these, wholly or partly beyond their image, where its size can be told; hidden points do not count */
    uint64_t no_area; /* boxes without width or height */
    uint64_t hidden;  /* points of visibility 0 */
    uint64_t ignored; /* masks with the value that they say is to be ignored */
} apl_kind_counts;

/* Call it only from the writer's thread. APL_E_NOTFOUND: no such field. */
APL_API APL_MUST_USE apl_status apl_writer_counts(const apl_writer *writer, const char *field,
                                                  apl_kind_counts *counts);

/* Field `i` as it has been described so far, with its kind; NULL if there are not as many. Good until the next call that describes
 * fields, and not after commit. */
APL_API const apl_field *apl_writer_field(const apl_writer *writer, unsigned i);

/* The progress of a writer. */
typedef struct apl_progress {
    uint64_t records;      /* appended; during commit, read back */
    uint64_t raw_bytes;    /* size of those records */
    uint64_t stored_bytes; /* written to the file so far */
} apl_progress;

/* Fills in `progress`. Call it only from the writer's thread. */
APL_API void apl_writer_progress(const apl_writer *writer, apl_progress *progress);

/* Has commit call `callback` a few times a second while it reads the store back, on the thread that called commit. If
 * the callback returns non-zero, commit gives up with APL_E_CANCELLED. It must not call the writer: calls return
 * APL_E_REENTRANT, and apl_writer_close() does nothing. */
APL_API void apl_writer_on_commit(apl_writer *writer,
                                  int (*callback)(void *user, const apl_progress *progress), void *user);

/*
 * Writes what is left, reads every record back and compares it with what was appended, syncs, and atomically moves the
 * store into place. After APL_OK the store is durable, and the directory free for other writers and for splits; after
 * an error, whatever was there before is unchanged.
 */
APL_API APL_MUST_USE apl_status apl_writer_commit(apl_writer *writer, apl_error *err);

/*
 * Says what fields of the store in the directory `path` are, as apl_writer_set_kind() does when a store is made: writes a new
 * store with the same values, as they are coded, and moves it into place atomically. kinds[0 ... count-1] are texts for
 * apl_kind_parse(); fields that they do not name keep their kinds. Content digest, splits and ids stay;
 * apl_info.digest does not. It takes the time to copy the file, and its space on disk; and that to read the values of fields
 * whose kinds say something of them, which must agree with it, as apl_writer_append() has it.
 *
 * `progress`, unless NULL, is called on this thread for each block of `of`; non-zero: stop with APL_E_CANCELLED. After
 * an error the store is what it was. Likely errors: APL_E_INVALID (a text, a kind that its field cannot have, a set, a
 * URL), APL_E_NOTFOUND, APL_E_BUSY, APL_E_CORRUPT, APL_E_UNSUPPORTED (images in a store of a format before 1.5),
 * APL_E_VERSION, APL_E_NOSPACE.
 */
APL_API APL_MUST_USE apl_status apl_store_set_kinds(const char *path, const char *const *kinds, size_t count,
                                                    int (*progress)(void *user, uint64_t done, uint64_t of),
                                                    void *user, apl_error *err);

/* Frees the writer. Anything that was not committed is removed without a trace. */
APL_API void apl_writer_close(apl_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
