/* apl/status.h - what calls answer, and why; part of apl.h, where the rules stand. */
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
    APL_E_CANCELLED = 13,   /* the caller's callback asked to stop; a reader was cancelled or closed */
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
 * Makes foreign text, such as the name of a class, safe to print: copies text[0 ... length-1] to out[0 ... size-1] and
 * ends it with a NUL. Escaped as \xNN, byte by byte, are what is not UTF-8, control characters (also C1), separators of
 * lines and paragraphs, and what has no width or turns the direction of text, such as U+200B and U+202E. What does not
 * fit is cut, with "..." where there is room for it. Returns out. The messages of apl_error are safe already.
 */
APL_API char *apl_printable(char *out, size_t size, const char *text, size_t length);

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

/* How many cores this process may use, by its affinity mask; at least 1. It is what "one per core" means wherever an option says so:
 * where a program has the choice, it should count as the library does. */
APL_API unsigned apl_cores(void);

#ifdef __cplusplus
}
#endif
#endif
