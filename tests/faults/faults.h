/* What the injector and the programs that use it share. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdatomic.h>
#include <stdint.h>

/* Kinds of calls that can be made to fail. */
enum call {
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_TRUNCATE,
    CALL_SYNC,
    CALL_RENAME,
    CALL_CLOSE,
    CALL_MAP,
    CALL_MEMORY,
    CALL_THREAD,
    CALL_OTHER,
    CALLS
};
#define CALL_NAMES                                                                                         \
    {                                                                                                      \
        "open", "read", "write", "truncate", "sync", "rename", "close", "map", "memory", "thread", "other" \
    }

/* What happens instead of a call, other than an errno. */
enum { FAULT_SHORT = 1000, FAULT_EXIT, FAULT_EXIT_TORN };

#define FAULT_EXIT_STATUS 77

/*
 * A page of memory shared by a program under test and the one that runs it, in the file that the environment
 * variable FAULT_CONTROL names. Calls of all kinds in `mask` are counted together, from 1.
 */
struct control {
    uint32_t mask;  /* bit c: kind c */
    uint32_t at;    /* the first call that fails; 0: none does */
    uint32_t every; /* 0: only that one; n: each n-th from there on */
    int32_t error;  /* an errno or FAULT_... */
    /* The program's answers. */
    atomic_uint calls[CALLS], counted, fired;
    uint32_t finished;           /* it came to its end */
    uint32_t open_files, blocks; /* descriptors and memory that it did not give back */
    char leak[160];              /* where some of that memory is from */
};

/* With FAULT_WAITS in the environment, calls fail only between faults_arm(1) and faults_arm(0), which the program makes
 * (exported by the injector); and memory only where the package of Python itself asks for it, or a library for it: the
 * interpreter does not survive without. */

/* With FAULT_TRACE, what the program does to files is appended to the file named there, in this form. */
enum trace_kind {
    TRACE_CREATE = 1,
    TRACE_MKDIR,
    TRACE_WRITE,
    TRACE_TRUNCATE,
    TRACE_SYNC,
    TRACE_RENAME,
    TRACE_UNLINK
};

struct trace {
    uint32_t kind, size; /* `size` bytes follow: data, a name, or two names, each with its NUL */
    uint64_t file;       /* inode */
    uint64_t directory;  /* inode of that in which the names are */
    uint64_t offset;     /* or the size after a truncation */
};

/* Inside the injector. */
extern int faults_waits;           /* FAULT_WAITS is set */
void faults_find_modules(void);    /* those whose memory is looked after, as far as they are loaded */
int faults_strike(enum call call); /* counts a call; what is to happen instead of it, or 0 */
void faults_exit(void);            /* ends the process at once */
void faults_note_leaks(struct control *control);
void trace_begin(void); /* between these two, no other thread changes files */
void trace_end(void);
void trace_create(int directory, const char *path, int fd);
void trace_mkdir(int directory, const char *path);
void trace_write(int fd, const void *data, uint64_t size,
                 int64_t offset); /* offset -1: before where fd stands */
void trace_truncate(int fd, uint64_t size);
void trace_sync(int fd);
void trace_rename(int from_directory, const char *from, int to_directory, const char *to);
void trace_unlink(int directory, const char *path);

#endif
