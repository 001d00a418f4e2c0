/* Parts of one set are of one source: what is compared, and what parts of earlier versions are compared by. */
#define _GNU_SOURCE /* memmem */
#include "apl_ingest.h"
#include "bytes.h"
#include "hash.h"
#include "jpegs.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void begin(void)
{
    char path[] = "/tmp/apl-test-parts-run-XXXXXX";
    cr_assert(mkdtemp(path) && chdir(path) == 0);
}

static void end(void)
{
    char path[256], command[300];
    cr_assert(getcwd(path, sizeof path));
    snprintf(command, sizeof command, "rm -rf %s", path);
    cr_assert(chdir("/") == 0 && system(command) == 0);
}

static void shell(const char *format, ...)
{
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    cr_assert_eq(system(command), 0, "%s", command);
}

static apl_status make(const char *source, const char *format, unsigned part, apl_error *err)
{
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    options.format = format;
    options.part = part;
    options.parts = 2;
    return apl_ingest(source, "set", &options, NULL, err);
}

/* Of a source that another is put in the place of by a command, the second part is refused, and of the same it is not. */
static void check_told_apart(const char *source, const char *format, const char *change)
{
    apl_error err;
    shell("cp -r %s kept && rm -rf set", source);
    for (unsigned part = 1; part <= 2; part++) {
        unsigned other = 3 - part;
        cr_assert_eq(make(source, format, part, &err), APL_OK, "%s: %s", source, err.message);
        shell("%s", change);
        cr_assert_eq(make(source, format, other, &err), APL_E_MISMATCH, "%s: %s", source, change);
        cr_assert(strstr(err.message, "was made from another source"), "%s", err.message);
        cr_assert_eq(make(source, format, part, &err), APL_E_EXISTS);
        shell("rm -rf %s && cp -r kept %s", source, source);
        cr_assert_eq(make(source, format, other, &err), APL_OK, "%s: %s", source, err.message);
        shell("rm -rf set");
    }
    shell("rm -rf kept");
}

Test(parts_run, of_a_table_compares_all_rows, .init = begin, .fini = end)
{
    shell("(echo x,label; seq 1000 1999 | sed 's/$/,a/') >t.csv");
    check_told_apart("t.csv", NULL, "(echo x,label; seq 1999 -1 1000 | sed 's/$/,a/') >t.csv");
    shell("gzip t.csv");
    check_told_apart("t.csv.gz", NULL, "(echo x,label; seq 1999 -1 1000 | sed 's/$/,a/') | gzip >t.csv.gz");
}

/* Of documents that must be counted, each byte; elsewhere than where a sample would be. */
Test(parts_run, of_documents_compares_all_tokens, .init = begin, .fini = end)
{
    apl_error err;
    uint32_t last = 2608; /* "0\n" */
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    options.format = "tokens";
    options.tokens = APL_U16;
    options.document_end = &last;
    options.part = 1;
    options.parts = 2;
    shell("seq -f '%%05.0f' 1 60000 >t.bin");
    cr_assert_eq(apl_ingest("t.bin", "set", &options, NULL, &err), APL_OK, "%s", err.message);
    shell("printf 'xy' | dd of=t.bin bs=1 seek=14000 conv=notrunc status=none");
    options.part = 2;
    cr_assert_eq(apl_ingest("t.bin", "set", &options, NULL, &err), APL_E_MISMATCH);
}

/* A header of version 1.0: rows of u8[10]. */
static void make_npy(const char *path, unsigned rows, unsigned seed)
{
    char header[119];
    FILE *f = fopen(path, "w");
    int n = snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, 'shape': (%u, 10), }",
                     rows);
    memset(header + n, ' ', sizeof header - (size_t)n);
    header[117] = '\n';
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, f);
    fwrite(header, 1, 118, f);
    for (unsigned i = 0; i < rows * 10; i++)
        fputc((int)(i * 31 + i / 256 * seed) & 255, f);
    fclose(f);
}

Test(parts_run, of_an_array_compares_samples, .init = begin, .fini = end)
{
    make_npy("x.npy", 40000, 1);
    make_npy("y.npy", 40000, 3);
    check_told_apart("x.npy", NULL, "cp y.npy x.npy");
    check_told_apart("x.npy", NULL, "printf x | dd of=x.npy bs=1 seek=200000 conv=notrunc status=none");
    make_npy("z.npy", 800000, 1); /* a window in each of 255 stretches of 31 KiB */
    check_told_apart("z.npy", NULL, "yes | dd of=z.npy bs=1K seek=4111 count=32 conv=notrunc status=none");
}

static void make_folder(const char *path, unsigned width, const char *name)
{
    for (unsigned i = 0; i < 6; i++) {
        char file[256];
        shell("mkdir -p %s/c%u", path, i % 2);
        snprintf(file, sizeof file, "%s/c%u/%s%u.ppm", path, i % 2, name, i);
        FILE *f = fopen(file, "w");
        fprintf(f, "P6 %u 4 255\n", width);
        for (unsigned k = 0; k < width * 12; k++)
            fputc((int)(k * i) & 255, f);
        fclose(f);
    }
}

Test(parts_run, of_a_folder_compares_names_and_sizes, .init = begin, .fini = end)
{
    make_folder("photos", 4, "a");
    make_folder("renamed", 4, "b");
    make_folder("wider", 5, "a");
    check_told_apart("photos", NULL, "rm -r photos && cp -r renamed photos");
    check_told_apart("photos", NULL, "rm -r photos && cp -r wider photos");
    check_told_apart("photos", "raw", "rm -r photos && cp -r wider photos");
}

/* Images that are not compressed have the same sizes, whatever they show. */
Test(parts_run, of_a_folder_compares_samples, .init = begin, .fini = end)
{
    make_folder("photos", 4, "a");
    check_told_apart("photos", NULL,
                     "printf x | dd of=photos/c1/a5.ppm bs=1 seek=20 conv=notrunc status=none");
    check_told_apart("photos", "raw",
                     "printf x | dd of=photos/c1/a5.ppm bs=1 seek=20 conv=notrunc status=none");
}

/* Of a table whose images are replaced by a command, the second part is refused. */
static void check_images(const char *change)
{
    apl_error err;
    shell("rm -rf set kept && cp -r photos kept");
    cr_assert_eq(make("photos/t.csv", NULL, 1, &err), APL_OK, "%s", err.message);
    shell("%s", change);
    cr_assert_eq(make("photos/t.csv", NULL, 2, &err), APL_E_MISMATCH, "%s", change);
    shell("rm -rf photos && mv kept photos");
    cr_assert_eq(make("photos/t.csv", NULL, 2, &err), APL_OK, "%s", err.message);
}

Test(parts_run, of_a_table_compares_its_images, .init = begin, .fini = end)
{
    make_folder("photos", 4, "a");
    shell("cd photos && (echo image; ls */*.ppm) >t.csv");
    for (unsigned i = 0; i < 6; i++) {
        char change[128];
        snprintf(change, sizeof change,
                 "printf x | dd of=photos/c%u/a%u.ppm bs=1 seek=20 conv=notrunc status=none", i % 2, i);
        check_images(change);
    }
}

/* The first 256 JPEGs are looked at in any case; of more, some are compared. */
Test(parts_run, of_a_table_compares_some_jpegs, .init = begin, .fini = end)
{
    struct jpeg_bytes jpeg =
        jpeg_draw(&(struct jpeg_case){16, 16, JCS_YCbCr, .across = 1, .down = 1, .quality = 90});
    FILE *f = fopen("one.jpg", "w");
    cr_assert_eq(fwrite(jpeg.data, 1, jpeg.size, f), jpeg.size);
    fclose(f);
    free(jpeg.data);
    shell("mkdir photos && for i in $(seq 1000 1399); do cp one.jpg photos/$i.jpg; done");
    shell("cd photos && (echo image; ls *.jpg) >t.csv");
    check_images("printf x | dd of=photos/1001.jpg bs=1 seek=300 conv=notrunc status=none");
    check_images("printf x | dd of=photos/1320.jpg bs=1 seek=300 conv=notrunc status=none");
}

Test(parts_run, of_an_archive_compares_it, .init = begin, .fini = end)
{
    make_folder("photos", 4, "a");
    shell("tar -cf photos.tar photos && tar -czf photos.tgz photos");
    check_told_apart("photos.tar", NULL,
                     "printf x | dd of=photos.tar bs=1 seek=1600 conv=notrunc status=none");
    shell("mkdir photos/c2 && mv photos/c1/a5.ppm photos/c2");
    check_told_apart("photos.tgz", "raw", "tar -czf photos.tgz photos");
}

/* What the shard says of its part is shortened to what earlier versions said; the text before grows by as much. */
static void make_earlier(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *f = fopen(path, "r+");
    size_t size = fread(bytes, 1, sizeof bytes, f);
    uint8_t *manifest = memmem(bytes, size, "APLM", 4), *text = memmem(bytes, size, " --part ", 8);
    size_t length = strspn((const char *)text, " -/0123456789abcdefoprt");
    cr_assert(manifest && text && length > 17 && text[length - 17] == '-');
    memmove(text + 17, text, length - 17);
    memset(text, '.', 17);
    store_le(manifest + 16, hash_xxh3_64(manifest + 24, (size_t)load_le(manifest + 8, 8) - 24), 8);
    rewind(f);
    cr_assert_eq(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

Test(parts_run, of_earlier_versions_are_completed, .init = begin, .fini = end)
{
    apl_error err;
    apl_store *set;
    shell("(echo x,label; seq 1000 1999 | sed 's/$/,a/') >t.csv");
    cr_assert_eq(make("t.csv", NULL, 1, &err), APL_OK, "%s", err.message);
    shell("chmod u+w set/part-0001-of-0002/data.mdb");
    make_earlier("set/part-0001-of-0002/data.mdb");
    cr_assert_eq(make("t.csv", NULL, 1, &err), APL_OK, "%s", err.message);
    cr_assert_eq(make("t.csv", NULL, 2, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_store_open("set", NULL, &set, &err), APL_OK, "%s", err.message);
    cr_assert_eq(apl_store_info(set)->records, 1000);
    apl_store_close(set);
}
