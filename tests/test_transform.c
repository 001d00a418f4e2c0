/* Transforms completed: what a reader would take where nothing was said. */
#include "reader_fixture.h"

#define TRAIN 70

static void set_up(void)
{
    fixture_make(TRAIN, 12, 8);
}

TestSuite(transform, .init = set_up, .fini = fixture_free, .timeout = 60);

Test(transform, takes_the_defaults_of_the_store)
{
    apl_transform t = APL_TRANSFORM_INIT;
    cr_assert_eq(apl_transform_complete(fx.store, NULL, &t, NULL), APL_OK);
    cr_assert_eq(t.field, apl_store_field(fx.store, FIELD_IMAGE)->name);
    cr_assert(t.crop_height == SIDE && t.crop_width == SIDE && t.dtype == APL_U8);
    cr_assert(t.deviation[0] == 0, "nothing is normalised");
    apl_transform again = t;
    cr_assert_eq(apl_transform_complete(fx.store, NULL, &again, NULL), APL_OK);
    cr_assert(memcmp(&again, &t, sizeof t) == 0);
}

Test(transform, takes_the_moments_of_train_where_none_are_given)
{
    apl_transform t = APL_TRANSFORM_INIT;
    int split = apl_store_find_split(fx.store, "train");
    t.scale = APL_SCALE_NORMALISE;
    t.dtype = APL_F32;
    t.mean[1] = 100;
    t.deviation[1] = 50;
    cr_assert_eq(apl_transform_complete(fx.store, "test", &t, NULL), APL_OK);
    for (unsigned c = 0; c < 3; c++) {
        double mean, deviation;
        cr_assert_eq(apl_store_moments(fx.store, (unsigned)split, FIELD_IMAGE, c, &mean, &deviation), APL_OK);
        cr_assert_eq(t.mean[c], c == 1 ? 100.0f : (float)mean);
        cr_assert_eq(t.deviation[c], c == 1 ? 50.0f : (float)deviation);
    }
}

/* A batch that the transform has made; of a reader that works in the caller. */
static apl_batch *made_by(const apl_transform *t, apl_reader **r)
{
    apl_reader_options o = fixture_options();
    o.split = "test";
    o.transforms = t;
    o.transform_count = 1;
    *r = fixture_reader(&o);
    return fixture_next(*r);
}

Test(transform, completed_is_the_same_to_a_reader)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader *r, *s;
    t.scale = APL_SCALE_NORMALISE;
    t.dtype = APL_F16;
    t.pad = 3;
    apl_batch *a = made_by(&t, &r);
    cr_assert_eq(apl_transform_complete(fx.store, "test", &t, NULL), APL_OK);
    apl_batch *b = made_by(&t, &s);
    const apl_column *x = apl_batch_column(a, FIELD_IMAGE), *y = apl_batch_column(b, FIELD_IMAGE);
    cr_assert_eq(x->bytes, y->bytes);
    cr_assert(memcmp(x->data, y->data, x->bytes) == 0);
    apl_batch_release(a);
    apl_batch_release(b);
    apl_reader_close(r);
    apl_reader_close(s);
}

#define REFUSED(wanted, word, split, change)                                            \
    do {                                                                                \
        apl_transform t = APL_TRANSFORM_INIT, before;                                   \
        apl_error err;                                                                  \
        t.scale = APL_SCALE_NORMALISE;                                                  \
        change;                                                                         \
        before = t;                                                                     \
        cr_assert_eq(apl_transform_complete(fx.store, split, &t, &err), wanted);        \
        cr_assert(strstr(err.message, word), "\"%s\" lacks \"%s\"", err.message, word); \
        cr_assert(memcmp(&t, &before, sizeof t) == 0, "a failure leaves it as it was"); \
    } while (0)

Test(transform, leaves_what_cannot_be_as_it_was)
{
    REFUSED(APL_E_INVALID, "size", NULL, t.size = 0);
    REFUSED(APL_E_NOTFOUND, "colour", NULL, t.field = "colour");
    REFUSED(APL_E_INVALID, "label", NULL, t.field = "label");
    REFUSED(APL_E_INVALID, "crop", NULL, t.crop_width = SIDE + 1);
    REFUSED(APL_E_INVALID, "deviation", NULL, t.deviation[2] = -1);
    REFUSED(APL_E_NOTFOUND, "dev", "dev", t.pad = 1);
    apl_transform t = APL_TRANSFORM_INIT;
    cr_assert_eq(apl_transform_complete(NULL, NULL, &t, NULL), APL_E_INVALID);
    cr_assert_eq(apl_transform_complete(fx.store, NULL, NULL, NULL), APL_E_INVALID);
}
