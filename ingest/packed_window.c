/* Following xz and zstd streams from header to header: see packed_window.h. */
#include "packed_window.h"

#include "bytes.h"

/* Makes `need` bytes of head the next thing to look at, behind `skip` others. */
static void expect(struct packed_window *w, int place, uint64_t skip, unsigned need)
{
    w->place = place;
    w->skip = skip;
    w->have = 0;
    w->need = need;
}

/* More of the same head. */
static void expect_more(struct packed_window *w, int place, unsigned need)
{
    w->place = place;
    w->need = need;
}

static void demand(struct packed_window *w, uint64_t bytes)
{
    w->most = bytes > w->most ? bytes : w->most;
}

enum { BEGINS = 0, LOST }; /* places of both kinds */

/* Damaged: the decompressor will say so. */
static void give_up(struct packed_window *w)
{
    expect(w, LOST, UINT64_MAX, 1);
}

/* -------------------------------------------------------------------------------------------------------- xz */

enum {
    XZ_HEADER = LOST + 1, /* of a stream, behind its first four bytes */
    XZ_BLOCK,             /* the first byte of a block's header, or of the index */
    XZ_BLOCK_HEADER,
    XZ_CHUNK, /* the first byte of a chunk of LZMA2 */
    XZ_CHUNK_HEADER,
    XZ_NUMBER, /* a byte of a number of the index, whose first tells how many there are */
};

#define XZ_FOOTER 12

/* A number of seven bits a byte; false: it does not end. */
static bool take_number(struct cursor *c, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        uint8_t byte = cursor_u8(c);
        *number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return cursor_ok(c);
    }
    return false;
}

/* Bytes of the check of each block, by the kind of it. */
static unsigned xz_check_bytes(unsigned kind)
{
    static const uint8_t bytes[] = {0, 4, 8, 16, 32, 64};
    return bytes[(kind + 2) / 3];
}

#define LZMA2 0x21

static void see_filters(struct packed_window *w)
{
    struct cursor c = cursor_over(w->head + 2, w->need - 2);
    uint64_t ignored, id = 0, size = 0;
    unsigned flags = w->head[1];
    bool ok =
        (!(flags & 0x40) || take_number(&c, &ignored)) && (!(flags & 0x80) || take_number(&c, &ignored));
    const uint8_t *properties = NULL;
    for (unsigned i = 0; ok && i <= (flags & 3); i++) {
        ok = take_number(&c, &id) && take_number(&c, &size) && size <= cursor_left(&c);
        properties = ok ? cursor_take(&c, (size_t)size) : NULL;
    }
    if (!ok || id != LZMA2 || size != 1 || properties[0] > 40) {
        give_up(w);
        return;
    }
    unsigned n = properties[0];
    demand(w, n == 40 ? UINT32_MAX : (uint64_t)(2 | (n & 1)) << (n / 2 + 11));
    w->packed = 0;
    expect(w, XZ_CHUNK, 0, 1);
}

static void see_chunk(struct packed_window *w)
{
    unsigned control = w->head[0];
    if (control == 0) { /* the end of the block; it is filled up to four bytes */
        w->packed++;
        expect(w, XZ_BLOCK, ((0 - w->packed) & 3) + w->check_bytes, 1);
    } else if (control >= 0x80)
        expect_more(w, XZ_CHUNK_HEADER, control >= 0xc0 ? 6 : 5);
    else if (control <= 2)
        expect_more(w, XZ_CHUNK_HEADER, 3);
    else
        give_up(w);
}

static void see_chunk_header(struct packed_window *w)
{
    unsigned at = w->need == 3 ? 1 : 3;
    uint64_t size = ((uint64_t)w->head[at] << 8 | w->head[at + 1]) + 1;
    w->packed += w->need + size;
    expect(w, XZ_CHUNK, size, 1);
}

/* Of the index only its length matters: how many numbers it has, and their bytes. */
static void see_index_byte(struct packed_window *w)
{
    bool ends = w->head[w->have - 1] < 0x80;
    struct cursor c = cursor_over(w->head, w->have);
    uint64_t count;
    w->packed++;
    if (!ends && w->have < 9) {
        expect_more(w, XZ_NUMBER, w->have + 1);
        return;
    }
    if (!take_number(&c, &count) || (w->left == UINT64_MAX && count > UINT32_MAX)) {
        give_up(w);
        return;
    }
    w->left = w->left == UINT64_MAX ? 2 * count : w->left - 1;
    if (w->left > 0)
        expect(w, XZ_NUMBER, 0, 1);
    else
        expect(w, BEGINS, ((0 - w->packed) & 3) + 4 + XZ_FOOTER, 4);
}

static void see_xz_block(struct packed_window *w)
{
    if (w->head[0] == 0) {
        w->packed = 1;
        w->left = UINT64_MAX;
        expect(w, XZ_NUMBER, 0, 1);
    } else
        expect_more(w, XZ_BLOCK_HEADER, (w->head[0] + 1u) * 4);
}

static void see_xz(struct packed_window *w)
{
    static const uint8_t zeros[4], magic[6] = {0xfd, '7', 'z', 'X', 'Z', 0};
    switch (w->place) {
    case BEGINS: /* a stream; between two there may be zeros, by fours */
        if (memcmp(w->head, zeros, 4) == 0)
            expect(w, BEGINS, 0, 4);
        else
            expect_more(w, XZ_HEADER, 12);
        return;
    case XZ_HEADER:
        w->check_bytes = xz_check_bytes(w->head[7] & 15);
        expect(w, XZ_BLOCK, 0, 1);
        if (memcmp(w->head, magic, sizeof magic) != 0)
            give_up(w);
        return;
    case XZ_BLOCK:
        see_xz_block(w);
        return;
    case XZ_BLOCK_HEADER:
        see_filters(w);
        return;
    case XZ_CHUNK:
        see_chunk(w);
        return;
    case XZ_CHUNK_HEADER:
        see_chunk_header(w);
        return;
    case XZ_NUMBER:
        see_index_byte(w);
        return;
    default:
        give_up(w);
    }
}

/* ------------------------------------------------------------------------------------------------------ zstd */

enum {
    ZSTD_SKIPPED = LOST + 1, /* a frame to be passed over: its length */
    ZSTD_DESCRIPTOR,         /* a byte that tells how long the header is */
    ZSTD_HEADER,
    ZSTD_BLOCK,
};

#define ZSTD_FRAME 0xfd2fb528u
#define ZSTD_SKIP  0x184d2a50u /* and the fifteen after it */

static unsigned zstd_header_bytes(unsigned descriptor)
{
    static const uint8_t id[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    bool whole = descriptor & 0x20; /* the window is the content */
    unsigned size = content[descriptor >> 6];
    return 5 + !whole + id[descriptor & 3] + (whole && size == 0 ? 1 : size);
}

static void see_zstd_header(struct packed_window *w)
{
    static const uint8_t content[] = {1, 2, 4, 8};
    unsigned descriptor = w->head[4], bytes = content[descriptor >> 6], n = w->head[5];
    uint64_t base = UINT64_C(1) << (10 + (n >> 3));
    if (descriptor & 0x20) {
        uint64_t size = load_le(w->head + w->need - bytes, bytes);
        demand(w, size + (bytes == 2 && size < UINT64_MAX - 256 ? 256 : 0));
    } else
        demand(w, base + base / 8 * (n & 7));
    w->check_bytes = descriptor & 4 ? 4 : 0;
    expect(w, ZSTD_BLOCK, 0, 3);
}

static void see_zstd_block(struct packed_window *w)
{
    uint32_t head = (uint32_t)load_le(w->head, 3);
    uint64_t size = (head >> 1 & 3) == 1 ? 1 : head >> 3; /* 1: one byte, repeated */
    if (head & 1)
        expect(w, BEGINS, size + w->check_bytes, 4);
    else
        expect(w, ZSTD_BLOCK, size, 3);
}

static void see_zstd(struct packed_window *w)
{
    switch (w->place) {
    case BEGINS:
        if (load_le(w->head, 4) == ZSTD_FRAME)
            expect_more(w, ZSTD_DESCRIPTOR, 5);
        else if ((load_le(w->head, 4) & ~15u) == ZSTD_SKIP)
            expect(w, ZSTD_SKIPPED, 0, 4);
        else
            give_up(w);
        return;
    case ZSTD_SKIPPED:
        expect(w, BEGINS, load_le(w->head, 4), 4);
        return;
    case ZSTD_DESCRIPTOR:
        expect_more(w, ZSTD_HEADER, zstd_header_bytes(w->head[4]));
        return;
    case ZSTD_HEADER:
        see_zstd_header(w);
        return;
    case ZSTD_BLOCK:
        see_zstd_block(w);
        return;
    default:
        give_up(w);
    }
}

/* ------------------------------------------------------------------------------------------------------- both */

void packed_window_see(struct packed_window *w, const uint8_t *data, size_t size)
{
    if (w->kind != UNFILTER_XZ && w->kind != UNFILTER_ZSTD)
        return;
    if (w->need == 0)
        expect(w, BEGINS, 0, 4);
    while (size > 0) {
        uint64_t passed = w->skip < size ? w->skip : size;
        data += passed;
        size -= (size_t)passed;
        w->skip -= passed;
        size_t n = w->need - w->have < size ? w->need - w->have : size;
        if (n > 0)
            memcpy(w->head + w->have, data, n);
        data += n;
        size -= n;
        w->have += (unsigned)n;
        if (w->skip > 0 || w->have < w->need)
            continue;
        if (w->kind == UNFILTER_XZ)
            see_xz(w);
        else
            see_zstd(w);
    }
}

bool packed_window_at_end(const struct packed_window *w)
{
    return w->place == BEGINS && w->skip == 0 && w->have == 0;
}
