/* Photographs in folders by class, ingested, and the store that has to come of them. */
#ifndef FOLDER_CASE_H
#define FOLDER_CASE_H

#include "apl_ingest.h"
#include "jpegs.h"
#include "shell.h"
#include "store_fixture.h"

static char source[96], db[96];

static inline void folder_set_up(void)
{
    fx_set_up();
    snprintf(source, sizeof source, "%s/photos", fx_place);
    snprintf(db, sizeof db, "%s/db", fx_place);
    cr_assert_eq(mkdir(source, 0755), 0);
}

/* --------------------------------------------------------------------------------------------- files to ingest */

static inline void put(const char *path, const void *data, size_t size)
{
    char full[512];
    snprintf(full, sizeof full, "%s/%s", source, path);
    *strrchr(full, '/') = 0;
    shell("mkdir -p '%s'", full);
    snprintf(full, sizeof full, "%s/%s", source, path);
    fx_write(full, data, size);
}

static inline struct jpeg_bytes draw(unsigned width, unsigned height, J_COLOR_SPACE colour, bool progressive)
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

static inline void put_jpeg(const char *path, unsigned width, unsigned height, J_COLOR_SPACE colour)
{
    struct jpeg_bytes b = draw(width, height, colour, width % 2);
    put(path, b.data, b.size);
    free(b.data);
}

/* Two splits, three classes, images of all sorts, and what is no image. */
static inline void put_photos(void)
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

static inline void hear(void *user, const char *message)
{
    (void)user;
    size_t used = strlen(said);
    snprintf(said + used, sizeof said - used, "%s\n", message);
}

static inline void hear_skipped(void *user, const char *path, const char *why)
{
    size_t used = strlen(said);
    (void)user;
    snprintf(said + used, sizeof said - used, "skipped %s: %s\n", path, why);
}

static inline apl_status ingest(const char *from)
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
static inline void expect_failure(const char *from, apl_status status, const char *words)
{
    apl_status is = ingest(from);
    cr_assert_eq(is, status, "%d %s", is, fx_err.message);
    cr_assert(strstr(fx_err.message, words) && !strchr(fx_err.message, '\n'), "%s", fx_err.message);
    cr_assert(!fx_exists(db), "%s", fx_list(db));
}

static inline void check_photo(const apl_batch *all, size_t i)
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

static inline void check_store(uint8_t content[32])
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

#endif
