/* A cursor over bytes that come a few at a time, each time into memory of exactly their size, so that a read
 * beyond what was asked for is seen by AddressSanitizer. And a place to keep rows that a parser hands out. */
#ifndef TRICKLE_H
#define TRICKLE_H

#include "bytes.h"

struct trickle {
    const uint8_t *data;
    size_t size, at, chunk; /* chunk 0: all at once */
    uint8_t *block;
};

static inline bool trickle_more(struct cursor *c, size_t need)
{
    struct trickle *t = c->stream;
    size_t left = cursor_left(c), have = left;
    while (have < need && t->at + (have - left) < t->size) {
        size_t rest = t->size - t->at - (have - left);
        have += t->chunk && t->chunk < rest ? t->chunk : rest;
    }
    if (have < need || have == left)
        return false;
    uint8_t *block = malloc(have);
    if (!block)
        abort();
    if (left)
        memcpy(block, c->at, left);
    memcpy(block + left, t->data + t->at, have - left);
    t->at += have - left;
    c->base = cursor_offset(c);
    free(t->block);
    t->block = block;
    c->begin = c->at = block;
    c->end = block + have;
    return true;
}

static inline struct cursor trickle_over(struct trickle *t, const void *data, size_t size, size_t chunk)
{
    *t = (struct trickle){.data = data, .size = size, .chunk = chunk};
    return (struct cursor){.more = trickle_more, .stream = t};
}

#endif
