/* apl/store.h - open, describe, read and verify stores; part of apl.h, which states the general rules. */
#ifndef APL_STORE_H
#define APL_STORE_H

#include "kind.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- schema */

#define APL_MAX_FIELDS 64          /* fields a schema may have */
#define APL_MAX_DIMS   8           /* dimensions a field may have */
#define APL_MAX_VALUE  (64u << 20) /* bytes in one value */
#define APL_MAX_BLOCK  65536       /* records in one block */

/* The type of a field's elements. The numbers are written to stores and never change. */
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
    /* Text: elements are bytes, without a terminating NUL, in a last dimension of -1; writers refuse what is not UTF-8. The
     * shape {-1} is one text; {-1, -1}, or {3, -1}, a list of texts, as NumPy's "S" has them: each has as many bytes as
     * the longest, and is filled up with NULs, which no text of a list has in it. */
    APL_UTF8 = 14
} apl_dtype;

/* The size of one element in bytes; 0 for a number that is not a dtype. */
APL_API size_t apl_dtype_size(apl_dtype dtype);

/* "u8", "f32", "utf8", ...; "?" for a number that is not a dtype. Static. */
APL_API const char *apl_dtype_name(apl_dtype dtype);

/* The role of a field. Splits by content look at inputs only; digests look at inputs and targets. Neither looks at
 * names. */
typedef enum apl_role { APL_INPUT = 1, APL_TARGET = 2, APL_NAME = 3, APL_POSITION = 4 } apl_role;

/* A field of a store. Fields are in schema order. Later versions may append members. */
typedef struct apl_field {
    const char *name;
    apl_dtype dtype;
    apl_role role;
    unsigned ndim;               /* 0: scalar */
    int64_t shape[APL_MAX_DIMS]; /* -1: varies from record to record */
    size_t value_bytes;          /* size of one value; 0 if the shape varies */
    /* The names of the values 0 ... class_count-1 of a target, or NULL. No other value is ever handed out: a block that
     * holds one is corrupt. */
    const char *const *classes;
    uint64_t class_count;
    const char *codec;     /* "picture", "zstd", ... as chosen when the store was made */
    int level;             /* compression level of that codec */
    uint64_t raw_bytes;    /* size of all values, decoded */
    uint64_t stored_bytes; /* size of all values, as stored */
    uint8_t digest[32];    /* SHA-256 over all values in id order, as docs/FORMAT.md defines it */
    /* The media type of a kept field, such as "image/jpeg": each value is a file, byte for byte as it came. NULL: the
     * field is not kept. */
    const char *media;
    /* How many values of a kept field are stored as indexed JPEG images, of which parts can be decoded alone. Reading
     * such a value still returns the file, byte for byte as it came. */
    uint64_t indexed;
    /* What it is; NULL: nobody has said. Stores of versions before 1.6 have no kinds. */
    const apl_kind *kind;
} apl_field;

/* A split of the source, a named subset of the records: the ids first ... first+count-1. */
typedef struct apl_split {
    const char *name;
    uint64_t first, count;
} apl_split;

/*
 * A part of the source, such as one file of an archive. `first` and `count` are source positions. In an unshuffled
 * store these are the ids; in a shuffled one, they are the values of the position field (see apl_info.shuffled).
 */
typedef struct apl_member {
    const char *name;
    const char *split;
    uint64_t first, count;
    uint32_t number; /* given by the writer: members are sorted by it */
} apl_member;

/* A store's description. Later versions may append members. */
typedef struct apl_info {
    uint64_t records;
    unsigned fields, splits, members;
    uint32_t block_records; /* records in a full block */
    uint64_t blocks;
    uint64_t raw_bytes;  /* size of all values of all fields, decoded */
    uint64_t file_bytes; /* size of data.mdb */
    unsigned format_major, format_minor;
    const char *tool;          /* the program that wrote the store, such as "apldata 0.1.0" */
    const char *source_format; /* such as "cifar-10-binary"; "" if the writer gave none */
    int has_source_digest;
    uint8_t source_digest[32]; /* SHA-256 of the source as it was read */
    /* Covers the input and target fields; independent of codec, block size and source format. */
    uint8_t content_digest[32];
    /* 1: ids are in a keyed random order, and a field marked APL_POSITION holds each record's source position */
    int shuffled;
    uint64_t shuffle_seed;
    uint64_t skipped; /* bad files of the source that were left out; see apl_store_skipped() */
    unsigned shards;  /* of a set, see apl/set.h; 0: not a set */
    /* 1: the store holds a SHA-256 of each block, a set those of its shards, and `digest` covers them and all else that it
     * says: see apl_store_options.expected_digest. 0: it was written before format 1.6. */
    int has_digest;
    uint8_t digest[32];
} apl_info;

/* ---------------------------------------------------------------------------------------------- stores */

typedef struct apl_store apl_store;

/* How a store's file is read. Mapping is fastest. But if the file is truncated, or the disk or network beneath it
 * fails, a mapped file kills the process (SIGBUS), where reading returns an error. */
typedef enum apl_io {
    /* Map, but read on network file systems and FUSE. APL_IO=read or APL_IO=map in the environment overrides this;
     * anything else there is APL_E_INVALID. */
    APL_IO_AUTO = 0,
    APL_IO_MAP = 1,
    APL_IO_READ = 2
} apl_io;

/* Zeros mean defaults. Start from APL_STORE_OPTIONS_INIT. */
typedef struct apl_store_options {
    size_t size; /* sizeof(apl_store_options) */
    /* 32 bytes: refuse (APL_E_MISMATCH) a store that says that it has any other content digest. A set that has grown is
     * opened by the list that has this one, if it has been kept. NULL: accept any store. This tells stores apart; it does
     * not protect against a store that lies: only apl_store_verify() compares what a store says with what it holds. */
    const uint8_t *expected_content;
    /* Where split files are read and written (see apl_split_make()), for instance for a store on a read-only disk.
     * NULL: the store's own directory. */
    const char *split_directory;
    apl_io io;            /* how the file is read */
    unsigned open_shards; /* for sets: shards kept open at once, besides those in use; 0: 256 */
    /* For URLs: transient failures of a request are retried for this many seconds; 0: $APL_REMOTE_TIMEOUT, or 120. */
    unsigned remote_timeout_s;
    int plain_http; /* 1: allow http:// to any host, not just to this machine; so does APL_ALLOW_HTTP=1 */
    /* For URLs: a directory that caches parts of what is read (created if necessary), and the most bytes that it may
     * hold in all. NULL: $APL_CACHE, or no cache. 0: $APL_CACHE_BUDGET (bytes, or with K, M, G or T), or nine tenths
     * of what is free on its disk. Ignored for stores that are not at a URL. See "Caches" in docs/SCALE.md. */
    const char *cache;
    uint64_t cache_budget;
    /* For URLs: the most requests that this user's processes on this machine, which share $XDG_RUNTIME_DIR, have in
     * flight to the server at once, 1 ... 1024; without that directory, this process. Fewer are in flight where more
     * would only wait. 0: $APL_REMOTE_REQUESTS, or 256, of which 128 for one process. Of several stores of a server,
     * the one that was opened last decides. See "Stores at URLs" in docs/SCALE.md. */
    unsigned requests;
    /* 32 bytes, from somebody you trust: apl_info.digest. Refuse (APL_E_MISMATCH) a store with any other digest, or with
     * none, and each block with other bytes than it had when the store was sealed: as corrupt (APL_E_CORRUPT), before
     * anything of it is used, wherever it comes from. Blocks are then read as a whole, into memory, and hashed; see
     * "Pinned stores" in docs/API.md for what that costs. Split files are not covered. NULL: do not. */
    const uint8_t *expected_digest;
} apl_store_options;
#define APL_STORE_OPTIONS_INIT                                                        \
    {                                                                                 \
        sizeof(apl_store_options), NULL, NULL, APL_IO_AUTO, 0, 0, 0, NULL, 0, 0, NULL \
    }

/*
 * Opens the store in the directory `path`, or at a URL, for reading. Writes nothing, takes no lock and needs only read
 * permission. If the store is replaced, the handle keeps reading the old one. `options` may be NULL.
 *
 * A URL is https://, s3:// (with credentials and endpoint from where the AWS tools take them), file://, or http:// to
 * this machine. It is read by range requests. Transient failures are retried for remote_timeout_s; after that, or if
 * access is denied, the status is APL_E_IO. Builds without libcurl return APL_E_UNSUPPORTED. If the object is
 * replaced while the store is open, reads return APL_E_MISMATCH.
 *
 * Likely errors: APL_E_NOTFOUND, APL_E_CORRUPT, APL_E_VERSION, APL_E_MISMATCH, APL_E_IO, APL_E_INVALID.
 */
APL_API APL_MUST_USE apl_status apl_store_open(const char *path, const apl_store_options *options,
                                               apl_store **store, apl_error *err);

/*
 * Sets a function that the library calls while requests to a URL keep failing, after 3 s of the usual 120 and then at
 * most once a minute. `line` is safe to print: it names the URL without its query and passwords, the last failure, and
 * how many seconds are left. Calls come from any thread, also after fork(). The setting is for the whole process: make
 * it before stores are opened. NULL, the default: no calls.
 */
APL_API void apl_on_retry(void (*tell)(void *user, const char *line), void *user);

/* Closes the store. Its batches stay valid; its descriptions (apl_info, apl_field, ...) do not. */
APL_API void apl_store_close(apl_store *store);

/* The store's description. Never NULL for an open store. */
APL_API const apl_info *apl_store_info(const apl_store *store);

/* Field, split or member `i` of the store; NULL if `i` is out of range. */
APL_API const apl_field *apl_store_field(const apl_store *store, unsigned i);
APL_API const apl_split *apl_store_split(const apl_store *store, unsigned i);
APL_API const apl_member *apl_store_member(const apl_store *store, unsigned i);

/* The block that holds record `id`: its records are *first ... *first + *count - 1. APL_E_NOTFOUND: no such record. */
APL_API APL_MUST_USE apl_status apl_store_block(const apl_store *store, uint64_t id, uint64_t *first,
                                                uint64_t *count, apl_error *err);

/*
 * File `i` of those in the source that were left out: its path, safe to print, and in *why (`why` may be NULL) what was
 * wrong with it. NULL if `i` is out of range; only the first APL_MAX_SKIPPED files are listed.
 */
#define APL_MAX_SKIPPED 10000
APL_API const char *apl_store_skipped(const apl_store *store, uint64_t i, const char **why);

/* The number of the field or split called `name`, or -1. */
APL_API int apl_store_find_field(const apl_store *store, const char *name);
APL_API int apl_store_find_split(const apl_store *store, const char *name);

/* The number of records of split `split` that have class `cls` in target field `field`; 0 if the field has no
 * classes. */
APL_API uint64_t apl_store_class_count(const apl_store *store, unsigned split, unsigned field, uint64_t cls);

/*
 * The mean and the (population) standard deviation of channel `channel` of a u8 field over the records of `split`, in
 * units of the stored values (0 ... 255). Channels are the first of three dimensions; other shapes have one channel.
 * Images of any size, u8[*,*,*] or indexed JPEG files, have three: red, green and blue. For JPEG files the figures
 * come from the coefficients; over photographs they agree with those of the decoded pixels to 0.3 % (docs/FORMAT.md,
 * PRODUCTS). Files without an index do not count, and if they are more than one in 20, there are no figures. For a set,
 * all shards are opened and combined.
 *
 * APL_E_NOTFOUND if the split, field or channel does not exist, or the store holds no moments for it: its files are not
 * indexed, or too few of the split's are, or the store was written by a version that did not record them.
 */
APL_API APL_MUST_USE apl_status apl_store_moments(const apl_store *store, unsigned split, unsigned field,
                                                  unsigned channel, double *mean, double *std);

/*
 * The same over the split "train": by what images are normalised. A store without such a split may keep the figures of the store
 * that its records were extracted from (see apl_writer_keep_moments()). APL_E_NOTFOUND: it does not.
 */
APL_API APL_MUST_USE apl_status apl_store_training_moments(const apl_store *store, unsigned field,
                                                           unsigned channel, double *mean, double *std);

/* --------------------------------------------------------------------------------------------- batches */

/* How a batch holds the values of a field of varying shape. Of APL_UTF8 always as NONE has it: text that batches are to
 * pad or pack is stored as u8 of shape {-1}. */
typedef enum apl_collate {
    /* One after another, with offsets and shapes: see apl_column. The default. */
    APL_COLLATE_NONE = 0,
    /* The same, but the values together form one array, of shape {elements of the first dimension, the other
     * dimensions}. Only the field's first dimension may vary. */
    APL_COLLATE_RAGGED = 1,
    /* Each value is padded at its end to one length along the only dimension that varies: an array of shape
     * {rows, the field's shape with that length}. */
    APL_COLLATE_PAD = 2,
    /* Values are laid end to end in the order of the epoch, then cut into rows of one length: an array of shape
     * {rows, length, the other dimensions}. Nothing is lost: what does not fit into a row continues in the next, even
     * if that is in the next batch or on another rank. Only the field's first dimension may vary. See apl_collation. */
    APL_COLLATE_PACK = 3,
    /* Each record is a graph, and those of a batch become one. Fields of nodes and of edges: the values of all records
     * together, as for RAGGED. In a record, all fields of nodes have one length, and all fields of edges another. */
    APL_COLLATE_NODES = 4,
    APL_COLLATE_EDGES = 5,
    /* Which two nodes each edge joins, as i32 or i64 of shape {2, -1} or {-1, 2}: an array of shape {2, edges}, its
     * nodes numbered as the batch's are. An edge to a node that its graph does not have is an error that names the
     * record. */
    APL_COLLATE_EDGE_INDEX = 6,
    /* Rows are not records but windows over their values, all of one length: an array of shape {rows, length, the other
     * dimensions}. Each window comes once per epoch. Only the field's first dimension may vary. See apl_collation. */
    APL_COLLATE_WINDOWS = 7
} apl_collate;

/* Some records, stored by field. The caller holds a batch until it releases it. */
typedef struct apl_batch apl_batch;

/*
 * One field of a batch. Fixed shape: data holds rows x shape elements, contiguous, in row-major order. Varying shape:
 * data holds the values of all rows one after another; row r has the elements offsets[r] ... offsets[r+1]-1 and the
 * shape shapes[r*ndim ... r*ndim+ndim-1]. data is aligned to 64 bytes. Later versions may append members.
 */
typedef struct apl_column {
    const void *data;
    size_t bytes;
    apl_dtype dtype;
    unsigned ndim;
    int64_t shape[APL_MAX_DIMS]; /* of one row; -1: varies */
    const uint64_t *offsets;     /* rows + 1 of them, in elements; NULL for a fixed shape */
    const int64_t *shapes;       /* rows x ndim; NULL for a fixed shape */
    apl_collate how;             /* how the values of a field of varying shape are held */
    /* The shape of data as one array: {rows, shape...} if all rows have one shape; otherwise as described for `how`,
     * and {elements} for APL_COLLATE_NONE. */
    unsigned dims;
    int64_t dim[APL_MAX_DIMS + 1];
} apl_column;

/* The number of rows in the batch. */
APL_API size_t apl_batch_rows(const apl_batch *batch);

/* The id of each row. */
APL_API const uint64_t *apl_batch_ids(const apl_batch *batch);

/* The column of field `field` (its number in the schema); NULL if there is no such field or it was not requested. */
APL_API const apl_column *apl_batch_column(const apl_batch *batch, unsigned field);

/* Releases the batch. May be called from any thread, even after the store has been closed. */
APL_API void apl_batch_release(apl_batch *batch);

/* Zeros mean defaults. Start from APL_GET_OPTIONS_INIT. */
typedef struct apl_get_options {
    size_t size;               /* sizeof(apl_get_options) */
    const char *const *fields; /* names of the fields to read; NULL: all */
    size_t field_count;
    unsigned threads; /* decoding threads; 0: one per core; APL_NO_THREADS: only the caller's */
} apl_get_options;
#define APL_GET_OPTIONS_INIT                \
    {                                       \
        sizeof(apl_get_options), NULL, 0, 0 \
    }

/*
 * Gets the record `id` as a batch of one row. For a kept field (see apl_field.media), only this record's value is read,
 * not its block, and it is a file: for its pixels, open a reader with `ids` and a transform.
 * Likely errors: APL_E_NOTFOUND (no such id), APL_E_CORRUPT (the message names member and block).
 */
APL_API APL_MUST_USE apl_status apl_store_get(apl_store *store, uint64_t id, apl_batch **batch,
                                              apl_error *err);

/*
 * Gets the records ids[0 ... n-1], in that order; ids may repeat. Each block is decoded once, however many of its
 * records are requested and in whatever order. Fields that are not requested are not decoded. `options` may be NULL.
 * APL_E_UNSUPPORTED: the batch takes more than 256 MiB, and more than 256 times the bytes of the store (APL_EXPANSION in
 * the environment says otherwise).
 */
APL_API APL_MUST_USE apl_status apl_store_get_batch(apl_store *store, const uint64_t *ids, size_t n,
                                                    const apl_get_options *options, apl_batch **batch,
                                                    apl_error *err);

/*
 * Finds the records of a split (NULL: the store's first) by their value of one field: those for which keep() returns
 * non-zero. keep() is called on this thread for each record in id order, with the value as a batch holds it: `bytes`
 * bytes, aligned for its dtype. Only this field is read, for the whole split.
 *
 * Writes the ids in ascending order to ids[0 ... *count-1], ready for apl_reader_options.ids. If `ids` is NULL or
 * *count is too small, only sets *count (APL_E_INVALID if it was too small). Room for the whole split (see
 * apl_split_ids()) is always enough. keep() may close the store. Likely errors: APL_E_NOTFOUND (split or field),
 * APL_E_CORRUPT (the message names member and block).
 */
APL_API APL_MUST_USE apl_status apl_store_where(apl_store *store, const char *split, const char *field,
                                                int (*keep)(void *user, uint64_t id, const void *value,
                                                            size_t bytes),
                                                void *user, uint64_t *ids, uint64_t *count, apl_error *err);

/* ------------------------------------------------------------------------------------------- verifying */

/* A block that differs from what was written. */
typedef struct apl_bad_block {
    const char *member; /* the member of the source; in a shuffled store, the split */
    uint64_t block;     /* its number within that */
    uint64_t first;     /* the block's records are the ids first ... first+count-1 */
    uint64_t count;
    const uint64_t *bad; /* the ids of those whose values cannot be trusted, ascending */
    size_t bad_count;
    const char *message; /* what is wrong */
} apl_bad_block;

/* Zeros mean defaults. Start from APL_VERIFY_OPTIONS_INIT. Callbacks come from any thread, one at a time. */
typedef struct apl_verify_options {
    size_t size;      /* sizeof(apl_verify_options) */
    unsigned threads; /* 0: one per core; APL_NO_THREADS: only the caller's */
    void *user;       /* passed to the callbacks */
    int (*progress)(void *user, uint64_t records, uint64_t of); /* non-zero: stop with APL_E_CANCELLED */
    void (*bad_block)(void *user, const apl_bad_block *block);  /* in no particular order */
} apl_verify_options;
#define APL_VERIFY_OPTIONS_INIT                         \
    {                                                   \
        sizeof(apl_verify_options), 0, NULL, NULL, NULL \
    }

/*
 * Decodes and checks every byte of the store: checksums, hashes of records, digests of fields, statistics. If anything
 * is wrong, it still checks the rest of the store, then returns APL_E_CORRUPT.
 */
APL_API APL_MUST_USE apl_status apl_store_verify(apl_store *store, const apl_verify_options *options,
                                                 apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
