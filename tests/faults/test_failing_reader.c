/* Readers while calls fail: see failing_reads.h. */
#define _GNU_SOURCE
#include "failing_reads.h"

TestSuite(failing_reader, .init = set_up, .fini = fx_tear_down, .timeout = 300);

static void sweep_reader(unsigned threads)
{
    wanted = (apl_reader_options)APL_READER_OPTIONS_INIT;
    wanted.split = "train";
    wanted.batch_size = 8;
    wanted.threads = threads;
    wanted.faults.timeout_ms = 60000;
    make_store();
    sweep(&(struct subject){NULL, read_all, NULL});
}

Test(failing_reader, reader)
{
    sweep_reader(APL_NO_THREADS);
}

Test(failing_reader, reader_with_threads)
{
    how = APL_IO_READ;
    sweep_reader(2);
}

/* Values that are read late. */
Test(failing_reader, reader_of_mapped_kept_files)
{
    made = &tiny_kept;
    how = APL_IO_MAP;
    sweep_reader(APL_NO_THREADS);
}

Test(failing_reader, reader_of_read_kept_files)
{
    made = &tiny_kept;
    how = APL_IO_READ;
    sweep_reader(APL_NO_THREADS);
}

Test(failing_reader, reader_of_a_split_with_transforms)
{
    apl_transform picture = APL_TRANSFORM_INIT;
    picture.scale = APL_SCALE_NORMALISE, picture.dtype = APL_F32, picture.pad = 2,
    picture.flip = APL_FLIP_RANDOM;
    static const char *const plain[] = {"track=plain"};
    apl_store *s;
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    wanted = (apl_reader_options)APL_READER_OPTIONS_INIT;
    wanted.split = "train-val";
    wanted.batch_size = 4;
    wanted.reuse = 2;
    wanted.window = 16;
    wanted.bins = 4;
    wanted.threads = APL_NO_THREADS;
    wanted.order = APL_FREE;
    wanted.transforms = &picture, wanted.transform_count = 1;
    wanted.kinds = plain, wanted.kind_count = 1;
    make_store();
    s = fx_open(fx_path("db"));
    o.name = "val", o.ratio = 0.3;
    OK(apl_split_make(s, &o, &fx_err));
    apl_store_close(s);
    sweep(&(struct subject){NULL, read_all, NULL});
}

/* The store twice, with weights or with classes that come alike; and records that are looked up before. */
static bool by_class;

static int keep_even(void *user, uint64_t id, const void *value, size_t bytes)
{
    (void)user;
    (void)value;
    (void)bytes;
    return id % 2 == 0;
}

static apl_status read_mixed(apl_error *err)
{
    apl_store *s = NULL;
    uint64_t ids[64], count = 64;
    apl_sampling sampling = APL_SAMPLING_INIT;
    sampling.field = by_class ? "label" : NULL;
    apl_status status = open_store(&s, err);
    if (status == APL_OK)
        status = apl_store_where(s, "train", "label", keep_even, NULL, ids, &count, err);
    if (status == APL_OK)
        ids[count++] = apl_store_info(s)->records + 1;
    apl_source mix = {.size = sizeof(apl_source), .store = s, .split = "train", .weight = by_class ? 0 : 2};
    wanted.mix.sources = &mix, wanted.mix.count = 1, wanted.mix.weight = by_class ? 0 : 1;
    wanted.sampling = by_class ? &sampling : NULL;
    wanted.ids = ids, wanted.id_count = (size_t)count;
    if (status == APL_OK)
        status = read_and_resume(s, err);
    apl_store_close(s);
    return status;
}

static void sweep_mixed(bool sampled_by_class)
{
    apl_transform picture = APL_TRANSFORM_INIT;
    picture.scale = APL_SCALE_NORMALISE, picture.dtype = APL_F32;
    by_class = sampled_by_class;
    wanted = (apl_reader_options)APL_READER_OPTIONS_INIT;
    wanted.split = "train";
    wanted.batch_size = 8;
    wanted.bins = 4;
    wanted.threads = APL_NO_THREADS;
    wanted.transforms = &picture, wanted.transform_count = 1;
    make_store();
    sweep(&(struct subject){NULL, read_mixed, NULL});
}

Test(failing_reader, reader_of_stores_with_weights)
{
    sweep_mixed(false);
}

Test(failing_reader, reader_of_the_classes_of_stores)
{
    sweep_mixed(true);
}

Test(failing_reader, reader_of_the_classes_of_stores_that_are_read)
{
    how = APL_IO_READ;
    sweep_mixed(true);
}
