/* Images in folders by class: from directories and archives into stores, and everything that can be wrong with them. */
#include "apl_ingest.h"
#include "jpegs.h"
#include "shell.h"
#include "store_fixture.h"

static char source[96], db[96];

static void set_up(void)
{
    fx_set_up();
    snprintf(source, sizeof source, "%s/photos", fx_place);
    snprintf(db, sizeof db, "%s/db", fx_place);
    cr_assert_eq(mkdir(source, 0755), 0);
}

TestSuite(format_folder, .init = set_up, .fini = fx_tear_down, .timeout = 120);

/* --------------------------------------------------------------------------------------------- files to ingest */

static void put(const char *path, const void *data, size_t size)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", source, path);
    *strrchr(full, '/') = 0;
    shell("mkdir -p '%s'", full);
    snprintf(full, sizeof full, "%s/%s", source, path);
    fx_write(full, data, size);
}

static struct jpeg_bytes draw(unsigned width, unsigned height, J_COLOR_SPACE colour, bool progressive)
{
    struct jpeg_case k = {.width = width,
                          .height = height,
                          .colour = colour,
                          .across = colour == JCS_YCbCr ? 2 : 1,
                          .down = 1,
                          .progressive = progressive,
                          .quality = 90};
    return jpeg_draw(&k);
}

static void put_jpeg(const char *path, unsigned width, unsigned height, J_COLOR_SPACE colour)
{
    struct jpeg_bytes b = draw(width, height, colour, width % 2);
    put(path, b.data, b.size);
    free(b.data);
}

/* Two splits, three classes, images of all sorts, and what is no image. */
static void put_photos(void)
{
    put_jpeg("train/dog/1.jpg", 40, 30, JCS_YCbCr);
    put_jpeg("train/dog/2.JPEG", 31, 30, JCS_GRAYSCALE);
    put_jpeg("train/cat/10.jpeg", 32, 8, JCS_CMYK);
    put_jpeg("train/cat/9.jpg", 8, 8, JCS_RGB);
    put_jpeg("train/emu/deep/er/1.jpg", 77, 9, JCS_YCCK);
    put_jpeg("test/cat/1.jpg", 16, 16, JCS_YCbCr);
    put_jpeg("test/dog/caf\xc3\xa9 \xe2\x82\xac.png", 17, 5, JCS_YCbCr); /* a JPEG whatever it is called */
    put("README.md", "photos", 6);
    put("train/dog/Thumbs.db", "?", 1);
    put("train/.hidden/1.jpg", "?", 1);
    put("train/dog/._1.jpg", "?", 1);
}

/* In the order of ids. */
static const struct {
    const char *path;
    unsigned label, shape[3];
} photos[] = {
    {"train/cat/10.jpeg", 0, {4, 8, 32}},
    {"train/cat/9.jpg", 0, {3, 8, 8}},
    {"train/dog/1.jpg", 1, {3, 30, 40}},
    {"train/dog/2.JPEG", 1, {1, 30, 31}},
    {"train/emu/deep/er/1.jpg", 2, {4, 9, 77}},
    {"test/cat/1.jpg", 0, {3, 16, 16}},
    {"test/dog/caf\xc3\xa9 \xe2\x82\xac.png", 1, {3, 5, 17}},
};

/* -------------------------------------------------------------------------------------------- ingesting them */

static apl_ingest_options options;
static apl_writer_options writing;
static char said[4096]; /* notices and skipped files, a line each */

static void hear(void *user, const char *message)
{
    (void)user;
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s\n", message);
}

static void hear_skipped(void *user, const char *path, const char *why)
{
    size_t used = strlen(said);
    (void)user;
    snprintf(said + used, sizeof said - used, "skipped %s: %s\n", path, why);
}

static apl_status ingest(const char *from)
{
    static apl_ingest_summary sum;
    said[0] = 0;
    options.size = sizeof options;
    options.writer = &writing;
    options.notice = hear;
    options.skipped = hear_skipped;
    writing.size = sizeof writing;
    writing.replace = 1;
    memset(&fx_err, 0, sizeof fx_err);
    apl_status status = apl_ingest(from, db, &options, &sum, &fx_err);
    if (status == APL_OK)
        cr_assert_str_eq(sum.format, "folder");
    return status;
}

/* Fails with these words, and leaves nothing behind. */
static void expect_failure(const char *from, apl_status status, const char *words)
{
    apl_status is = ingest(from);
    cr_assert_eq(is, status, "%d %s", is, fx_err.message);
    cr_assert(strstr(fx_err.message, words) && !strchr(fx_err.message, '\n'), "%s", fx_err.message);
    cr_assert(!fx_exists(db), "%s", fx_list(db));
}

static void check_photo(const apl_batch *all, size_t i)
{
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", source, photos[i].path);
    uint8_t *bytes = fx_read(path, &size);
    const apl_column *image = apl_batch_column(all, 0), *name = apl_batch_column(all, 2);
    cr_assert_eq(image->offsets[i + 1] - image->offsets[i], size);
    cr_assert(memcmp((const uint8_t *)image->data + image->offsets[i], bytes, size) == 0, "%s", path);
    free(bytes);
    cr_assert_eq(((const uint8_t *)apl_batch_column(all, 1)->data)[i], photos[i].label);
    cr_assert_eq(name->offsets[i + 1] - name->offsets[i], strlen(photos[i].path));
    cr_assert(memcmp((const char *)name->data + name->offsets[i], photos[i].path, strlen(photos[i].path)) ==
              0);
    const uint32_t *shape = (const uint32_t *)apl_batch_column(all, 3)->data + 3 * i;
    for (unsigned d = 0; d < 3; d++)
        cr_assert_eq(shape[d], photos[i].shape[d], "%s: dimension %u is %u", path, d, shape[d]);
}

static void check_store(uint8_t content[32])
{
    apl_store *s = fx_open(db);
    OK(apl_store_verify(s, NULL, &fx_err));
    const apl_field *label = apl_store_field(s, 1);
    cr_assert_eq(label->class_count, 3);
    cr_assert(strcmp(label->classes[0], "cat") == 0 && strcmp(label->classes[2], "emu") == 0);
    cr_assert_eq(apl_store_info(s)->splits, 2);
    cr_assert(strcmp(apl_store_split(s, 0)->name, "train") == 0 && apl_store_split(s, 0)->count == 5);
    cr_assert(strcmp(apl_store_split(s, 1)->name, "test") == 0 && apl_store_split(s, 1)->count == 2);
    cr_assert_str_eq(apl_store_field(s, 0)->media, "image/jpeg");
    apl_batch *all = fx_get_all(s);
    cr_assert_eq(apl_batch_rows(all), COUNT(photos));
    for (size_t i = 0; i < COUNT(photos); i++)
        check_photo(all, i);
    apl_batch_release(all);
    memcpy(content, apl_store_info(s)->content_digest, 32);
    apl_store_close(s);
}

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
    cr_assert_not_null(strstr(said, "photos: files left out, as their names are not those of images: 2"),
                       "%s", said);
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

/* Among JPEGs, other images become JPEGs too, which is reported. */
Test(format_folder, strays_among_jpegs)
{
    put_photos();
    put_ppm("train/dog/3.JPEG", 30, 20);
    OK(ingest(source));
    cr_assert_not_null(strstr(said, "images that are no JPEGs, re-encoded as JPEG at quality 100 (lossy): 1"),
                       "%s", said);
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

/* ---------------------------------------------------------------------------------------------- what is wrong */

static const struct {
    const char *path, *data;
    size_t size;
    const char *words;
} bad[] = {
    {"train/cat/png.jpg", "\x89PNG\r\n\x1a\n....", 12, "train/cat/png.jpg: PNG: "},
    {"train/cat/empty.jpg", "", 0, "train/cat/empty.jpg: is empty"},
    {"train/dog/text.jpg", "hello", 5, "train/dog/text.jpg: is not a known image"},
    {"train/dog/start.jpg", "\xff\xd8\xff", 3, "train/dog/start.jpg: JPEG: "},
    {"train/dog/avif.png", "\0\0\0\0ftypavif", 12, "train/dog/avif.png: holds AVIF, which is not read"},
};

Test(format_folder, bad_images)
{
    put_photos();
    for (size_t i = 0; i < COUNT(bad); i++) {
        put(bad[i].path, bad[i].data, bad[i].size);
        expect_failure(source,
                       i == 4             ? APL_E_UNSUPPORTED
                       : i == 0 || i == 3 ? APL_E_CORRUPT
                                          : APL_E_SOURCE,
                       bad[i].words);
        shell("rm '%s/%s'", source, bad[i].path);
    }
}

Test(format_folder, bad_images_are_skipped)
{
    uint8_t content[32];
    put_photos();
    for (size_t i = 0; i < COUNT(bad); i++)
        put(bad[i].path, bad[i].data, bad[i].size);
    options.skip_bad = COUNT(bad) - 1;
    expect_failure(source, APL_E_SOURCE, "more than the 4 bad files to skip");
    options.skip_bad = COUNT(bad);
    OK(ingest(source));
    for (size_t i = 0; i < COUNT(bad); i++)
        cr_assert_not_null(strstr(said, bad[i].words), "%s", said);
    check_store(content);
}

/* Cut anywhere, or with its coefficients damaged: found when it is decoded. */
Test(format_folder, damaged_images)
{
    struct jpeg_bytes b = draw(120, 90, JCS_YCbCr, false);
    put_jpeg("cat/1.jpg", 10, 10, JCS_YCbCr);
    for (size_t size = b.size / 8; size + 100 < b.size; size += b.size / 8) {
        put("cat/2.jpg", b.data, size);
        expect_failure(source, APL_E_CORRUPT, "photos: cat/2.jpg: JPEG: ");
    }
    put("cat/2.jpg", b.data, b.size / 2);
    options.unchecked = 1;
    OK(ingest(source));
    free(b.data);
}

Test(format_folder, all_bad)
{
    put("cat/1.jpg", "x", 1);
    options.skip_bad = 10;
    expect_failure(source, APL_E_SOURCE, "photos: all of its images are bad");
}

Test(format_folder, links_and_names)
{
    put_photos();
    shell("ln -s ../dog/1.jpg '%s/train/cat/link.jpg'", source);
    expect_failure(source, APL_E_SOURCE, "train/cat/link.jpg is a symbolic link, which is not followed");
    shell("cd '%s' && tar cf p.tar --sort=name photos", fx_place);
    char archive[128];
    snprintf(archive, sizeof archive, "%s/p.tar", fx_place);
    expect_failure(archive, APL_E_SOURCE, "train/cat/link.jpg");
    SAYS("is a symbolic link, not a regular file");
    shell("rm '%s/train/cat/link.jpg' && ln -s dog '%s/train/wolf'", source, source);
    expect_failure(source, APL_E_SOURCE, "train/wolf is a symbolic link, which is not followed");
    shell("rm '%s/train/wolf' && ln -s nowhere '%s/train/note.txt' && mkfifo '%s/train/pipe.jpg'", source,
          source, source);
    expect_failure(source, APL_E_SOURCE, "train/pipe.jpg is not a regular file");
    shell("rm '%s/train/pipe.jpg'", source);
    put_jpeg("train/cat/\xff.jpg", 8, 8, JCS_YCbCr);
    expect_failure(source, APL_E_SOURCE, "its path is not UTF-8");
    SAYS("train/cat/\\xff.jpg");
    shell("rm -r '%s/train/cat/'*.jpg '%s/train/emu/deep' && mkdir '%s/train/yak'", source, source, source);
    put_jpeg("train/emu/1.jpg", 8, 8, JCS_YCbCr);
    expect_failure(source, APL_E_INCOMPLETE, "photos: the class yak has no images");
    options.partial = 1;
    OK(ingest(source));
}

Test(format_folder, no_classes)
{
    put_jpeg("1.jpg", 8, 8, JCS_YCbCr);
    put_jpeg("2.jpg", 8, 8, JCS_YCbCr);
    expect_failure(source, APL_E_SOURCE, "its images lie in no folders by class");
    shell("rm '%s/1.jpg' '%s/2.jpg'", source, source);
    options.format = "folder";
    expect_failure(source, APL_E_SOURCE, "photos: has no images");
    options.format = NULL;
    expect_failure(source, APL_E_SOURCE, "photos: ");
    options.format = "picture";
    expect_failure(source, APL_E_INVALID, "no format is called picture");
    options.format = "folder";
    cr_assert_not_null(freopen("/dev/null", "r", stdin));
    expect_failure("-", APL_E_SOURCE, "standard input: is empty");
    expect_failure("/nowhere/at/all", APL_E_INVALID, "read twice");
}

Test(format_folder, archives_that_are_cut)
{
    put_photos();
    shell("cd '%s' && tar czf p.tar.gz --sort=name photos && truncate -s -40 p.tar.gz", fx_place);
    char archive[128];
    snprintf(archive, sizeof archive, "%s/p.tar.gz", fx_place);
    apl_status status = ingest(archive);
    cr_assert(status == APL_E_INCOMPLETE || status == APL_E_SOURCE, "%d %s", status, fx_err.message);
    cr_assert(!fx_exists(db));
}

static int stop_after(void *user, const apl_ingest_progress *p)
{
    (void)p;
    return --*(int *)user < 0;
}

Test(format_folder, cancelled)
{
    put_photos();
    options.progress = stop_after;
    for (int n = 0, calls; n < 60; n++) {
        calls = n;
        options.user = &calls;
        apl_status status = ingest(source);
        cr_assert(status == APL_OK || status == APL_E_CANCELLED, "%d %s", status, fx_err.message);
        cr_assert(status == APL_OK || n > 0 || !fx_exists(db));
    }
}
