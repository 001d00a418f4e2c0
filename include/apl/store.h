/* apl/store.h - stores: what is in them, their records, checking them; part of apl.h, where the rules stand. */
#ifndef APL_STORE_H
#define APL_STORE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    const char *const *classes;  /* names of the values 0 ... class_count-1 of a target, or NULL; no other
                                    value is ever handed out: its block is corrupt */
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

#ifdef __cplusplus
}
#endif
#endif
