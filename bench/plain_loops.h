/* The work of a reader without a reader: loops over the same records in the same order, by the same kernels. */
#ifndef PLAIN_LOOPS_H
#define PLAIN_LOOPS_H

#include "assemble.h"
#include "bins.h"
#include "measure.h"
#include "parallel.h"
#include "pool.h"
#include "random.h"
#include "slab.h"

#include <string.h>

#define BATCH   512u
#define BUFFERS 2u /* that the loops fill in turn */

struct bench {
    apl_store *store;
    struct subset subset;
    const struct schema *schema;
    struct block_coder bc;
    unsigned image, rounds;
    const char *names[APL_MAX_FIELDS]; /* of fields of fixed shape */
    size_t name_count, value_bytes[APL_MAX_FIELDS];
    uint32_t *order; /* of an epoch */
    struct slab slab;
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

/* ------------------------------------------------------------------------------------------- preparing */

static bool is_image(const apl_field *f)
{
    return f->dtype == APL_U8 && f->ndim == 3 && f->value_bytes > 0;
}

static void pick_fields(struct bench *b)
{
    b->image = APL_MAX_FIELDS;
    for (unsigned f = 0; f < b->schema->count; f++) {
        const apl_field *field = &b->schema->fields[f];
        b->value_bytes[f] = field->value_bytes;
        if (field->value_bytes)
            b->names[b->name_count++] = field->name;
        if (is_image(field) && b->image == APL_MAX_FIELDS)
            b->image = f;
    }
    if (b->image == APL_MAX_FIELDS) {
        fprintf(stderr, "bench_reader: there is no field of u8 images\n");
        exit(1);
    }
}

static void draw_order(struct bench *b)
{
    struct plan_options options = {.seed = 1, .window = b->subset.records, .bins = 64, .reuse = 1};
    struct bins *plan;
    bool failed;
    b->order = must_have(calloc(b->subset.records, sizeof *b->order));
    must(bins_new(&options, &b->subset, &plan, &b->err), &b->err);
    if (bins_take(plan, b->order, b->subset.records, &failed) != b->subset.records)
        abort();
    bins_free(plan);
}

/* Crop, flip and normalise, as it is done most. */
static void prepare_assembly(struct bench *b)
{
    const apl_field *f = &b->schema->fields[b->image];
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
    row_bytes[b->image] = assemble_bytes(&b->assembly);
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

/* ----------------------------------------------------------------------------------------- plain loops */

/* Decodes every block to where its records belong. */
static void plain_decode(struct bench *b)
{
    must(slab_init(&b->slab, (uint32_t)b->subset.records, b->schema->count, b->value_bytes, &b->err),
         &b->err);
    for (uint32_t i = 0; i < b->subset.blocks; i++) {
        const struct subset_block *block = &b->subset.block[i];
        struct block_view view;
        must(store_block(b->store, block->number, &b->bc, &view, &b->err), &b->err);
        for (unsigned f = 0; f < b->schema->count; f++) {
            if (!b->value_bytes[f])
                continue;
            for (uint32_t k = 0; k < block->records; k++)
                b->rows[k] = slab_value(&b->slab, f, (uint32_t)block->before + k);
            must(block_decode_rows(&b->bc, b->schema, &view, f, b->rows, &b->err), &b->err);
        }
    }
}

static void find_sources(struct bench *b, unsigned f, uint64_t from, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        uint32_t reference = b->order[from + k];
        const struct subset_block *block = &b->subset.block[reference / b->subset.stride];
        b->sources[k] = slab_value(&b->slab, f, (uint32_t)block->before + reference % b->subset.stride);
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
            if (augment && f == b->image)
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
    slab_free(&b->slab);
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

#endif
