/* Values of varying shape become batches, and crops are taken of indexed images, while calls fail: see failing_reads.h. */
#define _GNU_SOURCE
#include "failing_reads.h"

#include "jpegs.h"

TestSuite(failing_collate, .init = set_up, .fini = fx_tear_down, .timeout = 300);

static void want(const apl_collation *collations, size_t count, uint32_t batch)
{
    wanted = (apl_reader_options)APL_READER_OPTIONS_INIT;
    wanted.split = "train";
    wanted.batch_size = batch;
    wanted.threads = APL_NO_THREADS;
    wanted.collations = collations;
    wanted.collation_count = count;
}

/* ----------------------------------------------------------------------------------------------------- one field */

static void sweep_collation(const apl_collation *c)
{
    const char *const fields[] = {"track"};
    want(c, 1, 8);
    wanted.fields = fields, wanted.field_count = 1;
    make_store();
    sweep(&(struct subject){NULL, read_all, NULL});
}

static void sweep_collated(apl_collate way, uint64_t length)
{
    sweep_collation(
        &(apl_collation){.size = sizeof(apl_collation), .field = "track", .how = way, .length = length});
}

Test(failing_collate, ragged)
{
    sweep_collated(APL_COLLATE_RAGGED, 0);
}

Test(failing_collate, padded)
{
    sweep_collated(APL_COLLATE_PAD, 0);
}

Test(failing_collate, packed)
{
    sweep_collated(APL_COLLATE_PACK, 3);
}

Test(failing_collate, packed_from_a_file_that_is_read)
{
    how = APL_IO_READ;
    sweep_collated(APL_COLLATE_PACK, 3);
}

Test(failing_collate, buckets)
{
    sweep_collation(&(apl_collation){
        .size = sizeof(apl_collation), .field = "track", .how = APL_COLLATE_PAD, .bucket = 3});
}

static void sweep_windows(int join)
{
    sweep_collation(&(apl_collation){.size = sizeof(apl_collation),
                                     .field = "track",
                                     .how = APL_COLLATE_WINDOWS,
                                     .length = 3,
                                     .stride = 2,
                                     .join = join});
}

Test(failing_collate, windows)
{
    sweep_windows(0);
}

Test(failing_collate, windows_that_go_on_from_record_to_record)
{
    how = APL_IO_READ;
    sweep_windows(1);
}

/* --------------------------------------------------------------------------------------------------------- graphs */

#define GRAPHS 12

static void make_graphs(void)
{
    static const int64_t one[1] = {-1}, two[2] = {2, -1};
    static const int64_t edges[2][3] = {{0, 1, 0}, {1, 0, 0}};
    static const float nodes[2 + GRAPHS];
    apl_writer_options o = fx_options(1, 4);
    apl_writer *w;
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "x", APL_F32, APL_INPUT, 1, one, &fx_err));
    OK(apl_writer_add_field(w, "edges", APL_I64, APL_INPUT, 2, two, &fx_err));
    OK(apl_writer_begin_member(w, "all", "train", 0, &fx_err));
    for (int64_t i = 0; i < GRAPHS; i++) {
        const int64_t count[1] = {2 + i}, shape[2] = {2, 3};
        OK(apl_writer_append(w, (apl_value[]){{nodes, count}, {edges, shape}}, &fx_err));
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

Test(failing_collate, graphs)
{
    apl_collation c[2] = {APL_COLLATION_INIT, APL_COLLATION_INIT};
    c[0].field = "x", c[0].how = APL_COLLATE_NODES;
    c[1].field = "edges", c[1].how = APL_COLLATE_EDGE_INDEX;
    want(c, 2, 5);
    make_graphs();
    sweep(&(struct subject){NULL, read_all, NULL});
}

/* ------------------------------------------------------------------------------------------------- indexed images */

#define IMAGES 6

static void make_images(void)
{
    static const int64_t any[1] = {-1};
    apl_writer_options o = fx_options(1, 4);
    apl_writer *w;
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 1, any, &fx_err));
    OK(apl_writer_set_media(w, "image", "image/jpeg", &fx_err));
    OK(apl_writer_set_indexed(w, "image", &fx_err));
    OK(apl_writer_begin_member(w, "all", "train", 0, &fx_err));
    for (unsigned i = 0; i < IMAGES; i++) {
        struct jpeg_case k = jpeg_cases[i % JPEG_CASES];
        k.width += 70;
        k.height += 40;
        struct jpeg_bytes file = jpeg_draw(&k);
        const int64_t shape[1] = {(int64_t)file.size};
        OK(apl_writer_append(w, (apl_value[]){{file.data, shape}}, &fx_err));
        __real_free(file.data); /* libjpeg's */
    }
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
}

static void sweep_crops(apl_io io, unsigned threads)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.sizing = APL_SIZING_RANDOM;
    t.crop_height = t.crop_width = 24;
    t.flip = APL_FLIP_RANDOM;
    t.scale = APL_SCALE_NORMALISE, t.dtype = APL_F32;
    how = io;
    want(NULL, 0, 4);
    wanted.threads = threads;
    wanted.faults.timeout_ms = 60000;
    wanted.transforms = &t, wanted.transform_count = 1;
    make_images();
    sweep(&(struct subject){NULL, read_all, NULL});
}

Test(failing_collate, crops_of_indexed_images)
{
    sweep_crops(APL_IO_MAP, APL_NO_THREADS);
}

Test(failing_collate, crops_of_indexed_images_that_are_read)
{
    sweep_crops(APL_IO_READ, APL_NO_THREADS);
}

/* Threads that make rows of one batch together; a sample of the calls, which the two above have swept. */
Test(failing_collate, crops_that_threads_make_together)
{
    setenv("APL_SPARSE", "13", 1);
    sweep_crops(APL_IO_READ, 2);
}

/* Whoever asks for a value gets the file, put together again. */
Test(failing_collate, files_of_indexed_images)
{
    how = APL_IO_READ;
    want(NULL, 0, 4);
    make_images();
    sweep(&(struct subject){NULL, read_all, NULL});
}
