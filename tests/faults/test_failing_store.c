/* Stores are read, verified and split, and images decoded, while calls fail: see failing_case.h. */
#define _GNU_SOURCE
#include "failing_case.h"

#include "jpegs.h"
#include "photo.h"
#include "status.h"

TestSuite(failing_store, .init = set_up, .fini = fx_tear_down, .timeout = 300);

static apl_status get_and_verify(apl_error *err)
{
    static const uint64_t ids[] = {3, 30, 3, 0};
    apl_store *s = NULL;
    apl_batch *b = NULL;
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    o.threads = 2;
    apl_status status = open_store(&s, err);
    if (status == APL_OK)
        status = apl_store_get_batch(s, ids, COUNT(ids), NULL, &b, err);
    apl_batch_release(b);
    if (status == APL_OK)
        status = apl_store_verify(s, &o, err);
    apl_store_close(s);
    return status;
}

Test(failing_store, mapped_store)
{
    how = APL_IO_MAP;
    make_store();
    sweep(&(struct subject){NULL, get_and_verify, NULL});
}

Test(failing_store, read_store)
{
    how = APL_IO_READ;
    make_store();
    sweep(&(struct subject){NULL, get_and_verify, NULL});
}

Test(failing_store, mapped_kept_files)
{
    made = &tiny_kept;
    how = APL_IO_MAP;
    make_store();
    sweep(&(struct subject){NULL, get_and_verify, NULL});
}

Test(failing_store, read_kept_files)
{
    made = &tiny_kept;
    how = APL_IO_READ;
    make_store();
    sweep(&(struct subject){NULL, get_and_verify, NULL});
}

/* A crop of each sort of JPEG image. */
static struct jpeg_bytes jpegs[JPEG_CASES];

static apl_status crop_jpegs(apl_error *err)
{
    static const struct crop_rules rules = {
        .sizing = CROP_RANDOM_RESIZED, .height = 20, .width = 30, .scale = {0.08, 1}, .ratio = {0.75, 1.3}};
    uint8_t rgb[3 * 20 * 30];
    struct photo *photo = photo_new();
    apl_status status = photo ? APL_OK : fail_nomem(err);
    for (size_t i = 0; i < JPEG_CASES && status == APL_OK; i++)
        status = photo_draw(photo, jpegs[i].data, jpegs[i].size, &rules, crop_draws(1, 1, i, 0),
                            i % 2 ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES, rgb, err);
    photo_free(photo);
    return status;
}

Test(failing_store, crops_of_jpeg_images)
{
    for (size_t i = 0; i < JPEG_CASES; i++)
        jpegs[i] = jpeg_draw(&jpeg_cases[i]);
    sweep(&(struct subject){NULL, crop_jpegs, NULL});
}

/* On NFS a file is read, never mapped. */
Test(failing_store, file_systems)
{
    static const unsigned remote[] = {0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x0bd00bd0};
    char maps[64], line[512];
    make_store();
    for (size_t i = 0; i <= COUNT(remote); i++) {
        bool mapped = false;
        failing_file_system = i < COUNT(remote) ? remote[i] : 0;
        apl_store *s = fx_open(fx_path("db"));
        snprintf(maps, sizeof maps, "/proc/%d/maps", (int)getpid());
        FILE *f = fopen(maps, "r");
        while (f && fgets(line, sizeof line, f))
            mapped |= strstr(line, fx_place) != NULL;
        fclose(f);
        cr_assert_eq(mapped, i == COUNT(remote), "file system %x", failing_file_system);
        apl_store_close(s);
    }
}

/* ----------------------------------------------------------------------------------------------------- splits */

static apl_status use_splits(apl_store *s, apl_error *err)
{
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    o.name = "val", o.ratio = 0.3, o.replace = 1, o.threads = 1, o.overlap = 1;
    apl_split_list *list = NULL;
    uint64_t ids[64], count = COUNT(ids), counts[3];
    apl_status status = apl_split_make(s, &o, err);
    o.name = "dev", o.parent = "train-val", o.stratify = "label";
    if (status == APL_OK)
        status = apl_split_make(s, &o, err);
    if (status == APL_OK)
        status = apl_split_list_open(s, &list, err);
    apl_split_list_close(list);
    if (status == APL_OK)
        status = apl_split_ids(s, "train-val-dev", ids, &count, err);
    if (status == APL_OK)
        status = apl_split_class_counts(s, "val", 1, counts, err);
    if (status == APL_OK)
        status = apl_split_verify(s, "dev", 1, err);
    o.name = "part", o.ratio = 0, o.parent = "train", o.stratify = NULL;
    if (status == APL_OK)
        status = apl_split_parts(s, &o, 3, 0, err);
    o.stratify = "label";
    if (status == APL_OK)
        status = apl_split_parts(s, &o, 3, 0.5, err);
    o.name = "group", o.ratio = 0.3, o.stratify = NULL, o.group = "image";
    if (status == APL_OK)
        status = apl_split_make(s, &o, err);
    o.name = "key", o.by = APL_BY_KEY, o.group = NULL;
    if (status == APL_OK)
        status = apl_split_make(s, &o, err);
    return status;
}

static apl_status split(apl_error *err)
{
    apl_store *s = NULL;
    apl_status status = open_store(&s, err);
    if (status == APL_OK)
        status = use_splits(s, err);
    apl_store_close(s);
    return status;
}

Test(failing_store, splits)
{
    make_store();
    sweep(&(struct subject){NULL, split, NULL});
}

/* Where keys are positions in the source, which are read. */
Test(failing_store, splits_of_a_shuffled_store)
{
    apl_writer_options o = fx_options(1, 8);
    o.shuffle = 1;
    how = APL_IO_READ;
    fx_make(fx_path("db"), made, &o);
    sweep(&(struct subject){NULL, split, NULL});
}
