/*
 * Speed of the reader beside plain loops that do the same work without it:
 *
 *     bench_reader DB [ROUNDS [memory|cold|streaming|u8|f32|demand]...]
 *
 * DB is a store with u8 pictures. The plain loops know the order beforehand, use one thread, and use the same
 * kernels. Reader and loop take turns, and the best of each counts: absolute figures drift from machine to
 * machine, ratios in one run do not.
 */
#include "arena.h"
#include "assemble.h"
#include "measure.h"
#include "parallel.h"
#include "plan.h"
#include "pool.h"
#include "random.h"

#include <string.h>

#define BATCH   512u
#define BUFFERS 2u /* that the loops fill in turn */
#define SKIPPED 16 /* batches that may have been made before the clock starts */
#define DEMAND  200000.0
#define MIB     1048576.0

struct bench {
    apl_store *store;
    struct subset subset;
    const struct schema *schema;
    struct block_coder bc;
    unsigned picture, rounds;
    const char *names[APL_MAX_FIELDS]; /* of fields of fixed shape */
    size_t name_count, value_bytes[APL_MAX_FIELDS];
    uint32_t *order; /* of an epoch */
    struct arena arena;
    struct pool *pool;
    struct batch_buffer *buffers[BUFFERS];
    const uint8_t **sources;
    uint8_t **rows;
    struct placement *placements;
    struct assembly assembly;
    apl_transform transform;
    int loop;
    apl_error err;
};

/* --------------------------------------------------------------------------------------------- preparing */

static bool is_picture(const apl_field *f)
{
    return f->dtype == APL_U8 && f->ndim == 3 && f->value_bytes > 0;
}

static void pick_fields(struct bench *b)
{
    b->picture = APL_MAX_FIELDS;
    for (unsigned f = 0; f < b->schema->count; f++) {
        const apl_field *field = &b->schema->fields[f];
        b->value_bytes[f] = field->value_bytes;
        if (field->value_bytes)
            b->names[b->name_count++] = field->name;
        if (is_picture(field) && b->picture == APL_MAX_FIELDS)
            b->picture = f;
    }
    if (b->picture == APL_MAX_FIELDS) {
        fprintf(stderr, "bench_reader: there is no field of u8 pictures\n");
        exit(1);
    }
}

static void draw_order(struct bench *b)
{
    struct plan_options options = {.seed = 1, .window = b->subset.records, .bins = 64, .reuse = 1};
    struct plan *plan;
    bool failed;
    b->order = must_have(calloc(b->subset.records, sizeof *b->order));
    must(plan_new(&options, &b->subset, &plan, &b->err), &b->err);
    if (plan_next(plan, b->order, b->subset.records, &failed) != b->subset.records)
        abort();
    plan_free(plan);
}

/* Crop, flip and normalise, as it is done most. */
static void prepare_assembly(struct bench *b)
{
    const apl_field *f = &b->schema->fields[b->picture];
    b->transform = (apl_transform)APL_TRANSFORM_INIT;
    b->transform.field = f->name;
    b->transform.pad = 4;
    b->transform.flip = APL_FLIP_RANDOM;
    b->transform.scale = APL_SCALE_NORMALISE;
    b->transform.dtype = APL_F32;
    b->assembly = (struct assembly){.channels = (unsigned)f->shape[0],
                                    .height = (unsigned)f->shape[1],
                                    .width = (unsigned)f->shape[2],
                                    .pad = 4,
                                    .out_height = (unsigned)f->shape[1],
                                    .out_width = (unsigned)f->shape[2],
                                    .dtype = APL_F32};
    for (unsigned c = 0; c < b->assembly.channels; c++) {
        b->assembly.scale[c] = 1.0f / 60;
        b->assembly.bias[c] = -2;
    }
    b->placements = must_have(calloc(b->subset.records, sizeof *b->placements));
    struct random_stream stream;
    random_stream_init(&stream, random_key(1, RANDOM_AUGMENT));
    for (uint64_t i = 0; i < b->subset.records; i++)
        b->placements[i] = (struct placement){.top = (int32_t)random_below(&stream, 9),
                                              .left = (int32_t)random_below(&stream, 9),
                                              .flip = random_below(&stream, 2)};
}

static void prepare(struct bench *b, const char *path)
{
    size_t row_bytes[APL_MAX_FIELDS];
    must(apl_store_open(path, NULL, &b->store, &b->err), &b->err);
    must(subset_open(b->store, NULL, &b->subset, &b->err), &b->err);
    must(block_coder_init(&b->bc, &b->err), &b->err);
    b->schema = &b->store->manifest.schema;
    pick_fields(b);
    draw_order(b);
    prepare_assembly(b);
    memcpy(row_bytes, b->value_bytes, sizeof row_bytes);
    row_bytes[b->picture] = assemble_bytes(&b->assembly);
    b->pool = must_have(pool_new(BATCH, b->schema->count, row_bytes, NULL, UINT64_MAX));
    for (unsigned i = 0; i < BUFFERS; i++) {
        b->buffers[i] = must_have(pool_take(b->pool));
        for (unsigned f = 0; f < b->schema->count; f++)
            if (row_bytes[f])
                memset((void *)b->buffers[i]->batch.columns[f].data, 1, BATCH * row_bytes[f]);
    }
    b->sources = must_have(calloc(BATCH, sizeof *b->sources));
    b->rows = must_have(calloc(b->subset.stride, sizeof *b->rows));
}

/* ------------------------------------------------------------------------------------------- plain loops */

/* Decodes every block to where its records belong. */
static void plain_decode(struct bench *b)
{
    must(arena_init(&b->arena, (uint32_t)b->subset.records, b->schema->count, b->value_bytes, &b->err),
         &b->err);
    for (uint32_t i = 0; i < b->subset.blocks; i++) {
        const struct subset_block *block = &b->subset.block[i];
        struct block_view view;
        must(store_block(b->store, block->number, &view, &b->err), &b->err);
        for (unsigned f = 0; f < b->schema->count; f++) {
            if (!b->value_bytes[f])
                continue;
            for (uint32_t k = 0; k < block->records; k++)
                b->rows[k] = arena_value(&b->arena, f, (uint32_t)block->first + k);
            must(block_decode_rows(&b->bc, b->schema, &view, f, b->rows, &b->err), &b->err);
        }
    }
}

static void find_sources(struct bench *b, unsigned f, uint64_t from, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        uint32_t reference = b->order[from + k];
        const struct subset_block *block = &b->subset.block[reference / b->subset.stride];
        b->sources[k] = arena_value(&b->arena, f, (uint32_t)block->first + reference % b->subset.stride);
    }
}

/* Batches of the epoch's order; seconds. */
static double plain_batches(struct bench *b, bool augment)
{
    double begin = now();
    for (uint64_t from = 0; from < b->subset.records; from += BATCH) {
        uint64_t left = b->subset.records - from;
        size_t n = left < BATCH ? (size_t)left : BATCH;
        for (unsigned f = 0; f < b->schema->count; f++) {
            if (!b->value_bytes[f])
                continue;
            void *to = (void *)b->buffers[from / BATCH % BUFFERS]->batch.columns[f].data;
            find_sources(b, f, from, n);
            if (augment && f == b->picture)
                assemble(&b->assembly, b->sources, b->placements + from, n, to);
            else
                gather(b->sources, b->value_bytes[f], n, to);
        }
    }
    return now() - begin;
}

static double plain_cold(struct bench *b)
{
    double begin = now();
    plain_decode(b);
    plain_batches(b, false);
    double took = now() - begin;
    arena_free(&b->arena);
    return took;
}

/* What a second core is worth at this moment: two threads, each with a loop of its own. */
enum loop { GATHER, ASSEMBLE, DECODE };

static void *loop_alone(void *argument)
{
    struct bench own = *(struct bench *)argument;
    own.sources = must_have(calloc(BATCH, sizeof *own.sources));
    own.rows = must_have(calloc(own.subset.stride, sizeof *own.rows));
    must(block_coder_init(&own.bc, &own.err), &own.err);
    for (unsigned i = 0; i < BUFFERS; i++)
        own.buffers[i] = must_have(pool_take(own.pool));
    if (own.loop == DECODE)
        plain_cold(&own);
    else
        plain_batches(&own, own.loop == ASSEMBLE);
    for (unsigned i = 0; i < BUFFERS; i++)
        pool_give(own.buffers[i]);
    block_coder_free(&own.bc);
    free(own.rows);
    free(own.sources);
    return NULL;
}

/* Seconds for a record. */
static double plain_in_two(struct bench *b, enum loop loop)
{
    pthread_t threads[2];
    double begin = now();
    b->loop = loop;
    for (int i = 0; i < 2; i++)
        must(thread_start(&threads[i], loop_alone, b, &b->err), &b->err);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return (now() - begin) / (2 * (double)b->subset.records);
}

/* Two threads are to be 1.8 times as fast as one, or nearly as much faster as the plain loops are: memory, or
 * whatever else runs on this machine, may allow no more. */
static void tell_two(const char *what, double ours, double plain)
{
    char text[96];
    snprintf(text, sizeof text, "%s, two threads over one (plain loops %.2f)", what, plain);
    tell(text, ours, "", AT_LEAST, least(1.8, 0.95 * plain));
}

/* ------------------------------------------------------------------------------------------------ readers */

static apl_reader_options options_of(const struct bench *b, unsigned threads, bool augment)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    o.fields = b->names;
    o.field_count = b->name_count;
    o.batch_size = BATCH;
    o.threads = threads;
    o.world = 1;
    o.transforms = augment ? &b->transform : NULL;
    o.transform_count = augment;
    return o;
}

static apl_reader *open_reader(struct bench *b, const apl_reader_options *o)
{
    apl_reader *reader;
    must(apl_reader_open(b->store, o, &reader, &b->err), &b->err);
    return reader;
}

/* Takes the next batch, as far as there is one in this epoch; rows, or -1. */
static long take(struct bench *b, apl_reader *reader)
{
    apl_batch *batch;
    apl_status status = apl_reader_next(reader, &batch, &b->err);
    if (status == APL_END)
        return -1;
    must(status, &b->err);
    long rows = (long)apl_batch_rows(batch);
    apl_batch_release(batch);
    return rows;
}

static void take_epoch(struct bench *b, apl_reader *reader)
{
    while (take(b, reader) >= 0)
        ;
}

/* Seconds for a record, over some epochs that follow. What was made ahead is not counted. */
static double reader_steady(struct bench *b, apl_reader *reader, int epochs)
{
    double begin = 0;
    long records = 0, rows, batches = 0;
    for (int i = 0; i < epochs; i++) {
        must(apl_reader_next_epoch(reader, &b->err), &b->err);
        while ((rows = take(b, reader)) >= 0) {
            if (batches++ < SKIPPED)
                begin = now();
            else
                records += rows;
        }
    }
    return records ? (now() - begin) / (double)records : 1e9;
}

/* Seconds from opening to the end of the first epoch; *first: to the first batch. */
static double reader_cold(struct bench *b, unsigned threads, double *first)
{
    apl_reader_options o = options_of(b, threads, false);
    double begin = now();
    apl_reader *reader = open_reader(b, &o);
    take(b, reader);
    *first = least(*first, now() - begin);
    take_epoch(b, reader);
    double took = now() - begin;
    apl_reader_close(reader);
    return took;
}

/* --------------------------------------------------------------------------------------------------- rows */

#define READERS 3
static const unsigned thread_counts[READERS] = {1, 2, APL_NO_THREADS};

static void cold_rows(struct bench *b)
{
    double plain = 1e9, two = 1e9, cold[READERS] = {1e9, 1e9, 1e9}, first[READERS] = {1e9, 1e9, 1e9};
    for (unsigned i = 0; i < b->rounds; i++) {
        plain = least(plain, plain_cold(b));
        two = least(two, plain_in_two(b, DECODE));
        for (int k = 0; k < READERS; k++)
            cold[k] = least(cold[k], reader_cold(b, thread_counts[k], &first[k]));
    }
    double records = (double)b->subset.records;
    tell("cold epoch, plain loop: records/s", records / plain, "", NO_BAR, 0);
    tell("cold epoch, one thread, of the plain loop", plain / cold[0], "", AT_LEAST, 0.85);
    tell("cold epoch, in the caller alone, of the plain loop", plain / cold[2], "", AT_LEAST, 0.85);
    tell_two("cold epoch", cold[0] / cold[1], plain / records / two);
    tell("first batch after open, two threads", first[1] * 1e3, "ms", AT_MOST, 60);
    tell("first batch after open, one thread", first[0] * 1e3, "ms", NO_BAR, 0);
}

static void warm_rows(struct bench *b, bool augment)
{
    double plain = 1e9, two = 1e9, warm[READERS] = {1e9, 1e9, 1e9}, records = (double)b->subset.records;
    const char *kind = augment ? "f32, crop, flip, normalise" : "u8";
    char what[80];
    apl_reader *readers[READERS];
    plain_decode(b);
    for (int k = 0; k < READERS; k++) {
        apl_reader_options o = options_of(b, thread_counts[k], augment);
        readers[k] = open_reader(b, &o);
        take_epoch(b, readers[k]);
    }
    for (unsigned i = 0; i < b->rounds; i++) {
        plain = least(plain, plain_batches(b, augment) / records);
        two = least(two, plain_in_two(b, augment ? ASSEMBLE : GATHER));
        for (int k = 0; k < READERS; k++)
            warm[k] = least(warm[k], reader_steady(b, readers[k], 1));
    }
    for (int k = 0; k < READERS; k++)
        apl_reader_close(readers[k]);
    arena_free(&b->arena);
    snprintf(what, sizeof what, "warm %s, plain loop: records/s", kind);
    tell(what, 1 / plain, "", NO_BAR, 0);
    snprintf(what, sizeof what, "warm %s, one thread, of the plain loop", kind);
    tell(what, plain / warm[0], "", AT_LEAST, 0.85);
    snprintf(what, sizeof what, "warm %s, in the caller alone", kind);
    tell(what, plain / warm[2], "", AT_LEAST, 0.85);
    snprintf(what, sizeof what, "warm %s", augment ? "f32" : kind);
    tell_two(what, warm[0] / warm[1], plain / two);
}

/* With what the window needs and no more: nothing is kept from epoch to epoch. */
static void streaming_row(struct bench *b)
{
    double best[2] = {1e9, 1e9}, cold = 1e9, first = 1e9, alone = 1e9, two = 1e9;
    apl_reader *readers[2];
    for (int k = 0; k < 2; k++) {
        apl_reader_options o = options_of(b, thread_counts[k], false);
        o.window = b->subset.records / 10;
        readers[k] = open_reader(b, &o);
        take_epoch(b, readers[k]);
    }
    for (unsigned i = 0; i < b->rounds; i++) {
        cold = least(cold, reader_cold(b, 1, &first) / (double)b->subset.records);
        alone = least(alone, plain_cold(b) / (double)b->subset.records);
        two = least(two, plain_in_two(b, DECODE));
        for (int k = 0; k < 2; k++)
            best[k] = least(best[k], reader_steady(b, readers[k], 1));
    }
    for (int k = 0; k < 2; k++)
        apl_reader_close(readers[k]);
    tell("streaming, window of a tenth, one thread, of the cold rate", cold / best[0], "", AT_LEAST, 0.85);
    tell_two("streaming", best[0] / best[1], alone / two);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sleep_until(double moment)
{
    struct timespec t = {.tv_sec = (time_t)moment,
                         .tv_nsec = (long)((moment - (double)(time_t)moment) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Training that takes a fixed time for a batch, on some other device. */
static void demand_rows(struct bench *b, bool augment)
{
    apl_reader_options o = options_of(b, 0, augment);
    apl_reader *reader = open_reader(b, &o);
    size_t most = (size_t)(12 * apl_reader_batches(reader)), count = 0;
    double *waits = must_have(calloc(most, sizeof *waits)), sum = 0, begin;
    long rows = take(b, reader);
    begin = now();
    for (int epoch = 0; epoch < 12; epoch++) {
        while (rows >= 0) {
            sleep_until(now() + (double)rows / DEMAND);
            double asked = now();
            if ((rows = take(b, reader)) < 0) {
                must(apl_reader_next_epoch(reader, &b->err), &b->err);
                rows = epoch < 11 ? take(b, reader) : -1;
                if (rows >= 0)
                    sum += waits[count++] = now() - asked;
                break;
            }
            sum += waits[count++] = now() - asked;
        }
        if (epoch == 0) /* the first epoch decodes; what is told is how it goes on */
            tell(augment ? "stall in the first epoch, f32" : "stall in the first epoch, u8",
                 100 * sum / (now() - begin), "%", NO_BAR, 0);
        if (epoch == 0) {
            begin = now();
            sum = 0;
            count = 0;
        }
    }
    double took = now() - begin;
    qsort(waits, count, sizeof *waits, by_size);
    tell(augment ? "stall at 200,000 records/s, f32" : "stall at 200,000 records/s, u8", 100 * sum / took,
         "%", AT_MOST, 0.5);
    tell("p99.9 of the waits, of a step", waits[(size_t)(0.999 * (double)count)] * DEMAND / BATCH, "",
         AT_MOST, 1);
    free(waits);
    apl_reader_close(reader);
}

/* The most that a reader adds to this process's memory, over its budget. */
static void memory_row(struct bench *b, const char *what, uint64_t window, unsigned threads)
{
    apl_reader_options o = options_of(b, threads, false);
    o.window = window;
    double before = anonymous_memory(), most = 0;
    apl_stats stats;
    apl_reader *reader = open_reader(b, &o);
    for (int epoch = 0; epoch < 2; epoch++) {
        for (int i = 0; take(b, reader) >= 0; i++)
            if (i % 8 == 0 && anonymous_memory() > most)
                most = anonymous_memory();
        must(apl_reader_next_epoch(reader, &b->err), &b->err);
    }
    if (apl_reader_stats(reader, &stats, sizeof stats) != APL_OK)
        abort();
    apl_reader_close(reader);
    tell(what, (most - before - (double)stats.memory_budget) / MIB, "MiB", AT_MOST, 32);
}

static bool wanted(int argc, char **argv, const char *part)
{
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], part) == 0)
            return true;
    return argc <= 3;
}

static void run_parts(struct bench *b, int argc, char **argv)
{
    if (wanted(argc, argv, "memory")) {
        memory_row(b, "peak memory over the budget, window of a tenth", b->subset.records / 10, 2);
        memory_row(b, "peak memory over the budget, full window", 0, 2);
    }
    if (wanted(argc, argv, "cold"))
        cold_rows(b);
    if (wanted(argc, argv, "streaming"))
        streaming_row(b);
    if (wanted(argc, argv, "u8"))
        warm_rows(b, false);
    if (wanted(argc, argv, "f32"))
        warm_rows(b, true);
    if (wanted(argc, argv, "demand")) {
        demand_rows(b, false);
        demand_rows(b, true);
    }
}

int main(int argc, char **argv)
{
    struct bench b = {.rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 5};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_reader DB [ROUNDS [PART]...]\n");
        return 2;
    }
    prepare(&b, argv[1]);
    printf("%s: %llu records of %s in batches of %u, best of %u\n", argv[1],
           (unsigned long long)b.subset.records, apl_store_split(b.store, 0)->name, BATCH, b.rounds);
    run_parts(&b, argc, argv);
    for (unsigned i = 0; i < BUFFERS; i++)
        pool_give(b.buffers[i]);
    pool_close(b.pool);
    block_coder_free(&b.bc);
    subset_close(&b.subset);
    apl_store_close(b.store);
    free(b.order), free(b.sources), free(b.rows), free(b.placements);
    return 0;
}
