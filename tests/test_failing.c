/*
 * Every call that the library makes fails once, and from there on for ever; every transfer is interrupted once,
 * and falls short once. A call fails with a message, or succeeds and is right; nothing leaks, nothing hangs.
 */
#define _GNU_SOURCE
#include "failing.h"

#include "apl_ingest.h"
#include "archives.h"
#include "cifar_case.h"
#include "counts.h"
#include "jpegs.h"
#include "photo.h"
#include "status.h"
#include "store_fixture.h"

#include <ftw.h>

/* ---------------------------------------------------------------------------------------- a place to work in */

static void set_up(void)
{
    strcpy(fx_place,
           access("/dev/shm", W_OK) == 0 ? "/dev/shm/apl-failing-XXXXXX" : "/tmp/apl-failing-XXXXXX");
    cr_assert_not_null(mkdtemp(fx_place));
}

TestSuite(failing, .init = set_up, .fini = fx_tear_down, .timeout = 300);

static int drop_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void drop(const char *name)
{
    if (fx_exists(fx_path(name)))
        cr_assert_eq(nftw(fx_path(name), drop_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Of those below the place to work in. */
static unsigned open_files(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++) {
        char link[32], path[256] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, path, sizeof path - 1) > 0)
            n += strncmp(path, fx_place, strlen(fx_place)) == 0;
    }
    return n;
}

/* ------------------------------------------------------------------------------------------------ the sweeps */

/* What is done with faults, and what is so if it succeeded. */
struct subject {
    void (*before)(void);
    apl_status (*run)(apl_error *err);
    void (*after)(void);
};

static void run_with(const struct subject *s, enum failing mode, unsigned long at, const char *names[])
{
    apl_error err = {0};
    if (s->before)
        s->before();
    unsigned files = open_files();
    long blocks = atomic_load(&failing.blocks);
    failing_begin(mode, at);
    apl_status status = s->run(&err);
    failing_end();
    cr_assert_eq(open_files(), files, "%s %lu: files are left open: %s", names[mode], at, err.message);
    cr_assert_eq(atomic_load(&failing.blocks), blocks, "%s %lu: %ld blocks of memory are lost: %s",
                 names[mode], at, atomic_load(&failing.blocks) - blocks, err.message);
    cr_assert(status == APL_OK || (mode <= FAIL_EVER && at <= ULONG_MAX / 2 && at), "%s %lu: %s", names[mode],
              at, err.message);
    cr_assert(status == APL_OK || (err.status == status && *err.message && !strchr(err.message, '\n')),
              "%s %lu: status %d, message \"%s\" of status %d", names[mode], at, status, err.message,
              err.status);
    if (status == APL_OK && s->after)
        s->after();
}

static void sweep(const struct subject *s)
{
    static const char *names[FAIL_MODES] = {"never", "fail once", "fail from", "interrupt", "cut"};
    run_with(s, FAIL_NEVER, 0, names);
    for (enum failing mode = FAIL_ONCE; mode < FAIL_MODES; mode++) {
        run_with(s, mode, ULONG_MAX, names);
        unsigned long calls = atomic_load(&failing.calls);
        cr_assert(calls > 0 || mode > FAIL_EVER);
        for (unsigned long at = 1; at <= calls; at += sweep_step(7) + at / 400)
            run_with(s, mode, at, names);
    }
}

/* --------------------------------------------------------------------------------------------------- writing */

/* Small, so that a run takes little time; of all sorts of fields. */
static const struct fx_member few[] = {
    {"b", "train", 7, 21}, {"a", "train", 0, 9}, {"test_batch", "test", 90, 5}};
static const struct fx_recipe tiny = {fx_fields, COUNT(fx_fields), few, COUNT(few)};
static const struct fx_recipe tiny_kept = {fx_kept_fields, COUNT(fx_kept_fields), few, COUNT(few)};
static const struct fx_recipe *made = &tiny;
_Static_assert(COUNT(fx_kept_fields) == COUNT(fx_fields), "values are drawn for as many fields");

static struct fx_value drawn[COUNT(few)][21][COUNT(fx_fields)];

static void draw_all(void)
{
    for (unsigned m = 0; m < COUNT(few); m++)
        for (uint64_t i = 0; i < few[m].count; i++)
            for (unsigned f = 0; f < COUNT(fx_fields); f++)
                fx_draw(&made->fields[f], f, few[m].number, i, &drawn[m][i][f]);
}

static apl_status write_fields(apl_writer *w, apl_error *err)
{
    apl_status status = APL_OK;
    for (size_t i = 0; i < COUNT(fx_fields) && status == APL_OK; i++) {
        const apl_field *f = &made->fields[i];
        status = apl_writer_add_field(w, f->name, f->dtype, f->role, f->ndim, f->shape, err);
        if (status == APL_OK && f->media)
            status = apl_writer_set_media(w, f->name, f->media, err);
        if (status == APL_OK && f->class_count)
            status = apl_writer_set_classes(w, f->name, f->classes, f->class_count, err);
    }
    return status;
}

static apl_status write_members(apl_writer *w, apl_error *err)
{
    apl_status status = APL_OK;
    for (unsigned m = 0; m < COUNT(few) && status == APL_OK; m++) {
        status = apl_writer_begin_member(w, few[m].name, few[m].split, few[m].number, err);
        for (uint64_t i = 0; i < few[m].count && status == APL_OK; i++) {
            apl_value values[COUNT(fx_fields)];
            for (unsigned f = 0; f < COUNT(fx_fields); f++)
                values[f] = (apl_value){drawn[m][i][f].data, drawn[m][i][f].shape};
            status = apl_writer_append(w, values, err);
        }
    }
    return status;
}

static apl_status write_store(const apl_writer_options *o, apl_error *err)
{
    apl_writer *w = NULL;
    apl_status status = apl_writer_open(fx_path("new"), o, &w, err);
    if (status == APL_OK)
        status = write_fields(w, err);
    if (status == APL_OK)
        status = write_members(w, err);
    if (status == APL_OK)
        status = apl_writer_commit(w, err);
    apl_writer_close(w);
    return status;
}

static void drop_new(void)
{
    drop("new");
}

static void check_new(void)
{
    apl_store *s = fx_open(fx_path("new"));
    fx_check(s, made);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

static apl_status write_plain(apl_error *err)
{
    apl_writer_options o = fx_options(2, 8);
    return write_store(&o, err);
}

static apl_status write_shuffled(apl_error *err)
{
    apl_writer_options o = fx_options(1, 4);
    o.shuffle = o.replace = 1;
    return write_store(&o, err);
}

Test(failing, writer)
{
    draw_all();
    sweep(&(struct subject){drop_new, write_plain, check_new});
}

Test(failing, shuffling_writer)
{
    draw_all();
    sweep(&(struct subject){NULL, write_shuffled, check_new});
}

Test(failing, writer_of_kept_files)
{
    made = &tiny_kept;
    draw_all();
    sweep(&(struct subject){drop_new, write_plain, check_new});
}

Test(failing, shuffling_writer_of_kept_files)
{
    made = &tiny_kept;
    draw_all();
    sweep(&(struct subject){NULL, write_shuffled, check_new});
}

/* -------------------------------------------------------------------------------------------------- ingesting */

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

Test(failing, ingest_of_gzip)
{
    struct buffer tar = cifar_tar("cifar-10-batches-bin/", "data_batch_1.bin", "batches.meta.txt"),
                  gz = gzip_of(&tar);
    sweep_ingest(&gz);
    buffer_free(&gz);
    buffer_free(&tar);
}

Test(failing, ingest_with_zlib)
{
    struct buffer tar = cifar_tar("cifar-10-batches-bin/", "data_batch_1.bin", "batches.meta.txt"),
                  gz = gzip_of(&tar);
    setenv("APL_GUNZIP", "zlib", 1);
    sweep_ingest(&gz);
    buffer_free(&gz);
    buffer_free(&tar);
}

Test(failing, ingest_of_pickles)
{
    struct buffer tar = cifar_tar("cifar-10-batches-py/", "data_batch_1", "batches.meta");
    sweep_ingest(&tar);
    buffer_free(&tar);
}

Test(failing, ingest_of_a_folder)
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

Test(failing, ingest_of_images)
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

Test(failing, ingest_of_other_compression)
{
    struct buffer tar = cifar_tar("cifar-10-batches-bin/", "data_batch_1.bin", "batches.meta.txt");
    struct buffer xz = packed_with("xz", &tar);
    if (xz.size)
        sweep_ingest(&xz);
    buffer_free(&xz);
    buffer_free(&tar);
}

/* --------------------------------------------------------------------------------------------------- reading */

static apl_io how;

static void make_store(void)
{
    apl_writer_options o = fx_options(1, 8);
    fx_make(fx_path("db"), made, &o);
}

static apl_status open_store(apl_store **s, apl_error *err)
{
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    o.io = how;
    return apl_store_open(fx_path("db"), &o, s, err);
}

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

Test(failing, mapped_store)
{
    how = APL_IO_MAP;
    make_store();
    sweep(&(struct subject){NULL, get_and_verify, NULL});
}

Test(failing, read_store)
{
    how = APL_IO_READ;
    make_store();
    sweep(&(struct subject){NULL, get_and_verify, NULL});
}

Test(failing, mapped_kept_files)
{
    made = &tiny_kept;
    how = APL_IO_MAP;
    make_store();
    sweep(&(struct subject){NULL, get_and_verify, NULL});
}

Test(failing, read_kept_files)
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

Test(failing, crops_of_jpeg_images)
{
    for (size_t i = 0; i < JPEG_CASES; i++)
        jpegs[i] = jpeg_draw(&jpeg_cases[i]);
    sweep(&(struct subject){NULL, crop_jpegs, NULL});
}

/* On NFS a file is read, never mapped. */
Test(failing, file_systems)
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

Test(failing, pickle)
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

/* ----------------------------------------------------------------------------------------------------- splits */

static apl_status use_splits(apl_store *s, apl_error *err)
{
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    o.name = "val", o.ratio = 0.3, o.replace = 1, o.threads = 1;
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

Test(failing, splits)
{
    make_store();
    sweep(&(struct subject){NULL, split, NULL});
}

/* Where keys are positions in the source, which are read. */
Test(failing, splits_of_a_shuffled_store)
{
    apl_writer_options o = fx_options(1, 8);
    o.shuffle = 1;
    how = APL_IO_READ;
    fx_make(fx_path("db"), made, &o);
    sweep(&(struct subject){NULL, split, NULL});
}

/* ---------------------------------------------------------------------------------------------------- readers */

static apl_reader_options wanted;

static apl_status read_epoch(apl_reader *r, uint64_t most, apl_error *err)
{
    apl_batch *b = NULL;
    apl_status status = APL_OK;
    while (most-- > 0 && (status = apl_reader_next(r, &b, err)) == APL_OK)
        apl_batch_release(b);
    return status == APL_END ? APL_OK : status;
}

/* An epoch and a half, of which a receipt is given; then another reader goes on from there. */
static apl_status read_and_resume(apl_store *s, apl_error *err)
{
    uint8_t state[4096];
    size_t size = sizeof state;
    apl_receipt receipt;
    apl_reader *r = NULL;
    apl_reader_options o = wanted;
    apl_status status = apl_reader_open(s, &o, &r, err);
    if (status == APL_OK)
        status = read_epoch(r, UINT64_MAX, err);
    if (status == APL_OK)
        status = apl_reader_receipt(r, &receipt, sizeof receipt, err);
    if (status == APL_OK)
        status = apl_reader_next_epoch(r, err);
    if (status == APL_OK)
        status = read_epoch(r, 2, err);
    if (status == APL_OK)
        status = apl_reader_state(r, state, &size, err);
    apl_reader_close(r);
    r = NULL;
    o.state = state, o.state_size = size;
    if (status == APL_OK)
        status = apl_reader_open(s, &o, &r, err);
    if (status == APL_OK)
        status = read_epoch(r, UINT64_MAX, err);
    apl_reader_close(r);
    return status;
}

static apl_status read_all(apl_error *err)
{
    apl_store *s = NULL;
    apl_status status = open_store(&s, err);
    if (status == APL_OK)
        status = read_and_resume(s, err);
    apl_store_close(s);
    return status;
}

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

Test(failing, reader)
{
    sweep_reader(APL_NO_THREADS);
}

Test(failing, reader_with_threads)
{
    how = APL_IO_READ;
    sweep_reader(2);
}

/* Values that are read late. */
Test(failing, reader_of_mapped_kept_files)
{
    made = &tiny_kept;
    how = APL_IO_MAP;
    sweep_reader(APL_NO_THREADS);
}

Test(failing, reader_of_read_kept_files)
{
    made = &tiny_kept;
    how = APL_IO_READ;
    sweep_reader(APL_NO_THREADS);
}

Test(failing, reader_of_a_split_with_transforms)
{
    apl_transform picture = APL_TRANSFORM_INIT;
    picture.scale = APL_SCALE_NORMALISE, picture.dtype = APL_F32, picture.pad = 2,
    picture.flip = APL_FLIP_RANDOM;
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

Test(failing, reader_of_stores_with_weights)
{
    sweep_mixed(false);
}

Test(failing, reader_of_the_classes_of_stores)
{
    sweep_mixed(true);
}

Test(failing, reader_of_the_classes_of_stores_that_are_read)
{
    how = APL_IO_READ;
    sweep_mixed(true);
}
