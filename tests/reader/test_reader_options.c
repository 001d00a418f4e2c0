/* What a reader refuses to be, and that it says what would do. */
#include "reader_fixture.h"

#include <math.h>

#define TRAIN 70
#define BLOCK 8

static void set_up(void)
{
    fixture_make(TRAIN, 5, BLOCK);
}

TestSuite(reader_options, .init = set_up, .fini = fixture_free, .timeout = 60);

#define REFUSED(status, word, change)                                      \
    do {                                                                   \
        apl_reader_options o = fixture_options();                          \
        change;                                                            \
        const char *message = fixture_refused(&o, status);                 \
        cr_expect(strstr(message, word) != NULL, "%s: %s", word, message); \
    } while (0)

Test(reader_options, refuses_numbers_that_cannot_be)
{
    REFUSED(APL_E_INVALID, "size", o.size = 0);
    REFUSED(APL_E_INVALID, "size", o.size = sizeof o - 1);
    REFUSED(APL_E_INVALID, "batch_size", o.batch_size = SIZE_MAX);
    REFUSED(APL_E_INVALID, "bins", o.bins = 4097);
    REFUSED(APL_E_INVALID, "reuse", o.reuse = 65536);
    REFUSED(APL_E_INVALID, "APL_STRICT (0) or APL_FREE (1)", o.order = (apl_order)2);
    REFUSED(APL_E_INVALID, "order", (o.order = APL_FREE, o.sequential = 1));
    REFUSED(APL_E_INVALID, "fill", o.fill = 1);
    REFUSED(APL_E_INVALID, "fill", (o.fill = 1, o.order = APL_FREE, o.window = BLOCK));
    REFUSED(APL_E_INVALID, "window", o.window = BLOCK - 1);
    REFUSED(APL_E_INVALID, "both", o.loaders = 1);
    REFUSED(APL_E_INVALID, "both", o.consumers = 1);
    REFUSED(APL_E_INVALID, "threads", o.threads = 1000);
    REFUSED(APL_E_INVALID, "threads", (o.loaders = 1000, o.consumers = 1));
    REFUSED(APL_E_INVALID, "queue_depth", o.queue_depth = 1u << 30);
    REFUSED(APL_E_INVALID, "memory_budget", o.memory_budget = 1);
    apl_allocator none = {NULL, NULL, NULL};
    REFUSED(APL_E_INVALID, "allocator", o.allocator = &none);
    /* of which nothing else is looked at */
    apl_sampling unset = {.size = 1, .field = (const char *)(uintptr_t)1};
    REFUSED(APL_E_INVALID, "size", o.sampling = &unset);
}

Test(reader_options, stages_nothing_that_is_here_or_made)
{
    apl_transform flip = APL_TRANSFORM_INIT;
    apl_collation pad = APL_COLLATION_INIT;
    apl_blend blend = APL_BLEND_INIT;
    REFUSED(APL_E_INVALID, "is on this machine already: there is nothing to stage", o.stage = 1);
    REFUSED(APL_E_INVALID, "stage and transforms exclude each other",
            (o.stage = 1, o.transforms = &flip, o.transform_count = 1));
    REFUSED(APL_E_INVALID, "stage and collations exclude each other",
            (o.stage = 1, o.collations = &pad, o.collation_count = 1));
    REFUSED(APL_E_INVALID, "stage and blend exclude each other", (o.stage = 1, o.blend = &blend));
}

Test(reader_options, refuses_splits_and_fields_that_are_not_there)
{
    static const char *const fields[] = {"label", "colour"}, *const holes[] = {NULL},
                             *const odd[] = {"\033[2J"};
    REFUSED(APL_E_NOTFOUND, "has no split dev; the source's splits are train, test", o.split = "dev");
    REFUSED(APL_E_NOTFOUND, "has no split of an empty name", o.split = "");
    REFUSED(APL_E_NOTFOUND, "colour", (o.fields = fields, o.field_count = 2));
    REFUSED(APL_E_NOTFOUND, "NULL", (o.fields = holes, o.field_count = 1));
    REFUSED(APL_E_NOTFOUND, "has no field \\x1b[2J", (o.fields = odd, o.field_count = 1));
}

/* What one half of a pair says, the other must not take back silently. */
Test(reader_options, refuses_pairs_of_which_one_half_is_missing)
{
    apl_transform t = APL_TRANSFORM_INIT;
    REFUSED(APL_E_INVALID, "transforms is empty", o.transforms = &t);
    REFUSED(APL_E_INVALID, "transforms is NULL, but transform_count is 1", o.transform_count = 1);
    REFUSED(APL_E_INVALID, "fields is NULL, but field_count is 2", o.field_count = 2);
    REFUSED(APL_E_INVALID, "ranks.world is 0", o.ranks.rank = 1);
    REFUSED(APL_E_INVALID, "state is NULL, but state_size is 128", o.state_size = APL_STATE_BYTES);
    REFUSED(APL_E_INVALID, "not a valid reader state", o.state = &t);
}

#define TRANSFORM(status, word, change)                                    \
    do {                                                                   \
        apl_transform t = APL_TRANSFORM_INIT;                              \
        change;                                                            \
        REFUSED(status, word, (o.transforms = &t, o.transform_count = 1)); \
    } while (0)

Test(reader_options, refuses_transforms_that_cannot_be)
{
    TRANSFORM(APL_E_INVALID, "size", t.size = 1);
    TRANSFORM(APL_E_NOTFOUND, "colour", t.field = "colour");
    TRANSFORM(APL_E_INVALID, "label", t.field = "label");
    TRANSFORM(APL_E_INVALID, "track", t.field = "track");
    TRANSFORM(APL_E_INVALID, "crop", t.crop_height = SIDE + 1);
    TRANSFORM(APL_E_INVALID, "crop", (t.crop_width = SIDE + 5, t.pad = 2));
    TRANSFORM(APL_E_INVALID, "crop", t.pad = UINT32_MAX);
    TRANSFORM(APL_E_INVALID, "reflect", (t.pad = SIDE, t.pad_mode = APL_PAD_REFLECT));
    TRANSFORM(APL_E_INVALID, "reflect", (t.pad = SIDE + 1, t.pad_mode = APL_PAD_SYMMETRIC));
    TRANSFORM(APL_E_INVALID, "erase is 9", (t.erase_p = 1, t.erase = (apl_erase)9));
    TRANSFORM(APL_E_INVALID, "u8, f32", t.dtype = APL_F64);
    TRANSFORM(APL_E_INVALID, "impossible", t.flip = (apl_flip)3);
    TRANSFORM(APL_E_INVALID, "impossible", t.pad_mode = (apl_pad)4);
    TRANSFORM(APL_E_INVALID, "impossible", t.scale = (apl_scale)3);
    TRANSFORM(APL_E_INVALID, "impossible", t.layout = (apl_layout)2);
    TRANSFORM(APL_E_INVALID, "impossible", t.cutout = 1u << 20);
    TRANSFORM(APL_E_INVALID, "set dtype to f32, f16 or bf16", t.scale = APL_SCALE_NORMALISE);
    TRANSFORM(APL_E_INVALID, "u8 cannot be normalised", (t.dtype = APL_U8, t.scale = APL_SCALE_NORMALISE));
    TRANSFORM(APL_E_INVALID, "deviation", (t.dtype = APL_F32, t.scale = APL_SCALE_NORMALISE, t.std[0] = -1));
    TRANSFORM(APL_E_INVALID, "deviation",
              (t.dtype = APL_F32, t.scale = APL_SCALE_NORMALISE, t.std[0] = 1, t.mean[0] = NAN));
    apl_transform two[2] = {APL_TRANSFORM_INIT, APL_TRANSFORM_INIT};
    REFUSED(APL_E_INVALID, "two transforms", (o.transforms = two, o.transform_count = 2));
    REFUSED(APL_E_INVALID, "NULL", (o.transforms = NULL, o.transform_count = 1));
    static const char *const label[] = {"label"};
    two[0].field = "image";
    REFUSED(APL_E_INVALID, "wanted",
            (o.transforms = two, o.transform_count = 1, o.fields = label, o.field_count = 1));
    two[0].field = NULL;
    REFUSED(APL_E_NOTFOUND, "image field image is not among the requested fields (label",
            (o.transforms = two, o.transform_count = 1, o.fields = label, o.field_count = 1));
}

/* Without numbers of its own, normalising takes those of the training data. */
Test(reader_options, normalises_by_the_moments_of_train)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader_options o = fixture_options();
    int split = apl_store_find_split(fx.store, "train");
    t.dtype = APL_F32;
    t.scale = APL_SCALE_NORMALISE;
    o.split = "test";
    o.transforms = &t;
    o.transform_count = 1;
    apl_reader *r = fixture_reader(&o);
    apl_batch *b = fixture_next(r);
    const float *out = apl_batch_column(b, FIELD_IMAGE)->data;
    for (size_t i = 0; i < apl_batch_rows(b); i++) {
        uint8_t image[IMAGE_BYTES];
        fixture_image(apl_batch_ids(b)[i], image);
        for (unsigned k = 0; k < IMAGE_BYTES; k++) {
            double mean, std;
            cr_assert_eq(
                apl_store_moments(fx.store, (unsigned)split, FIELD_IMAGE, k / (SIDE * SIDE), &mean, &std),
                APL_OK);
            cr_assert_float_eq(out[i * IMAGE_BYTES + k], (image[k] - mean) / std, 1e-5);
        }
    }
    apl_batch_release(b);
    apl_reader_close(r);
}

Test(reader_options, a_window_may_be_larger_than_the_split)
{
    apl_reader_options o = fixture_options();
    struct sequence a = {0}, b = {0};
    o.window = UINT64_MAX;
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &a);
    apl_reader_close(r);
    o.window = TRAIN;
    r = fixture_reader(&o);
    read_epoch(r, &b);
    apl_reader_close(r);
    check_same(&a, &b);
    sequence_free(&a);
    sequence_free(&b);
}
