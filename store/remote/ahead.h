/*
 * Ranges that are fetched before they are read. One queue for all files, served by threads, which do little but wait for the network: as many
 * as may be in flight (admission.h), but at most AHEAD_THREADS; or AHEAD_MOST_THREADS while all that they wait for together is so little
 * that the way there and back takes longer than the bytes. What has come stays until it has been read, and all of it together takes at most AHEAD_BYTES of memory (or
 * APL_REMOTE_AHEAD). After fork() a child begins with none.
 */
#ifndef AHEAD_H
#define AHEAD_H

#include "fetch.h"

#define AHEAD_THREADS      32u
#define AHEAD_MOST_THREADS 128u
#define AHEAD_FLIGHT       ((size_t)8 << 20) /* bytes on their way that keep any link busy */
#define AHEAD_BYTES        ((size_t)128 << 20)
#define AHEAD_PIECES       64u

struct extent {
    uint64_t offset;
    size_t n;
};

/* The ranges of one file. */
struct ahead {
    void *owner;                 /* it is kept as long as a thread is at one of its ranges */
    bool (*retain)(void *owner); /* false: it is being freed */
    void (*release)(void *owner);
    /* Gets a range, in which these pieces were asked for, the last first; at most AHEAD_PIECES of them are told. */
    apl_status (*fetch)(void *owner, const struct extent *range, const struct extent *pieces, unsigned count,
                        uint8_t *to, apl_error *err);
    atomic_bool stopped;
};

enum ahead_asked {
    ASK_LATER, /* there are too many, or there is no memory */
    ASKED,
    ASKED_BEFORE
};

/* Asks for some ranges, each of which is to be read as it is asked for; tells of the first. Neighbours are fetched together. `late`:
 * others may be needed sooner, and find room where these do not. */
enum ahead_asked ahead_add(struct ahead *a, const struct extent *pieces, unsigned count, bool late);

/* Has a thread of the room's call run(what), which may wait for the network. False: out of memory, and it is not called. */
bool ahead_call(void (*run)(void *what), void *what);

/* Copies the range, if it was asked for ahead, waiting for it if it is on its way. *found: it was, and the status is that of the
 * fetching. `peek`: it is to be read once more. */
apl_status ahead_take(struct ahead *a, uint64_t offset, uint8_t *to, size_t n, bool peek, bool *found,
                      apl_error *err);

/* Forgets what has come of the range, or all. What is on its way is forgotten when it comes. */
void ahead_forget(struct ahead *a, uint64_t offset, uint64_t n);

#endif
