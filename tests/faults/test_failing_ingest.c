/* Sources become stores, and pickles are read, while calls fail: see failing_case.h. */
#define _GNU_SOURCE
#include "failing_case.h"

#include "apl_ingest.h"
#include "archives.h"
#include "cifar_case.h"
#include "jpegs.h"
#include "status.h"

TestSuite(failing_ingest, .init = set_up, .fini = fx_tear_down, .timeout = 300);

static char source[96];

static apl_status ingest(apl_error *err)
{
    apl_ingest_options o = APL_INGEST_OPTIONS_INIT;
    apl_writer_options w = APL_WRITER_OPTIONS_INIT;
    o.writer = &w;
    o.partial = w.replace = 1;
    w.threads = 1;
    return apl_ingest(source, fx_path("new"), &o, NULL, err);
}

static void check_ingested(void)
{
    apl_store *s = fx_open(fx_path("new"));
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

static struct buffer cifar_tar(const char *folder, const char *first, const char *meta)
{
    struct buffer tar = {0}, b = {0};
    const struct cifar_dataset *d = dataset_of(first);
    char name[96];
    if (d->python) {
        struct maker rows, classes;
        python_member(&rows, d, 6, true);
        python_classes(&classes, d);
        tar_file(&tar, strcat(strcpy(name, folder), first), &rows.out);
        tar_file(&tar, strcat(strcpy(name, folder), meta), &classes.out);
        buffer_free(&rows.out);
        buffer_free(&classes.out);
    } else {
        binary_member(&b, d, 6);
        tar_file(&tar, strcat(strcpy(name, folder), first), &b);
        b.size = 0;
        binary_classes(&b, d->labels[0].classes);
        tar_file(&tar, strcat(strcpy(name, folder), meta), &b);
    }
    buffer_free(&b);
    tar_finish(&tar);
    return tar;
}

static void sweep_ingest(const struct buffer *archive)
{
    strcpy(source, fx_path("source"));
    fx_write(source, archive->data, archive->size);
    sweep(&(struct subject){NULL, ingest, check_ingested});
}

Test(failing_ingest, ingest_of_gzip)
{
    struct buffer tar = cifar_tar("cifar-10-batches-bin/", "data_batch_1.bin", "batches.meta.txt"),
                  gz = gzip_of(&tar);
    sweep_ingest(&gz);
    buffer_free(&gz);
    buffer_free(&tar);
}

Test(failing_ingest, ingest_with_zlib)
{
    struct buffer tar = cifar_tar("cifar-10-batches-bin/", "data_batch_1.bin", "batches.meta.txt"),
                  gz = gzip_of(&tar);
    setenv("APL_GUNZIP", "zlib", 1);
    sweep_ingest(&gz);
    buffer_free(&gz);
    buffer_free(&tar);
}

Test(failing_ingest, ingest_of_pickles)
{
    struct buffer tar = cifar_tar("cifar-10-batches-py/", "data_batch_1", "batches.meta");
    sweep_ingest(&tar);
    buffer_free(&tar);
}

Test(failing_ingest, ingest_of_a_folder)
{
    struct buffer tar = cifar_tar("cifar-10-batches-py/", "data_batch_1", "batches.meta");
    fx_write(fx_path("tar"), tar.data, tar.size);
    fx_shell("tar -C '%s' -xf '%s'", fx_place, fx_path("tar"));
    strcpy(source, fx_path("cifar-10-batches-py"));
    sweep(&(struct subject){NULL, ingest, check_ingested});
    cr_assert_eq(mkdir(fx_path("outer"), 0755), 0);
    cr_assert_eq(rename(source, fx_path("outer/inner")), 0);
    strcpy(source, fx_path("outer"));
    sweep(&(struct subject){NULL, ingest, check_ingested});
    buffer_free(&tar);
}

static void put_image(struct buffer *tar, const char *name, unsigned width)
{
    struct jpeg_case k = {.width = width, .height = 9, .colour = JCS_YCbCr, .across = 2, .down = 2};
    struct jpeg_bytes jpeg = jpeg_draw(&k);
    struct buffer b = {.data = jpeg.data, .size = jpeg.size};
    tar_file(tar, name, &b);
    __real_free(jpeg.data); /* libjpeg's */
}

Test(failing_ingest, ingest_of_images)
{
    struct buffer tar = {0};
    put_image(&tar, "photos/train/cat/1.jpg", 20);
    put_image(&tar, "photos/train/dog/1.jpg", 31);
    put_image(&tar, "photos/test/cat/1.jpg", 8);
    tar_finish(&tar);
    sweep_ingest(&tar);
    fx_shell("tar -C '%s' -xf '%s'", fx_place, source);
    strcpy(source, fx_path("photos"));
    sweep(&(struct subject){NULL, ingest, check_ingested});
    buffer_free(&tar);
}

static apl_status ingest_masks(apl_error *err)
{
    apl_ingest_options o = APL_INGEST_OPTIONS_INIT;
    apl_writer_options w = APL_WRITER_OPTIONS_INIT;
    o.writer = &w;
    o.mask_columns = (const char *const[]){"mask"};
    o.mask_column_count = 1;
    o.resize_width = o.resize_height = 3;
    w.replace = 1;
    w.threads = 1;
    return apl_ingest(source, fx_path("new"), &o, NULL, err);
}

/* One of 16 bits, so that the other is made so. */
Test(failing_ingest, ingest_of_masks)
{
    static const char table[] = "{\"image\": \"a.ppm\", \"mask\": \"a.pgm\"}\n"
                                "{\"image\": \"a.ppm\", \"mask\": \"b.pgm\"}\n";
    fx_write(fx_path("a.ppm"), "P6 2 1 255\n......", 17);
    fx_write(fx_path("a.pgm"), "P5 2 1 255\n..", 13);
    fx_write(fx_path("b.pgm"), "P5 2 1 65535\n....", 17);
    strcpy(source, fx_path("t.jsonl"));
    fx_write(source, table, sizeof table - 1);
    sweep(&(struct subject){NULL, ingest_masks, check_ingested});
}

Test(failing_ingest, ingest_of_other_compression)
{
    struct buffer tar = cifar_tar("cifar-10-batches-bin/", "data_batch_1.bin", "batches.meta.txt");
    struct buffer xz = packed_with("xz", &tar);
    if (xz.size)
        sweep_ingest(&xz);
    buffer_free(&xz);
    buffer_free(&tar);
}

/* ------------------------------------------------------------------------------------------------ pickles */

/* A memo, texts and lists, all of which take memory. */
static struct maker remembering;

static apl_status take_nothing(void *user, uint64_t rows, apl_error *err)
{
    (void)user, (void)rows, (void)err;
    return APL_OK;
}

static apl_status take_row(void *user, uint64_t row, const uint8_t *bytes, apl_error *err)
{
    (void)user, (void)row, (void)bytes, (void)err;
    return APL_OK;
}

static apl_status read_pickle(apl_error *err)
{
    struct cursor c = cursor_over(remembering.out.data, remembering.out.size);
    struct pickle_rows rows = {take_nothing, take_row, NULL};
    struct pickle *p = pickle_new();
    apl_status status =
        p ? pickle_read(p, &c, remembering.out.size, &batch_rules, &rows, err) : fail_nomem(err);
    pickle_free(p);
    return status;
}

Test(failing_ingest, pickle)
{
    struct maker *m = &remembering;
    unsigned n = 0;
    op_le(m, 0x80, 2, 1);
    op(m, '}'), put(m, n++);
    op(m, '(');
    text(m, "labels"), put(m, n++);
    op(m, ']'), put(m, n++);
    op(m, '(');
    op_le(m, 'K', 3, 1), put(m, n++);
    op(m, 'e');
    text(m, "filenames"), put(m, n++);
    op(m, ']'), put(m, n++);
    op(m, '(');
    global(m, "_codecs\nencode\n"), put(m, n++);
    op_text(m, 'X', "a.png"), put(m, n++);
    op_text(m, 'X', "latin1"), put(m, n++);
    ops(m, "\x86R"), put(m, n++);
    op(m, 'e');
    text(m, "data"), put(m, n++);
    array(m, 1);
    ops(m, "u.");
    sweep(&(struct subject){NULL, read_pickle, NULL});
    buffer_free(&m->out);
}
