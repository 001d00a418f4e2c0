/* Regions of indexed images, against what libjpeg decodes of the same coefficients; the variants against the plain one; and bytes
 * that are damaged. */
#include "indexed_decoder.h"

#include "indexed_case.h"
#include "pixels.h"
#include "segments.h"

#include <criterion/criterion.h>

static uint32_t below(uint32_t *state, uint32_t bound)
{
    return (sample_random(state) >> 4) % bound;
}

/* -------------------------------------------------------------------------------------------- comparing */

static void compare_rows(const struct jpeg_plane *plane, const struct jpeg_raw *raw, unsigned i,
                         const struct jpeg_band *band, uint32_t columns)
{
    cr_assert_leq(band->plane[i].count, plane->band_rows);
    for (uint32_t k = 0; k < band->plane[i].count; k++) {
        uint32_t row = band->plane[i].first + k;
        cr_assert_lt(row, plane->height);
        const uint8_t *want = raw->plane[i] + (size_t)row * raw->stride[i] + plane->from;
        for (uint32_t x = 0; x < columns; x++)
            cr_assert(band->plane[i].rows[k][x] == want[x], "plane %u, row %u, column %u: %u, not %u", i, row,
                      plane->from + x, band->plane[i].rows[k][x], want[x]);
    }
}

/* Columns of a plane that a region touches, from its first one on. */
static uint32_t columns_of(const struct jpeg_plane *plane, const struct jpeg_region *region)
{
    double end = ((double)region->left + region->width) / plane->step_across;
    uint32_t whole = (uint32_t)end + (end > (uint32_t)end);
    return (whole < plane->width ? whole : plane->width) - plane->from;
}

/* One decoder of each variant that this machine can run. */
struct decoders {
    struct indexed_decoder *of[CPU_VARIANTS];
    unsigned count;
};

static struct decoders decoders_new(void)
{
    struct decoders all = {.count = 0};
    for (int v = 0; v < CPU_VARIANTS; v++)
        if (cpu_can((enum cpu_variant)v))
            all.of[all.count++] = indexed_decoder_new((enum cpu_variant)v);
    return all;
}

static void decoders_free(struct decoders *all)
{
    for (unsigned i = 0; i < all->count; i++)
        indexed_decoder_free(all->of[i]);
}

static void compare_region(struct indexed_decoder *d, const struct indexed *image, struct jpeg_region region,
                           unsigned eighths, enum jpeg_chroma chroma, const struct jpeg_raw *raw)
{
    struct jpeg_planes planes;
    struct jpeg_band band;
    apl_error err;
    uint32_t end[JPEG_PLANES] = {0};
    cr_assert_eq(indexed_decoder_open(d, image, &err), APL_OK, "%s", err.message);
    cr_assert_eq(indexed_decoder_start(d, region, eighths, chroma, &planes, &err), APL_OK, "%s", err.message);
    cr_assert_eq(planes.count, image->rendering.frame.components);
    for (unsigned i = 0; i < planes.count; i++) {
        cr_assert_eq(planes.plane[i].width, raw->width[i]);
        cr_assert_eq(planes.plane[i].height, raw->height[i]);
        cr_assert_leq(planes.plane[i].from * planes.plane[i].step_across, region.left);
    }
    for (bool first = true;; first = false) {
        cr_assert_eq(indexed_decoder_next(d, &band, &err), APL_OK, "%s", err.message);
        if (band.plane[0].count == 0)
            break;
        for (unsigned i = 0; i < planes.count; i++) {
            cr_assert(first ? band.plane[i].first * planes.plane[i].step_down <= region.top
                            : band.plane[i].first == end[i]);
            end[i] = band.plane[i].first + band.plane[i].count;
            compare_rows(&planes.plane[i], raw, i, &band, columns_of(&planes.plane[i], &region));
        }
    }
    for (unsigned i = 0; i < planes.count; i++)
        cr_assert(end[i] == raw->height[i] ||
                  end[i] * planes.plane[i].step_down >= (double)region.top + region.height);
}

static struct jpeg_region draw_region(uint32_t *state, uint32_t width, uint32_t height)
{
    struct jpeg_region r = {.width = 1 + below(state, width), .height = 1 + below(state, height)};
    r.left = below(state, width - r.width + 1);
    r.top = below(state, height - r.height + 1);
    return r;
}

/* What libjpeg makes of it where chroma is interpolated. */
static struct jpeg_raw interpolated(const struct coefs *k, struct jpeg_bytes file, unsigned eighths)
{
    struct jpeg_raw raw = {.plane = {NULL, NULL, NULL}};
    unsigned width, height;
    if (k->components == 1 || k->rgb)
        return jpeg_stored(file, eighths);
    uint8_t *pixels = jpeg_whole(file, eighths, &width, &height);
    for (unsigned i = 0; i < 3; i++) {
        raw.width[i] = raw.stride[i] = width;
        raw.height[i] = height;
        raw.plane[i] = malloc((size_t)width * height);
    }
    separate_pixels(pixels, (size_t)width * height, false, raw.plane);
    free(pixels);
    return raw;
}

/* The whole image and some regions, at each scale. */
static void compare_image(const struct decoders *all, const struct coefs *k, struct jpeg_bytes file,
                          uint32_t *state, int regions)
{
    struct indexed_case x;
    indexed_make(k, &x);
    for (unsigned eighths = 1; eighths <= 8; eighths *= 2) {
        struct jpeg_raw raw = jpeg_stored(file, eighths), exact = interpolated(k, file, eighths);
        for (int n = 0; n <= regions; n++) {
            struct jpeg_region region = {.width = k->width, .height = k->height};
            if (n > 0)
                region = draw_region(state, k->width, k->height);
            for (unsigned i = 0; i < all->count; i++) {
                compare_region(all->of[i], &x.image, region, eighths, JPEG_CHROMA_PLANES, &raw);
                compare_region(all->of[i], &x.image, region, eighths, JPEG_CHROMA_EXACT, &exact);
            }
        }
        jpeg_raw_free(&raw);
        jpeg_raw_free(&exact);
    }
    indexed_free(&x);
}

/* ---------------------------------------------------------------------------------------------- images */

static const unsigned samplings[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}};

Test(indexed_decoder, images_of_every_sampling_size_and_quality)
{
    struct decoders all = decoders_new();
    uint32_t state = 1;
    for (int n = 0; n < 60; n++) {
        const unsigned *sampling = samplings[n % 4];
        struct jpeg_case drawn = {.width = 1 + below(&state, n % 3 ? 150 : 20),
                                  .height = 1 + below(&state, n % 3 ? 150 : 20),
                                  .colour = n % 7 == 3   ? JCS_GRAYSCALE
                                            : n % 7 == 5 ? JCS_RGB
                                                         : JCS_YCbCr,
                                  .across = (int)sampling[0],
                                  .down = (int)sampling[1],
                                  .quality = 1 + (int)below(&state, 100)};
        struct jpeg_bytes file = jpeg_draw(&drawn);
        struct coefs k;
        cr_assert(coefs_read(file, 1 + below(&state, n % 2 ? 6 : 32), &k));
        compare_image(&all, &k, file, &state, 6);
        coefs_free(&k);
        free(file.data);
    }
    decoders_free(&all);
}

/* ------------------------------------------------------------------------------------ coefficients at will */

enum kind { FEW, SOME, FLAT, WILD, KINDS };

static int value_of(uint32_t *state, unsigned bound)
{
    return (int)below(state, 2 * bound + 1) - (int)bound;
}

static void draw_block(uint32_t *state, enum kind kind, int16_t *block, int16_t *dc)
{
    int next = *dc + value_of(state, kind == WILD ? 2047 : 200);
    *dc = (int16_t)(next > 1023 ? 1023 : next < -1024 ? -1024 : next);
    memset(block, 0, 64 * sizeof *block);
    block[0] = *dc;
    unsigned count = kind == FLAT ? below(state, 8) == 0 : kind == FEW ? below(state, 6) : below(state, 64);
    for (unsigned n = 0; n < count; n++) {
        unsigned place = 1 + below(state, kind == FEW ? 12 : 63), bound = 1u << below(state, 11);
        block[indexed_natural[place]] = (int16_t)value_of(state, kind == WILD ? 1023
                                                                 : bound < 60 ? bound
                                                                              : 60);
    }
}

static void draw_coefs(uint32_t *state, enum kind kind, struct coefs *k)
{
    unsigned sampling = below(state, 5), most = kind == WILD ? 255 : 12;
    *k = (struct coefs){.width = 1 + below(state, 120),
                        .height = 1 + below(state, 80),
                        .components = sampling == 4 ? 1 : 3,
                        .across = samplings[sampling % 4][0],
                        .down = samplings[sampling % 4][1],
                        .per_segment = 1 + below(state, 8)};
    if (k->components == 1)
        k->across = k->down = 1;
    coefs_measure(k);
    for (unsigned i = 0; i < k->components; i++) {
        int16_t dc = 0;
        for (int n = 0; n < 64; n++)
            k->quant[i][n] = (uint16_t)(1 + below(state, most));
        for (unsigned y = 0; y < k->rows * coefs_down(k, i); y++)
            for (unsigned x = 0; x < k->columns * coefs_across(k, i); x++)
                draw_block(state, kind, coefs_block(k, i, x, y), &dc);
    }
    coefs_fill_up(k);
}

static void compare_drawn(enum kind kind, int images)
{
    struct decoders all = decoders_new();
    uint32_t state = 7 + (uint32_t)kind;
    for (int n = 0; n < images; n++) {
        struct coefs k;
        draw_coefs(&state, kind, &k);
        struct jpeg_bytes file = coefs_write(&k, false);
        compare_image(&all, &k, file, &state, 2);
        free(file.data);
        coefs_free(&k);
    }
    decoders_free(&all);
}

Test(indexed_decoder, coefficients_few_and_many)
{
    compare_drawn(FEW, 25);
    compare_drawn(SOME, 25);
    compare_drawn(FLAT, 25);
}

#if defined(__x86_64__)
/* Sums that overflow: as libjpeg-turbo has them on x86-64, where vectors decide what they become; elsewhere it has others. */
Test(indexed_decoder, coefficients_beyond_all_measure)
{
    compare_drawn(WILD, 40);
}
#endif

/* -------------------------------------------------------------------------------------------- damage */

/* A grey image of 8 x 8: a difference of DC of none is 0; an end of block is 0, fifteen zeros and a value of one bit are 10. */
static void tiny(struct indexed_case *x, const uint8_t *bytes, size_t size)
{
    *x = (struct indexed_case){.data = malloc(size + 1), .lengths = calloc(1, 2)};
    x->image = (struct indexed){.mcus = 1, .segments = 1, .codes = 1, .data_bytes = size};
    x->image.rendering.frame = (struct frame){
        .width = 8, .height = 8, .columns = 1, .rows = 1, .components = 1, .across = {1}, .down = {1}};
    x->image.dc[0] = (struct huffman){.counts = {1}, .symbols = {0}, .size = 1};
    x->image.ac[0] = (struct huffman){.counts = {1, 1}, .symbols = {0, 0xf1}, .size = 2};
    memset(x->image.rendering.tables[0], 1, 64);
    memcpy(x->data + 1, bytes, size);
    x->lengths[0] = (uint8_t)size;
    x->image.data = x->data + 1;
    x->image.lengths = x->lengths;
}

static apl_status decode_all(struct indexed_decoder *d, const struct indexed *image, unsigned eighths)
{
    const struct frame *f = &image->rendering.frame;
    struct jpeg_planes planes;
    struct jpeg_band band;
    apl_error err;
    apl_status status = indexed_decoder_open(d, image, &err);
    if (status == APL_OK)
        status =
            indexed_decoder_start(d, (struct jpeg_region){.width = f->width, .height = f->height}, eighths,
                                  eighths % 7 == 1 ? JPEG_CHROMA_PLANES : JPEG_CHROMA_EXACT, &planes, &err);
    do {
        if (status == APL_OK)
            status = indexed_decoder_next(d, &band, &err);
    } while (status == APL_OK && band.plane[0].count > 0);
    return status;
}

static void expect_tiny(const struct decoders *all, apl_status status, const char *bytes, size_t size)
{
    struct indexed_case x;
    tiny(&x, (const uint8_t *)bytes, size);
    for (unsigned i = 0; i < all->count; i++)
        cr_assert_eq(decode_all(all->of[i], &x.image, 8), status);
    indexed_free(&x);
}

Test(indexed_decoder, what_is_wrong_with_a_segment_is_found)
{
    struct decoders all = decoders_new();
    expect_tiny(&all, APL_OK, "\x3f", 1);
    expect_tiny(&all, APL_OK, "\x5b\x4f", 2);        /* places 16, 32 and 48, end */
    expect_tiny(&all, APL_E_CORRUPT, "\x5b\x6f", 2); /* place 64 */
    expect_tiny(&all, APL_E_CORRUPT, "\x7f", 1);     /* no such code */
    expect_tiny(&all, APL_E_CORRUPT, "\x80", 1);     /* nor of DC */
    expect_tiny(&all, APL_E_CORRUPT, "\x3f\xff", 2); /* more than there should be */
    expect_tiny(&all, APL_E_CORRUPT, "\x5b", 1);     /* less */
    expect_tiny(&all, APL_E_CORRUPT, "", 0);
    decoders_free(&all);
}

Test(indexed_decoder, tables_of_too_many_codes_are_refused)
{
    struct decoders all = decoders_new();
    struct indexed_case x;
    tiny(&x, (const uint8_t *)"\x3f", 1);
    x.image.ac[0].counts[1] = 3;
    cr_assert_eq(decode_all(all.of[0], &x.image, 8), APL_E_CORRUPT);
    x.image.ac[0].counts[1] = 0;
    x.image.ac[0].counts[14] = 255;
    x.image.ac[0].counts[15] = 2;
    cr_assert_eq(decode_all(all.of[0], &x.image, 8), APL_E_CORRUPT);
    x.image.ac[0].counts[14] = 0;
    x.image.dc[0].counts[0] = 3;
    cr_assert_eq(decode_all(all.of[0], &x.image, 8), APL_E_CORRUPT);
    indexed_free(&x);
    decoders_free(&all);
}

static void damage(uint32_t *state, struct indexed_case *x)
{
    unsigned count = x->image.segments * x->image.rendering.frame.rows, k = below(state, count);
    for (unsigned n = below(state, 4); n > 0; n--)
        x->data[below(state, (uint32_t)x->image.data_bytes)] ^= (uint8_t)(1u << below(state, 8));
    if (below(state, 3) == 0)
        x->image.ac[0].symbols[below(state, x->image.ac[0].size)] = (uint8_t)below(state, 256);
    if (count > 1 && below(state, 3) == 0) { /* a byte from one segment to the next */
        unsigned from = k > 0 ? k : 1, left = indexed_length(&x->image, from - 1) - 1,
                 right = indexed_length(&x->image, from) + 1;
        store_le(x->lengths + 2 * (from - 1), left, 2);
        store_le(x->lengths + 2 * from, right, 2);
    }
}

/* Nothing is read or written where it must not be, as far as a sanitizer sees it; and the variants agree. */
Test(indexed_decoder, damage_does_no_harm)
{
    struct decoders all = decoders_new();
    uint32_t state = 11, found = 0;
    for (int n = 0; n < 1500; n++) {
        struct coefs k;
        struct indexed_case x;
        draw_coefs(&state, (enum kind)below(&state, KINDS), &k);
        indexed_make(&k, &x);
        damage(&state, &x);
        apl_status status = decode_all(all.of[0], &x.image, 1u << below(&state, 4));
        cr_assert(status == APL_OK || status == APL_E_CORRUPT);
        found += status != APL_OK;
        for (unsigned i = 1; i < all.count; i++)
            cr_assert_eq(decode_all(all.of[i], &x.image, 8), status);
        indexed_free(&x);
        coefs_free(&k);
    }
    cr_assert_gt(found, 300);
    decoders_free(&all);
}
