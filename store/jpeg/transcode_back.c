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
    for (unsigned i = 0; i < x->rendering.frame.components; i++) {
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

apl_status transcode_blocks(struct transcoder *t, const struct indexed *x, apl_error *err)
{
    static const uint8_t all[BLOCKS_COMPONENTS] = {0, 1, 2};
    struct walk w = walk_of(&x->rendering.frame, x->rendering.frame.components, all);
    struct segment_decoders d;
    if (!blocks_reserve(&t->blocks, &x->rendering.frame, false))
        return fail_nomem(err);
    make_segment_decoders(x, &d);
    if (!read_segments(&t->blocks, x, &w, &d))
        return damaged_bits(err);
    if (t->takes_colours)
        t->colours = colours_of_blocks(&t->blocks, &x->rendering);
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

/* The next header of a file: up to its scan, and of the image that it must be of. */
static apl_status take_header(struct stream *s, const uint8_t *header, size_t bytes,
                              const struct rendering *r, apl_error *err)
{
    struct cursor c = cursor_over(header, bytes);
    if (!stream_next_scan(s, &c) || cursor_left(&c) > 0)
        return bad_parts(err);
    const struct rendering is = stream_rendering(s);
    return rendering_same(&is, r)
               ? APL_OK
               : fail(err, APL_E_CORRUPT,
                      "indexed JPEG: its size, sampling, colours or tables of quantisation are not those of "
                      "the file that it restores");
}

/* A header, and the scan behind it. */
static apl_status put_scan(struct transcoder *t, const uint8_t *header, size_t bytes,
                           const struct rendering *r, struct pads *pads, struct buffer *out, size_t most,
                           apl_error *err)
{
    TRY(take_header(&t->stream, header, bytes, r, err));
    buffer_put(out, header, bytes);
    bool put = stream_encode(&t->stream, &t->blocks, pads, &t->plain, out, most);
    return put ? APL_OK : out->failed || t->plain.failed ? fail_nomem(err) : bad_parts(err);
}

/* Do the scans give all coefficients, and none behind them others? Decoders leave off behind a scan of all components. */
static bool gives_all(const struct stream *s, const struct cursor *tail)
{
    return stream_is_covered(s) && (s->scans == 1 || stream_ends(tail));
}

apl_status restore_file(struct transcoder *t, const struct rendering *r, unsigned kind, size_t size,
                        struct buffer *out, apl_error *err)
{
    struct cursor c = cursor_over(t->parts.data, t->parts.size);
    uint32_t lengths[STREAM_MOST_SCANS];
    unsigned scans;
    struct pads pads;
    size_t most = out->size + size;
    if (!take_part_lengths(&c, kind, lengths, &scans, &pads))
        return bad_parts(err);
    t->stream = (struct stream){.scans = 0};
    for (unsigned i = 0; i < scans; i++)
        TRY(put_scan(t, cursor_take(&c, lengths[i]), lengths[i], r, &pads, out, most, err));
    (void)cursor_take(&c, cursor_left(&pads.list) + (size_t)(pads.list.at - pads.list.begin));
    if (cursor_left(&pads.list) > 0 || !gives_all(&t->stream, &c) || out->size + cursor_left(&c) != most)
        return bad_parts(err);
    buffer_put(out, c.at, cursor_left(&c));
    return out->failed ? fail_nomem(err) : APL_OK;
}

apl_status transcode_check(struct transcoder *t, const struct indexed *x, apl_error *err)
{
    struct restoring r;
    struct pads pads;
    uint32_t lengths[STREAM_MOST_SCANS];
    unsigned scans;
    TRY(restoring_take(t, x, restoring_most(APL_MAX_VALUE), &r, err));
    struct cursor c = cursor_over(t->parts.data, t->parts.size);
    if (!take_part_lengths(&c, r.pads, lengths, &scans, &pads))
        return bad_parts(err);
    t->stream = (struct stream){.scans = 0};
    return take_header(&t->stream, c.at, lengths[0], &x->rendering, err);
}

apl_status transcode_back(struct transcoder *t, const uint8_t *bytes, size_t size, size_t file_size,
                          struct buffer *out, apl_error *err)
{
    struct indexed x;
    struct restoring r;
    size_t begin = out->size;
    TRY(indexed_parse(bytes, size, &x, err));
    TRY(transcode_blocks(t, &x, err));
    TRY(restoring_take(t, &x, restoring_most(file_size), &r, err));
    if (!buffer_reserve(out, file_size + 1))
        return fail_nomem(err);
    apl_status status = restore_file(t, &x.rendering, r.pads, file_size, out, err);
    if (status == APL_OK && hash_xxh3_64(out->data + begin, file_size) != r.sum)
        status = fail(err, APL_E_CORRUPT, "indexed JPEG: it is not what the file was made of");
    if (status != APL_OK)
        out->size = begin;
    return status;
}
