/* What a writer is told of the training split that is not in its store. */
#include "store_fixture.h"

#include <math.h>

TestSuite(writer_fields, .init = fx_set_up, .fini = fx_tear_down);

static const int64_t shape[3] = {2, 2, 2};
static const double mean[2] = {100.25, 3}, std[2] = {50.5, 0};

/* A writer with an image of two channels and a target. */
static apl_writer *begin_images(void)
{
    apl_writer *w;
    OK(apl_writer_open(fx_path("db"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, shape, &fx_err));
    OK(apl_writer_add_field(w, "seg", APL_U8, APL_TARGET, 3, shape, &fx_err));
    return w;
}

/* A store with one record of that split. */
static apl_store *store_of(apl_writer *w, const char *split)
{
    static const uint8_t pixels[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    apl_store *store;
    OK(apl_writer_begin_member(w, "m", split, 0, &fx_err));
    OK(apl_writer_append(w, (const apl_value[]){{pixels, NULL}, {pixels, NULL}}, &fx_err));
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    OK(apl_store_open(fx_path("db"), NULL, &store, &fx_err));
    return store;
}

Test(writer_fields, moments_of_a_training_split_that_is_elsewhere)
{
    double m, d;
    apl_writer *w = begin_images();
    OK(apl_writer_keep_moments(w, "image", mean, std, 2, &fx_err));
    apl_store *store = store_of(w, "val");
    for (unsigned c = 0; c < 2; c++) {
        cr_assert_eq(apl_store_training_moments(store, 0, c, &m, &d), APL_OK);
        cr_assert(m == mean[c] && d == std[c]);
    }
    cr_assert_eq(apl_store_training_moments(store, 0, 2, &m, &d), APL_E_NOTFOUND);
    cr_assert_eq(apl_store_training_moments(store, 1, 0, &m, &d), APL_E_NOTFOUND);
    cr_assert_eq(apl_store_training_moments(store, 2, 0, &m, &d), APL_E_NOTFOUND);
    OK(apl_store_verify(store, NULL, &fx_err));
    apl_store_close(store);
}

Test(writer_fields, moments_of_the_training_split_that_is_here)
{
    double m, d;
    apl_writer *w = begin_images();
    OK(apl_writer_keep_moments(w, "image", mean, std, 2, &fx_err));
    apl_store *store = store_of(w, "train");
    cr_assert_eq(apl_store_training_moments(store, 0, 0, &m, &d), APL_OK);
    cr_assert_eq(m, 2.5);
    apl_store_close(store);
}

Test(writer_fields, moments_that_cannot_be_are_refused)
{
    const double bad[3][2] = {{1, NAN}, {-1, 1}, {1, 256}};
    apl_writer *w = begin_images();
    FAILS(APL_E_INVALID, apl_writer_keep_moments(NULL, "image", mean, std, 2, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_writer_keep_moments(w, "other", mean, std, 2, &fx_err));
    FAILS(APL_E_NOTFOUND, apl_writer_keep_moments(w, "image", NULL, std, 2, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_keep_moments(w, "image", mean, std, 3, &fx_err));
    SAYS("3 channels, and it has 2");
    FAILS(APL_E_INVALID, apl_writer_keep_moments(w, "seg", mean, std, 2, &fx_err));
    SAYS("it has 0");
    for (unsigned i = 0; i < 3; i++) {
        FAILS(APL_E_INVALID, apl_writer_keep_moments(w, "image", bad[i], std, 2, &fx_err));
        FAILS(APL_E_INVALID, apl_writer_keep_moments(w, "image", mean, bad[i], 2, &fx_err));
    }
    OK(apl_writer_keep_moments(w, "image", mean, std, 2, &fx_err));
    FAILS(APL_E_INVALID, apl_writer_keep_moments(w, "image", mean, std, 2, &fx_err));
    SAYS("kept already");
    apl_writer_close(w);
}
