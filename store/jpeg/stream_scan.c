/* The scans of a JPEG file: see stream.h. Each restart interval is decoded from bytes, and encoded to bytes, without the zeros that
 * follow each 0xff in a file. */
#include "stream.h"

#define MARKER_RST0 0xd0

/* ------------------------------------------------------------------------------------------- both ways */

/* The walk of a scan, and the MCUs between its restart markers. */
static struct walk walk_of_scan(const struct stream *s, uint64_t *interval, uint64_t *units)
{
    struct walk w = walk_of(&s->frame, s->scan.count, s->scan.component);
    *units = (uint64_t)w.columns * w.rows;
    *interval = s->interval && s->interval < *units ? s->interval : *units;
    return w;
}

/* ---------------------------------------------------------------------------------------------- decoding */

struct decoding {
    struct huffman_decoder dc[BLOCKS_COMPONENTS], ac[BLOCKS_COMPONENTS];
    struct blocks_decoders of;
    struct band_state state; /* of the restart interval */
};

static void make_decoders(const struct stream *s, struct decoding *d)
{
    for (unsigned i = 0; i < s->scan.count; i++) {
        huffman_decoder_make(&s->codes[0][s->scan.code[0][i]].code, &d->dc[i]);
        huffman_decoder_make(&s->codes[1][s->scan.code[1][i]].code, &d->ac[i]);
        d->of.dc[i] = &d->dc[i];
        d->of.ac[i] = &d->ac[i];
    }
}

/* Copies bytes up to the next marker, or the end, without the zeros that are not theirs. */
static bool take_plain(struct cursor *c, struct buffer *plain)
{
    plain->size = 0;
    if (!buffer_reserve(plain, cursor_left(c) + 8))
        return false;
    while (cursor_left(c) > 0) {
        const uint8_t *mark = memchr(c->at, 0xff, cursor_left(c));
        size_t n = mark ? (size_t)(mark - c->at) : cursor_left(c);
        buffer_put(plain, c->at, n);
        c->at += n;
        if (!mark || cursor_left(c) < 2 || mark[1] != 0)
            break;
        buffer_put(plain, mark, 1);
        c->at += 2;
    }
    return true;
}

/* The marker that ends interval k. */
static bool take_restart(struct cursor *c, uint64_t k)
{
    const uint8_t *marker = cursor_take(c, 2);
    return marker && marker[0] == 0xff && marker[1] == MARKER_RST0 + k % 8;
}

static void take_padding(struct stream *s, uint8_t last, unsigned bits, struct buffer *pads)
{
    uint8_t mask = (uint8_t)((1u << bits) - 1), pad = last & mask;
    s->not_zeros |= pad != 0;
    s->not_ones |= pad != mask;
    buffer_le(pads, pad, 1);
}

static bool decode_unit(const struct stream *s, struct blocks *blocks, const struct walk *w,
                        struct decoding *d, uint32_t row, uint32_t column, struct bit_reader *bits)
{
    if (s->is_progressive)
        return band_decode(blocks, w, &d->of, &s->scan.band, row, column, &d->state, bits);
    return w->kernels->decode(blocks, w, &d->of, row, column, &d->state.predictions, bits);
}

bool stream_decode(struct stream *s, struct cursor *c, struct blocks *blocks, struct buffer *plain,
                   struct buffer *pads)
{
    struct decoding d;
    uint64_t interval, units;
    struct walk w = walk_of_scan(s, &interval, &units);
    make_decoders(s, &d);
    for (uint64_t first = 0; first < units; first += interval) {
        uint64_t end = units - first > interval ? first + interval : units;
        d.state = (struct band_state){.held.ended = 0};
        if ((first > 0 && !take_restart(c, first / interval - 1)) || !take_plain(c, plain))
            return false;
        struct bit_reader bits = bits_over(plain->data, plain->size);
        uint32_t row = (uint32_t)(first / w.columns), column = (uint32_t)(first % w.columns);
        for (uint64_t k = first; k < end; k++) {
            if (!decode_unit(s, blocks, &w, &d, row, column, &bits) || bits_left(&bits) < 0)
                return false;
            if (++column == w.columns)
                column = 0, row++;
        }
        int64_t left = bits_left(&bits);
        if (left < 0 || left > 7)
            return false;
        take_padding(s, plain->data[plain->size - 1], (unsigned)left, pads);
    }
    return !pads->failed;
}

bool stream_is_sound(const uint8_t *file, size_t size)
{
    struct stream s = {.scans = 0};
    struct cursor c = cursor_over(file, size);
    struct buffer plain = {.data = NULL}, pads = {.data = NULL};
    struct blocks blocks = {.memory = {NULL, 0}};
    bool ok = true;
    while (ok && (s.scans == 0 || !stream_is_covered(&s))) {
        bool first = s.scans == 0;
        ok = stream_next_scan(&s, &c) && (!first || stream_may_hold(&s, &c)) &&
             (!first || !s.is_progressive || blocks_reserve(&blocks, &s.frame, true)) &&
             stream_decode(&s, &c, s.is_progressive ? &blocks : NULL, &plain, &pads);
    }
    blocks_free(&blocks);
    buffer_free(&plain);
    buffer_free(&pads);
    return ok && stream_ends(&c);
}

/* ---------------------------------------------------------------------------------------------- encoding */

struct encoding {
    struct huffman_encoder dc[BLOCKS_COMPONENTS], ac[BLOCKS_COMPONENTS];
    struct blocks_encoders of;
    struct band_state state;
};

static void make_encoders(const struct stream *s, struct encoding *e)
{
    for (unsigned i = 0; i < s->scan.count; i++) {
        huffman_encoder_make(&s->codes[0][s->scan.code[0][i]].code, &e->dc[i]);
        huffman_encoder_make(&s->codes[1][s->scan.code[1][i]].code, &e->ac[i]);
        e->of.dc[i] = &e->dc[i];
        e->of.ac[i] = &e->ac[i];
    }
}

/* Appends plain bytes, a zero after each 0xff. */
static void put_stuffed(const struct buffer *plain, struct buffer *out)
{
    const uint8_t *at = plain->data, *end = at + plain->size;
    while (at < end) {
        const uint8_t *mark = memchr(at, 0xff, (size_t)(end - at));
        size_t n = (size_t)(mark ? mark + 1 - at : end - at);
        buffer_put(out, at, n);
        at += n;
        if (mark)
            buffer_le(out, 0, 1);
    }
}

static bool encode_unit(const struct stream *s, const struct blocks *blocks, const struct walk *w,
                        struct encoding *e, uint32_t row, uint32_t column, struct bit_writer *bits)
{
    if (s->is_progressive)
        return band_encode(blocks, w, &e->of, &s->scan.band, row, column, &e->state, bits);
    return w->kernels->encode(blocks, w, &e->of, row, column, &e->state.predictions, bits);
}

static bool end_interval(const struct stream *s, struct encoding *e, uint8_t pad, struct bit_writer *bits)
{
    bool ok = !s->is_progressive || band_end(&e->of, &e->state, bits);
    bits_flush(bits, pad);
    return ok;
}

/* The MCUs first ... end-1 as plain bytes, at most `most`. */
static bool encode_interval(const struct stream *s, const struct walk *w, const struct blocks *blocks,
                            struct encoding *e, uint64_t first, uint64_t end, uint8_t pad, size_t most,
                            struct buffer *plain)
{
    struct bit_writer bits = {.at = NULL};
    uint32_t row = (uint32_t)(first / w->columns), column = (uint32_t)(first % w->columns);
    plain->size = 0;
    e->state = (struct band_state){.held.ended = 0};
    for (uint64_t k = first; k < end; k++) {
        if (plain->size > most || !buffer_reserve(plain, (size_t)BLOCKS_MOST * BLOCK_MOST_BYTES))
            return false;
        bits.at = plain->data + plain->size;
        if (!encode_unit(s, blocks, w, e, row, column, &bits))
            return false;
        plain->size = (size_t)(bits.at - plain->data);
        if (++column == w->columns)
            column = 0, row++;
    }
    bits.at = plain->data + plain->size;
    bool ok = end_interval(s, e, pad, &bits);
    plain->size = (size_t)(bits.at - plain->data);
    return ok;
}

bool stream_encode(const struct stream *s, const struct blocks *blocks, struct pads *pads,
                   struct buffer *plain, struct buffer *out, size_t most)
{
    struct encoding e;
    uint64_t interval, units;
    struct walk w = walk_of_scan(s, &interval, &units);
    make_encoders(s, &e);
    for (uint64_t first = 0; first < units; first += interval) {
        uint64_t end = units - first > interval ? first + interval : units;
        if (first > 0) {
            buffer_le(out, 0xff, 1);
            buffer_le(out, MARKER_RST0 + (first / interval - 1) % 8, 1);
        }
        uint8_t pad = pads->are_listed ? cursor_u8(&pads->list) : pads->same;
        if (!encode_interval(s, &w, blocks, &e, first, end, pad, most, plain))
            return false;
        put_stuffed(plain, out);
        if (out->failed || out->size > most || !cursor_ok(&pads->list))
            return false;
    }
    return true;
}
