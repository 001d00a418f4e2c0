/* WebDataset: images of several endings, and masks. */
#include "webdataset_case.h"

TestSuite(webdataset_images, .init = ix_set_up, .fini = fx_tear_down, .timeout = 120);

/* One field where no sample has both, else two. */
Test(webdataset_images, images_of_two_endings)
{
    add_jpeg("1.jpg", 8);
    add("1.cls", "0");
    add_jpeg("2.jpeg", 9);
    add("2.cls", "1");
    put_shard("one.tar");
    apl_store *store = IX_STORE("one.tar");
    cr_assert_geq(apl_store_find_field(store, "image"), 0);
    apl_store_close(store);
    add_jpeg("1.jpg", 8);
    add_jpeg("1.jpeg", 9);
    put_shard("two.tar");
    store = IX_STORE("two.tar");
    cr_assert_geq(apl_store_find_field(store, "jpg"), 0);
    cr_assert_geq(apl_store_find_field(store, "jpeg"), 0);
    cr_assert_lt(apl_store_find_field(store, "image"), 0);
    apl_store_close(store);
}

/* Of levels of grey up to 7, some with 16 bits where `wide`, beside images, or with `alone` beside arrays. */
static void put_masks(const char *shard_name, bool wide, bool alone)
{
    for (unsigned i = 0; i < 3; i++) {
        char name[32], image[] = "P6 1 1 255\nabc", mask[32] = "P5 1 1 7\n\7";
        snprintf(name, sizeof name, alone ? "%u.npy" : "%u.ppm", i);
        add_bytes(name, alone ? npy : image, alone ? sizeof npy - 1 : strlen(image));
        snprintf(name, sizeof name, "%u.a.mask.pgm", i);
        if (wide && i == 2)
            snprintf(mask, sizeof mask, "P5 1 1 1000\n\1\2");
        add(name, mask);
    }
    put_shard(shard_name);
}

static void check_masks(const char *shard_name, apl_dtype dtype, unsigned first, unsigned last, apl_role role)
{
    apl_store *store = IX_STORE(shard_name);
    apl_batch *all = fx_get_all(store);
    const apl_column *mask = ix_column(store, all, "a.mask");
    cr_assert_eq(mask->dtype, dtype);
    cr_assert_eq(apl_store_field(store, (unsigned)apl_store_find_field(store, "a.mask"))->role, role);
    cr_assert_eq(dtype == APL_U8 ? *(const uint8_t *)mask->data : *(const uint16_t *)mask->data, first);
    cr_assert_eq(dtype == APL_U8 ? ((const uint8_t *)mask->data)[2] : ((const uint16_t *)mask->data)[2],
                 last);
    apl_batch_release(all);
    apl_store_close(store);
}

Test(webdataset_images, masks)
{
    static const char *const mask[] = {"a.mask", "a.mask"}, *const none[] = {"none"},
                             *const image[] = {"image"}, *const array[] = {"npy"};
    put_masks("a.tar", false, false);
    put_masks("wide.tar", true, false);
    put_masks("alone.tar", false, true);
    check_masks("a.tar", APL_U8, 255, 255, APL_INPUT);
    cr_assert(strstr(ix_said, "field a.mask: 3 images with a palette or few levels of grey"), "%s", ix_said);
    ix_options.mask_columns = mask;
    ix_options.mask_column_count = 1;
    check_masks("a.tar", APL_U8, 7, 7, APL_TARGET);
    cr_assert_null(strstr(ix_said, "palette"), "%s", ix_said);
    check_masks("wide.tar", APL_U16, 7, 258, APL_TARGET);
    check_masks("alone.tar", APL_U8, 7, 7, APL_TARGET);
    const char *const *const wrong[] = {mask, none, image, array};
    static const char *const why[] = {"field a.mask is given twice",
                                      "has no field none, for --mask; there are", ".ppm: is in colour",
                                      "field npy is of files .npy, which are no masks"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        ix_options.mask_columns = wrong[i];
        ix_options.mask_column_count = i == 0 ? 2 : 1;
        ix_ingest(IX_NAMES(i == 3 ? "alone.tar" : "a.tar"));
        cr_assert_neq(fx_err.status, APL_OK);
        SAYS(why[i]);
    }
}

/* As exports of images have them without their schema. */
Test(webdataset_images, shapes_that_the_source_has_are_kept)
{
    add_jpeg("1.jpg", 8);
    add_bytes("1.image_shape.npy", npy, sizeof npy - 1);
    put_shard("one.tar");
    apl_store *store = IX_STORE("one.tar");
    int shape = apl_store_find_field(store, "image_shape");
    cr_assert_geq(shape, 0);
    cr_assert_eq(apl_store_field(store, (unsigned)shape)->dtype, APL_I16);
    cr_assert_eq(apl_store_field(store, (unsigned)shape)->role, APL_NAME);
    apl_store_close(store);
}
