/*
 * apl.h - keep a training set in one sealed, compressed, checked file, and read it back.
 *
 * A store is a directory that holds one file, data.mdb, written once and never changed: it is replaced as a
 * whole or not at all. It holds records, numbered 0 ... N-1. A record has one value for every field of the
 * store's schema: a picture, a label, a name. Records are kept in blocks, which are compressed and checked; a
 * byte of a store is never handed out before its checksum has been verified.
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
 * For training there is the reader: shuffled, augmented batches, made ahead of time (see apl_reader below).
 *
 * Writing, where every call is checked as above:
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
 *
 * Rules that hold everywhere:
 *
 *   - Every call that can fail returns an apl_status; APL_OK is 0. It also fills the apl_error that the
 *     caller passes, which may be NULL. On failure, results are left as they were.
 *   - What a call hands out as `const ... *` belongs to the handle it was asked of and lives as long as that.
 *   - A store and its batches may be used by any number of threads at once. A writer belongs to one thread at
 *     a time. Neither may be used in a child after fork().
 *   - Numbers are in the byte order of the machine. Sizes are in bytes unless another unit is named.
 *   - close, release and free functions accept NULL.
 */
#ifndef APL_H
#define APL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define APL_API      __attribute__((visibility("default")))
#define APL_MUST_USE __attribute__((warn_unused_result))
#else
#define APL_API
#define APL_MUST_USE
#endif

#define APL_VERSION_MAJOR  0
#define APL_VERSION_MINOR  1
#define APL_VERSION_PATCH  0
#define APL_VERSION_STRING "0.1.0"

/* The version of the library that runs, as "major.minor.patch". APL_VERSION_STRING is that of this header. */
APL_API const char *apl_version(void);

/* ---------------------------------------------------------------------------------------------- errors */

/* What came of a call. The numbers never change their meaning. */
typedef enum apl_status {
    APL_OK = 0,
    APL_END = 1,            /* not an error: there is no more to take */
    APL_E_INVALID = 2,      /* an argument is wrong, or the call came at the wrong time */
    APL_E_NOMEM = 3,        /* memory could not be had */
    APL_E_IO = 4,           /* the system could not open, read or write; sys_errno tells more */
    APL_E_NOSPACE = 5,      /* the file system is full, or a quota is */
    APL_E_EXISTS = 6,       /* there is a store already, and replacing it was not asked for */
    APL_E_NOTFOUND = 7,     /* no such store, record, field, split or member */
    APL_E_BUSY = 8,         /* another process is writing this store */
    APL_E_CORRUPT = 9,      /* stored bytes are not what was written */
    APL_E_VERSION = 10,     /* the store has a format that this library does not know */
    APL_E_SOURCE = 11,      /* the source of an ingest is damaged or not what it should be */
    APL_E_INCOMPLETE = 12,  /* the source of an ingest ends early, or lacks members or rows */
    APL_E_CANCELLED = 13,   /* the caller's callback asked to stop */
    APL_E_UNSUPPORTED = 14, /* understood, but not to be had in this build or on this machine */
    APL_E_MISMATCH = 15,    /* the store, or a state, is not the one that was expected */
    APL_E_TIMEOUT = 16,     /* waited as long as was allowed */
    APL_E_LENT = 17,        /* too many batches have not been released */
    APL_E_FORKED = 18,      /* the reader belongs to the parent process */
    APL_E_REENTRANT = 19    /* called from the reader's own callback */
} apl_status;

/* A status in words, such as "stored bytes are corrupt". Never NULL; static. */
APL_API const char *apl_status_text(apl_status status);

/*
 * Detail on a failure, in memory of the caller's; needs no initialisation. The records it concerns are the
 * ids first_record ... first_record+records-1: those of a block that is corrupt or is waited for (of several,
 * the first; apl_store_verify() reports each), or the one that is not there. What cannot be told by ids, such
 * as a file that cannot be opened, has records 0.
 */
typedef struct apl_error {
    apl_status status;
    int sys_errno; /* errno of the system call that failed, or 0 */
    uint64_t first_record, records;
    char message[488]; /* one line, without a newline */
} apl_error;

/* ---------------------------------------------------------------------------------------------- schema */

#define APL_MAX_FIELDS 64          /* fields a schema may have */
#define APL_MAX_DIMS   8           /* dimensions a field may have */
#define APL_MAX_NAME   255         /* bytes in the name of a field, split, member or class */
#define APL_MAX_VALUE  (64u << 20) /* bytes in one value */
#define APL_MAX_BLOCK  65536       /* records in one block */

/* The type of a field's elements. The numbers stand in stores and never change. */
typedef enum apl_dtype {
    APL_U8 = 1,
    APL_I8 = 2,
    APL_U16 = 3,
    APL_I16 = 4,
    APL_U32 = 5,
    APL_I32 = 6,
    APL_U64 = 7,
    APL_I64 = 8,
    APL_F16 = 9,
    APL_BF16 = 10,
    APL_F32 = 11,
    APL_F64 = 12,
    APL_BOOL = 13, /* one byte, 0 or 1 */
    APL_UTF8 = 14  /* text: elements are bytes, without a closing NUL */
} apl_dtype;

/* Bytes in one element; 0 for a number that is no dtype. */
APL_API size_t apl_dtype_size(apl_dtype dtype);

/* "u8", "f32", "utf8", ...; "?" for a number that is no dtype. Static. */
APL_API const char *apl_dtype_name(apl_dtype dtype);

/* What a field is for. Digests and splits by content look at inputs (and digests at targets), never at
 * names. */
typedef enum apl_mark { APL_INPUT = 1, APL_TARGET = 2, APL_NAME = 3, APL_POSITION = 4 } apl_mark;

/* A field of a store. Fields are in the order of the schema. Later versions may append members. */
typedef struct apl_field {
    const char *name;
    apl_dtype dtype;
    apl_mark mark;
    unsigned ndim;               /* 0: a scalar */
    int64_t shape[APL_MAX_DIMS]; /* -1: varies from record to record */
    size_t value_bytes;          /* bytes of one value; 0 if the shape varies */
    const char *const *classes;  /* names of the values 0 ... class_count-1 of a target, or NULL */
    uint64_t class_count;
    const char *codec;     /* "picture", "zstd", ... as chosen when the store was made */
    int level;             /* of that codec */
    uint64_t raw_bytes;    /* of all values, decoded */
    uint64_t stored_bytes; /* of all values, as stored */
    uint8_t digest[32];    /* SHA-256 over all values in id order; docs/FORMAT.md says exactly how */
} apl_field;

/* A named subset of the records that the source brought: the ids first ... first+count-1. */
typedef struct apl_split {
    const char *name;
    uint64_t first, count;
} apl_split;

/*
 * A part of the source, such as one file of an archive. `first` and `count` are source positions: the ids of
 * an unshuffled store; in a shuffled one, the values of its position field (see apl_info.shuffled).
 */
typedef struct apl_member {
    const char *name;
    const char *split;
    uint64_t first, count;
    uint32_t number; /* as the writer gave it: members are in the order of their numbers */
} apl_member;

/* What a store says of itself. Later versions may append members. */
typedef struct apl_info {
    uint64_t records;
    unsigned fields, splits, members;
    uint32_t block_records; /* records in a full block */
    uint64_t blocks;
    uint64_t raw_bytes;  /* of all values of all fields, decoded */
    uint64_t file_bytes; /* size of data.mdb */
    unsigned format_major, format_minor;
    const char *tool;          /* what wrote the store, such as "apldata 0.1.0" */
    const char *source_format; /* such as "cifar-10-binary"; "" if the writer did not say */
    int has_source_digest;
    uint8_t source_digest[32]; /* SHA-256 of the source as it was read */
    /* Of the input and target fields: independent of codec, block size and source format. */
    uint8_t content_digest[32];
    int shuffled; /* 1: ids are in a keyed random order, and a field marked APL_POSITION tells the way back */
    uint64_t shuffle_seed;
} apl_info;

/* ---------------------------------------------------------------------------------------------- stores */

typedef struct apl_store apl_store;

/* How a store's file is read. A map is fastest; but where a file is cut, or the disk or the network under it fails, the map
 * kills the process (SIGBUS), and a file that is read gives an error. */
typedef enum apl_io {
    APL_IO_AUTO =
        0, /* mapped, but read on network file systems and FUSE; APL_IO=read or map in the environment overrules */
    APL_IO_MAP = 1,
    APL_IO_READ = 2
} apl_io;

/* Zeros mean defaults. Start from APL_STORE_OPTIONS_INIT. */
typedef struct apl_store_options {
    size_t size; /* sizeof(apl_store_options) */
    /* 32 bytes: refuse (APL_E_MISMATCH) a store with another content digest. NULL: take any. */
    const uint8_t *expected_content;
    /* Where files of splits are looked for and made (see apl_split_make()), such as for a store on a
     * read-only disk. NULL: the store's own directory. */
    const char *split_directory;
    apl_io io; /* how the file is read */
} apl_store_options;
#define APL_STORE_OPTIONS_INIT                             \
    {                                                      \
        sizeof(apl_store_options), NULL, NULL, APL_IO_AUTO \
    }

/*
 * Opens the store in the directory `path` for reading. Writes nothing, takes no lock, needs only read
 * permission, and keeps seeing the same store if it is replaced meanwhile. `options` may be NULL. Likely
 * errors: APL_E_NOTFOUND, APL_E_CORRUPT, APL_E_VERSION, APL_E_MISMATCH, APL_E_IO.
 */
APL_API APL_MUST_USE apl_status apl_store_open(const char *path, const apl_store_options *options,
                                               apl_store **store, apl_error *err);

/* Closes the store. Batches taken from it stay valid; what its describing calls handed out does not. */
APL_API void apl_store_close(apl_store *store);

/* The store's description. Never NULL. */
APL_API const apl_info *apl_store_info(const apl_store *store);

/* Field, split or member `i` of the store; NULL if there is none. */
APL_API const apl_field *apl_store_field(const apl_store *store, unsigned i);
APL_API const apl_split *apl_store_split(const apl_store *store, unsigned i);
APL_API const apl_member *apl_store_member(const apl_store *store, unsigned i);

/* The number of the field or split called `name`, or -1. */
APL_API int apl_store_find_field(const apl_store *store, const char *name);
APL_API int apl_store_find_split(const apl_store *store, const char *name);

/* How many records of split `split` have class `cls` in target field `field`; 0 where the field has no
 * classes. */
APL_API uint64_t apl_store_class_count(const apl_store *store, unsigned split, unsigned field, uint64_t cls);

/*
 * Mean and standard deviation (of the population) of channel `channel` of a u8 field over the records of
 * `split`, in units of the stored values (0 ... 255). Channels are the first of three dimensions; other
 * shapes have one channel. APL_E_NOTFOUND where there is no such thing.
 */
APL_API APL_MUST_USE apl_status apl_store_moments(const apl_store *store, unsigned split, unsigned field,
                                                  unsigned channel, double *mean, double *deviation);

/* --------------------------------------------------------------------------------------------- batches */

/* Some records, field by field; lent to the caller until released. */
typedef struct apl_batch apl_batch;

/*
 * One field of a batch. Fixed shape: data holds rows x shape elements, contiguous, row after row. Varying
 * shape: data holds the values of all rows one after another; row r has the elements offsets[r] ...
 * offsets[r+1]-1 and the shape shapes[r*ndim ... r*ndim+ndim-1]. data is aligned to 64 bytes. Later versions
 * may append members.
 */
typedef struct apl_column {
    const void *data;
    size_t bytes;
    apl_dtype dtype;
    unsigned ndim;
    int64_t shape[APL_MAX_DIMS]; /* of one row; -1: varies */
    const uint64_t *offsets;     /* rows + 1 of them, in elements; NULL for a fixed shape */
    const int64_t *shapes;       /* rows x ndim; NULL for a fixed shape */
} apl_column;

/* Rows in the batch. */
APL_API size_t apl_batch_rows(const apl_batch *batch);

/* The id of each row. */
APL_API const uint64_t *apl_batch_ids(const apl_batch *batch);

/* The column of field `field` (its number in the schema); NULL if there is none or it was not asked for. */
APL_API const apl_column *apl_batch_column(const apl_batch *batch, unsigned field);

/* Gives the batch back, from any thread, also after its store has been closed. */
APL_API void apl_batch_release(apl_batch *batch);

/* Zeros mean defaults. Start from APL_GET_OPTIONS_INIT. */
typedef struct apl_get_options {
    size_t size;               /* sizeof(apl_get_options) */
    const char *const *fields; /* names of the fields wanted; NULL: all */
    size_t field_count;
    unsigned threads; /* threads that decode; 0 or 1: the caller's alone */
} apl_get_options;
#define APL_GET_OPTIONS_INIT                \
    {                                       \
        sizeof(apl_get_options), NULL, 0, 0 \
    }

/*
 * The record `id` as a batch of one row.
 * Likely errors: APL_E_NOTFOUND (no such id), APL_E_CORRUPT (the message names member and block).
 */
APL_API APL_MUST_USE apl_status apl_store_get(apl_store *store, uint64_t id, apl_batch **batch,
                                              apl_error *err);

/*
 * The records ids[0 ... n-1], in that order, repeats allowed. Every block is decoded once, however many of
 * its records are asked for and in whatever order; fields that are not asked for are not decoded. `options`
 * may be NULL.
 */
APL_API APL_MUST_USE apl_status apl_store_get_batch(apl_store *store, const uint64_t *ids, size_t n,
                                                    const apl_get_options *options, apl_batch **batch,
                                                    apl_error *err);

/* ------------------------------------------------------------------------------------------- verifying */

/* A block that is not as it was written. */
typedef struct apl_bad_block {
    const char *member; /* of the source; in a shuffled store, the split */
    uint64_t block;     /* its number within that */
    uint64_t first;     /* the block's records are the ids first ... first+count-1 */
    uint64_t count;
    const uint64_t *bad; /* those among them whose values cannot be vouched for, ascending */
    size_t bad_count;
    const char *message; /* what is wrong */
} apl_bad_block;

/* Zeros mean defaults. Start from APL_VERIFY_OPTIONS_INIT. Callbacks come one at a time, from any thread. */
typedef struct apl_verify_options {
    size_t size;                                                /* sizeof(apl_verify_options) */
    unsigned threads;                                           /* 0: one per core */
    void *user;                                                 /* handed to the callbacks */
    int (*progress)(void *user, uint64_t records, uint64_t of); /* non-zero: stop with APL_E_CANCELLED */
    void (*bad_block)(void *user, const apl_bad_block *block);  /* in no particular order */
} apl_verify_options;
#define APL_VERIFY_OPTIONS_INIT                         \
    {                                                   \
        sizeof(apl_verify_options), 0, NULL, NULL, NULL \
    }

/*
 * Decodes and checks every byte of the store: checksums, hashes of records, digests of fields, statistics.
 * APL_E_CORRUPT if anything is wrong, after all of the store has been looked at.
 */
APL_API APL_MUST_USE apl_status apl_store_verify(apl_store *store, const apl_verify_options *options,
                                                 apl_error *err);

/* --------------------------------------------------------------------------------------------- writing */

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

/* ---------------------------------------------------------------------------------------------- splits */

/*
 * Beside the splits that its source brought, a store can be given others, at any time; it is not changed by
 * that. Making the split "val" of the parent "train" writes a file db/val.split, which divides the records of
 * "train" in two:
 *
 *     val          the part: about `ratio` of train
 *     train-val    the rest: train without val ("PARENT-NAME")
 *
 * A reader, and a further split's `parent`, can name either, as they name the source's own. Training that
 * holds out a tenth reads "train-val", and is checked on "val"; a second split "dev" of "train-val" gives
 * "dev" and "train-val-dev". Where a name could mean several things, the source's own split comes first, then
 * the file of that name, then a rest.
 *
 * Which side a record falls on depends on the record's input fields, the ratio, the seed and how many splits
 * stand between this one and the source's: a hash of the inputs, keyed by the latter two, is compared with
 * the ratio. So equal inputs are never on two sides, whatever their labels and names; the sides are the same
 * on every machine and in whatever order a store holds its records; and in a store that has grown, the
 * records that were there before stay on their sides. The number of records is about that asked for: n
 * records give ratio x n, give or take sqrt(n ratio (1 - ratio)), or more where many are equal.
 *
 * With `stratify`, the records of each class are divided by themselves, and exactly: records with equal
 * inputs form a group, and each class gives whole groups, in the order of their hashes, as long as they do
 * not exceed ratio x (records of the class), rounded to the nearest number. So a class falls short by less
 * than one group, which for inputs that are all different means not at all. A group with several labels
 * counts as one of its lowest. When a store grows, a few records may change sides.
 *
 * What is hashed can be something else than the inputs: see apl_split_by. Equal inputs may then be on two sides:
 * `apldata split --check` finds them. With `group`, the name of a field, all records that have the same value of
 * it are on one side: the pictures of one patient, the takes of one speaker, the frames of one video. The field
 * may be of any mark, and of whole numbers, bools or bytes of a fixed shape, or text. The ratio is then one of
 * groups, not of records. With `stratify` too, a group is one of the class that most of its records have (of
 * several the lowest), and a class falls short by less than one group.
 *
 * A split file belongs to the content of one store: the store refuses it (APL_E_MISMATCH) when other data has
 * been put in its place. It can be removed like any file, also while it is in use.
 */

/* What is hashed to find a record's side. The numbers stand in split files and never change. */
typedef enum apl_split_by {
    APL_BY_CONTENT = 0, /* its inputs: whatever is equal stays together, wherever it is */
    APL_BY_KEY = 1,     /* the number of its member and its row there: shuffling a store moves no record */
    APL_BY_ID = 2,      /* its id in this very store */
    APL_BY_GROUP = 3    /* its value of the field `group`: what apl_split_file tells; not to be asked for */
} apl_split_by;

typedef struct apl_split_options {
    size_t size;          /* sizeof(apl_split_options); of an older version: what it lacks is 0 */
    const char *name;     /* 1 ... 200 bytes that a file can be called by: no '/', no '.' in front */
    double ratio;         /* between 0 and 1, without these */
    const char *parent;   /* NULL: "train", or the first split of the store if it has none of that name */
    const char *stratify; /* a target field of one whole number a record; NULL: by hash alone */
    uint64_t seed;        /* another seed is another split */
    unsigned threads;     /* 0: one per core */
    int replace;          /* 1: replace a split file that exists */
    const char *group;    /* a field whose equal values stay together, and then `by` is 0; NULL: none */
    apl_split_by by;
} apl_split_options;
#define APL_SPLIT_OPTIONS_INIT                                                        \
    {                                                                                 \
        sizeof(apl_split_options), NULL, 0, NULL, NULL, 0, 0, 0, NULL, APL_BY_CONTENT \
    }

/*
 * Makes a split and writes its file, in one step: there is what was before, or all of it. Takes the lock that
 * writers take. Either side may come out empty. Likely errors: APL_E_INVALID (the name is taken, or cannot be
 * one), APL_E_NOTFOUND (parent or field), APL_E_EXISTS, APL_E_BUSY (a store is being written there),
 * APL_E_MISMATCH (the store has been replaced since it was opened), APL_E_IO, APL_E_CORRUPT (a block).
 */
APL_API APL_MUST_USE apl_status apl_split_make(apl_store *store, const apl_split_options *options,
                                               apl_error *err);

/*
 * Divides the parent into many parts, each of which is a split: NAME-0 ... NAME-(parts-1), with the rests
 * PARENT-NAME-0 ... Each record of the parent is in exactly one part, and records with equal inputs are in the
 * same: for cross-validation, say, where "cv-3" checks what has been trained on "train-cv-3", or for the
 * clients of federated learning. options->ratio must be 0.
 *
 * Without `stratify`, record by record, the keyed hash decides, as it does in a split: parts are about equal,
 * and a store that grows moves no record. With it, the parts have equally many of each class: to within one,
 * where all inputs are different, and else by less than two groups of equal inputs.
 *
 * "Equal inputs" are here, as in a split, what `group` or `by` put in their place.
 *
 * With a `concentration` above 0 (0.000001 to 1000000; it is rounded to millionths), the parts have different
 * shares of each class, drawn for each class by itself from the symmetric Dirichlet distribution with that
 * concentration, and each group of equal inputs goes to a part with these chances. Below 1, most of a class is
 * in few parts; far above, shares come near to equal. Parts may come out empty. Classes are those of
 * `stratify`; NULL: of the store's only target that could be it. The draws are keyed by the seed and done in
 * whole numbers, so they are the same on every machine.
 *
 * All files are written, or an error leaves none of them (of those that were to be replaced, some may then
 * have gone). A process that is killed while files are put in their places may leave some. Needs memory of
 * parts x records / 4 bytes. Errors: those of apl_split_make().
 */
#define APL_MAX_PARTS 10000
APL_API APL_MUST_USE apl_status apl_split_parts(apl_store *store, const apl_split_options *options,
                                                unsigned parts, double concentration, apl_error *err);

/* A split file. Later versions may append members. */
typedef struct apl_split_file {
    const char *name;     /* of the part, and without ".split" of the file */
    const char *rest;     /* the rest's; NULL, as are those below, if the file cannot be used */
    const char *parent;   /* as it was named when the split was made */
    const char *source;   /* the split of the source that all of it comes from */
    const char *stratify; /* the field; NULL: by hash alone */
    double ratio;
    uint64_t seed;
    uint64_t records, rest_records;
    apl_status status;   /* APL_OK, or why the file cannot be used: APL_E_CORRUPT, APL_E_MISMATCH, ... */
    const char *message; /* the same in words; "" */
    /* Of apl_split_parts(): number of the part, number of all; 0 of 0 in a division in two. The ratio is then
     * 1 / parts. */
    unsigned part, parts;
    double concentration; /* where a Dirichlet distribution says how much of each class; else 0 */
    apl_split_by by;
    const char *group; /* of APL_BY_GROUP: the field; else NULL */
} apl_split_file;

typedef struct apl_split_list apl_split_list;

/* Lists the split files that the store's directory holds now, by name; those that cannot be used too. */
APL_API APL_MUST_USE apl_status apl_split_list_open(apl_store *store, apl_split_list **list, apl_error *err);
APL_API void apl_split_list_close(apl_split_list *list);

/* File `i` of the list; NULL if there is none. It lives as long as the list. */
APL_API const apl_split_file *apl_split_list_file(const apl_split_list *list, size_t i);

/* The ids of any split, by its name, ascending: *count of them, into ids[0 ... *count-1]. With `ids` NULL or
 * *count too small, only sets *count (APL_E_INVALID if too small). */
APL_API APL_MUST_USE apl_status apl_split_ids(apl_store *store, const char *name, uint64_t *ids,
                                              uint64_t *count, apl_error *err);

/* How many records of any split, by its name, have each class of a field: counts[0 ... class_count-1].
 * APL_E_INVALID where the field has no classes. */
APL_API APL_MUST_USE apl_status apl_split_class_counts(apl_store *store, const char *name, unsigned field,
                                                       uint64_t *counts, apl_error *err);

/* Divides the records anew by the rule that the file of the split `name` states, and compares: APL_E_CORRUPT
 * if a record is on the wrong side. APL_E_MISMATCH if the parent has been made anew since, and so holds other
 * records than those that the split divides; a parent that has been removed is no matter. */
APL_API APL_MUST_USE apl_status apl_split_verify(apl_store *store, const char *name, unsigned threads,
                                                 apl_error *err);

/* ------------------------------------------------------------------------------- transforming pictures */

typedef enum apl_layout { APL_NCHW = 0, APL_NHWC = 1 } apl_layout;
typedef enum apl_pad { APL_PAD_ZERO = 0, APL_PAD_REFLECT = 1 } apl_pad;
typedef enum apl_flip {
    APL_FLIP_NONE = 0,
    APL_FLIP_RANDOM = 1,     /* left and right, with probability one half, anew each epoch */
    APL_FLIP_ALTERNATING = 2 /* one half of the records in even epochs, the other half in odd ones */
} apl_flip;
typedef enum apl_scale {
    APL_SCALE_UNIT = 0,      /* floating-point results: v / 255 */
    APL_SCALE_NORMALISE = 1, /* (v - mean) / deviation, of each channel */
    APL_SCALE_NONE = 2       /* v as it is */
} apl_scale;

#define APL_MAX_CHANNELS 16

/*
 * What is done to the pictures of a u8 field of shape {C, H, W} on their way into a batch, in this order: pad
 * on all sides, crop, flip, cut out, scale, convert. Randomness is keyed by seed, epoch, record and copy: a
 * record is augmented the same way in whatever batch, thread or rank it comes. Start from APL_TRANSFORM_INIT.
 */
typedef struct apl_transform {
    size_t size;       /* sizeof(apl_transform) */
    const char *field; /* NULL: the one field that is a picture */
    unsigned pad;      /* pixels */
    apl_pad pad_mode;
    unsigned crop_height, crop_width; /* 0: as stored */
    int crop_centre;                  /* 1: from the middle; 0: from a random place */
    apl_flip flip;
    unsigned cutout; /* side of a square at a random place, which may stick out, that becomes 0; 0: none */
    apl_scale scale;
    /* For APL_SCALE_NORMALISE, in units of stored values (0 ... 255). Where the deviation is 0, those of the
     * split "train" are taken, or of the split that is read if there is no such. */
    float mean[APL_MAX_CHANNELS], deviation[APL_MAX_CHANNELS];
    apl_dtype dtype; /* APL_F32, APL_F16, APL_BF16, or APL_U8 (also 0), which is not scaled */
    apl_layout layout;
} apl_transform;
#define APL_TRANSFORM_INIT                                                                                 \
    {                                                                                                      \
        sizeof(apl_transform), NULL, 0, APL_PAD_ZERO, 0, 0, 0, APL_FLIP_NONE, 0, APL_SCALE_UNIT, {0}, {0}, \
            (apl_dtype)0, APL_NCHW                                                                         \
    }

/*
 * Fills in what was left to defaults, as apl_reader_open() does for a reader of `split` (NULL: the first of
 * the store): the field's name, which belongs to the store; the sizes of the crop; the dtype; mean and
 * deviation, if they are needed. Likely errors: APL_E_INVALID (the message says what cannot be),
 * APL_E_NOTFOUND (field or split, or the store has no mean and deviation).
 */
APL_API APL_MUST_USE apl_status apl_transform_complete(apl_store *store, const char *split,
                                                       apl_transform *transform, apl_error *err);

/* -------------------------------------------------------------------------------- reading for training */

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
 * Threads: any number of threads may call apl_reader_next(), and release batches from anywhere. Open, close
 * and next_epoch belong to one thread at a time. Fork: in a child, every call on the parent's reader answers
 * APL_E_FORKED, and close frees nothing that a thread of the parent could hold.
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

/*
 * What an epoch delivers instead of each record once: a sample of `records` deliveries, drawn anew for each
 * epoch from seed and epoch alone, and so the same on every machine, with any number of threads and ranks. How
 * often each record comes:
 *
 *   field, replacement: each of the deliveries by itself is of class c with a probability in proportion to the
 *     weight of c, and then of any of the class's records with equal ones.
 *   no field, replacement: each of the deliveries by itself is of record r with a probability in proportion to
 *     the weight of r.
 *   field, no replacement: a class comes in proportion to its weight: so often, rounded down, and those with
 *     the largest remainders once more, so that all add up to `records` (among equal remainders chance decides,
 *     anew each epoch). Of a class of n records that comes m times, each comes m / n times, rounded down, and a
 *     uniform subset of them, anew each epoch, once more.
 *   no field, no replacement: one record after another, each with a probability in proportion to its weight
 *     among those that have not been drawn yet (successive sampling); all alike, a uniform subset. `records` is
 *     at most the number of those that have a weight.
 *
 * The order of the deliveries comes about as that of a whole epoch does: uniform, with a window that covers the
 * split. A window that does not counts deliveries; a block of which more are drawn than fit into it stands in
 * it alone. Blocks of which nothing is drawn are not read. Each of the times that a record comes is a copy, and
 * so augmented by itself.
 *
 * Weights are taken as whole numbers: multiples of less than 2^-57 of their sum (2^-59 where they are fewer
 * than 2^29), to which they are rounded. With replacement, a sample in which a record comes more than
 * 10 sqrt(m) + 40 times oftener than the largest expectation m, which has a chance below 10^-17, is drawn again.
 * What may come oftener than 65,535 times, or than 2^32 / records of the split, is refused
 * (APL_E_UNSUPPORTED). Start from APL_SAMPLING_INIT; the members are copied.
 */
typedef struct apl_sampling {
    size_t size; /* sizeof(apl_sampling) */
    /* The weights are those of the classes of this field, of one whole number a record, which is read when the
     * reader is opened; NULL: of single records. */
    const char *field;
    /* Of class 0, 1, ..., or of each record that is read in the order of ids: finite, not negative, not all 0.
     * A class without records must have 0. NULL: all that there are, alike. */
    const double *weights;
    size_t weight_count;
    int replacement;  /* 1: draws are independent */
    uint64_t records; /* deliveries in an epoch, below 2^32 - 1; 0: as many as there are records to be read */
} apl_sampling;
#define APL_SAMPLING_INIT                         \
    {                                             \
        sizeof(apl_sampling), NULL, NULL, 0, 0, 0 \
    }

/* A store to be read together with a reader's own. */
typedef struct apl_source {
    apl_store *store;  /* the reader keeps it alive, as it does its own */
    const char *split; /* its name; NULL: the first of the store */
    double weight; /* how often its records are delivered in relation to those of others: see mix; 0: none */
} apl_source;

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
     * over keeps decoded blocks for the next epoch, those that it needs first. */
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
     * may not call its reader (APL_E_REENTRANT). */
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
 * timeout_ms; the message names the block that is waited for; the next call goes on waiting),
 * APL_E_CANCELLED, APL_E_FORKED, APL_E_REENTRANT.
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

/* Ends the threads and frees the reader, within a second; what a thread that is stuck in a read still holds
 * is freed when it comes back. Batches that are lent stay valid until they are released. */
APL_API void apl_reader_close(apl_reader *reader);

/* Of a reader's batch: its epoch; the position of its first row in the epoch's order; the ids of rows that
 * were left out because their block is corrupt; which of its `reuse` copies, from 0, each row is (NULL for a
 * batch of another origin). */
APL_API uint64_t apl_batch_epoch(const apl_batch *batch);
APL_API uint64_t apl_batch_position(const apl_batch *batch);
APL_API const uint64_t *apl_batch_skipped(const apl_batch *batch, size_t *count);
APL_API const uint32_t *apl_batch_copies(const apl_batch *batch);

/*
 * The records of a split (NULL: the first of the store) whose value of a field is wanted: those for which keep() does not
 * answer 0. It is called on this thread for one record after another, in the order of ids, with the `bytes` of the value as
 * a batch has it, aligned as its dtype is. Reads this one field of all the split. The ids, ascending, are *count, into
 * ids[0 ... *count-1], such as for apl_reader_options.ids. With `ids` NULL or *count too small, only sets *count
 * (APL_E_INVALID if too small); what the split has (see apl_split_ids()) is always enough.
 * Likely errors: APL_E_NOTFOUND (split or field), APL_E_CORRUPT (the message names member and block).
 */
APL_API APL_MUST_USE apl_status apl_store_where(apl_store *store, const char *split, const char *field,
                                                int (*keep)(void *user, uint64_t id, const void *value,
                                                            size_t bytes),
                                                void *user, uint64_t *ids, uint64_t *count, apl_error *err);

/* Where crop, flip and square of one record fall. */
typedef struct apl_placement {
    int32_t top, left;         /* of the crop in the padded picture */
    int32_t flip;              /* 1: left and right of the crop change places */
    int32_t cut_top, cut_left; /* of the square in the result; it may stick out on any side */
} apl_placement;

/*
 * What a reader of this seed does to the rows of its batch by the transform, so that other code (on a device,
 * where the pictures lie) can do the same: placements[0 ... rows-1]. The batch need not hold the pictures.
 * Done like this, the results are equal to those of the reader, bit by bit:
 *
 *   - pad all sides with 0, or with reflections that do not repeat the edge; take the crop; flip it;
 *   - u8: the values are the result. f32: v * a + b, in float, rounded after either step; a is 1/255 and b is
 *     0 (APL_SCALE_UNIT), or a is 1/deviation and b is -mean/deviation (APL_SCALE_NORMALISE), or a is 1 and b
 *     is 0. f16 and bf16: that, rounded to nearest even;
 *   - set to 0 what the square of side `cutout` covers in the result.
 *
 * What is not random has its fixed place: the crop in the middle (rounded to the top left), no flip, and
 * without cutout a square outside. Likely errors: APL_E_INVALID (no batch of a reader, or as
 * apl_reader_open() says of a transform), APL_E_NOTFOUND (the field).
 */
APL_API APL_MUST_USE apl_status apl_batch_placements(const apl_store *store, const apl_transform *transform,
                                                     uint64_t seed, const apl_batch *batch,
                                                     apl_placement *placements, apl_error *err);

/*
 * Where the reader stands after the last batch that was handed out, in *size bytes: with `state` NULL or
 * *size too small, only sets *size (APL_E_INVALID if too small). Another reader that is opened with it goes
 * on with the very next batch, also with other threads, batch size, world or transforms; it refuses
 * (APL_E_MISMATCH) a state of another store, split, seed, order, window, number of bins, lanes, reuse, sampling, ids
 * or mix.
 */
#define APL_STATE_BYTES 96 /* of strict order; free order adds a bit for each delivery of an epoch */
APL_API APL_MUST_USE apl_status apl_reader_state(apl_reader *reader, void *state, size_t *size,
                                                 apl_error *err);

/*
 * What became of the deliveries first ... last-1 of an epoch. Receipts of all ranks, and of parts that follow
 * each other, add up: delivered + skipped over all of them is last - first, or else something is missing or
 * repeated.
 */
typedef struct apl_receipt {
    uint64_t epoch;
    uint64_t first, last;
    uint64_t delivered; /* handed out by this reader */
    uint64_t skipped;   /* left out of its batches because their block is corrupt */
    uint64_t dropped;   /* after last, left over because of drop_last; all ranks see the same */
    uint64_t missing;   /* of this reader's share, neither delivered nor skipped: always 0 */
    uint64_t repeated;  /* handed out more often than they should be: always 0 */
    /* Sum modulo 2^128 (low half, high half) of keyed hashes of (id, copy) of what was delivered. */
    uint64_t sum[2];
} apl_receipt;

/* The receipt of the current epoch up to now. `size` is sizeof(apl_receipt). */
APL_API APL_MUST_USE apl_status apl_reader_receipt(apl_reader *reader, apl_receipt *receipt, size_t size,
                                                   apl_error *err);

/* Where the time went, since the reader was opened. Times are in seconds, summed over threads unless said
 * otherwise. */
typedef struct apl_stats {
    double elapsed;            /* since open */
    uint64_t batches, records; /* handed out */
    uint64_t blocks;           /* loaded */
    double wait;               /* of callers in apl_reader_next(), also in vain */
    double wait_mean, wait_p50, wait_p99, wait_p999, wait_max; /* of one call */
    double stall;       /* wait / elapsed: of one caller, the fraction of the time that it waited */
    double first_batch; /* from open until the first batch was handed out */
    double loading, assembling, planning, blocked; /* blocked: threads that had nothing to do */
    uint64_t bytes_read, bytes_decoded, bytes_assembled;
    uint64_t memory, memory_budget;
    double cpu; /* of the process, user and system */
    /* queued: finished batches that wait (see queue_depth); lent: batches that the caller holds */
    unsigned queued, lent, standing_slots, slots;
} apl_stats;

/* Fills *stats. `size` is sizeof(apl_stats). */
APL_API APL_MUST_USE apl_status apl_reader_stats(apl_reader *reader, apl_stats *stats, size_t size);

/* The same as one JSON object, NUL-terminated, cut if it does not fit; returns the length that it has, as
 * snprintf does. */
APL_API size_t apl_stats_json(const apl_stats *stats, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
