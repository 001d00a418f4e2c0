/* apl/status.h - status codes and errors; part of apl.h, which states the general rules. */
#ifndef APL_STATUS_H
#define APL_STATUS_H

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

/* The result of a call. The meaning of a number never changes. */
typedef enum apl_status {
    APL_OK = 0,
    APL_END = 1,            /* not an error: there is nothing more to read */
    APL_E_INVALID = 2,      /* an argument is wrong, or the call came at the wrong time */
    APL_E_NOMEM = 3,        /* out of memory */
    APL_E_IO = 4,           /* the system could not open, read or write; see sys_errno */
    APL_E_NOSPACE = 5,      /* the file system or a quota is full */
    APL_E_EXISTS = 6,       /* the store exists, and replacing it was not requested */
    APL_E_NOTFOUND = 7,     /* no such store, record, field, split or member */
    APL_E_BUSY = 8,         /* another writer has this store open, in this or another process */
    APL_E_CORRUPT = 9,      /* the stored bytes are not the ones that were written */
    APL_E_VERSION = 10,     /* the library does not know this store's format */
    APL_E_SOURCE = 11,      /* the source of an ingest is damaged or not as expected */
    APL_E_INCOMPLETE = 12,  /* the source of an ingest ends early, or lacks members or rows */
    APL_E_CANCELLED = 13,   /* the caller's callback asked to stop; a reader was cancelled or closed */
    APL_E_UNSUPPORTED = 14, /* understood, but not available in this build or on this machine */
    APL_E_MISMATCH = 15,    /* the store, or a saved state, is not the expected one */
    APL_E_TIMEOUT = 16,     /* the time limit has passed */
    APL_E_LENT = 17,        /* the caller holds too many batches */
    APL_E_FORKED = 18,      /* the reader, writer or server belongs to the parent process */
    APL_E_REENTRANT = 19    /* called from the reader's own callback */
} apl_status;

/* A status as text, such as "stored bytes are not what was written". Never NULL; static. */
APL_API const char *apl_status_text(apl_status status);

/*
 * Makes untrusted text, such as the name of a class, safe to print: copies text[0 ... length-1] to out[0 ... size-1]
 * and appends a NUL. Escapes as \xNN, byte by byte, invalid UTF-8, control characters (C1 included), line and paragraph
 * separators, and characters that have no width or change the direction of text, such as U+200B and U+202E; but not the
 * joiners U+200C and U+200D within Persian, Hindi, emoji and the like (docs/FORMAT.md has the rule). Text that does not
 * fit is truncated, with "..." where there is room for it. Returns out. The messages of apl_error are already safe.
 */
APL_API char *apl_printable(char *out, size_t size, const char *text, size_t length);

/*
 * The details of a failure, in memory that the caller owns; needs no initialisation. It concerns the records with the
 * ids first_record ... first_record+records-1: those of a block that is corrupt or still being waited for (the first of
 * several; apl_store_verify() reports each), those of a set's shard that is missing or has been replaced, or the one
 * that does not exist. Where no ids apply, as when a file cannot be opened, records is 0.
 */
typedef struct apl_error {
    apl_status status;
    int sys_errno; /* errno of the system call that failed, or 0 */
    uint64_t first_record, records;
    char message[488]; /* one line, without a newline */
} apl_error;

/*
 * The number of cores this process may use, by its affinity mask and by the CPU quota of its control group (rounded
 * up, and read once), such as a container's; at least 1. Programs that pick a number of threads themselves should use
 * it too.
 *
 * All `threads` options mean the same: 0 is one per core, as counted here (for a reader, one fewer if there is more
 * than one core); APL_NO_THREADS starts no thread, and the calling thread does the work.
 */
APL_API unsigned apl_cores(void);
#define APL_NO_THREADS ((unsigned)-1)

#ifdef __cplusplus
}
#endif
#endif
