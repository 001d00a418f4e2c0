/* Decoding of regions, against libjpeg's decoding of whole images; and bytes that are no image. */
#include "jpeg.h"

#include "jpegs.h"
#include "pixels.h"
#include "samples.h"

#include <criterion/criterion.h>

static uint32_t below(uint32_t *state, uint32_t bound)
{
    return (sample_random(state) >> 4) % bound;
}

static struct jpeg_region draw_region(uint32_t *state, unsigned width, unsigned height)
{
    struct jpeg_region r = {.width = 1 + below(state, width), .height = 1 + below(state, height)};
    r.left = below(state, width - r.width + 1);
    r.top = below(state, height - r.height + 1);
    return r;
}

/* Decodes a region whole; false: an error. What came of each plane, put together. */
struct taken {
    struct jpeg_planes planes;
    uint8_t *at[JPEG_PLANES]; /* width * height samples, as far as they came */
    uint32_t first[JPEG_PLANES], end[JPEG_PLANES];
};

static void keep_rows(struct taken *t, const struct jpeg_band *band, unsigned i)
{
    const struct jpeg_plane *plane = &t->planes.plane[i];
    cr_assert_eq(band->plane[i].first, t->end[i]);
    cr_assert_leq(band->plane[i].count, plane->band_rows);
    for (uint32_t k = 0; k < band->plane[i].count; k++) {
        uint32_t row = band->plane[i].first + k;
        cr_assert_lt(row, plane->height);
        memcpy(t->at[i] + (size_t)row * plane->width + plane->from, band->plane[i].rows[k],
               plane->width - plane->from);
        t->end[i] = row + 1;
    }
}

static void taken_free(struct taken *t)
{
    for (int i = 0; i < JPEG_PLANES; i++)
        free(t->at[i]);
    *t = (struct taken){.at = {NULL}};
}

static apl_status take_bands(struct jpeg_decoder *d, struct taken *t, apl_error *err)
{
    struct jpeg_band band;
    for (unsigned i = 0; i < t->planes.count; i++)
        t->at[i] = calloc(t->planes.plane[i].width, t->planes.plane[i].height);
    for (bool first = true;; first = false) {
        apl_status status = jpeg_decoder_next(d, &band, err);
        if (status != APL_OK || band.plane[0].count == 0)
            return status;
        for (unsigned i = 0; i < t->planes.count; i++) {
            if (first)
                t->first[i] = t->end[i] = band.plane[i].first;
            keep_rows(t, &band, i);
        }
    }
}

static apl_status take(struct jpeg_decoder *d, struct jpeg_bytes bytes, struct jpeg_region region,
                       unsigned eighths, enum jpeg_chroma chroma, struct taken *t, apl_error *err)
{
    struct jpeg_info info;
    *t = (struct taken){.at = {NULL}};
    apl_status status = jpeg_decoder_open(d, bytes.data, bytes.size, &info, err);
    if (status != APL_OK)
        return status;
    if (region.width == 0)
        region = (struct jpeg_region){.width = info.width, .height = info.height};
    status = jpeg_decoder_start(d, region, eighths, chroma, &t->planes, err);
    if (status == APL_OK)
        status = take_bands(d, t, err);
    jpeg_decoder_end(d);
    return status;
}

/* The samples of a plane that the region touches. */
static void range(double step, uint32_t from, uint32_t length, uint32_t samples, uint32_t *low,
                  uint32_t *high)
{
    double end = (from + length) / step;
    *low = (uint32_t)(from / step);
    *high = (uint32_t)end + (end > (uint32_t)end);
    *high = *high < samples ? *high : samples;
}

static void same_plane(const struct taken *t, unsigned i, struct jpeg_region region, const uint8_t *whole,
                       size_t stride, size_t pixel)
{
    const struct jpeg_plane *plane = &t->planes.plane[i];
    uint32_t left, right, top, bottom;
    range(plane->step_across, region.left, region.width, plane->width, &left, &right);
    range(plane->step_down, region.top, region.height, plane->height, &top, &bottom);
    cr_assert(t->first[i] <= top && t->end[i] >= bottom, "rows %u ... %u, not %u ... %u", t->first[i],
              t->end[i], top, bottom);
    cr_assert_leq(plane->from, left);
    for (uint32_t y = top; y < bottom; y++)
        for (uint32_t x = left; x < right; x++)
            cr_assert_eq(t->at[i][(size_t)y * plane->width + x], whole[y * stride + x * pixel],
                         "plane %u, row %u, column %u", i, y, x);
}

static const unsigned scales[] = {8, 4, 2, 1};

static void compare_planes(struct jpeg_decoder *d, const struct jpeg_case *k, uint32_t *state)
{
    struct jpeg_bytes bytes = jpeg_draw(k);
    apl_error err;
    for (int s = 0; s < 4; s++) {
        struct jpeg_raw raw = jpeg_stored(bytes, scales[s]);
        for (int n = 0; n < 12; n++) {
            struct taken t;
            struct jpeg_region region = draw_region(state, k->width, k->height);
            cr_assert_eq(take(d, bytes, region, scales[s], JPEG_CHROMA_PLANES, &t, &err), APL_OK, "%s",
                         err.message);
            cr_assert_eq(t.planes.ycc, k->colour == JCS_YCbCr);
            for (unsigned i = 0; i < t.planes.count; i++) {
                cr_assert_eq(t.planes.plane[i].width, raw.width[i]);
                cr_assert_eq(t.planes.plane[i].height, raw.height[i]);
                same_plane(&t, i, region, raw.plane[i], raw.stride[i], 1);
            }
            taken_free(&t);
        }
        jpeg_raw_free(&raw);
    }
    free(bytes.data);
}

Test(jpeg, planes_of_a_region_are_those_of_the_whole_image)
{
    struct jpeg_decoder *d = jpeg_decoder_new();
    uint32_t state = 1;
    for (size_t i = 0; i < JPEG_CASES; i++)
        if (!jpeg_is_ink(&jpeg_cases[i]))
            compare_planes(d, &jpeg_cases[i], &state);
    jpeg_decoder_free(d);
}

/* Red, green and blue, each a plane. */
static uint8_t *planes_of(const uint8_t *whole, size_t pixels, bool ink)
{
    uint8_t *planes = malloc(3 * pixels);
    uint8_t *const rgb[3] = {planes, planes + pixels, planes + 2 * pixels};
    separate_pixels(whole, pixels, ink, rgb);
    return planes;
}

static void compare_pixels(struct jpeg_decoder *d, const struct jpeg_case *k, uint32_t *state)
{
    struct jpeg_bytes bytes = jpeg_draw(k);
    unsigned width, height;
    apl_error err;
    for (int s = 0; s < 4; s++) {
        uint8_t *whole = jpeg_whole(bytes, scales[s], &width, &height);
        uint8_t *planes = planes_of(whole, (size_t)width * height, jpeg_is_ink(k));
        for (int n = 0; n < 40; n++) {
            struct taken t;
            struct jpeg_region region = draw_region(state, k->width, k->height);
            cr_assert_eq(take(d, bytes, region, scales[s], JPEG_CHROMA_EXACT, &t, &err), APL_OK, "%s",
                         err.message);
            cr_assert_eq(t.planes.count, 3);
            for (unsigned i = 0; i < 3; i++)
                same_plane(&t, i, region, planes + i * (size_t)width * height, width, 1);
            taken_free(&t);
        }
        free(planes);
        free(whole);
    }
    free(bytes.data);
}

Test(jpeg, pixels_of_a_region_are_those_of_the_whole_image)
{
    struct jpeg_decoder *d = jpeg_decoder_new();
    uint32_t state = 2;
    for (size_t i = 0; i < JPEG_CASES; i++)
        if (jpeg_cases[i].colour != JCS_GRAYSCALE && jpeg_cases[i].colour != JCS_RGB)
            compare_pixels(d, &jpeg_cases[i], &state);
    jpeg_decoder_free(d);
}

Test(jpeg, ink_is_inverted_as_other_programs_have_it)
{
    const uint8_t white[4] = {255, 255, 255, 255}, black[4] = {255, 255, 255, 0},
                  cyan[4] = {0, 255, 255, 255};
    uint8_t r[3], g[3], b[3], pixels[12], *const rgb[3] = {r, g, b};
    memcpy(pixels, white, 4);
    memcpy(pixels + 4, black, 4);
    memcpy(pixels + 8, cyan, 4);
    separate_pixels(pixels, 3, true, rgb);
    cr_assert(r[0] == 255 && g[0] == 255 && b[0] == 255);
    cr_assert(r[1] == 0 && g[1] == 0 && b[1] == 0);
    cr_assert(r[2] == 0 && g[2] == 255 && b[2] == 255);
}

/* ----------------------------------------------------------------------------------------------- headers */

static const uint8_t exif[] = {'E', 'x', 'i',  'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0,
                               1,   0,   0x12, 1,   3, 0, 1,   0,   0,  0, 6, 0, 0, 0};

Test(jpeg, a_header_says_what_an_image_is)
{
    struct jpeg_decoder *d = jpeg_decoder_new();
    apl_error err;
    for (size_t i = 0; i < JPEG_CASES; i++) {
        struct jpeg_case k = jpeg_cases[i];
        struct jpeg_info info;
        k.app1 = i % 2 ? exif : NULL;
        k.app1_size = sizeof exif;
        struct jpeg_bytes bytes = jpeg_draw(&k);
        cr_assert_eq(jpeg_decoder_probe(d, bytes.data, bytes.size, &info, &err), APL_OK, "%s", err.message);
        cr_assert(info.width == k.width && info.height == k.height && info.progressive == k.progressive);
        cr_assert_eq(info.orientation, i % 2 ? 6 : 1);
        cr_assert_eq(info.components, jpeg_is_ink(&k) ? 4 : k.colour == JCS_GRAYSCALE ? 1 : 3);
        cr_assert_eq(info.colour, jpeg_is_ink(&k)             ? JPEG_CMYK
                                  : k.colour == JCS_GRAYSCALE ? JPEG_GREY
                                  : k.colour == JCS_RGB       ? JPEG_RGB
                                                              : JPEG_YCC);
        cr_assert_eq(info.across[0], k.across ? k.across : 1);
        cr_assert_eq(info.down[0], k.down ? k.down : 1);
        free(bytes.data);
    }
    jpeg_decoder_free(d);
}

/* -------------------------------------------------------------------------------------------- bad bytes */

static const struct jpeg_region everything = {.left = 0};

static apl_status take_all(struct jpeg_decoder *d, struct jpeg_bytes bytes, enum jpeg_chroma chroma,
                           apl_error *err)
{
    struct taken t;
    apl_status status = take(d, bytes, everything, 8, chroma, &t, err);
    taken_free(&t);
    return status;
}

static void truncate_everywhere(struct jpeg_decoder *d, const struct jpeg_case *k, enum jpeg_chroma chroma)
{
    struct jpeg_bytes bytes = jpeg_draw(k);
    apl_error err;
    for (size_t size = 0; size + 2 < bytes.size; size++) { /* the last two bytes say only that it ends */
        uint8_t *part = malloc(size ? size : 1);
        memcpy(part, bytes.data, size);
        cr_assert_eq(take_all(d, (struct jpeg_bytes){part, size}, chroma, &err), APL_E_CORRUPT,
                     "%zu of %zu bytes", size, bytes.size);
        cr_assert(strncmp(err.message, "JPEG: ", 6) == 0 && !strchr(err.message, '\n'), "%s", err.message);
        free(part);
    }
    cr_assert_eq(take_all(d, bytes, chroma, &err), APL_OK, "%s", err.message);
    free(bytes.data);
}

Test(jpeg, an_image_that_ends_early_is_an_error)
{
    static const struct jpeg_case cases[] = {
        {.width = 40, .height = 40, .colour = JCS_YCbCr, .across = 2, .down = 2},
        {.width = 40, .height = 40, .colour = JCS_YCbCr, .across = 2, .down = 2, .progressive = true},
        {.width = 24, .height = 24, .colour = JCS_GRAYSCALE, .restart = 1}};
    struct jpeg_decoder *d = jpeg_decoder_new();
    for (int i = 0; i < 3; i++) {
        truncate_everywhere(d, &cases[i], JPEG_CHROMA_PLANES);
        truncate_everywhere(d, &cases[i], JPEG_CHROMA_EXACT);
    }
    jpeg_decoder_free(d);
}

/* Where a frame's height and width are. */
static uint8_t *frame_size(struct jpeg_bytes bytes)
{
    for (size_t i = 2; i + 9 < bytes.size; i += 2 + (size_t)(bytes.data[i + 2] << 8 | bytes.data[i + 3]))
        if (bytes.data[i + 1] >= 0xc0 && bytes.data[i + 1] <= 0xc2)
            return bytes.data + i + 5;
    return NULL;
}

static void claim(struct jpeg_bytes bytes, unsigned width, unsigned height)
{
    uint8_t *at = frame_size(bytes);
    cr_assert(at);
    at[0] = (uint8_t)(height >> 8);
    at[1] = (uint8_t)height;
    at[2] = (uint8_t)(width >> 8);
    at[3] = (uint8_t)width;
}

Test(jpeg, sizes_that_are_claimed_are_not_believed)
{
    struct jpeg_decoder *d = jpeg_decoder_new();
    apl_error err;
    for (int progressive = 0; progressive < 2; progressive++) {
        struct jpeg_bytes bytes = jpeg_draw(&(struct jpeg_case){.width = 64,
                                                                .height = 64,
                                                                .colour = JCS_YCbCr,
                                                                .across = 2,
                                                                .down = 2,
                                                                .progressive = progressive});
        claim(bytes, 65500, 65500);
        cr_assert_eq(take_all(d, bytes, JPEG_CHROMA_PLANES, &err), APL_E_UNSUPPORTED);
        cr_assert_str_eq(err.message,
                         "JPEG: 65500 x 65500 pixels are more than the 67108864 that are allowed");
        claim(bytes, 8000, 8000);
        cr_assert_eq(take_all(d, bytes, JPEG_CHROMA_PLANES, &err), APL_E_CORRUPT);
        cr_assert(strstr(err.message, "claims 8000 x 8000 pixels"), "%s", err.message);
        claim(bytes, 0, 0);
        cr_assert_eq(take_all(d, bytes, JPEG_CHROMA_PLANES, &err), APL_E_CORRUPT);
        free(bytes.data);
    }
    jpeg_decoder_free(d);
}

/* One bit of one coefficient in each scan. */
static int many_scans(jpeg_scan_info *scans)
{
    int n = 0;
    scans[n++] = (jpeg_scan_info){.comps_in_scan = 1, .Ss = 0, .Se = 0, .Ah = 0, .Al = 0};
    for (int al = 1; al >= 0; al--)
        for (int k = 1; k < 64; k++)
            scans[n++] = (jpeg_scan_info){.comps_in_scan = 1, .Ss = k, .Se = k, .Ah = al ? 0 : 1, .Al = al};
    return n;
}

Test(jpeg, scans_without_end_are_an_error)
{
    static jpeg_scan_info scans[200];
    struct jpeg_case k = {.width = 32, .height = 32, .colour = JCS_GRAYSCALE, .scans = scans};
    struct jpeg_decoder *d = jpeg_decoder_new();
    apl_error err;
    k.scan_count = many_scans(scans);
    struct jpeg_bytes bytes = jpeg_draw(&k);
    cr_assert_gt(k.scan_count, JPEG_MAX_SCANS);
    cr_assert_eq(take_all(d, bytes, JPEG_CHROMA_PLANES, &err), APL_E_CORRUPT);
    cr_assert_str_eq(err.message, "JPEG: more than 100 scans");
    free(bytes.data);
    jpeg_decoder_free(d);
}

Test(jpeg, an_image_without_tables_does_not_take_those_of_another)
{
    struct jpeg_case k = jpeg_cases[3];
    struct jpeg_bytes whole = jpeg_draw(&k);
    k.without_tables = true;
    struct jpeg_bytes part = jpeg_draw(&k);
    struct jpeg_decoder *d = jpeg_decoder_new();
    apl_error err;
    for (int n = 0; n < 2; n++) {
        cr_assert_eq(take_all(d, part, JPEG_CHROMA_PLANES, &err), APL_E_CORRUPT);
        cr_assert_str_eq(err.message, "JPEG: Quantization table 0x00 was not defined");
        cr_assert_eq(take_all(d, whole, JPEG_CHROMA_PLANES, &err), APL_OK);
    }
    free(part.data);
    free(whole.data);
    jpeg_decoder_free(d);
}

/* Any outcome will do that is no crash; the address sanitizer watches. The decoder works on afterwards. */
Test(jpeg, changed_bytes_do_no_harm)
{
    struct jpeg_decoder *d = jpeg_decoder_new();
    uint32_t state = 3;
    apl_error err;
    for (size_t i = 0; i < JPEG_CASES; i++) {
        struct jpeg_bytes bytes = jpeg_draw(&jpeg_cases[i]), changed = {malloc(bytes.size), bytes.size};
        for (int n = 0; n < 150; n++) {
            memcpy(changed.data, bytes.data, bytes.size);
            for (uint32_t changes = 1 + below(&state, 4); changes > 0; changes--)
                changed.data[below(&state, (uint32_t)bytes.size)] = (uint8_t)sample_random(&state);
            (void)take_all(d, changed, n % 2 ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES, &err);
        }
        cr_assert_eq(take_all(d, bytes, JPEG_CHROMA_PLANES, &err), APL_OK, "%s", err.message);
        free(changed.data);
        free(bytes.data);
    }
    jpeg_decoder_free(d);
}

Test(jpeg, what_is_no_image_is_an_error)
{
    struct jpeg_decoder *d = jpeg_decoder_new();
    uint8_t noise[500];
    uint32_t state = 4;
    apl_error err;
    for (int n = 0; n < 400; n++) {
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (uint8_t)(sample_random(&state) >> 8);
        if (n % 2)
            memcpy(noise, "\xff\xd8\xff", 3);
        cr_assert_eq(take_all(d, (struct jpeg_bytes){noise, sizeof noise}, JPEG_CHROMA_PLANES, &err),
                     APL_E_CORRUPT);
    }
    cr_assert_eq(take_all(d, (struct jpeg_bytes){noise, 0}, JPEG_CHROMA_PLANES, &err), APL_E_CORRUPT);
    jpeg_decoder_end(d);
    jpeg_decoder_free(d);
    jpeg_decoder_free(NULL);
}
