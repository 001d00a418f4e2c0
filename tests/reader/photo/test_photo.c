/* Crops of JPEG images against libjpeg's whole images, cropped and resized as Pillow does, in doubles. */
#include "counts.h"
#include "photo.h"

#include "jpegs.h"
#include "pixels.h"
#include "resample.h"
#include "samples.h"

#include <criterion/criterion.h>
#include <math.h>

static uint32_t below(uint32_t *state, uint32_t bound)
{
    return (sample_random(state) >> 4) % bound;
}

static struct crop_plan whole_plan(uint32_t width, uint32_t height, uint32_t out_width, uint32_t out_height)
{
    struct crop_plan plan = {.box = {0, 0, width, height}, .width = out_width, .height = out_height};
    plan.window.width = out_width;
    plan.window.height = out_height;
    return plan;
}

static struct crop_plan draw_plan(uint32_t *state, uint32_t width, uint32_t height)
{
    struct crop_plan plan = whole_plan(width, height, 1 + below(state, 120), 1 + below(state, 120));
    plan.box.width = 1 + below(state, width);
    plan.box.height = 1 + below(state, height);
    plan.box.left = below(state, width - plan.box.width + 1);
    plan.box.top = below(state, height - plan.box.height + 1);
    if (below(state, 2)) {
        plan.window.left = (int32_t)below(state, plan.width + 20) - 10;
        plan.window.top = (int32_t)below(state, plan.height + 20) - 10;
        plan.window.width = 1 + below(state, plan.width + 10);
        plan.window.height = 1 + below(state, plan.height + 10);
    }
    return plan;
}

/* One result, of samples with `pixel` bytes from one to the next. */
static double weigh(const struct crop_plan *p, const uint8_t *whole, size_t width, int32_t x, int32_t y)
{
    double sx = (double)p->box.width / p->width, sy = (double)p->box.height / p->height, sum = 0, weights = 0;
    double cx = (x + 0.5) * sx, cy = (y + 0.5) * sy, rx = fmax(1, sx), ry = fmax(1, sy);
    for (uint32_t r = (uint32_t)fmax(0, cy - ry - 1); r < p->box.height && r < cy + ry + 1; r++)
        for (uint32_t c = (uint32_t)fmax(0, cx - rx - 1); c < p->box.width && c < cx + rx + 1; c++) {
            double weight = fmax(0, 1 - fabs((r + 0.5 - cy) / ry)) * fmax(0, 1 - fabs((c + 0.5 - cx) / rx));
            sum += weight * whole[(p->box.top + r) * width + p->box.left + c];
            weights += weight;
        }
    return sum / weights;
}

static double expected(const struct crop_plan *p, const uint8_t *whole, size_t width, uint32_t column,
                       uint32_t row)
{
    int32_t x = p->window.left + (int32_t)column, y = p->window.top + (int32_t)row;
    if (x < 0 || y < 0 || x >= (int32_t)p->width || y >= (int32_t)p->height)
        return 0;
    return weigh(p, whole, width, x, y);
}

static bool scaled_by_libjpeg(const struct crop_plan *p)
{
    return p->box.width >= 4 * p->width && p->box.height >= 4 * p->height;
}

static void compare(struct photo *photo, const struct jpeg_case *k, struct jpeg_bytes bytes,
                    const uint8_t *planes, const struct crop_plan *plan, double bound)
{
    size_t pixels = (size_t)plan->window.width * plan->window.height;
    uint8_t *rgb = malloc(3 * pixels);
    apl_error err;
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, plan, JPEG_CHROMA_EXACT, rgb, &err), APL_OK, "%s",
                 err.message);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t y = 0; y < plan->window.height; y++)
            for (uint32_t x = 0; x < plan->window.width; x++) {
                double want = expected(plan, planes + (size_t)i * k->width * k->height, k->width, x, y);
                uint8_t got = rgb[i * pixels + y * plan->window.width + x];
                cr_assert(fabs(got - want) <= bound, "%ux%u, plane %u, row %u, column %u: %u, not %f",
                          k->width, k->height, i, y, x, got, want);
            }
    free(rgb);
}

Test(photo, exact_crops_are_what_pillow_computes)
{
    struct photo *photo = photo_new();
    uint32_t state = 1;
    for (size_t i = 0; i < JPEG_CASES; i++) {
        const struct jpeg_case *k = &jpeg_cases[i];
        struct jpeg_bytes bytes = jpeg_draw(k);
        unsigned width, height;
        uint8_t *whole = jpeg_whole(bytes, 8, &width, &height), *planes = malloc((size_t)3 * width * height);
        uint8_t *const rgb[3] = {planes, planes + (size_t)width * height,
                                 planes + (size_t)2 * width * height};
        separate_pixels(whole, (size_t)width * height, jpeg_is_ink(k), rgb);
        for (size_t n = 0; n < 40; n += sweep_step()) {
            struct crop_plan plan = draw_plan(&state, k->width, k->height);
            if (!scaled_by_libjpeg(&plan))
                compare(photo, k, bytes, planes, &plan, 0.6);
        }
        free(planes);
        free(whole);
        free(bytes.data);
    }
    photo_free(photo);
}

/* ------------------------------------------------------------------------------- planes as they are stored */

/* Smooth, so that it hardly matters how chroma is interpolated. */
static struct jpeg_bytes draw_smooth(int across, int down, bool progressive, unsigned width, unsigned height)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned long size = 0;
    uint8_t *data = NULL, *row = malloc((size_t)3 * width);
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &data, &size);
    c.image_width = width;
    c.image_height = height;
    c.in_color_space = JCS_RGB;
    c.input_components = 3;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, 98, TRUE);
    c.comp_info[0].h_samp_factor = across;
    c.comp_info[0].v_samp_factor = down;
    if (progressive)
        jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < height) {
        for (unsigned x = 0; x < width; x++)
            for (unsigned i = 0; i < 3; i++)
                row[3 * x + i] =
                    (uint8_t)(128 + 90 * sin(x * (0.02 + 0.01 * i)) * cos(c.next_scanline * 0.03));
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    free(row);
    return (struct jpeg_bytes){data, size};
}

static void compare_ways(struct photo *photo, struct jpeg_bytes bytes, const struct crop_plan *plan,
                         int bound)
{
    size_t values = (size_t)3 * plan->window.width * plan->window.height;
    uint8_t *planes = malloc(values), *exact = malloc(values);
    apl_error err;
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, plan, JPEG_CHROMA_PLANES, planes, &err), APL_OK,
                 "%s", err.message);
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, plan, JPEG_CHROMA_EXACT, exact, &err), APL_OK,
                 "%s", err.message);
    for (size_t i = 0; i < values; i++)
        cr_assert(abs(planes[i] - exact[i]) <= bound, "value %zu: %u, not %u", i, planes[i], exact[i]);
    free(planes);
    free(exact);
}

Test(photo, planes_come_near_to_exact_colours)
{
    static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};
    struct photo *photo = photo_new();
    uint32_t state = 2;
    for (int i = 0; i < 10; i++) {
        struct jpeg_bytes bytes = draw_smooth(samplings[i / 2][0], samplings[i / 2][1], i % 2, 233, 157);
        for (int n = 0; n < 60; n++) {
            struct crop_plan plan = draw_plan(&state, 233, 157);
            compare_ways(photo, bytes, &plan, 12);
        }
        free(bytes.data);
    }
    photo_free(photo);
}

/* Large images and small crops: libjpeg scales. */
Test(photo, what_libjpeg_scales_comes_near_to_what_it_does_not)
{
    struct photo *photo = photo_new();
    struct jpeg_bytes bytes = draw_smooth(2, 2, false, 1201, 903);
    unsigned width, height;
    uint8_t *whole = jpeg_whole(bytes, 8, &width, &height), *plane = malloc((size_t)3 * width * height);
    uint8_t *const rgb[3] = {plane, plane + (size_t)width * height, plane + (size_t)2 * width * height};
    separate_pixels(whole, (size_t)width * height, false, rgb);
    const struct jpeg_case k = {.width = width, .height = height};
    for (uint32_t side = 300; side >= 3; side /= 2) {
        struct crop_plan plan = whole_plan(width, height, side, side);
        compare(photo, &k, bytes, plane, &plan, 8);
        compare_ways(photo, bytes, &plan, 6);
    }
    free(plane);
    free(whole);
    free(bytes.data);
    photo_free(photo);
}

Test(photo, grey_images_give_three_planes_alike)
{
    struct photo *photo = photo_new();
    struct jpeg_bytes bytes =
        jpeg_draw(&(struct jpeg_case){.width = 50, .height = 40, .colour = JCS_GRAYSCALE});
    struct crop_plan plan = whole_plan(50, 40, 30, 33);
    uint8_t rgb[3][33][30];
    apl_error err;
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, &plan, JPEG_CHROMA_PLANES, rgb[0][0], &err),
                 APL_OK);
    cr_assert_arr_eq(rgb[0], rgb[1], sizeof rgb[0]);
    cr_assert_arr_eq(rgb[0], rgb[2], sizeof rgb[0]);
    free(bytes.data);
    photo_free(photo);
}

Test(photo, rules_are_planned_for_the_image)
{
    static const struct crop_rules rules = {
        .sizing = CROP_RANDOM_RESIZED, .height = 40, .width = 40, .scale = {0.08, 1}, .ratio = {0.75, 1.3}};
    struct photo *photo = photo_new();
    struct jpeg_bytes bytes = jpeg_draw(&jpeg_cases[3]);
    uint8_t drawn[3 * 40 * 40], made[3 * 40 * 40];
    struct crop_plan plan;
    apl_error err;
    for (uint64_t id = 0; id < 20; id++) {
        cr_assert_eq(photo_draw(photo, bytes.data, bytes.size, &rules, crop_draws(1, 2, id, 0),
                                JPEG_CHROMA_PLANES, drawn, &err),
                     APL_OK);
        cr_assert_eq(crop_plan(&rules, jpeg_cases[3].width, jpeg_cases[3].height, crop_draws(1, 2, id, 0),
                               &plan, &err),
                     APL_OK);
        cr_assert_eq(photo_make(photo, bytes.data, bytes.size, &plan, JPEG_CHROMA_PLANES, made, &err),
                     APL_OK);
        cr_assert_arr_eq(drawn, made, sizeof made);
    }
    free(bytes.data);
    photo_free(photo);
}

/* ---------------------------------------------------------------------------------------------- refused */

Test(photo, a_plan_of_another_image_is_an_error)
{
    struct photo *photo = photo_new();
    struct jpeg_bytes bytes = jpeg_draw(&jpeg_cases[3]);
    struct crop_plan plan = whole_plan(128, 97, 10, 10);
    uint8_t rgb[300];
    apl_error err;
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, &plan, JPEG_CHROMA_PLANES, rgb, &err),
                 APL_E_MISMATCH);
    cr_assert_str_eq(err.message, "an image of 128 x 96 pixels has no box of 128 x 97 at 0, 0");
    plan = whole_plan(128, 96, 10, 10);
    plan.box.left = UINT32_MAX;
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, &plan, JPEG_CHROMA_PLANES, rgb, &err),
                 APL_E_MISMATCH);
    plan = whole_plan(128, 96, CROP_LONGEST + 1, 10);
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, &plan, JPEG_CHROMA_PLANES, rgb, &err),
                 APL_E_INVALID);
    plan = whole_plan(128, 96, 0, 10);
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, &plan, JPEG_CHROMA_PLANES, rgb, &err),
                 APL_E_MISMATCH);
    free(bytes.data);
    photo_free(photo);
}

Test(photo, a_window_beside_the_image_is_black)
{
    struct photo *photo = photo_new();
    struct jpeg_bytes bytes = jpeg_draw(&jpeg_cases[3]);
    struct crop_plan plan = whole_plan(128, 96, 10, 10);
    uint8_t rgb[300], none[300] = {0};
    apl_error err;
    memset(rgb, 1, sizeof rgb);
    plan.window.left = 10;
    cr_assert_eq(photo_make(photo, bytes.data, bytes.size, &plan, JPEG_CHROMA_PLANES, rgb, &err), APL_OK);
    cr_assert_arr_eq(rgb, none, sizeof rgb);
    free(bytes.data);
    photo_free(photo);
}

Test(photo, damaged_images_are_errors_and_do_no_harm)
{
    struct photo *photo = photo_new();
    uint32_t state = 5;
    apl_error err;
    uint8_t *rgb = malloc((size_t)3 * 140 * 140);
    for (size_t i = 0; i < JPEG_CASES; i++) {
        const struct jpeg_case *k = &jpeg_cases[i];
        struct jpeg_bytes bytes = jpeg_draw(k);
        uint8_t *changed = malloc(bytes.size);
        for (int n = 0; n < 60; n++) {
            struct crop_plan plan = draw_plan(&state, k->width, k->height);
            memcpy(changed, bytes.data, bytes.size);
            size_t size = n % 2 ? bytes.size : below(&state, (uint32_t)bytes.size);
            changed[below(&state, (uint32_t)bytes.size)] ^= (uint8_t)(1 << below(&state, 8));
            (void)photo_make(photo, changed, size, &plan, n % 3 ? JPEG_CHROMA_PLANES : JPEG_CHROMA_EXACT, rgb,
                             &err);
        }
        struct crop_plan plan = whole_plan(k->width, k->height, 20, 20);
        cr_assert_eq(photo_make(photo, bytes.data, bytes.size / 2, &plan, JPEG_CHROMA_PLANES, rgb, &err),
                     APL_E_CORRUPT);
        cr_assert_eq(photo_make(photo, bytes.data, bytes.size, &plan, JPEG_CHROMA_PLANES, rgb, &err), APL_OK);
        free(changed);
        free(bytes.data);
    }
    free(rgb);
    photo_free(photo);
    photo_free(NULL);
}
