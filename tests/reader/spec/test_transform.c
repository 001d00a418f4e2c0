/* Transforms completed: what a reader would take where nothing was said. */
#include "reader_fixture.h"

#include <math.h>

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
    cr_assert(t.std[0] == 0, "nothing is normalised");
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
    t.std[1] = 50;
    cr_assert_eq(apl_transform_complete(fx.store, "test", &t, NULL), APL_OK);
    for (unsigned c = 0; c < 3; c++) {
        double mean, std;
        cr_assert_eq(apl_store_moments(fx.store, (unsigned)split, FIELD_IMAGE, c, &mean, &std), APL_OK);
        cr_assert_eq(t.mean[c], c == 1 ? 100.0f : (float)mean);
        cr_assert_eq(t.std[c], c == 1 ? 50.0f : (float)std);
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
    REFUSED(APL_E_INVALID, "deviation", NULL, t.std[2] = -1);
    REFUSED(APL_E_INVALID, "from 0 to 1, not 1.5", NULL, t.flip_p = 1.5);
    REFUSED(APL_E_INVALID, "from 0 to 1, not -0.1", NULL, t.vertical_flip_p = -0.1);
    REFUSED(APL_E_INVALID, "from 0 to 1", NULL, t.vertical_flip_p = NAN);
    REFUSED(APL_E_NOTFOUND, "dev", "dev", t.pad = 1);
    apl_transform t = APL_TRANSFORM_INIT;
    cr_assert_eq(apl_transform_complete(NULL, NULL, &t, NULL), APL_E_INVALID);
    cr_assert_eq(apl_transform_complete(fx.store, NULL, NULL, NULL), APL_E_INVALID);
}

/* --------------------------------------------------------------------------------------- pictures of all sorts */

enum { DRAWN, PLAIN, DEEP, TALL, WIDE, ANY, SORTS };

#define LONG  32769
#define MOST  LONG /* bytes of a value */
#define DRAWS 5

static const apl_field sorts[SORTS] = {
    {.name = "drawn", .shape = {2, 6, 5}},
    {.name = "plain", .shape = {2, 6, 5}}, /* all of one colour */
    {.name = "deep", .shape = {APL_MAX_CHANNELS + 1, 2, 2}},
    {.name = "tall", .shape = {1, LONG, 1}},
    {.name = "wide", .shape = {1, 1, LONG}},
    {.name = "any", .shape = {1, -1, -1}},
};

static void append_sorts(apl_writer *w, unsigned record)
{
    static uint8_t data[MOST], plain[MOST];
    static const int64_t any[3] = {1, 3, 5};
    apl_value values[SORTS];
    memset(plain, 77, sizeof plain);
    sample_fill(data, sizeof data, SAMPLE_RANDOM, 4, record + 1);
    for (unsigned f = 0; f < SORTS; f++)
        values[f] = (apl_value){f == PLAIN ? plain : data, f == ANY ? any : NULL};
    cr_assert_eq(apl_writer_append(w, values, NULL), APL_OK);
}

static const double kept_mean[2] = {100, 12.5}, kept_std[2] = {40, 0};

/* A store of all of them, whose records are of the split "part", and which keeps moments of "drawn"; with `train`, there is an empty split
 * of that name. */
static apl_store *store_of_sorts(bool train)
{
    char path[128];
    apl_writer *w;
    apl_store *store;
    apl_error err = {0};
    snprintf(path, sizeof path, "%s/sorts", fx.place);
    cr_assert_eq(apl_writer_open(path, NULL, &w, &err), APL_OK, "%s", err.message);
    for (unsigned f = 0; f < SORTS; f++)
        cr_assert_eq(apl_writer_add_field(w, sorts[f].name, APL_U8, APL_INPUT, 3, sorts[f].shape, &err),
                     APL_OK, "%s", err.message);
    cr_assert_eq(apl_writer_keep_moments(w, "drawn", kept_mean, kept_std, 2, &err), APL_OK, "%s",
                 err.message);
    cr_assert_eq(apl_writer_begin_member(w, "one", "part", 0, &err), APL_OK, "%s", err.message);
    for (unsigned i = 0; i < DRAWS; i++)
        append_sorts(w, i);
    if (train)
        cr_assert_eq(apl_writer_begin_member(w, "two", "train", 1, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_writer_commit(w, &err), APL_OK, "%s", err.message);
    apl_writer_close(w);
    cr_assert_eq(apl_store_open(path, NULL, &store, &err), APL_OK, "%s", err.message);
    return store;
}

/* The store of the fixture gives way to one of all sorts. */
static void take_sorts(bool train)
{
    apl_store_close(fx.store);
    fx.store = store_of_sorts(train);
}

/* They are those of a caller who has forgotten what they belong to; zeros and defaults are no mistake. */
Test(transform, refuses_settings_that_would_have_no_effect)
{
    REFUSED(APL_E_INVALID, "flip_p would have no effect: it takes flip APL_FLIP_RANDOM", NULL,
            t.flip_p = 0.5);
    REFUSED(APL_E_INVALID, "flip_p would", NULL, (t.flip = APL_FLIP_ALTERNATING, t.flip_p = 0.5));
    REFUSED(APL_E_INVALID, "it takes sizing APL_SIZING_RESIZE", NULL, t.resize_short = 32);
    REFUSED(APL_E_INVALID, "it takes sizing APL_SIZING_RESIZE", NULL,
            (t.sizing = APL_SIZING_RANDOM, t.resize_height = 8, t.crop_height = t.crop_width = 8));
    REFUSED(APL_E_INVALID, "area or ratio would have no effect: it takes sizing APL_SIZING_RANDOM", NULL,
            (t.area[0] = 0.5, t.area[1] = 1));
    REFUSED(APL_E_INVALID, "area or ratio", NULL, t.ratio[1] = 1);
    REFUSED(APL_E_INVALID, "mean or std would have no effect: it takes scale APL_SCALE_NORMALISE", NULL,
            (t.scale = APL_SCALE_UNIT, t.dtype = APL_F32, t.mean[2] = 120));
    REFUSED(APL_E_INVALID, "mean or std", NULL, (t.dtype = APL_F32, t.scale = APL_SCALE_NONE, t.std[0] = 50));
    apl_transform t = APL_TRANSFORM_INIT;
    t.area[0] = 0.08, t.area[1] = 1, t.ratio[0] = 3.0 / 4, t.ratio[1] = 4.0 / 3;
    cr_assert_eq(apl_transform_complete(fx.store, NULL, &t, NULL), APL_OK);
}

Test(transform, says_which_field_it_is_for)
{
    take_sorts(false);
    REFUSED(APL_E_INVALID, "must name its field", "part", t.pad = 0);
    for (unsigned f = DEEP; f < ANY; f++)
        REFUSED(APL_E_INVALID, "not an image", "part", t.field = sorts[f].name);
    REFUSED(APL_E_INVALID, "its images may have any size", "part", t.field = sorts[ANY].name);
    for (unsigned pad = 3; pad < 8; pad++) {
        apl_transform t = APL_TRANSFORM_INIT;
        t.field = "drawn", t.pad = pad, t.pad_mode = APL_PAD_REFLECT;
        cr_assert_eq(apl_transform_complete(fx.store, "part", &t, NULL), pad < 5 ? APL_OK : APL_E_INVALID);
    }
}

Test(transform, takes_kept_moments_where_there_is_no_train)
{
    take_sorts(false);
    apl_transform t = APL_TRANSFORM_INIT;
    t.field = "drawn", t.scale = APL_SCALE_NORMALISE, t.dtype = APL_F32;
    cr_assert_eq(apl_transform_complete(fx.store, "part", &t, NULL), APL_OK);
    cr_assert(t.mean[0] == 100 && t.std[0] == 40 && t.mean[1] == 12.5f);
    cr_assert_eq(t.std[1], 1.0f, "nothing is divided by 0");
    t.mean[0] = 3, t.std[0] = 5;
    cr_assert_eq(apl_transform_complete(fx.store, "part", &t, NULL), APL_OK);
    cr_assert(t.mean[0] == 3 && t.std[0] == 5, "what is given counts");
}

/* Its own would change with the records that are to be judged. */
Test(transform, refuses_moments_where_there_is_neither_train_nor_kept_ones)
{
    take_sorts(false);
    REFUSED(APL_E_NOTFOUND,
            "Normalize(): no split 'train' here and no moments kept (Normalize(mean, std), of the store that "
            "you train on)",
            "part", t.field = "plain");
}

Test(transform, finds_no_moments_in_a_train_of_nothing)
{
    take_sorts(true);
    REFUSED(APL_E_NOTFOUND, "no mean and standard deviation", "part", t.field = "drawn");
    REFUSED(APL_E_INVALID, "channel 0", "part", (t.field = "drawn", t.mean[0] = INFINITY, t.std[0] = 1));
    REFUSED(APL_E_INVALID, "channel 0", "part", (t.field = "drawn", t.std[0] = INFINITY));
}
