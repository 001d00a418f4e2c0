/*
 * A bounds-checked cursor, on which every parser stands, and its counterpart that writes.
 *
 * Reading past the end never happens: the read gives zero, the cursor is marked as failed and stays at its
 * end, so that a parser may read a whole structure and ask once, with cursor_ok(), whether all of it was
 * there.
 *
 * A cursor over memory has no `more`. A cursor over a stream has one that fetches what is to come.
 */
#ifndef BYTES_H
#define BYTES_H

#include "apl.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Values lie in stores as little-endian machines have them; this machine is not one."
#endif

struct cursor {
    const uint8_t *at, *end; /* what can be read without asking for more */
    uint64_t base;           /* bytes of the stream before `at`'s buffer began; see cursor_offset */
    const uint8_t *begin;
    bool failed;
    /* Makes at least `need` contiguous bytes available at `at`, moving what is left of the buffer if it must;
     * false at the end of the stream or on an error, which the stream keeps. */
    bool (*more)(struct cursor *c, size_t need);
    void *stream;
};

static inline struct cursor cursor_over(const void *data, size_t size)
{
    const uint8_t *p = data;
    return (struct cursor){.at = p, .end = size ? p + size : p, .begin = p};
}

static inline bool cursor_ok(const struct cursor *c)
{
    return !c->failed;
}

/* Bytes read so far, from the beginning of the stream. */
static inline uint64_t cursor_offset(const struct cursor *c)
{
    return c->base + (uint64_t)(c->at - c->begin);
}

/* Bytes that can be read without asking for more: of memory, all that is left. */
static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* The next n bytes, valid until the next read; NULL, and the cursor failed, if they are not there. */
static inline const uint8_t *cursor_take(struct cursor *c, size_t n)
{
    if (c->failed || (cursor_left(c) < n && !(c->more && c->more(c, n)))) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *p = c->at;
    c->at += n;
    return p;
}

/* True if the end has been reached. */
static inline bool cursor_at_end(struct cursor *c)
{
    return !c->failed && c->at == c->end && !(c->more && c->more(c, 1));
}

static inline uint64_t load_le(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

static inline void store_le(uint8_t *p, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static inline uint64_t cursor_le(struct cursor *c, unsigned bytes)
{
    const uint8_t *p = cursor_take(c, bytes);
    return p ? load_le(p, bytes) : 0;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
    return (uint8_t)cursor_le(c, 1);
}

static inline uint16_t cursor_u16(struct cursor *c)
{
    return (uint16_t)cursor_le(c, 2);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
    return (uint32_t)cursor_le(c, 4);
}

static inline uint64_t cursor_u64(struct cursor *c)
{
    return cursor_le(c, 8);
}

static inline uint32_t cursor_u32be(struct cursor *c)
{
    const uint8_t *p = cursor_take(c, 4);
    return p ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] : 0;
}

/* A buffer that grows as it is written to. Running out of memory marks it as failed; ask once, at the
 * end. */
struct buffer {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
};

static inline bool buffer_reserve(struct buffer *b, size_t more)
{
    if (b->failed || more > SIZE_MAX / 2 - b->size) {
        b->failed = true;
        return false;
    }
    if (b->capacity - b->size >= more)
        return true;
    size_t capacity = b->capacity ? b->capacity : 256;
    while (capacity < b->size + more)
        capacity *= 2;
    uint8_t *data = realloc(b->data, capacity);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}

static inline void buffer_put(struct buffer *b, const void *data, size_t size)
{
    if (size == 0 || !buffer_reserve(b, size))
        return;
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void buffer_le(struct buffer *b, uint64_t v, unsigned bytes)
{
    uint8_t p[8];
    store_le(p, v, bytes);
    buffer_put(b, p, bytes);
}

static inline void buffer_free(struct buffer *b)
{
    free(b->data);
    *b = (struct buffer){0};
}

#endif
