/* Pictures through a reader: what the scalar kernel makes of them, augmented by record and nothing else. */
#include "assemble_variants.h"
#include "order_case.h"
#include "random.h"
#include "reader_fixture.h"

#define TRAIN 90

static void set_up(void)
{
    fixture_make(TRAIN, 0, 8);
}

TestSuite(reader_transforms, .init = set_up, .fini = fixture_free, .timeout = 60);

static apl_transform augmented(void)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.field = "image";
    t.pad = 2;
    t.crop_height = 7;
    t.crop_width = 9;
    t.flip = APL_FLIP_RANDOM;
    t.cutout = 3;
    t.dtype = APL_F32;
    return t;
}

/* The pictures of one epoch as they come out, by id (and copy, in the order in which copies come). */
struct album {
    uint8_t *pictures;
    size_t bytes;
    unsigned *taken;
};

static struct album album_of(apl_reader_options o, const apl_transform *t, size_t bytes)
{
    unsigned reuse = o.reuse ? o.reuse : 1;
    struct album a = {malloc(TRAIN * reuse * bytes), bytes, calloc(TRAIN, sizeof(unsigned))};
    o.transforms = t;
    o.transform_count = 1;
    apl_reader *r = fixture_reader(&o);
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
        const apl_column *c = apl_batch_column(b, FIELD_IMAGE);
        cr_assert_eq(c->bytes, apl_batch_rows(b) * bytes);
        for (size_t i = 0; i < apl_batch_rows(b); i++) {
            uint64_t id = apl_batch_ids(b)[i];
            memcpy(a.pictures + (id * reuse + a.taken[id]++) * bytes, (const uint8_t *)c->data + i * bytes,
                   bytes);
        }
    }
    apl_reader_close(r);
    return a;
}

static void album_free(struct album *a)
{
    free(a->pictures);
    free(a->taken);
}

static size_t same_pictures(const struct album *a, const struct album *b)
{
    size_t same = 0;
    for (size_t i = 0; i < TRAIN; i++)
        same += memcmp(a->pictures + i * a->bytes, b->pictures + i * a->bytes, a->bytes) == 0;
    return same;
}

/* Crop, flip and square of a record: part of the order that never changes. */
static struct placement expected_place(const apl_transform *t, uint64_t seed, uint64_t epoch, uint64_t id)
{
    uint64_t key = random_epoch_key(seed, epoch, RANDOM_AUGMENT).low;
    uint32_t counter[4] = {(uint32_t)id, 0, 0, FIELD_IMAGE}, x[4];
    struct placement p = {0};
    philox(key, counter, x);
    p.top = (int32_t)((uint64_t)x[0] * (SIDE + 2 * t->pad - t->crop_height + 1) >> 32);
    p.left = (int32_t)((uint64_t)x[1] * (SIDE + 2 * t->pad - t->crop_width + 1) >> 32);
    p.flip = x[2] & 1;
    counter[3] = FIELD_IMAGE | 1u << 31;
    philox(key, counter, x);
    p.cut_top = (int32_t)((uint64_t)x[0] * t->crop_height >> 32) - (int32_t)(t->cutout / 2);
    p.cut_left = (int32_t)((uint64_t)x[1] * t->crop_width >> 32) - (int32_t)(t->cutout / 2);
    return p;
}

Test(reader_transforms, are_what_the_scalar_kernel_makes)
{
    static const apl_dtype dtypes[] = {APL_F32, APL_F16, APL_BF16, APL_U8};
    for (unsigned i = 0; i < 8; i++) {
        apl_transform t = augmented();
        struct assembly a = {
            .channels = 3, .height = SIDE, .width = SIDE, .pad = 2, .out_height = 7, .out_width = 9};
        t.dtype = a.dtype = dtypes[i / 2];
        t.layout = a.layout = i % 2 ? APL_NHWC : APL_NCHW;
        t.pad_mode = a.pad_mode = i % 3 ? APL_PAD_REFLECT : APL_PAD_ZERO;
        a.cutout = t.cutout;
        for (unsigned c = 0; c < 3; c++)
            a.scale[c] = 1.0f / 255.0f;
        apl_reader_options o = fixture_options();
        o.seed = i;
        o.first_epoch = 3;
        struct album album = album_of(o, &t, assemble_bytes(&a));
        for (uint64_t id = 0; id < TRAIN; id++) {
            uint8_t image[IMAGE_BYTES + 64], expected[3 * 7 * 9 * 4];
            const uint8_t *source = image;
            struct placement p = expected_place(&t, i, 3, id);
            fixture_image(id, image);
            assemble_scalar(&a, &source, &p, 1, expected);
            cr_assert(memcmp(expected, album.pictures + id * album.bytes, album.bytes) == 0, "%u: id %d", i,
                      (int)id);
        }
        album_free(&album);
    }
}

/* A column's shape is that of its pictures, in the layout that they have. */
Test(reader_transforms, shapes_are_those_of_pictures)
{
    for (unsigned i = 0; i < 2; i++) {
        apl_reader_options o = fixture_options();
        apl_transform t = augmented();
        const int64_t planes[] = {3, 7, 9}, pixels[] = {7, 9, 3}, *shape = i ? pixels : planes;
        t.layout = i ? APL_NHWC : APL_NCHW;
        o.transforms = &t;
        o.transform_count = 1;
        apl_reader *r = fixture_reader(&o);
        apl_batch *b = fixture_next(r);
        const apl_column *c = apl_batch_column(b, FIELD_IMAGE);
        cr_assert(c->ndim == 3 && c->dims == 4 && c->dim[0] == (int64_t)apl_batch_rows(b));
        for (unsigned d = 0; d < 3; d++)
            cr_assert(c->shape[d] == shape[d] && c->dim[d + 1] == shape[d], "dimension %u", d);
        apl_batch_release(b);
        apl_reader_close(r);
    }
}

Test(reader_transforms, hang_on_the_record_alone)
{
    apl_transform t = augmented();
    apl_reader_options o = fixture_options(), other;
    size_t bytes = 3 * 7 * 9 * 4;
    struct album a = album_of(o, &t, bytes), b;
    other = o, other.batch_size = 1, other.threads = 3, other.window = 16, other.bins = 3;
    b = album_of(other, &t, bytes);
    cr_expect_eq(same_pictures(&a, &b), TRAIN, "batch size, threads, window and bins change nothing");
    album_free(&b);
    other = o, other.order = APL_FREE;
    b = album_of(other, &t, bytes);
    cr_expect_eq(same_pictures(&a, &b), TRAIN);
    album_free(&b);
    other = o, other.first_epoch = 1;
    b = album_of(other, &t, bytes);
    cr_expect_lt(same_pictures(&a, &b), TRAIN / 4, "epochs differ");
    album_free(&b);
    other = o, other.seed = 1;
    b = album_of(other, &t, bytes);
    cr_expect_lt(same_pictures(&a, &b), TRAIN / 4, "seeds differ");
    album_free(&b);
    album_free(&a);
}

Test(reader_transforms, hang_not_on_the_rank)
{
    apl_transform t = augmented();
    apl_reader_options o = fixture_options();
    size_t bytes = 3 * 7 * 9 * 4, found = 0;
    struct album all = album_of(o, &t, bytes);
    for (o.ranks.rank = 0, o.ranks.world = 3; o.ranks.rank < 3; o.ranks.rank++) {
        struct album one = album_of(o, &t, bytes);
        for (size_t i = 0; i < TRAIN; i++)
            found += one.taken[i] && memcmp(one.pictures + i * bytes, all.pictures + i * bytes, bytes) == 0;
        album_free(&one);
    }
    cr_assert_eq(found, TRAIN);
    album_free(&all);
}

Test(reader_transforms, copies_differ)
{
    apl_transform t = augmented();
    apl_reader_options o = fixture_options();
    size_t bytes = 3 * 7 * 9 * 4, same = 0;
    o.reuse = 2;
    struct album a = album_of(o, &t, bytes);
    for (size_t i = 0; i < TRAIN; i++)
        same += memcmp(a.pictures + 2 * i * bytes, a.pictures + (2 * i + 1) * bytes, bytes) == 0;
    cr_assert_lt(same, TRAIN / 4);
    album_free(&a);
}

static void mirror(const uint8_t *image, uint8_t *to)
{
    for (unsigned i = 0; i < IMAGE_BYTES; i++)
        to[i] = image[i / SIDE * SIDE + (SIDE - 1 - i % SIDE)];
}

/* Of each record, whether it is flipped in an epoch. */
static unsigned flips_of(uint64_t epoch, apl_flip flip, uint8_t *flipped)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader_options o = fixture_options();
    unsigned n = 0;
    t.flip = flip;
    o.first_epoch = epoch;
    struct album a = album_of(o, &t, IMAGE_BYTES);
    for (size_t i = 0; i < TRAIN; i++) {
        uint8_t image[IMAGE_BYTES], mirrored[IMAGE_BYTES];
        fixture_image(i, image);
        mirror(image, mirrored);
        flipped[i] = memcmp(a.pictures + i * IMAGE_BYTES, mirrored, IMAGE_BYTES) == 0;
        cr_assert(flipped[i] || memcmp(a.pictures + i * IMAGE_BYTES, image, IMAGE_BYTES) == 0);
        n += flipped[i];
    }
    album_free(&a);
    return n;
}

Test(reader_transforms, alternating_flips_come_every_other_epoch)
{
    uint8_t flipped[4][TRAIN];
    for (unsigned epoch = 0; epoch < 4; epoch++) {
        unsigned n = flips_of(epoch, APL_FLIP_ALTERNATING, flipped[epoch]);
        cr_expect(n > TRAIN / 4 && n < TRAIN * 3 / 4, "about half of them: %u", n);
        for (unsigned i = 0; epoch && i < TRAIN; i++)
            cr_assert_neq(flipped[epoch][i], flipped[epoch - 1][i]);
    }
}

Test(reader_transforms, random_flips_are_even_and_anew)
{
    uint8_t flipped[TRAIN];
    uint32_t counts[2] = {0}, changes[2] = {0};
    uint8_t before[TRAIN];
    for (unsigned epoch = 0; epoch < 50; epoch++) {
        unsigned n = flips_of(epoch, APL_FLIP_RANDOM, flipped);
        counts[1] += n;
        counts[0] += TRAIN - n;
        for (unsigned i = 0; epoch && i < TRAIN; i++)
            changes[flipped[i] == before[i]]++;
        memcpy(before, flipped, sizeof before);
    }
    /* one degree of freedom: the square of a deviation */
    cr_expect_lt(chi_square(counts, 2, 25.0 * TRAIN), NORMAL * NORMAL);
    cr_expect_lt(chi_square(changes, 2, 24.5 * TRAIN), NORMAL * NORMAL);
}

/* Which of the 3 x 3 places a crop of 6 from 8 comes from, found in the pixels. */
Test(reader_transforms, crops_come_from_anywhere_alike)
{
    uint32_t counts[9] = {0};
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader_options o = fixture_options();
    t.crop_height = t.crop_width = 6;
    for (o.first_epoch = 0; o.first_epoch < 100; o.first_epoch++) {
        struct album a = album_of(o, &t, 3 * 6 * 6);
        for (size_t i = 0; i < TRAIN; i++) {
            uint8_t image[IMAGE_BYTES];
            fixture_image(i, image);
            for (unsigned k = 0; k < 9; k++)
                counts[k] += memcmp(a.pictures + i * a.bytes, image + k / 3 * SIDE + k % 3, 6) == 0;
        }
        album_free(&a);
    }
    double x = chi_square(counts, 9, 100.0 * TRAIN / 9);
    cr_expect_lt(x, 42.70, "%f", x); /* 8 degrees of freedom, one in a million, as in order_case.h */
}

Test(reader_transforms, centre_crops_are_in_the_middle)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader_options o = fixture_options();
    t.crop_height = t.crop_width = 4;
    t.crop_centre = 1;
    struct album a = album_of(o, &t, 3 * 4 * 4);
    for (size_t i = 0; i < TRAIN; i++) {
        uint8_t image[IMAGE_BYTES];
        fixture_image(i, image);
        for (unsigned k = 0; k < 3 * 4 * 4; k++)
            cr_assert_eq(a.pictures[i * a.bytes + k],
                         image[k / 16 * SIDE * SIDE + (2 + k / 4 % 4) * SIDE + 2 + k % 4]);
    }
    album_free(&a);
}
