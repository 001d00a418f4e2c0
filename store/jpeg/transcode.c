/* From a JPEG file to its indexed form: see transcode.h. The way back is in transcode_back.c. */
#include "transcode.h"

#include "hash.h"
#include "indexed.h"

#define LEAST_WIDTH 8u     /* pixels; libjpeg interpolates chroma of narrower images otherwise */
#define MOST_WIDTH  65500u /* pixels that libjpeg takes, what fills up a row included */

apl_status transcoder_init(struct transcoder *t, apl_error *err)
{
    *t = (struct transcoder){.entropy = entropy_new()};
    return t->entropy ? APL_OK : fail_nomem(err);
}

void transcoder_free(struct transcoder *t)
{
    entropy_free(t->entropy);
    blocks_free(&t->blocks);
    buffer_free(&t->plain);
    buffer_free(&t->pads);
    buffer_free(&t->parts);
    buffer_free(&t->restored);
    *t = (struct transcoder){.entropy = NULL};
}

/* ----------------------------------------------------------------------------------------- reading a file */

/* A file's headers, and where its last scan ends. */
struct file_parts {
    struct cursor header[STREAM_MOST_SCANS];
    struct cursor tail;
};

/* All coefficients of the file; false: it is not taken. */
static bool read_scans(struct transcoder *t, struct cursor *c, struct file_parts *parts, apl_status *status)
{
    struct stream *s = &t->stream;
    *s = (struct stream){.scans = 0};
    t->pads.size = 0;
    while (s->scans == 0 || !stream_is_covered(s)) {
        const uint8_t *begin = c->at;
        bool first = s->scans == 0;
        if (!stream_next_scan(s, c) || (first && !stream_may_hold(s, c)))
            return false;
        parts->header[s->scans - 1] = cursor_over(begin, (size_t)(c->at - begin));
        if (first && !blocks_reserve(&t->blocks, &s->frame, s->is_progressive || !stream_is_covered(s))) {
            *status = APL_E_NOMEM;
            return false;
        }
        if (!stream_decode(s, c, &t->blocks, &t->plain, &t->pads))
            return false;
    }
    parts->tail = *c;
    return s->scans == 1 || stream_ends(c);
}

/* ---------------------------------------------------------------------------------------------- tables */

#define SEGMENT_BLOCKS 8u /* of luma that a segment has side by side, about */

/* Of about as many MCUs as make 64 pixels, those that leave the fewest over in the last segment of a row. */
static unsigned choose_segment(const struct frame *f)
{
    unsigned usual = SEGMENT_BLOCKS / f->across[0], best = usual, fewest = usual;
    if (f->columns <= usual)
        return f->columns;
    for (unsigned n = usual - usual / 4; n <= usual + usual / 4; n++) {
        unsigned over = (n - f->columns % n) % n;
        if (over < fewest || (over == fewest && n == usual)) {
            best = n;
            fewest = over;
        }
    }
    return best;
}

/* The tables of all components; of those at the end that are alike, one. */
static unsigned put_tables(const struct rendering *r, struct buffer *out)
{
    unsigned n = r->frame.components;
    while (n > 1 && memcmp(r->tables[n - 1], r->tables[n - 2], BLOCK_VALUES) == 0)
        n--;
    buffer_le(out, n, 1);
    buffer_put(out, r->tables, (size_t)BLOCK_VALUES * n);
    return n;
}

struct codes {
    uint32_t dc_counts[2][256], ac_counts[2][256];
    struct huffman dc[2], ac[2];
    struct huffman_encoder dc_encoder[2], ac_encoder[2];
};

/* Every segment of the image: row, first column. */
static void count_symbols(const struct blocks *blocks, const struct walk *w, unsigned mcus, struct codes *k)
{
    struct blocks_counts counts;
    for (unsigned i = 0; i < w->count; i++) {
        counts.dc[i] = k->dc_counts[i > 0];
        counts.ac[i] = k->ac_counts[i > 0];
    }
    for (uint32_t row = 0; row < w->rows; row++)
        for (uint32_t first = 0; first < w->columns; first += mcus) {
            struct predictions p = {{0}};
            for (uint32_t i = 0; i < mcus; i++)
                w->kernels->count(blocks, w, &counts, row, first + i, &p);
        }
}

static void put_code(const struct huffman *code, struct buffer *out)
{
    buffer_put(out, code->counts, HUFFMAN_LONGEST);
    buffer_put(out, code->symbols, code->size);
}

static void make_codes(struct codes *k, unsigned n, struct buffer *out)
{
    for (unsigned i = 0; i < n; i++) {
        huffman_best(k->dc_counts[i], &k->dc[i]);
        huffman_best(k->ac_counts[i], &k->ac[i]);
        huffman_encoder_make(&k->dc[i], &k->dc_encoder[i]);
        huffman_encoder_make(&k->ac[i], &k->ac_encoder[i]);
        put_code(&k->dc[i], out);
        put_code(&k->ac[i], out);
    }
}

/* --------------------------------------------------------------------------------------------- segments */

static bool put_mcus(const struct blocks *blocks, const struct walk *w, const struct codes *k, unsigned mcus,
                     uint32_t row, uint32_t first, struct buffer *out)
{
    struct blocks_encoders e;
    struct predictions p = {{0}};
    struct bit_writer bits = {.at = NULL};
    bool ok = true;
    if (!buffer_reserve(out, (size_t)mcus * BLOCKS_MOST * BLOCK_MOST_BYTES))
        return false;
    for (unsigned i = 0; i < w->count; i++) {
        e.dc[i] = &k->dc_encoder[i > 0];
        e.ac[i] = &k->ac_encoder[i > 0];
    }
    bits.at = out->data + out->size;
    for (uint32_t i = 0; i < mcus; i++)
        ok &= w->kernels->encode(blocks, w, &e, row, first + i, &p, &bits);
    bits_flush(&bits, 0xff);
    out->size = (size_t)(bits.at - out->data);
    return ok;
}

/* The index, and all segments. */
static bool put_segments(const struct blocks *blocks, const struct walk *w, const struct codes *k,
                         unsigned mcus, struct buffer *out)
{
    size_t count = (size_t)((w->columns + mcus - 1) / mcus) * w->rows, at = out->size;
    if (!buffer_reserve(out, 2 * count))
        return false;
    out->size += 2 * count;
    for (uint32_t row = 0; row < w->rows; row++)
        for (uint32_t first = 0; first < w->columns; first += mcus, at += 2) {
            size_t begin = out->size;
            if (!put_mcus(blocks, w, k, mcus, row, first, out))
                return false;
            store_le(out->data + at, out->size - begin, 2);
        }
    return true;
}

/* ------------------------------------------------------------------------------------------- the whole */

static void put_indexed_head(const struct rendering *r, unsigned mcus, struct buffer *out)
{
    buffer_le(out, INDEXED_LAYOUT, 1);
    buffer_le(out, indexed_sampling_of(&r->frame), 1);
    buffer_le(out, r->colours, 1);
    buffer_le(out, mcus, 1);
    buffer_le(out, r->frame.width, 2);
    buffer_le(out, r->frame.height, 2);
    buffer_le(out, 0, 4); /* where the segments end */
}

static void put_parts(struct transcoder *t, const struct file_parts *f, unsigned pads)
{
    struct buffer *parts = &t->parts;
    size_t listed = pads == PADS_LISTED ? t->pads.size : 0;
    parts->size = 0;
    buffer_le(parts, t->stream.scans, 1);
    for (unsigned i = 0; i < t->stream.scans; i++)
        buffer_le(parts, cursor_left(&f->header[i]), 4);
    buffer_le(parts, listed, 4);
    for (unsigned i = 0; i < t->stream.scans; i++)
        buffer_put(parts, f->header[i].at, cursor_left(&f->header[i]));
    buffer_put(parts, t->pads.data, listed);
    buffer_put(parts, f->tail.at, cursor_left(&f->tail));
}

/* A progressive file can be coded in several ways. */
static bool comes_back(struct transcoder *t, const struct rendering *r, unsigned pads, const uint8_t *file,
                       size_t size)
{
    apl_error ignored;
    t->restored.size = 0;
    return !t->stream.is_progressive || (restore_file(t, r, pads, size, &t->restored, &ignored) == APL_OK &&
                                         memcmp(t->restored.data, file, size) == 0);
}

/* Appends codes and segments; false: out of memory. */
static bool put_coefficients(const struct blocks *blocks, unsigned mcus, struct buffer *out)
{
    static const uint8_t all[BLOCKS_COMPONENTS] = {0, 1, 2};
    struct walk w = walk_of(&blocks->frame, blocks->frame.components, all);
    struct codes *k = calloc(1, sizeof *k);
    if (!k)
        return false;
    count_symbols(blocks, &w, mcus, k);
    make_codes(k, blocks->frame.components == 1 ? 1 : 2, out);
    bool ok = put_segments(blocks, &w, k, mcus, out);
    free(k);
    return ok && !out->failed;
}

/* Appends the indexed form of the file, which was read; false: none, or out of memory. */
static bool put_indexed(struct transcoder *t, const struct file_parts *parts, const uint8_t *file,
                        size_t size, struct buffer *out, apl_status *status, apl_error *err)
{
    const struct stream *s = &t->stream;
    const struct rendering r = stream_rendering(s);
    unsigned mcus = choose_segment(&r.frame);
    unsigned pads = !s->not_ones ? PADS_ONES : !s->not_zeros ? PADS_ZEROS : PADS_LISTED;
    size_t begin = out->size;
    if (r.frame.width < LEAST_WIDTH || (r.frame.columns + mcus) * 8 * r.frame.across[0] > MOST_WIDTH)
        return false;
    put_parts(t, parts, pads);
    if (!comes_back(t, &r, pads, file, size))
        return false;
    put_indexed_head(&r, mcus, out);
    unsigned n = put_tables(&r, out);
    if (!put_coefficients(&t->blocks, mcus, out))
        return false;
    store_le(out->data + begin + 8, out->size - begin, 4);
    *status =
        restoring_put(t, hash_xxh3_64(file, size), pads, r.tables[0], (size_t)BLOCK_VALUES * n, out, err);
    return *status == APL_OK;
}

/* Has memory been short? A buffer that failed is reset, as the next image may be smaller. */
static bool was_short(struct transcoder *t, struct buffer *out, size_t size)
{
    struct buffer *mine[] = {&t->plain, &t->pads, &t->parts, &t->restored};
    bool failed = out->failed;
    for (unsigned i = 0; i < sizeof mine / sizeof mine[0]; i++)
        if (mine[i]->failed) {
            failed = true;
            buffer_free(mine[i]);
        }
    out->size = size;
    return failed;
}

/* Forms of small images may be larger than their files, by what the index takes; those of progressive files also because one code for
 * all coefficients takes more than one for each band. */
static bool is_too_large(const struct transcoder *t, size_t form, size_t file)
{
    return form > APL_MAX_VALUE || form - form / (t->stream.is_progressive ? 8 : 32) > file;
}

apl_status transcode(struct transcoder *t, const uint8_t *file, size_t size, struct buffer *out,
                     bool *indexed, apl_error *err)
{
    size_t begin = out->size;
    struct cursor c = cursor_over(file, size);
    struct file_parts parts;
    apl_status status = APL_OK;
    *indexed = read_scans(t, &c, &parts, &status) && put_indexed(t, &parts, file, size, out, &status, err);
    if (*indexed && !is_too_large(t, out->size - begin, size))
        return APL_OK;
    *indexed = false;
    return was_short(t, out, begin) || status != APL_OK ? fail_nomem(err) : APL_OK;
}

apl_status transcode_sums(struct transcoder *t, const uint8_t *file, size_t size, struct colour_sums *sums,
                          apl_error *err)
{
    struct cursor c = cursor_over(file, size);
    struct file_parts parts;
    struct buffer none = {.failed = false};
    apl_status status = APL_OK;
    *sums = (struct colour_sums){0};
    if (!read_scans(t, &c, &parts, &status))
        return was_short(t, &none, 0) || status != APL_OK ? fail_nomem(err) : APL_OK;
    const struct rendering r = stream_rendering(&t->stream);
    *sums = colours_of_blocks(&t->blocks, &r);
    return APL_OK;
}
