/* Crops of indexed images are, to the byte, those of the files that they came from. */
#include "jpegs.h"
#include "photo.h"
#include "transcode.h"

#include <criterion/criterion.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static struct transcoder t;
static struct photo *photo;
static apl_error err;

static void begin(void)
{
    cr_assert_eq(transcoder_init(&t, &err), APL_OK);
    cr_assert_not_null(photo = photo_new());
}

static void end(void)
{
    transcoder_free(&t);
    photo_free(photo);
}

TestSuite(photo_indexed, .init = begin, .fini = end);

static uint32_t below(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)*state * n >> 32);
}

/* A box of any size, or one at an edge; scaled to anything down to a thirtieth. */
static struct crop_plan draw_plan(uint32_t *state, uint32_t width, uint32_t height)
{
    struct crop_plan p = {.width = 1 + below(state, 60), .height = 1 + below(state, 60)};
    p.box.width = 1 + below(state, width);
    p.box.height = 1 + below(state, height);
    p.box.left = below(state, 3) == 0 ? width - p.box.width : below(state, width - p.box.width + 1);
    p.box.top = below(state, 3) == 0 ? height - p.box.height : below(state, height - p.box.height + 1);
    p.window.width = 1 + below(state, p.width);
    p.window.height = 1 + below(state, p.height);
    p.window.left = (int32_t)below(state, p.width - p.window.width + 1);
    p.window.top = (int32_t)below(state, p.height - p.window.height + 1);
    return p;
}

static struct buffer form_of(struct jpeg_bytes bytes)
{
    struct buffer form = {0};
    bool indexed;
    cr_assert_eq(transcode(&t, bytes.data, bytes.size, &form, &indexed, &err), APL_OK);
    cr_assert(indexed || !form.size);
    return form;
}

static void same_crops(struct jpeg_bytes bytes, struct buffer *form, const struct crop_plan *plan,
                       enum jpeg_chroma chroma)
{
    size_t values = (size_t)3 * plan->window.width * plan->window.height;
    uint8_t *a = malloc(values), *b = malloc(values);
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, plan, chroma, a, &err), APL_OK, "%s", err.message);
    cr_assert_eq(photo_make_indexed(photo, form->data, form->size, plan, chroma, b, &err), APL_OK, "%s",
                 err.message);
    cr_assert(memcmp(a, b, values) == 0, "box %u x %u at %u, %u, to %u x %u, chroma %d", plan->box.width,
              plan->box.height, plan->box.left, plan->box.top, plan->width, plan->height, (int)chroma);
    free(a);
    free(b);
}

static const struct {
    J_COLOR_SPACE colour;
    int across, down;
} samplings[] = {{JCS_GRAYSCALE, 1, 1}, {JCS_YCbCr, 1, 1}, {JCS_YCbCr, 2, 1},    {JCS_YCbCr, 2, 2},
                 {JCS_YCbCr, 1, 2},     {JCS_RGB, 1, 1},   {JCS_GRAYSCALE, 2, 2}};

static unsigned compare_crops(unsigned width, unsigned height, unsigned sampling, unsigned crops,
                              uint32_t *state)
{
    struct jpeg_case k = {.width = width,
                          .height = height,
                          .colour = samplings[sampling].colour,
                          .across = samplings[sampling].across,
                          .down = samplings[sampling].down,
                          .progressive = crops % 12 == 0 && below(state, 3) == 0,
                          .quality = 95};
    struct jpeg_bytes bytes = jpeg_draw(&k);
    struct buffer form = form_of(bytes);
    for (unsigned n = 0; form.size && n < crops; n++) {
        struct crop_plan plan = draw_plan(state, width, height);
        same_crops(bytes, &form, &plan, n % 2 ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES);
    }
    bool indexed = form.size > 0;
    buffer_free(&form);
    free(bytes.data);
    return indexed;
}

Test(photo_indexed, any_crop_of_any_image)
{
    uint32_t state = 5;
    unsigned indexed = 0;
    for (unsigned s = 0; s < COUNT(samplings); s++)
        for (unsigned n = 0; n < 8; n++)
            indexed += compare_crops(40 + below(&state, 400), 40 + below(&state, 300), s, 24, &state);
    cr_assert_eq(indexed, 8 * COUNT(samplings));
}

/* All of the image, and its last column alone: what lies beyond is filled up in the one, and not there in the other. */
Test(photo_indexed, the_edges_of_small_images)
{
    uint32_t state = 7;
    unsigned indexed = 0;
    for (unsigned s = 0; s < COUNT(samplings); s++)
        for (unsigned side = 1; side < 70; side += 3)
            indexed += compare_crops(side, 1 + below(&state, 70), s, 6, &state);
    cr_assert_gt(indexed, 20);
}

Test(photo_indexed, a_draw_is_of_the_whole_image)
{
    static const struct crop_rules rules = {
        .sizing = CROP_RANDOM_RESIZED, .height = 48, .width = 64, .scale = {0.08, 1}, .ratio = {0.75, 1.4}};
    struct jpeg_case k = {.width = 301, .height = 207, .colour = JCS_YCbCr, .across = 2, .down = 2};
    struct jpeg_bytes bytes = jpeg_draw(&k);
    struct buffer form = form_of(bytes);
    static uint8_t a[3 * 48 * 64], b[3 * 48 * 64];
    for (uint64_t id = 0; id < 40; id++) {
        struct crop_draws draws = crop_draws(3, 1, id, 0);
        cr_assert_eq(photo_draw(photo, bytes.data, bytes.size, &rules, draws, JPEG_CHROMA_PLANES, a, &err),
                     APL_OK);
        cr_assert_eq(
            photo_draw_indexed(photo, form.data, form.size, &rules, draws, JPEG_CHROMA_PLANES, b, &err),
            APL_OK);
        cr_assert(memcmp(a, b, sizeof a) == 0);
    }
    buffer_free(&form);
    free(bytes.data);
}

/* A damaged image is an error, or gives some pixels; nothing else. Its segments may claim anything under a checksum that is right. */
Test(photo_indexed, damage_is_no_crash)
{
    struct jpeg_case k = {
        .width = 75, .height = 61, .colour = JCS_YCbCr, .across = 2, .down = 2, .quality = 70};
    struct jpeg_bytes bytes = jpeg_draw(&k);
    struct buffer form = form_of(bytes);
    struct crop_plan plan = {.box = {.left = 5, .top = 9, .width = 60, .height = 40},
                             .width = 16,
                             .height = 16,
                             .window = {0, 0, 16, 16}};
    uint8_t rgb[3 * 16 * 16];
    for (size_t i = 0; i < form.size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            form.data[i] ^= (uint8_t)(1u << bit);
            (void)photo_make_indexed(photo, form.data, form.size, &plan, JPEG_CHROMA_PLANES, rgb, &err);
            form.data[i] ^= (uint8_t)(1u << bit);
        }
    for (size_t size = 0; size < form.size; size += 3) {
        uint8_t *cut = malloc(size ? size : 1);
        memcpy(cut, form.data, size);
        cr_assert_neq(photo_make_indexed(photo, cut, size, &plan, JPEG_CHROMA_PLANES, rgb, &err),
                      APL_E_NOMEM);
        free(cut);
    }
    cr_assert_eq(photo_make_indexed(photo, form.data, form.size, &plan, JPEG_CHROMA_PLANES, rgb, &err),
                 APL_OK);
    buffer_free(&form);
    free(bytes.data);
}
