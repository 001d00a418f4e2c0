/* Scans of progressive images, decoded and encoded again as libjpeg wrote them; and scans that cannot be. */
#include "jpegs.h"
#include "stream.h"

#include <criterion/criterion.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Where a scan begins and ends. */
struct extent {
    size_t begin, end;
};

static unsigned decode_scans(struct jpeg_bytes file, struct blocks *blocks,
                             struct extent of[STREAM_MOST_SCANS], struct buffer *pads)
{
    struct stream s = {.scans = 0};
    struct cursor c = cursor_over(file.data, file.size);
    struct buffer plain = {0};
    while (s.scans == 0 || !stream_is_covered(&s)) {
        cr_assert(stream_next_scan(&s, &c));
        if (s.scans == 1)
            cr_assert(blocks_reserve(blocks, &s.frame, true));
        of[s.scans - 1].begin = (size_t)(c.at - file.data);
        cr_assert(stream_decode(&s, &c, blocks, &plain, pads));
        of[s.scans - 1].end = (size_t)(c.at - file.data);
    }
    cr_assert(stream_ends(&c));
    buffer_free(&plain);
    return s.scans;
}

static void encode_scans(struct jpeg_bytes file, const struct blocks *blocks, const struct extent *of,
                         struct buffer *listed)
{
    struct stream s = {.scans = 0};
    struct cursor c = cursor_over(file.data, file.size);
    struct buffer plain = {0}, out = {0};
    struct pads pads = {.are_listed = true, .list = cursor_over(listed->data, listed->size)};
    while (s.scans == 0 || !stream_is_covered(&s)) {
        cr_assert(stream_next_scan(&s, &c));
        struct extent scan = of[s.scans - 1];
        out.size = 0;
        cr_assert(stream_encode(&s, blocks, &pads, &plain, &out, file.size));
        cr_assert_eq(out.size, scan.end - scan.begin, "scan %u: %zu bytes, not %zu", s.scans, out.size,
                     scan.end - scan.begin);
        cr_assert(memcmp(out.data, file.data + scan.begin, out.size) == 0, "scan %u", s.scans);
        (void)cursor_take(&c, out.size);
    }
    buffer_free(&plain);
    buffer_free(&out);
}

static void is_written_again(const struct jpeg_case *k)
{
    struct jpeg_bytes file = jpeg_draw(k);
    struct extent of[STREAM_MOST_SCANS];
    struct blocks blocks = {.memory = {0}};
    struct buffer pads = {0};
    cr_assert_gt(decode_scans(file, &blocks, of, &pads), 1);
    encode_scans(file, &blocks, of, &pads);
    blocks_free(&blocks);
    buffer_free(&pads);
    free(file.data);
}

/* More blocks without a coefficient than one code can end. */
Test(progressive, long_runs_of_blocks_that_end)
{
    static const jpeg_scan_info scans[] = {
        {1, {0}, 0, 0, 0, 0},  {1, {0}, 1, 5, 0, 1},  {1, {0}, 6, 63, 0, 9}, {1, {0}, 1, 5, 1, 0},
        {1, {0}, 6, 63, 9, 8}, {1, {0}, 6, 63, 8, 7}, {1, {0}, 6, 63, 7, 6}, {1, {0}, 6, 63, 6, 5},
        {1, {0}, 6, 63, 5, 4}, {1, {0}, 6, 63, 4, 3}, {1, {0}, 6, 63, 3, 2}, {1, {0}, 6, 63, 2, 1},
        {1, {0}, 6, 63, 1, 0}};
    struct jpeg_case k = {.width = 2400, .height = 1760, .colour = JCS_GRAYSCALE, .quality = 3};
    k.scans = scans;
    k.scan_count = COUNT(scans);
    is_written_again(&k);
}

/* More bits that correct coefficients than libjpeg holds back, and runs of zeros between them. */
Test(progressive, many_corrections)
{
    static const jpeg_scan_info scans[] = {
        {1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 2}, {1, {0}, 1, 63, 2, 1}, {1, {0}, 1, 63, 1, 0}};
    for (int quality = 60; quality <= 100; quality += 4) {
        struct jpeg_case k = {.width = 320, .height = 200, .colour = JCS_GRAYSCALE, .quality = quality};
        k.scans = scans;
        k.scan_count = COUNT(scans);
        is_written_again(&k);
    }
}

/* One bit of each block, which no code comes between: as many as libjpeg holds back, and one more. */
Test(progressive, corrections_of_blocks_that_end)
{
    static const jpeg_scan_info scans[] = {
        {1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 1, 0, 1}, {1, {0}, 2, 63, 0, 0}, {1, {0}, 1, 1, 1, 0}};
    struct jpeg_case k = {.width = 400, .height = 400, .colour = JCS_GRAYSCALE, .stripes = true};
    k.scans = scans;
    k.scan_count = COUNT(scans);
    is_written_again(&k);
}

Test(progressive, restart_markers)
{
    for (unsigned restart = 1; restart < 60; restart += 7) {
        struct jpeg_case k = {.width = 200, .height = 90, .colour = JCS_YCbCr, .across = 2, .down = 2};
        k.progressive = true;
        k.restart = restart;
        is_written_again(&k);
    }
}

/* ----------------------------------------------------------------------------------------------- order */

static bool adds(struct progress *p, unsigned first, unsigned last, unsigned high, unsigned low,
                 unsigned count)
{
    static const uint8_t components[] = {0, 1, 2};
    struct band band = {(uint8_t)first, (uint8_t)last, (uint8_t)high, (uint8_t)low};
    return progress_add(p, &band, count, components);
}

Test(progressive, scans_that_cannot_come_next)
{
    struct progress p = {{{0}}};
    cr_assert_not(adds(&p, 1, 63, 0, 0, 1), "before DC");
    cr_assert_not(adds(&p, 0, 5, 0, 0, 1), "DC and AC");
    cr_assert_not(adds(&p, 0, 0, 0, 13, 1), "too many bits");
    cr_assert_not(adds(&p, 0, 0, 1, 0, 1), "one bit more of nothing");
    cr_assert(adds(&p, 0, 0, 0, 1, 3));
    cr_assert_not(adds(&p, 0, 0, 0, 1, 3), "the same again");
    cr_assert_not(adds(&p, 0, 0, 2, 1, 3), "a bit that was there");
    cr_assert_not(adds(&p, 1, 63, 0, 0, 3), "AC of several components");
    cr_assert_not(adds(&p, 1, 64, 0, 0, 1), "64 values behind DC");
    cr_assert_not(adds(&p, 5, 4, 0, 0, 1), "no values");
    cr_assert(adds(&p, 0, 0, 1, 0, 3));
    cr_assert(adds(&p, 1, 63, 0, 0, 1));
    cr_assert(progress_is_whole(&p, 1));
    cr_assert_not(progress_is_whole(&p, 2));
    cr_assert_not(adds(&p, 1, 63, 1, 0, 1), "more than all");
}

/* -------------------------------------------------------------------------------------------- another way */

#define BLOCKS 40

static bool decode_all(struct blocks *b, const struct walk *w, const struct blocks_decoders *d,
                       const struct band *band, const uint8_t *data, size_t size)
{
    struct band_state state = {.held.ended = 0};
    struct bit_reader bits = bits_over(data, size);
    bool ok = true;
    for (uint32_t k = 0; ok && k < BLOCKS; k++)
        ok = band_decode(b, w, d, band, 0, k, &state, &bits) && bits_left(&bits) >= 0;
    return ok;
}

/* A code for the end of each block, where one could end several: other bytes, the same coefficients. */
Test(progressive, blocks_that_end_one_by_one_are_decoded_too)
{
    static const uint8_t counts[HUFFMAN_LONGEST] = {0, 3};
    static const struct band band = {.first = 1, .last = 63};
    struct frame frame = {.width = 8 * BLOCKS, .height = 8, .components = 1, .across = {1}, .down = {1}};
    struct huffman code = {.symbols = {0x00, 0x11, 0x50}, .size = 3};
    struct huffman_decoder decoder;
    struct huffman_encoder encoder;
    struct blocks blocks = {.memory = {0}}, back = {.memory = {0}};
    struct blocks_decoders d = {.ac = {&decoder}};
    struct blocks_encoders e = {.ac = {&encoder}};
    uint8_t data[4096];
    struct bit_writer bits = {.at = data};
    struct band_state state = {.held.ended = 0};
    memcpy(code.counts, counts, sizeof counts);
    huffman_decoder_make(&code, &decoder);
    huffman_encoder_make(&code, &encoder);
    frame_measure(&frame);
    cr_assert(blocks_reserve(&blocks, &frame, true) && blocks_reserve(&back, &frame, true));
    struct walk w = walk_of(&frame, 1, (const uint8_t[]){0});
    for (uint32_t k = 0; k < BLOCKS; k += 3) {
        blocks.of[0].values[k * BLOCK_VALUES + 2] = 1;
        blocks.of[0].marks[k] = 1 << 2;
    }
    for (uint32_t k = 0; k < BLOCKS; k++)
        cr_assert(band_encode(&blocks, &w, &e, &band, 0, k, &state, &bits) && band_end(&e, &state, &bits));
    bits_flush(&bits, 0xff);
    cr_assert(decode_all(&back, &w, &d, &band, data, (size_t)(bits.at - data)));
    cr_assert(memcmp(blocks.of[0].marks, back.of[0].marks, BLOCKS * sizeof(uint64_t)) == 0);
    cr_assert(memcmp(blocks.of[0].values, back.of[0].values, BLOCKS * BLOCK_VALUES * sizeof(int16_t)) == 0);
    cr_assert_not(decode_all(&back, &w, &d, &band, data, (size_t)(bits.at - data) / 2), "half of it");
    blocks_free(&blocks);
    blocks_free(&back);
}
