/* Cursors over memory and over streams, and buffers. */
#include "bytes.h"

#include <criterion/criterion.h>

static const uint8_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xff};

Test(bytes, little_endian)
{
    uint8_t p[8];
    for (unsigned bytes = 0; bytes <= 8; bytes++) {
        memset(p, 0xee, sizeof p);
        uint64_t v = 0x8877665544332211u;
        store_le(p, v, bytes);
        for (unsigned i = 0; i < 8; i++)
            cr_assert_eq(p[i], i < bytes ? 0x11 * (i + 1) : 0xee);
        cr_assert_eq(load_le(p, bytes), bytes == 8 ? v : v & (((uint64_t)1 << 8 * bytes) - 1));
    }
}

Test(bytes, reads_numbers)
{
    struct cursor c = cursor_over(numbers, sizeof numbers);
    cr_assert_eq(cursor_u8(&c), 1);
    cr_assert_eq(cursor_u16(&c), 0x0302);
    cr_assert_eq(cursor_u32(&c), 0x07060504);
    cr_assert_eq(cursor_offset(&c), 7);
    cr_assert_eq(cursor_u64(&c), 0x0f0e0d0c0b0a0908u);
    cr_assert_eq(cursor_left(&c), 1);
    cr_assert(!cursor_at_end(&c));
    cr_assert_eq(cursor_u8(&c), 0xff);
    cr_assert(cursor_at_end(&c) && cursor_ok(&c));
    c = cursor_over(numbers, 5);
    cr_assert_eq(cursor_u32be(&c), 0x01020304);
    cr_assert_eq(cursor_u32be(&c), 0);
    cr_assert(!cursor_ok(&c));
}

Test(bytes, reading_past_the_end_stays_failed)
{
    for (size_t size = 0; size < 8; size++) {
        struct cursor c = cursor_over(numbers, size);
        cr_assert_eq(cursor_u64(&c), 0);
        cr_assert(!cursor_ok(&c));
        cr_assert_eq(cursor_offset(&c), 0, "a read that fails takes nothing");
        cr_assert_eq(cursor_u8(&c), 0, "not even what is there");
        cr_assert_null(cursor_take(&c, 0));
        cr_assert(!cursor_at_end(&c), "a failure is no end");
    }
    struct cursor c = cursor_over(numbers, sizeof numbers);
    cr_assert_null(cursor_take(&c, SIZE_MAX));
    cr_assert(!cursor_ok(&c));
}

Test(bytes, nothing_can_be_taken_of_nothing)
{
    struct cursor none = cursor_over(NULL, 0);
    cr_assert(cursor_at_end(&none));
    cr_assert_eq(cursor_left(&none), 0);
    struct cursor c = cursor_over(numbers, 0);
    cr_assert(cursor_at_end(&c));
    cr_assert_eq(cursor_take(&c, 0), numbers);
    cr_assert(cursor_ok(&c));
    cr_assert_null(cursor_take(&c, 1));
}

/* ------------------------------------------------------------------------------------------------ streams */

/* A stream that gives `piece` bytes more at a time, kept in a buffer that is no longer than it must be. */
struct drip {
    const uint8_t *data;
    size_t size, given, piece;
    uint8_t buffer[32];
    unsigned asked;
};

static bool drip_more(struct cursor *c, size_t need)
{
    struct drip *d = c->stream;
    d->asked++;
    size_t left = cursor_left(c);
    c->base = cursor_offset(c);
    memmove(d->buffer, c->at, left);
    while (left < need && d->given < d->size) {
        size_t n = d->piece < d->size - d->given ? d->piece : d->size - d->given;
        memcpy(d->buffer + left, d->data + d->given, n);
        d->given += n;
        left += n;
    }
    c->begin = c->at = d->buffer;
    c->end = d->buffer + left;
    return left >= need;
}

static struct cursor cursor_drip(struct drip *d, size_t piece)
{
    *d = (struct drip){.data = numbers, .size = sizeof numbers, .piece = piece};
    return (struct cursor){
        .at = d->buffer, .end = d->buffer, .begin = d->buffer, .more = drip_more, .stream = d};
}

Test(bytes, streams_in_pieces_of_any_size)
{
    for (size_t piece = 1; piece <= sizeof numbers; piece++) {
        struct drip d;
        struct cursor c = cursor_drip(&d, piece);
        cr_assert_eq(cursor_u16(&c), 0x0201);
        cr_assert_eq(cursor_offset(&c), 2);
        cr_assert_eq(cursor_u64(&c), 0x0a09080706050403u, "pieces of %zu", piece);
        cr_assert_eq(cursor_u8(&c), 11);
        cr_assert_eq(cursor_offset(&c), 11);
        const uint8_t *rest = cursor_take(&c, 5);
        cr_assert(rest && memcmp(rest, numbers + 11, 5) == 0);
        cr_assert(cursor_at_end(&c) && cursor_ok(&c));
        cr_assert_eq(cursor_offset(&c), sizeof numbers);
    }
}

Test(bytes, streams_end)
{
    for (size_t piece = 1; piece <= sizeof numbers; piece++) {
        struct drip d;
        struct cursor c = cursor_drip(&d, piece);
        cursor_take(&c, 10);
        cr_assert(!cursor_at_end(&c));
        cr_assert_eq(cursor_offset(&c), 10, "asking for the end takes nothing");
        cr_assert_null(cursor_take(&c, 7));
        unsigned asked = d.asked;
        cr_assert_eq(cursor_u8(&c), 0);
        cr_assert(!cursor_ok(&c) && !cursor_at_end(&c));
        cr_assert_eq(d.asked, asked, "a stream that failed is not asked again");
        cr_assert_eq(cursor_offset(&c), 10);
    }
}

/* ------------------------------------------------------------------------------------------------ buffers */

Test(bytes, buffers_grow)
{
    struct buffer b = {0};
    buffer_put(&b, NULL, 0);
    cr_assert(!b.data && !b.failed);
    for (unsigned i = 0; i < 10000; i++)
        buffer_le(&b, i, 1 + i % 8);
    cr_assert(!b.failed && b.size == 45000 && b.capacity >= b.size);
    size_t at = 0;
    for (unsigned i = 0; i < 10000; at += 1 + i % 8, i++)
        cr_assert_eq(load_le(b.data + at, 1 + i % 8), i % 8 == 0 ? i & 0xff : i);
    const uint8_t *before = b.data;
    cr_assert(buffer_reserve(&b, b.capacity - b.size));
    cr_assert_eq(b.data, before, "there was room");
    buffer_free(&b);
    cr_assert(!b.data && !b.size && !b.capacity && !b.failed);
}

Test(bytes, buffers_that_cannot_grow_stay_failed)
{
    struct buffer b = {0};
    buffer_put(&b, numbers, sizeof numbers);
    cr_assert(!buffer_reserve(&b, SIZE_MAX));
    cr_assert(b.failed);
    cr_assert(!buffer_reserve(&b, SIZE_MAX / 2 - 8), "room that is too much for a size");
    buffer_put(&b, numbers, 1);
    buffer_le(&b, 1, 8);
    cr_assert_eq(b.size, sizeof numbers, "nothing is written after a failure");
    cr_assert(!buffer_reserve(&b, 1));
    cr_assert(memcmp(b.data, numbers, sizeof numbers) == 0);
    buffer_free(&b);
}
