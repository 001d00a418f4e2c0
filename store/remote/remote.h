/*
 * A file elsewhere, open for reading by ranges. Any thread may call, also after fork(). What is asked for ahead is fetched by threads
 * of this room's, many at a time, and is held in memory until it is read.
 */
#ifndef REMOTE_H
#define REMOTE_H

#include "bytes.h"
#include "origin.h"

struct remote;

/* What the caller has chosen; zeros mean defaults, or what the environment says. */
struct remote_options {
    const struct transport *transport; /* NULL: libcurl's */
    bool plain;                        /* http:// to any host; or APL_ALLOW_HTTP=1 */
    uint64_t timeout_ms;               /* of a range; or APL_REMOTE_TIMEOUT, in seconds */
    unsigned requests;                 /* in flight to its server: see admission_limit() */
    struct origin *origin;             /* NULL: one of its own, without a cache */
};

/* How a range is needed. */
struct need {
    bool late; /* others may be needed sooner: see ahead_add() */
    uint64_t
        again; /* when it is needed after that, by the clock of the cache; or DUE_UNKNOWN, or DUE_NEVER */
};

/* Takes the URL over, also on failure. APL_E_NOTFOUND if there is nothing. The error names the URL as it may be shown. */
apl_status remote_open(struct url *url, const struct remote_options *options, struct remote **remote,
                       apl_error *err);

struct remote *remote_retain(struct remote *remote);
void remote_release(struct remote *remote);

/* Nobody waits any longer for what is on its way, and requests may be cut off. */
void remote_stop(struct remote *remote);

uint64_t remote_size(const struct remote *remote);

/* What identifies this object, and this version of it, as far as the server says. */
uint64_t remote_identity(const struct remote *remote);

/* Bytes offset ... offset+n-1, which it has: those that have been fetched ahead, or waited for, or fetched now. */
apl_status remote_read(struct remote *remote, uint64_t offset, uint8_t *to, size_t n, apl_error *err);

/* Says that ranges will be read soon, each as a whole: those that are not in the cache are fetched as soon as those before them are on
 * their way, neighbours together. Returned is what ahead_add() says. */
#define REMOTE_PIECES 66u /* at most */
enum ahead_asked remote_ahead(struct remote *remote, const struct extent *pieces, unsigned count,
                              struct need need);

/* Waits for a range that has been asked for, and copies it; it is still to be read. False: it has not come, or has been read. */
bool remote_peek(struct remote *remote, uint64_t offset, uint8_t *to, size_t n);

/* Has a thread that waits for the network call run(what). False: out of memory. */
bool remote_call(void (*run)(void *what), void *what);

/* What is held of the range is wrong. */
void remote_forget(struct remote *remote, uint64_t offset, size_t n);

/* All of a small file, at most `most` bytes, into `bytes`. Of what the cache has of it, if it is still the same file, only the beginning is
 * fetched; with `refetch` it is fetched again, since it was wrong. */
apl_status remote_take_file(struct url *url, const struct remote_options *options, size_t most, bool refetch,
                            struct buffer *bytes, apl_error *err);

#endif
