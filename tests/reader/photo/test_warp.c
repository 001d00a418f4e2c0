/* Maps of any kind: the kernels against those of affine maps, perspectives, and the draws of a record. */
#include "boxes.h"
#include "exact.h"
#include "warps.h"

#include <criterion/criterion.h>
#include <math.h>

#define LONGEST 300
#define PLANES  3

static uint32_t next_word(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void find_by_affine(const void *map, uint32_t row, uint32_t column, struct warp_places *places)
{
    const struct affine_map *m = map;
    for (uint32_t i = 0; i < places->count; i++) {
        places->x[i] = m->xx * (column + i) + m->xy * row + m->x0;
        places->y[i] = m->yx * (column + i) + m->yy * row + m->y0;
    }
}

/* The buffers are as long as what may be read, so that sanitizers see what is beyond. */
static void check_planes(uint64_t *state, uint32_t width, uint32_t height, size_t element)
{
    const struct affine_planes p = {PLANES, width, height, element};
    struct affine_motion motion = {.degrees = next_word(state) % 360, .zoom = 0.5 + next_word(state) % 3};
    motion.centre[0] = next_word(state) % (width + 1);
    struct affine_map m = affine_of(&motion);
    const struct warp warp = {.find = find_by_affine, .map = &m};
    size_t n = PLANES * element * width * height;
    uint8_t *from = malloc(n + AFFINE_BEYOND), *want = malloc(n), *got = malloc(n), fill[8 * PLANES];
    for (size_t i = 0; i < n + AFFINE_BEYOND; i++)
        from[i] = (uint8_t)next_word(state);
    for (size_t i = 0; i < sizeof fill; i++)
        fill[i] = (uint8_t)next_word(state);
    affine_nearest(&m, &p, from, fill, want);
    warp_nearest(&warp, &p, from, fill, got);
    cr_assert(memcmp(want, got, n) == 0, "%u x %u, of %zu bytes", width, height, element);
    for (int i = 0; element == 1 && i < 2; i++) {
        affine_bilinear(&m, &p, from, i ? fill : NULL, want);
        warp_bilinear(&warp, &p, from, i ? fill : NULL, got);
        cr_assert(memcmp(want, got, n) == 0, "%u x %u, bilinear", width, height);
    }
    free(from);
    free(want);
    free(got);
}

Test(warp, affine_maps_give_what_their_own_kernels_do)
{
    static const size_t elements[] = {1, 2, 4, 8};
    uint64_t state = 5;
    for (uint32_t i = 0; i < 60; i++)
        check_planes(&state, 1 + next_word(&state) % 40, 1 + next_word(&state) % 40, elements[i % 4]);
    check_planes(&state, LONGEST, 3, 1);
    check_planes(&state, 1, LONGEST, 1);
    check_planes(&state, LONGEST, 1, 1);
    check_planes(&state, 1, 1, 1);
}

/* From a place, not a number, on. */
Test(warp, places_are_near_the_plane)
{
    cr_assert_eq(warp_place(NAN, 7), -2 * AFFINE_UNIT);
    cr_assert_eq(warp_place(-INFINITY, 7), -2 * AFFINE_UNIT);
    cr_assert_eq(warp_place(INFINITY, 7), 8 * AFFINE_UNIT);
    cr_assert_eq(warp_place(-0.5, 7), -AFFINE_UNIT / 2);
    cr_assert_eq(warp_place(32767.5, 32768), 32767 * AFFINE_UNIT + AFFINE_UNIT / 2);
}

/* ------------------------------------------------------------------------------------------ perspective */

Test(warp, perspectives_take_corners_to_corners)
{
    const struct perspective_corners corners = {{5, 80, 99, 0}, {7, 0, 33, 39}};
    static const double before[4][2] = {{0, 0}, {99, 0}, {99, 39}, {0, 39}};
    struct perspective map;
    cr_assert(perspective_of(&corners, 40, 100, &map));
    struct warp warp = perspective_warp(&map);
    for (int i = 0; i < 4; i++) {
        double to[2];
        warp.point(warp.map, before[i], to);
        cr_assert(fabs(to[0] - corners.x[i]) < 1e-9 && fabs(to[1] - corners.y[i]) < 1e-9);
    }
}

Test(warp, perspectives_need_corners_that_do_not_align)
{
    const struct perspective_corners aligned = {{0, 10, 5, 0}, {0, 0, 0, 9}},
                                     whole = {{0, 9, 9, 0}, {0, 0, 9, 9}};
    struct perspective map;
    cr_assert(!perspective_of(&aligned, 10, 11, &map) && !perspective_of(&whole, 10, 1, &map));
    cr_assert(perspective_of(&whole, 10, 10, &map));
    struct warp_places places = {.count = 10};
    perspective_warp(&map).find(&map, 3, 0, &places);
    for (int64_t i = 0; i < 10; i++)
        cr_assert(llabs(places.x[i] - i * AFFINE_UNIT) < 8 && llabs(places.y[i] - 3 * AFFINE_UNIT) < 8);
}

/* Uniform among the pixels that torchvision draws them from. */
Test(warp, corners_lie_in_their_boxes)
{
    apl_transform t = APL_TRANSFORM_INIT;
    unsigned seen[4][2][11] = {0}, done = 0;
    t.perspective_distortion = 0.5;
    t.perspective_p = 0.5;
    cr_assert_eq(perspective_check("image", 3, &t, NULL), APL_OK);
    for (uint64_t id = 0; id < 4000; id++) {
        struct perspective_corners c;
        struct effect_draws draws = effect_draws(1, 3, id, 0);
        if (!perspective_draw(&t, &draws, 20, 40, &c))
            continue;
        done++;
        for (int i = 0; i < 4; i++) {
            int32_t x = i == 1 || i == 2 ? 39 - c.x[i] : c.x[i], y = i >= 2 ? 19 - c.y[i] : c.y[i];
            cr_assert(x >= 0 && x <= 10 && y >= 0 && y <= 5);
            seen[i][0][x]++;
            seen[i][1][y]++;
        }
    }
    cr_assert(done > 1850 && done < 2150, "%u", done);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 11; k++)
            cr_assert(seen[i][0][k] > done / 11 - 60 && (k > 5 || seen[i][1][k] > done / 6 - 80));
}

/* ---------------------------------------------------------------------------------------------- elastic */

static apl_transform bent(double alpha, double sigma)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.crop_width = t.crop_height = 64;
    t.elastic_alpha[0] = t.elastic_alpha[1] = alpha;
    t.elastic_sigma[0] = t.elastic_sigma[1] = sigma;
    return t;
}

/* Noise of variance 1/3, the sum of which with these weights has 1 / (4 pi sigma^2) of that. */
Test(warp, elastic_fields_are_noise_that_is_smoothed)
{
    apl_transform t = bent(100, 2);
    struct scratch scratch = {NULL, 0};
    struct elastic field;
    double sum = 0, squares = 0, both = 0;
    unsigned n = 0;
    cr_assert_eq(elastic_check("image", 3, &t, NULL), APL_OK);
    for (uint64_t id = 0; id < 8; id++) {
        struct effect_draws draws = effect_draws(1, 0, id, 0);
        cr_assert(elastic_happens(&t, &draws));
        cr_assert_eq(elastic_draw(&scratch, &t, &draws, 64, 64, &field, NULL), APL_OK);
        for (unsigned i = 64 * 8; i < 64 * 56; i++, n++) {
            sum += (double)field.right[i];
            squares += (double)field.right[i] * (double)field.right[i];
            both += (double)field.right[i] * (double)field.down[i];
        }
    }
    double want = 50 * 50 / 3.0 / (4 * acos(-1) * 2 * 2);
    cr_assert(fabs(sum / n) < 0.5 && fabs(squares / n / want - 1) < 0.1 && fabs(both / n / want) < 0.1,
              "%g, %g, %g", sum / n, squares / n / want, both / n / want);
    scratch_free(&scratch);
}

/* Corners beyond the last pixel, or none at all, are moved as the pixel that is nearest. */
Test(warp, elastic_corners_are_within_the_field)
{
    apl_transform t = bent(9, 0);
    struct effect_draws draws = effect_draws(1, 0, 5, 0);
    struct scratch scratch = {NULL, 0};
    struct warps warps;
    float boxes[2 * BOX_NUMBERS] = {-3, 2, 70, 64, NAN, 0, 1, 1};
    cr_assert_eq(elastic_check("image", 3, &t, NULL), APL_OK);
    cr_assert_eq(warps_draw(&scratch, &t, &draws, 64, 64, &warps, NULL), APL_OK);
    cr_assert(warps.count == 1 && warps.elastic[0]);
    boxes_warp(&warps.all[0], 64, 64, APL_FORM_XYXY, boxes, 2);
    cr_assert(boxes[0] >= 0 && boxes[0] <= 5 && boxes[2] >= 58 && boxes[2] <= 64 && isnan(boxes[4]));
    scratch_free(&scratch);
}

/* --------------------------------------------------------------------------------------------- settings */

Test(warp, draws_never_change)
{
    apl_transform t = bent(50, 3);
    struct scratch scratch = {NULL, 0};
    struct effect_draws draws = effect_draws(7, 3, 12345, 0);
    struct perspective_corners c;
    struct elastic field;
    t.perspective_distortion = 0.5;
    t.perspective_p = 1;
    cr_assert(perspective_draw(&t, &draws, 64, 64, &c));
    const struct perspective_corners want = {{8, 59, 53, 6}, {13, 4, 47, 62}};
    cr_assert(memcmp(&c, &want, sizeof want) == 0, "%d %d %d %d, %d %d %d %d", c.x[0], c.x[1], c.x[2], c.x[3],
              c.y[0], c.y[1], c.y[2], c.y[3]);
    cr_assert_eq(elastic_draw(&scratch, &t, &draws, 64, 64, &field, NULL), APL_OK);
    cr_assert(field.right[777] == 0x1.50f44p-2f && field.down[4095] == -0x1.0c4804p+2f, "%a %a",
              (double)field.right[777], (double)field.down[4095]);
    scratch_free(&scratch);
}

#define REFUSED(check, word, change)                                                    \
    do {                                                                                \
        apl_transform t = bent(0, 0);                                                   \
        apl_error err = {0};                                                            \
        change;                                                                         \
        cr_assert_eq(check("image", 3, &t, &err), APL_E_INVALID);                       \
        cr_assert(strstr(err.message, word), "\"%s\" lacks \"%s\"", err.message, word); \
    } while (0)

Test(warp, what_cannot_be_is_refused)
{
    apl_transform four = bent(1, 0);
    REFUSED(perspective_check, "distortion of 1.1", t.perspective_distortion = 1.1);
    REFUSED(perspective_check, "distortion", t.perspective_distortion = NAN);
    REFUSED(perspective_check, "perspective_p", t.perspective_p = -1);
    REFUSED(perspective_check, "interpolation", t.perspective_interpolation = (apl_interpolation)2);
    REFUSED(perspective_check, "perspective_fill[1] is 256", t.perspective_fill[1] = 256);
    REFUSED(elastic_check, "elastic_alpha of -1", t.elastic_alpha[1] = -1);
    REFUSED(elastic_check, "elastic_alpha", t.elastic_alpha[0] = INFINITY);
    REFUSED(elastic_check, "elastic_sigma", t.elastic_sigma[0] = NAN);
    REFUSED(elastic_check, "two of 0", t.elastic_sigma[0] = 1);
    REFUSED(elastic_check, "smooths over 64 pixels", t = bent(1, 16));
    REFUSED(elastic_check, "elastic_p", t.elastic_p = 2);
    REFUSED(elastic_check, "interpolation", t.elastic_interpolation = (apl_interpolation)2);
    REFUSED(elastic_check, "elastic_fill[2] is -1", t.elastic_fill[2] = -1);
    cr_assert_eq(elastic_check("image", 4, &four, NULL), APL_E_INVALID);
    four.perspective_distortion = 0.5;
    cr_assert_eq(perspective_check("image", 4, &four, NULL), APL_E_INVALID);
}
