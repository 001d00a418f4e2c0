/*
 * How much memory a compressed stream asks for: the windows that the headers in it demand, of each block of an xz stream and each frame
 * of zstd. The headers are found by the lengths of what lies between, without decompressing.
 */
#ifndef PACKED_WINDOW_H
#define PACKED_WINDOW_H

#include "unfilter.h"

#include <stdbool.h>

#define PACKED_WINDOW_MOST (UINT64_C(128) << 20) /* bytes: that of zstd --long=27, and twice that of xz -9 */

/* From {.kind = ...} on. */
struct packed_window {
    enum unfilter_kind kind;
    uint64_t most; /* bytes: the largest window demanded so far */

    /* where the stream stands */
    int place;            /* what comes next, */
    uint8_t head[1024];   /* of which these bytes are there, */
    unsigned have, need;  /* of those needed */
    uint64_t skip;        /* bytes to pass over before that */
    uint64_t packed;      /* xz: of the block */
    uint64_t left;        /* xz: numbers of the index */
    unsigned check_bytes; /* behind a block, or a frame */
    bool last;            /* zstd: no block follows */
};

/* Looks at the next bytes of the stream. Of damaged ones it sees as much as their decompressor can. */
void packed_window_see(struct packed_window *w, const uint8_t *data, size_t size);

/* Does the stream stand between two streams or frames? */
bool packed_window_at_end(const struct packed_window *w);

#endif
