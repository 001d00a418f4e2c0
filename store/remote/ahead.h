/*
 * Ranges that are fetched before they are read. One queue for all files, served by up to AHEAD_THREADS threads, which do little but wait
 * for the network; what has come stays until it has been read, and all of it together takes at most AHEAD_BYTES of memory (or
 * APL_REMOTE_AHEAD). After fork() a child begins with none.
 */
#ifndef AHEAD_H
#define AHEAD_H

#include "fetch.h"

#define AHEAD_THREADS 32u
#define AHEAD_BYTES   ((size_t)128 << 20)
#define AHEAD_JOIN    ((size_t)2 << 20) /* neighbours become one request up to here */
#define AHEAD_GAP     4096u             /* bytes between them that nobody wants */

/* The ranges of one file. */
struct ahead {
    struct object *object;
    void *owner;                 /* of the object: it is kept as long as a thread is at one of its ranges */
    bool (*retain)(void *owner); /* false: it is being freed */
    void (*release)(void *owner);
    atomic_bool stopped;
};

bool ahead_add(struct ahead *a, uint64_t offset, size_t n);

/* Has a thread of the room's call run(what), which may wait for the network. False: out of memory, and it is not called. */
bool ahead_call(void (*run)(void *what), void *what);

/* Copies the range, if it was asked for ahead, waiting for it if it is on its way. *found: it was, and the status is that of the
 * fetching. */
apl_status ahead_take(struct ahead *a, uint64_t offset, uint8_t *to, size_t n, bool *found, apl_error *err);

/* Forgets what has come of the range, or all. What is on its way is forgotten when it comes. */
void ahead_forget(struct ahead *a, uint64_t offset, uint64_t n);

#endif
