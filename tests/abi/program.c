/* A program that was compiled against the headers of an older version: each struct of options, with values that can be seen to
 * have been taken. Run on a newer library, in an empty folder. */
#include <apl_ingest.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RECORDS 600u
#define SIDE    8u

static apl_error err;

#define STRING(x)  #x
#define LINE(x)    STRING(x)
#define CHECK(is)  ((is) ? (void)0 : give_up("line " LINE(__LINE__) ": not so: " #is))
#define OK(status) ((status) == APL_OK ? (void)0 : give_up("line " LINE(__LINE__) ": " #status))

static void give_up(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, err.message);
    exit(1);
}

/* A picture is of its number throughout, and so is its label, modulo 10. */
static void append(apl_writer *writer, unsigned number)
{
    uint8_t picture[3 * SIDE * SIDE], label = (uint8_t)(number % 10);
    memset(picture, (int)(number % 256), sizeof picture);
    const apl_value values[2] = {{picture, NULL}, {&label, NULL}};
    OK(apl_writer_append(writer, values, &err));
}

static void write_store(const char *path)
{
    static const int64_t shape[3] = {3, SIDE, SIDE};
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    apl_writer *writer;
    apl_progress progress;
    options.threads = 2;
    options.block_records = 16;
    options.codec = "raw";
    options.replace = 1;
    options.shuffle = 1;
    options.shuffle_seed = 5;
    options.tool = "older 0.1";
    OK(apl_writer_open(path, &options, &writer, &err));
    OK(apl_writer_add_field(writer, "image", APL_U8, APL_INPUT, 3, shape, &err));
    OK(apl_writer_add_field(writer, "label", APL_U8, APL_TARGET, 0, NULL, &err));
    OK(apl_writer_begin_member(writer, "mine", "train", 0, &err));
    for (unsigned i = 0; i < RECORDS; i++)
        append(writer, i);
    apl_writer_progress(writer, &progress);
    CHECK(progress.records == RECORDS);
    OK(apl_writer_commit(writer, &err));
    apl_writer_close(writer);
}

static apl_store *open_store(const char *path)
{
    static uint8_t digest[32];
    apl_store_options options = APL_STORE_OPTIONS_INIT;
    apl_store *store;
    OK(apl_store_open(path, NULL, &store, &err));
    memcpy(digest, apl_store_info(store)->content_digest, sizeof digest);
    apl_store_close(store);
    options.expected_content = digest;
    options.split_directory = "splits";
    options.io = APL_IO_READ;
    OK(apl_store_open(path, &options, &store, &err));
    const apl_info *info = apl_store_info(store);
    CHECK(info->records == RECORDS && info->block_records == 16 && info->shuffled && info->shuffle_seed == 5);
    CHECK(strcmp(info->tool, "older 0.1") == 0);
    CHECK(strcmp(apl_store_field(store, 0)->codec, "raw") == 0 && apl_store_field(store, 0)->ndim == 3);
    return store;
}

static void get(apl_store *store)
{
    static const char *const fields[] = {"label"};
    static const uint64_t ids[3] = {17, 3, 17};
    apl_get_options options = APL_GET_OPTIONS_INIT;
    apl_batch *batch;
    options.fields = fields;
    options.field_count = 1;
    options.threads = 2;
    OK(apl_store_get_batch(store, ids, 3, &options, &batch, &err));
    CHECK(apl_batch_rows(batch) == 3 && memcmp(apl_batch_ids(batch), ids, sizeof ids) == 0);
    CHECK(!apl_batch_column(batch, 0) && apl_batch_column(batch, 1)->bytes == 3);
    apl_batch_release(batch);
}

static int count_progress(void *user, uint64_t records, uint64_t of)
{
    *(uint64_t *)user = records == of ? records : 0;
    return 0;
}

static void verify(apl_store *store)
{
    uint64_t seen = 0;
    apl_verify_options options = APL_VERIFY_OPTIONS_INIT;
    options.threads = 2;
    options.user = &seen;
    options.progress = count_progress;
    OK(apl_store_verify(store, &options, &err));
    CHECK(seen == RECORDS);
}

static void split(apl_store *store)
{
    apl_split_options options = APL_SPLIT_OPTIONS_INIT;
    apl_split_list *list;
    options.name = "val";
    options.ratio = 0.1;
    options.parent = "train";
    options.stratify = "label";
    options.seed = 7;
    options.threads = 2;
    options.replace = 1;
    options.by = APL_BY_KEY;
    OK(apl_split_make(store, &options, &err));
    OK(apl_split_make(store, &options, &err));
    OK(apl_split_list_open(store, &list, &err));
    const apl_split_file *file = apl_split_list_file(list, 0);
    CHECK(file && file->status == APL_OK && strcmp(file->name, "val") == 0 && file->ratio == 0.1);
    CHECK(strcmp(file->stratify, "label") == 0 && file->seed == 7 && file->by == APL_BY_KEY);
    CHECK(file->records == RECORDS / 10 && file->rest_records == RECORDS - RECORDS / 10);
    apl_split_list_close(list);
    OK(apl_split_verify(store, "val", 2, &err));
}

/* ------------------------------------------------------------------------------------------------ reading */

static void *allocate(void *user, size_t bytes)
{
    atomic_fetch_add((atomic_size_t *)user, 1);
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void deallocate(void *user, void *memory, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(memory);
}

static void on_batch(void *user, apl_batch *batch)
{
    atomic_fetch_add((atomic_size_t *)user, apl_batch_rows(batch));
}

static uint64_t drain(apl_reader *reader, unsigned most)
{
    uint64_t rows = 0;
    apl_batch *batch;
    apl_status status;
    while ((status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
        CHECK(apl_batch_rows(batch) <= most);
        rows += apl_batch_rows(batch);
        apl_batch_release(batch);
    }
    CHECK(status == APL_END);
    return rows;
}

/* A rank of two, whose images are transformed, and what the reader says of itself. */
static void read_epoch(apl_store *store)
{
    atomic_size_t allocations = 0, seen = 0; /* by any thread */
    const apl_allocator allocator = {allocate, deallocate, &allocations};
    apl_transform transform = APL_TRANSFORM_INIT;
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    apl_receipt receipt;
    apl_stats stats;
    transform.field = "image";
    transform.pad = 2;
    transform.pad_mode = APL_PAD_REFLECT;
    transform.flip = APL_FLIP_RANDOM;
    transform.cutout = 2;
    transform.scale = APL_SCALE_NORMALISE;
    transform.dtype = APL_F32;
    transform.layout = APL_NHWC;
    options.split = "train-val";
    options.batch_size = 64;
    options.drop_last = 1;
    options.seed = 11;
    options.first_epoch = 3;
    options.window = 200;
    options.bins = 8;
    options.reuse = 2;
    options.threads = 2;
    options.queue_depth = 2;
    options.ranks.rank = 1;
    options.ranks.world = 2;
    options.ranks.lanes = 2;
    options.faults.timeout_ms = 60000;
    options.faults.skip_corrupt = 1;
    options.transforms = &transform;
    options.transform_count = 1;
    options.allocator = &allocator;
    options.on_batch = on_batch;
    options.on_batch_user = &seen;
    OK(apl_reader_open(store, &options, &reader, &err));
    CHECK(apl_reader_epoch(reader) == 3 && apl_reader_batches(reader) == 540 * 2 / 2 / 64);
    CHECK(drain(reader, 64) == 512);
    CHECK(seen >= 512 && allocations > 0); /* more, where the next epoch has begun already */
    OK(apl_reader_receipt(reader, &receipt, sizeof receipt, &err));
    CHECK(receipt.epoch == 3 && receipt.delivered == 512 && receipt.missing == 0 && receipt.repeated == 0);
    OK(apl_reader_stats(reader, &stats, sizeof stats));
    CHECK(stats.batches == 8 && stats.records == 512);
    apl_reader_close(reader);
}

static void read_sample(apl_store *store)
{
    static const double weights[10] = {1, 1}; /* only classes 0 and 1 */
    apl_sampling sampling = APL_SAMPLING_INIT;
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    sampling.field = "label";
    sampling.weights = weights;
    sampling.weight_count = 10;
    sampling.records = 100;
    options.sampling = &sampling;
    options.threads = APL_NO_THREADS;
    OK(apl_reader_open(store, &options, &reader, &err));
    CHECK(drain(reader, 256) == 100);
    apl_reader_close(reader);
}

/* The store with itself, three times over: an array of sized structs. */
static void read_mix(apl_store *store)
{
    static const uint64_t ids[3] = {0, 599, 601};
    apl_source sources[2] = {APL_SOURCE_INIT, APL_SOURCE_INIT};
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    apl_reader *reader;
    uint64_t own;
    size_t which;
    sources[0].store = sources[1].store = store;
    sources[1].split = "train";
    options.mix.sources = sources;
    options.mix.count = 2;
    options.ids = ids;
    options.id_count = 3;
    options.batch_size = 2;
    options.sequential = 1;
    OK(apl_reader_open(store, &options, &reader, &err));
    OK(apl_reader_source(reader, 601, &which, &own, &err));
    CHECK(which == 1 && own == 1);
    CHECK(drain(reader, 2) == 3);
    apl_reader_close(reader);
    options.ids = NULL;
    options.id_count = 0;
    options.sequential = 0;
    sources[0].weight = sources[1].weight = 1;
    options.mix.weight = 2;
    OK(apl_reader_open(store, &options, &reader, &err));
    apl_reader_close(reader);
}

/* ---------------------------------------------------------------------------------------------- ingesting */

static int on_ingest(void *user, const apl_ingest_progress *progress)
{
    *(uint64_t *)user = progress->records;
    return 0;
}

static void on_notice(void *user, const char *message)
{
    (void)user;
    CHECK(*message);
}

/* Two records of CIFAR-10's first member, which is not all of it. */
static void ingest(void)
{
    uint64_t seen = 0;
    uint8_t records[2][3073] = {{1, 2}, {3, 4}};
    apl_writer_options writer = APL_WRITER_OPTIONS_INIT;
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    apl_ingest_summary summary;
    FILE *f;
    CHECK(mkdir("source", 0777) == 0 && (f = fopen("source/data_batch_1.bin", "w")));
    CHECK(fwrite(records, sizeof records, 1, f) == 1 && fclose(f) == 0);
    writer.codec = "zstd";
    options.writer = &writer;
    options.partial = 1;
    options.user = &seen;
    options.progress = on_ingest;
    options.notice = on_notice;
    OK(apl_ingest("source", "ingested", &options, &summary, &err));
    CHECK(summary.records == 2 && seen == 2 && strcmp(summary.format, "cifar-10-binary") == 0);
}

/* ---------------------------------------------------------------------------------------- later versions */

/* A struct of a later version, longer than the library's: what the library does not know must be zero. */
static void later(apl_store *store)
{
    struct {
        apl_reader_options known;
        uint64_t added[4];
    } options = {APL_READER_OPTIONS_INIT, {0}};
    apl_reader *reader;
    options.known.size = sizeof options + 1024; /* longer than any version of it is by now */
    void *longer = calloc(1, options.known.size);
    CHECK(longer);
    memcpy(longer, &options, sizeof options);
    OK(apl_reader_open(store, longer, &reader, &err));
    apl_reader_close(reader);
    ((uint8_t *)longer)[options.known.size - 1] = 1;
    CHECK(apl_reader_open(store, longer, &reader, &err) == APL_E_INVALID);
    CHECK(strstr(err.message, "apl_reader_options: of a newer version") && err.status == APL_E_INVALID);
    free(longer);
}

int main(void)
{
    CHECK(mkdir("splits", 0777) == 0);
    write_store("db");
    apl_store *store = open_store("db");
    get(store);
    verify(store);
    split(store);
    read_epoch(store);
    read_sample(store);
    read_mix(store);
    later(store);
    apl_store_close(store);
    ingest();
    printf("compiled for %s, runs on %s\n", APL_VERSION_STRING, apl_version());
    return 0;
}
