/* Images in folders by class: from directories and archives into stores. */
#include "folder_case.h"

TestSuite(format_folder, .init = folder_set_up, .fini = fx_tear_down, .timeout = 120);

Test(format_folder, directories_and_archives)
{
    static const char *const forms[] = {"cf photos.tar --sort=name photos",
                                        "czf photos.tar --sort=name -C photos .",
                                        "cf photos.tar --sort=name -C photos test train README.md",
                                        "cf photos.tar --format=pax --sort=name ./photos"};
    uint8_t first[32], again[32];
    char archive[128];
    put_photos();
    OK(ingest(source));
    check_store(first);
    cr_assert_null(strstr(said, "files left out"), "%s", said); /* README.md and Thumbs.db hold no data */
    snprintf(archive, sizeof archive, "%s/photos.tar", fx_place);
    for (size_t i = 0; i < COUNT(forms); i++) {
        shell("cd '%s' && tar %s", fx_place, forms[i]);
        OK(ingest(archive));
        check_store(again);
        cr_assert(memcmp(first, again, 32) == 0, "%s", forms[i]);
    }
}

/* For any number of threads, the same bytes. */
Test(format_folder, the_same_file)
{
    put_photos();
    for (unsigned threads = 0; threads < 4; threads++) {
        char copy[160], file[160];
        writing.threads = threads ? threads : APL_NO_THREADS;
        OK(ingest(source));
        snprintf(file, sizeof file, "%s/data.mdb", db);
        snprintf(copy, sizeof copy, "%s/first", fx_place);
        if (threads == 0)
            shell("cp '%s' '%s'", file, copy);
        cr_assert(fx_same(file, copy), "%u threads", threads);
    }
}

/* As many images as are gathered at once, and more; an image of more bytes than are gathered. */
Test(format_folder, many)
{
    for (unsigned i = 0; i < 200; i++) {
        char path[64];
        snprintf(path, sizeof path, "c%u/%03u.jpg", i % 7, i);
        put_jpeg(path, 8 + i % 50, 9, JCS_YCbCr);
    }
    OK(ingest(source));
    apl_store *s = fx_open(db);
    cr_assert_eq(apl_store_info(s)->records, 200);
    for (uint64_t c = 0; c < 7; c++)
        cr_assert_eq(apl_store_class_count(s, 0, 1, c), c < 4 ? 29 : 28);
    cr_assert_str_eq(apl_store_split(s, 0)->name, "train");
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

Test(format_folder, splits_that_come_mixed)
{
    put_photos();
    shell("cd '%s/photos' && tar cf ../p.tar train/dog/1.jpg test/cat/1.jpg train/cat test/dog/* train/emu "
          "train/dog/2.JPEG",
          fx_place);
    char archive[128];
    snprintf(archive, sizeof archive, "%s/p.tar", fx_place);
    OK(ingest(archive));
    apl_store *s = fx_open(db);
    cr_assert_eq(apl_store_info(s)->members, 5, "%u", apl_store_info(s)->members);
    cr_assert(apl_store_info(s)->splits == 2 && apl_store_split(s, 0)->count == 5);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

/* ------------------------------------------------------------------------------------- images that are decoded */

/* PPM, which every build reads: pixel values are i % 251. */
static void put_ppm(const char *path, unsigned width, unsigned height)
{
    uint8_t file[4096];
    int head = snprintf((char *)file, sizeof file, "P6 %u %u 255\n", width, height);
    for (unsigned i = 0; i < width * height * 3; i++)
        file[(unsigned)head + i] = (uint8_t)(i % 251);
    put(path, file, (unsigned)head + width * height * 3);
}

static void check_ppm(const uint8_t *planes, unsigned pixels)
{
    for (unsigned c = 0; c < 3; c++)
        for (unsigned i = 0; i < pixels; i++)
            cr_assert_eq(planes[c * pixels + i], (3 * i + c) % 251);
}

/* Of one shape, the field has that. */
Test(format_folder, decoded_to_one_shape)
{
    put_ppm("cat/1.ppm", 7, 5);
    put_ppm("cat/2.png", 7, 5); /* a PPM whatever it is called */
    put_ppm("dog/1.jpg", 7, 5);
    OK(ingest(source));
    apl_store *s = fx_open(db);
    const apl_field *f = apl_store_field(s, 0);
    cr_assert(!f->media && f->dtype == APL_U8 && f->ndim == 3);
    cr_assert(f->shape[0] == 3 && f->shape[1] == 5 && f->shape[2] == 7);
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(apl_batch_rows(all), 3);
    for (unsigned i = 0; i < 3; i++)
        check_ppm((const uint8_t *)apl_batch_column(all, 0)->data + (size_t)i * 105, 35);
    apl_batch_release(all);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

/* Of more than one, and with a JPEG among others: the field's shape varies. */
Test(format_folder, decoded_to_any_shape)
{
    static const unsigned sides[3][2] = {{7, 5}, {4, 9}, {7, 5}};
    for (unsigned i = 0; i < 3; i++)
        put_ppm((const char *const[]){"cat/1.ppm", "cat/2.ppm", "dog/3.ppm"}[i], sides[i][0], sides[i][1]);
    put_jpeg("emu/4.jpg", 16, 8, JCS_GRAYSCALE);
    OK(ingest(source));
    apl_store *s = fx_open(db);
    const apl_field *f = apl_store_field(s, 0);
    cr_assert(!f->media && f->ndim == 3 && f->shape[0] == -1 && f->shape[1] == -1 && f->shape[2] == -1);
    apl_batch *all = fx_get_all(s);
    const apl_column *image = apl_batch_column(all, 0);
    for (unsigned i = 0; i < 3; i++) {
        cr_assert(image->shapes[3 * i] == 3 && image->shapes[3 * i + 1] == sides[i][1] &&
                  image->shapes[3 * i + 2] == sides[i][0]);
        check_ppm((const uint8_t *)image->data + image->offsets[i], sides[i][0] * sides[i][1]);
    }
    cr_assert(image->shapes[9] == 1 && image->shapes[10] == 8 && image->shapes[11] == 16);
    apl_batch_release(all);
    apl_store_close(s);
}

/* Of fewer bytes than are read to tell its kind. */
Test(format_folder, small_files)
{
    put("cat/1.pgm", "P5 1 1 255\n\x03", 12);
    OK(ingest(source));
    apl_store *s = fx_open(db);
    cr_assert_null(apl_store_field(s, 0)->media);
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(*(const uint8_t *)apl_batch_column(all, 0)->data, 3);
    apl_batch_release(all);
    apl_store_close(s);
}

/* All of 16 bits: so is the field. Some: those become 8, which is told. */
Test(format_folder, sixteen_bits)
{
    static const char wide[] = "P5 2 1 65535\n\x01\x02\xff\xfe";
    put("cat/1.pgm", wide, sizeof wide - 1);
    OK(ingest(source));
    apl_store *s = fx_open(db);
    cr_assert_eq(apl_store_field(s, 0)->dtype, APL_U16);
    apl_batch *all = fx_get_all(s);
    const uint16_t *values = apl_batch_column(all, 0)->data;
    cr_assert(values[0] == 0x102 && values[1] == 0xfffe);
    apl_batch_release(all);
    apl_store_close(s);
    put_ppm("cat/2.ppm", 2, 1);
    OK(ingest(source));
    cr_assert_not_null(strstr(said, "images of 16 bits, reduced to 8: 1"), "%s", said);
    s = fx_open(db);
    cr_assert_eq(apl_store_field(s, 0)->dtype, APL_U8);
    all = fx_get_all(s);
    cr_assert_eq(memcmp(apl_batch_column(all, 0)->data, "\x01\xff", 2), 0);
    apl_batch_release(all);
    apl_store_close(s);
}

/* A JPEG among images of 16 bits was refused. */
Test(format_folder, sixteen_bits_beside_a_jpeg)
{
    static const char wide[] = "P5 2 1 65535\n\x01\x02\xff\xfe";
    put("cat/1.pgm", wide, sizeof wide - 1);
    put("cat/2.pgm", wide, sizeof wide - 1);
    put_jpeg("cat/3.jpg", 8, 8, JCS_GRAYSCALE);
    OK(ingest(source));
    cr_assert_not_null(strstr(said, "images of 16 bits, reduced to 8: 2"), "%s", said);
    apl_store *s = fx_open(db);
    cr_assert_eq(apl_store_field(s, 0)->dtype, APL_U8);
    apl_store_close(s);
}

/* Among JPEGs, other images become JPEGs too, which is reported. */
Test(format_folder, strays_among_jpegs)
{
    put_photos();
    put_ppm("train/dog/3.JPEG", 30, 20);
    OK(ingest(source));
    cr_assert_not_null(
        strstr(said, "images that are not JPEGs, re-encoded as JPEG at quality 100 (lossy): 1"), "%s", said);
    apl_store *s = fx_open(db);
    cr_assert_str_eq(apl_store_field(s, 0)->media, "image/jpeg");
    apl_batch *all = fx_get_all(s);
    const apl_column *image = apl_batch_column(all, 0);
    cr_assert_eq(memcmp((const uint8_t *)image->data + image->offsets[4], "\xff\xd8\xff", 3), 0);
    const uint32_t *shape = (const uint32_t *)apl_batch_column(all, 3)->data + 12;
    cr_assert(shape[0] == 3 && shape[1] == 20 && shape[2] == 30);
    apl_batch_release(all);
    apl_store_close(s);
}

/* What becomes of images can be said: JPEG files decoded, others re-encoded, all re-encoded. */
Test(format_folder, images_as_asked_for)
{
    put_jpeg("cat/1.jpg", 16, 8, JCS_RGB);
    put_jpeg("dog/2.jpg", 16, 8, JCS_YCbCr);
    options.images = "pixels";
    OK(ingest(source));
    apl_store *s = fx_open(db);
    const apl_field *f = apl_store_field(s, 0);
    cr_assert(!f->media && f->shape[0] == 3 && f->shape[1] == 8 && f->shape[2] == 16);
    apl_store_close(s);
    for (unsigned i = 0; i < 3; i++)
        put_ppm((const char *const[]){"cat/3.ppm", "cat/4.ppm", "dog/5.ppm"}[i], 9, 9);
    options.images = "jpeg";
    OK(ingest(source));
    cr_assert_not_null(strstr(said, "re-encoded as JPEG at quality 100 (lossy): 3"), "%s", said);
    options.images = NULL;
    options.jpeg_quality = 80;
    OK(ingest(source));
    cr_assert_not_null(strstr(said, "images re-encoded as JPEG at the quality asked for (lossy): 5"), "%s",
                       said);
    s = fx_open(db);
    cr_assert_str_eq(apl_store_field(s, 0)->media, "image/jpeg");
    apl_store_close(s);
    shell("rm -r '%s'", db);
    options.images = "pixels";
    expect_failure(source, APL_E_INVALID, "images become pixels, or JPEG files of quality 80, not both");
    options.images = "gif";
    expect_failure(source, APL_E_INVALID, "images become jpeg or pixels, not gif");
    options.images = NULL;
    options.jpeg_quality = 101;
    expect_failure(source, APL_E_INVALID, "a JPEG quality of 101: it is from 1 to 100");
}
