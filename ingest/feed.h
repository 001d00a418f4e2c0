/* A cursor over bytes that come in blocks: it is shown each block as it is where that will do, and a copy where a read straddles
 * two. */
#ifndef FEED_H
#define FEED_H

#include "bytes.h"
#include "status.h"

/* More than this cannot be taken from a cursor at once. */
#define FEED_TAKE_MAX (4u << 20)

/* All members but these are the feed's own; a feed of zeros gives nothing, and must not be moved once it has begun. */
struct feed {
    struct cursor cursor;
    const char *name; /* for messages, safe to print */
    /* The next block, valid until the next call; APL_END after the last. */
    apl_status (*fetch)(void *user, const uint8_t **data, size_t *size, apl_error *err);
    void *user;

    bool open;           /* the end has not been seen */
    const uint8_t *rest; /* what the cursor has not been shown yet of the block that was fetched last */
    size_t rest_size;
    uint8_t *stitch; /* holds reads that straddle blocks */
    size_t stitch_size;
    apl_error failure; /* the first one; nothing is read after it */
};

/* Begins with the first block of what fetch() gives from now on. */
void feed_begin(struct feed *feed);

/* Fetches all that is left, and forgets it. */
void feed_drain(struct feed *feed);

/* Keeps the first failure, so that every later call gives it again; returns `status`. */
apl_status feed_keep(struct feed *feed, apl_status status, const apl_error *why);

/* Why the cursor has failed; APL_OK if there are simply no more bytes. */
apl_status feed_failure(const struct feed *feed, apl_error *err);

void feed_free(struct feed *feed);

#endif
