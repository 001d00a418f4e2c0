/* From the indexed form of a JPEG file to the file: see transcode.h. */
#include "hash.h"
#include "indexed.h"
#include "transcode.h"

static apl_status damaged_bits(apl_error *err)
{
    return fail(err, APL_E_CORRUPT, "indexed JPEG: its coefficients are damaged");
}

/* ------------------------------------------------------------------------------------------ coefficients */

struct segment_decoders {
    struct huffman_decoder dc[2], ac[2];
    struct blocks_decoders of;
};

static void make_segment_decoders(const struct indexed *x, struct segment_decoders *d)
{
    for (unsigned i = 0; i < x->codes; i++) {
        huffman_decoder_make(&x->dc[i], &d->dc[i]);
        huffman_decoder_make(&x->ac[i], &d->ac[i]);
    }
    for (unsigned i = 0; i < x->frame.components; i++) {
        d->of.dc[i] = &d->dc[i > 0];
        d->of.ac[i] = &d->ac[i > 0];
    }
}

static bool read_segments(struct blocks *blocks, const struct indexed *x, const struct walk *w,
                          const struct segment_decoders *d)
{
    const uint8_t *at = x->data;
    for (uint32_t row = 0; row < w->rows; row++)
        for (uint32_t s = 0; s < x->segments; s++) {
            unsigned length = indexed_length(x, (size_t)row * x->segments + s);
            struct bit_reader bits = bits_over(at, length);
            struct predictions p = {{0}};
            for (uint32_t i = 0; i < x->mcus; i++)
                if (!w->kernels->decode(blocks, w, &d->of, row, s * x->mcus + i, &p, &bits))
                    return false;
            if (bits_left(&bits) < 0 || bits_left(&bits) > 7)
                return false;
            at += length;
        }
    return true;
}

static apl_status read_blocks(struct transcoder *t, const struct indexed *x, apl_error *err)
{
    static const uint8_t all[BLOCKS_COMPONENTS] = {0, 1, 2};
    struct walk w = walk_of(&x->frame, x->frame.components, all);
    struct segment_decoders d;
    if (!blocks_reserve(&t->blocks, &x->frame, false))
        return fail_nomem(err);
    make_segment_decoders(x, &d);
    if (!read_segments(&t->blocks, x, &w, &d))
        return damaged_bits(err);
    if (t->takes_colours)
        t->colours =
            x->colours == INDEXED_IS_RGB ? (struct colour_sums){0} : colours_of_blocks(&t->blocks, x->table);
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------------- file */

static apl_status bad_parts(apl_error *err)
{
    return fail(err, APL_E_CORRUPT, "indexed JPEG: what restores it is damaged");
}

/* The lengths of the headers, and what fills up last bytes; the cursor then stands before the first header. */
static bool take_part_lengths(struct cursor *c, unsigned kind, uint32_t lengths[STREAM_MOST_SCANS],
                              unsigned *scans, struct pads *pads)
{
    uint64_t headers = 0;
    *scans = cursor_u8(c);
    for (unsigned i = 0; i < *scans && *scans <= STREAM_MOST_SCANS; i++)
        headers += lengths[i] = cursor_u32(c);
    uint32_t listed = cursor_u32(c);
    if (!cursor_ok(c) || *scans < 1 || *scans > STREAM_MOST_SCANS || headers > cursor_left(c) ||
        listed > cursor_left(c) - headers)
        return false;
    *pads = (struct pads){.are_listed = kind == PADS_LISTED, .same = kind == PADS_ONES ? 0xff : 0};
    pads->list = cursor_over(c->at + headers, listed);
    return true;
}

static bool same_frame(const struct frame *a, const struct frame *b)
{
    bool same = a->width == b->width && a->height == b->height && a->components == b->components;
    for (unsigned i = 0; same && i < a->components; i++)
        same = a->across[i] == b->across[i] && a->down[i] == b->down[i];
    return same;
}

/* A header, and the scan behind it. */
static bool put_scan(struct transcoder *t, const uint8_t *header, size_t bytes, struct pads *pads,
                     struct buffer *out, size_t most)
{
    struct cursor c = cursor_over(header, bytes);
    if (!stream_next_scan(&t->stream, &c) || cursor_left(&c) > 0 ||
        !same_frame(&t->stream.frame, &t->blocks.frame))
        return false;
    buffer_put(out, header, bytes);
    return stream_encode(&t->stream, &t->blocks, pads, &t->plain, out, most);
}

apl_status restore_file(struct transcoder *t, unsigned kind, size_t size, struct buffer *out, apl_error *err)
{
    struct cursor c = cursor_over(t->parts.data, t->parts.size);
    uint32_t lengths[STREAM_MOST_SCANS];
    unsigned scans;
    struct pads pads;
    size_t most = out->size + size;
    if (!take_part_lengths(&c, kind, lengths, &scans, &pads))
        return bad_parts(err);
    t->stream = (struct stream){.scans = 0};
    for (unsigned i = 0; i < scans; i++) {
        const uint8_t *header = cursor_take(&c, lengths[i]);
        if (!header || !put_scan(t, header, lengths[i], &pads, out, most))
            return out->failed || t->plain.failed ? fail_nomem(err) : bad_parts(err);
    }
    (void)cursor_take(&c, cursor_left(&pads.list) + (size_t)(pads.list.at - pads.list.begin));
    if (cursor_left(&pads.list) > 0 || out->size + cursor_left(&c) != most)
        return bad_parts(err);
    buffer_put(out, c.at, cursor_left(&c));
    return out->failed ? fail_nomem(err) : APL_OK;
}

apl_status transcode_back(struct transcoder *t, const uint8_t *bytes, size_t size, size_t file_size,
                          struct buffer *out, apl_error *err)
{
    struct indexed x;
    struct restoring r;
    size_t begin = out->size;
    TRY(indexed_parse(bytes, size, &x, err));
    TRY(read_blocks(t, &x, err));
    TRY(restoring_take(t, x.restoring, x.restoring_bytes, x.table[0], (size_t)BLOCK_VALUES * x.tables,
                       file_size, &r, err));
    if (!buffer_reserve(out, file_size + 1))
        return fail_nomem(err);
    apl_status status = restore_file(t, r.pads, file_size, out, err);
    if (status == APL_OK && hash_xxh3_64(out->data + begin, file_size) != r.sum)
        status = fail(err, APL_E_CORRUPT, "indexed JPEG: it is not what the file was made of");
    if (status != APL_OK)
        out->size = begin;
    return status;
}
