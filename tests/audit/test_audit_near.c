/* The perceptual hash of images, and the search for near ones. */
#include "near.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* ---------------------------------------------------------------------------------------------- layouts */

Test(audit_images, layouts)
{
    struct image_layout l;
    cr_assert(image_layout(APL_FORM_CHW, (int64_t[]){3, 20, 30}, &l));
    cr_assert(l.width == 30 && l.height == 20 && l.channels == 3 && l.channel_step == 600 &&
              l.pixel_step == 1);
    cr_assert(image_layout(APL_FORM_HWC, (int64_t[]){20, 30, 3}, &l));
    cr_assert(l.width == 30 && l.height == 20 && l.channels == 3 && l.channel_step == 1 && l.pixel_step == 3);
    cr_assert(image_layout(APL_FORM_HW, (int64_t[]){20, 30}, &l) && l.channels == 1 && l.width == 30);
    cr_assert(image_layout(APL_FORM_CHW, (int64_t[]){1, 20, 30}, &l) && l.channels == 1 && l.width == 30);
    cr_assert(image_layout(APL_FORM_HWC, (int64_t[]){20, 30, 1}, &l) && l.channels == 1 && l.width == 30);
    cr_assert_not(image_layout(APL_FORM_NONE, (int64_t[]){30}, &l));
    cr_assert(image_layout(APL_FORM_HWC, (int64_t[]){20, 30, 4}, &l) && l.channels == 4 && l.pixel_step == 4);
    cr_assert(image_layout(APL_FORM_CHW, (int64_t[]){5, 20, 30}, &l) && l.channels == 5);
    cr_assert_not(image_layout(APL_FORM_CHW, (int64_t[]){0, 20, 30}, &l));
    cr_assert_not(image_layout(APL_FORM_NONE, (int64_t[]){2, 3, 20, 30}, &l));
    cr_assert_not(image_layout(APL_FORM_HW, (int64_t[]){0, 30}, &l));
    cr_assert_not(image_layout(APL_FORM_HW, (int64_t[]){30, 0}, &l));
    cr_assert_not(image_layout(APL_FORM_HW, (int64_t[]){1 << 17, 1 << 17}, &l));
}

/* ----------------------------------------------------------------------------------------------- hashes */

/* The mean of a cell by the definition, without cleverness: pixels cut into parts so that cells have whole ones. */
static uint64_t cell(const uint8_t *pixels, unsigned width, unsigned height, unsigned columns, unsigned rows,
                     unsigned x, unsigned y)
{
    uint64_t sum = 0;
    for (unsigned v = y * height; v < (y + 1) * height; v++)
        for (unsigned u = x * width; u < (x + 1) * width; u++)
            sum += pixels[v / rows * width + u / columns];
    return sum;
}

static struct image_hash defined(const uint8_t *p, unsigned w, unsigned h)
{
    struct image_hash hash = {0, 0};
    for (unsigned y = 0; y < 8; y++)
        for (unsigned x = 0; x < 8; x++) {
            hash.across |= (uint64_t)(cell(p, w, h, 9, 8, x + 1, y) > cell(p, w, h, 9, 8, x, y))
                           << (8 * y + x);
            hash.down |= (uint64_t)(cell(p, w, h, 8, 9, x, y + 1) > cell(p, w, h, 8, 9, x, y)) << (8 * y + x);
        }
    return hash;
}

Test(audit_images, is_what_it_is_defined_to_be)
{
    static const unsigned sizes[][2] = {{32, 32}, {9, 8}, {28, 28}, {1, 1}, {3, 50}, {64, 7}, {17, 23}};
    uint8_t pixels[2048];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned w = sizes[i][0], h = sizes[i][1];
        struct image_layout l;
        for (unsigned k = 0; k < w * h; k++)
            pixels[k] = (uint8_t)below(256);
        cr_assert(image_layout(APL_FORM_HW, (int64_t[]){h, w}, &l));
        struct image_hash is = image_hash(pixels, &l), due = defined(pixels, w, h);
        cr_assert(is.across == due.across && is.down == due.down, "%u x %u", w, h);
    }
}

Test(audit_images, channels_wherever_they_are)
{
    uint8_t planes[4 * 32 * 32] = {0}, pixels[32 * 32 * 3], grey[32 * 32];
    struct image_layout first, last, one, alpha;
    for (unsigned k = 0; k < 1024; k++) {
        for (unsigned c = 0; c < 3; c++)
            planes[1024 * c + k] = pixels[3 * k + c] = (uint8_t)below(256);
        grey[k] = (uint8_t)((77u * planes[k] + 150u * planes[1024 + k] + 29u * planes[2048 + k] + 128) >> 8);
    }
    cr_assert(image_layout(APL_FORM_CHW, (int64_t[]){3, 32, 32}, &first));
    cr_assert(image_layout(APL_FORM_HWC, (int64_t[]){32, 32, 3}, &last));
    cr_assert(image_layout(APL_FORM_HW, (int64_t[]){32, 32}, &one));
    cr_assert(image_layout(APL_FORM_CHW, (int64_t[]){4, 32, 32}, &alpha));
    struct image_hash a = image_hash(planes, &first);
    cr_assert_eq(near_distance(a, image_hash(planes, &alpha)), 0);
    cr_assert_eq(near_distance(a, image_hash(pixels, &last)), 0);
    cr_assert_eq(near_distance(a, image_hash(grey, &one)), 0);
}

/* The same image larger, or with another contrast, is near; another is far. */
Test(audit_images, alike_is_near)
{
    uint8_t small[32 * 32], large[64 * 64], dim[32 * 32], other[32 * 32];
    struct image_layout l, ll;
    for (unsigned y = 0; y < 32; y++)
        for (unsigned x = 0; x < 32; x++) {
            small[y * 32 + x] = (uint8_t)(128 + (int)(x * 5 + y * 3) % 90 - (int)(x * y) % 70);
            dim[y * 32 + x] = (uint8_t)(20 + small[y * 32 + x] / 2);
            other[y * 32 + x] = (uint8_t)below(256);
        }
    for (unsigned y = 0; y < 64; y++)
        for (unsigned x = 0; x < 64; x++)
            large[y * 64 + x] = small[y / 2 * 32 + x / 2];
    cr_assert(image_layout(APL_FORM_HW, (int64_t[]){32, 32}, &l) &&
              image_layout(APL_FORM_HW, (int64_t[]){64, 64}, &ll));
    struct image_hash h = image_hash(small, &l);
    cr_assert_eq(near_distance(h, image_hash(large, &ll)), 0);
    cr_assert_leq(near_distance(h, image_hash(dim, &l)), 6);
    cr_assert_geq(near_distance(h, image_hash(other, &l)), 30);
}

/* ----------------------------------------------------------------------------------------------- search */

#define N 3000u

/* Hashes in clusters, some the same; groups and sides by chance. */
static void draw(struct image_hash *h, uint8_t *is_image, uint8_t *side, uint32_t *group)
{
    for (uint32_t i = 0; i < N; i++) {
        uint32_t of = i ? below(i) : 0;
        bool fresh = i == 0 || below(3) == 0;
        h[i] = h[of];
        if (fresh)
            h[i] = (struct image_hash){(uint64_t)below(1u << 31) << 33 ^ below(1u << 31),
                                       (uint64_t)below(1u << 31) << 33 ^ below(1u << 31)};
        for (unsigned k = below(20); k > 0; k--)
            *(below(2) ? &h[i].across : &h[i].down) ^= (uint64_t)1 << below(64);
        is_image[i] = below(20) > 0;
        side[i] = below(2) > 0;
        group[i] = below(4) ? i : group[of];
    }
}

static bool by_hand(const struct image_hash *h, const uint8_t *is_image, const uint8_t *side,
                    const uint32_t *group, uint32_t id, unsigned bits, struct near_pair *pair)
{
    *pair = (struct near_pair){id, UINT32_MAX, bits};
    for (uint32_t i = 0; is_image[id] && i < N; i++) {
        unsigned d = near_distance(h[id], h[i]);
        bool better = d < pair->distance || (d == pair->distance && pair->other == UINT32_MAX);
        if (is_image[i] && side[i] && group[i] != group[id] && better)
            *pair = (struct near_pair){id, i, d};
    }
    return pair->other != UINT32_MAX;
}

Test(audit_near, finds_what_looking_at_all_finds, .timeout = 120)
{
    static const unsigned limits[] = {0, 7, 8, 12, 15, 16, 24, NEAR_MOST};
    static struct image_hash hashes[N];
    static uint8_t is_image[N], side[N];
    static uint32_t group[N];
    draw(hashes, is_image, side, group);
    struct near_index *index = near_index_new(hashes, is_image, N);
    cr_assert_not_null(index);
    unsigned found = 0;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        for (uint32_t id = k; id<N; id += limits[k]> 15 ? 40 : 10) {
            struct near_pair is, due;
            bool any = by_hand(hashes, is_image, side, group, id, limits[k], &due);
            cr_assert_eq(near_find(index, id, limits[k], side, group, &is), any);
            found += any;
            if (any)
                cr_assert(is.id == id && is.other == due.other && is.distance == due.distance, "record %u",
                          id);
        }
    cr_assert_gt(found, 500);
    near_index_free(index);
}

Test(audit_near, nothing_to_find)
{
    struct image_hash one = {5, 6};
    uint8_t yes = 1, no = 0;
    uint32_t group = 0;
    struct near_pair pair;
    struct near_index *index = near_index_new(&one, &no, 1);
    cr_assert_not_null(index);
    cr_assert_not(near_find(index, 0, NEAR_MOST, &yes, &group, &pair));
    near_index_free(index);
    index = near_index_new(&one, &yes, 1);
    cr_assert_not_null(index);
    cr_assert_not(near_find(index, 0, NEAR_MOST, &yes, &group, &pair), "a record is not near itself");
    near_index_free(index);
    near_index_free(NULL);
}
