/* A distribution sort by random keys: see external_shuffle.h. */
#include "external_shuffle.h"

#include "whole.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKET_BITS 6u
#define BUCKETS     (1u << BUCKET_BITS)
#define SPILL_COUNT 64u                  /* records gathered for a bucket before they are coded, */
#define SPILL_BYTES ((size_t)256 << 10)  /* or bytes */
#define SORT_BYTES  ((uint64_t)32 << 20) /* a bucket of more is split into buckets of its own */

struct chunk {
    uint64_t offset;
    size_t size;
};

struct bucket {
    struct raw_block gathered;
    struct buffer chunks; /* of struct chunk */
    uint64_t bytes;       /* raw, of all chunks */
};

struct external_shuffle {
    struct schema schema; /* borrowed, but for the choices */
    bool chosen;
    unsigned position;
    struct random_key key;
    int fd;
    uint64_t *end;
    struct block_coder *bc;
    unsigned shift; /* of the key, so that its BUCKET_BITS lowest bits pick the bucket */
    struct buffer coded;
    struct bucket buckets[BUCKETS];
};

apl_status external_shuffle_new(const struct schema *schema, unsigned position, struct random_key key, int fd,
                                uint64_t *end, struct block_coder *bc, struct external_shuffle **shuffle,
                                apl_error *err)
{
    struct external_shuffle *s = calloc(1, sizeof *s);
    if (!s)
        return fail_nomem(err);
    s->schema = *schema;
    s->position = position;
    s->key = key;
    s->fd = fd;
    s->end = end;
    s->bc = bc;
    s->shift = 64 - BUCKET_BITS;
    *shuffle = s;
    return APL_OK;
}

void external_shuffle_free(struct external_shuffle *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < BUCKETS; i++) {
        raw_block_free(&s->buckets[i].gathered);
        buffer_free(&s->buckets[i].chunks);
    }
    buffer_free(&s->coded);
    free(s);
}

static uint64_t sort_key(const struct external_shuffle *s, uint64_t position)
{
    return siphash(s->key, &position, 1);
}

static apl_status write_scratch(int fd, const struct buffer *bytes, uint64_t offset, apl_error *err)
{
    int code = write_whole(fd, bytes->data, bytes->size, offset);
    return code ? fail_errno(err, code, "cannot write the scratch file") : APL_OK;
}

static apl_status read_scratch(int fd, uint8_t *data, size_t size, uint64_t offset, apl_error *err)
{
    int code = read_whole(fd, data, size, offset);
    return code ? fail_errno(err, code == WHOLE_ENDED ? EIO : code, "cannot read the scratch file") : APL_OK;
}

/* Codes what has been gathered for a bucket and appends it to the file. */
static apl_status spill(struct external_shuffle *s, struct bucket *bucket, apl_error *err)
{
    if (bucket->gathered.records == 0)
        return APL_OK;
    if (!s->chosen)
        TRY(block_choose(s->bc, &s->schema, &bucket->gathered, -1, 0, err));
    s->chosen = true;
    TRY(block_encode(s->bc, &s->schema, &bucket->gathered, &s->coded, err));
    struct chunk chunk = {*s->end, s->coded.size};
    TRY(write_scratch(s->fd, &s->coded, chunk.offset, err));
    *s->end += chunk.size;
    bucket->bytes += raw_block_bytes(&bucket->gathered, &s->schema);
    buffer_put(&bucket->chunks, &chunk, sizeof chunk);
    raw_block_clear(&bucket->gathered);
    return bucket->chunks.failed ? fail_nomem(err) : APL_OK;
}

apl_status external_shuffle_add(struct external_shuffle *s, const apl_value *values, apl_error *err)
{
    uint64_t position;
    memcpy(&position, values[s->position].data, sizeof position);
    struct bucket *bucket = &s->buckets[sort_key(s, position) >> s->shift & (BUCKETS - 1)];
    TRY(raw_block_append(&bucket->gathered, &s->schema, values, err));
    if (bucket->gathered.records >= SPILL_COUNT ||
        raw_block_bytes(&bucket->gathered, &s->schema) >= SPILL_BYTES)
        return spill(s, bucket, err);
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- taking */

/* Calls `each` for every record of a bucket, in the order they came. */
static apl_status for_each(struct external_shuffle *s, struct bucket *bucket,
                           apl_status (*each)(void *, const apl_value *, apl_error *), void *context,
                           apl_error *err)
{
    struct raw_block block = {0};
    apl_value values[APL_MAX_FIELDS];
    int64_t shapes[APL_MAX_FIELDS][APL_MAX_DIMS];
    apl_status status = APL_OK;
    for (size_t at = 0; at < bucket->chunks.size; at += sizeof(struct chunk)) {
        struct chunk chunk;
        struct block_view view;
        memcpy(&chunk, bucket->chunks.data + at, sizeof chunk);
        s->coded.size = 0;
        GUARD(buffer_reserve(&s->coded, chunk.size) ? APL_OK : fail_nomem(err));
        GUARD(read_scratch(s->fd, s->coded.data, chunk.size, chunk.offset, err));
        GUARD(block_parse(s->bc, s->coded.data, chunk.size, &s->schema, &view, err));
        GUARD(block_decode(s->bc, &s->schema, &view, &block, err));
        for (uint32_t i = 0; i < block.records; i++) {
            raw_block_record(&block, &s->schema, i, values, shapes);
            GUARD(each(context, values, err));
        }
    }
out:
    raw_block_free(&block);
    return status;
}

struct order {
    uint64_t key, position;
    uint32_t record;
};

static int compare_order(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

struct gather {
    struct external_shuffle *shuffle;
    struct raw_block block;
};

static apl_status gather_record(void *context, const apl_value *values, apl_error *err)
{
    struct gather *g = context;
    return raw_block_append(&g->block, &g->shuffle->schema, values, err);
}

/* Reads a whole bucket into memory, sorts it and hands it out. */
static apl_status sort_bucket(struct external_shuffle *s, struct bucket *bucket,
                              apl_status (*take)(void *, const apl_value *, apl_error *), void *context,
                              apl_error *err)
{
    struct gather g = {.shuffle = s};
    struct order *order = NULL;
    apl_value values[APL_MAX_FIELDS];
    int64_t shapes[APL_MAX_FIELDS][APL_MAX_DIMS];
    apl_status status;
    GUARD(for_each(s, bucket, gather_record, &g, err));
    order = calloc(g.block.records + 1, sizeof *order);
    GUARD(order ? APL_OK : fail_nomem(err));
    for (uint32_t i = 0; i < g.block.records; i++) {
        memcpy(&order[i].position, g.block.columns[s->position].values.data + i * sizeof(uint64_t),
               sizeof(uint64_t));
        order[i].key = sort_key(s, order[i].position);
        order[i].record = i;
    }
    qsort(order, g.block.records, sizeof *order, compare_order);
    for (uint32_t i = 0; i < g.block.records; i++) {
        raw_block_record(&g.block, &s->schema, order[i].record, values, shapes);
        GUARD(take(context, values, err));
    }
out:
    free(order);
    raw_block_free(&g.block);
    return status;
}

static apl_status add_record(void *context, const apl_value *values, apl_error *err)
{
    return external_shuffle_add(context, values, err);
}

/* Splits a bucket that is too large to be sorted in memory by the next bits of the keys. */
static apl_status split_bucket(struct external_shuffle *s, struct bucket *bucket,
                               apl_status (*take)(void *, const apl_value *, apl_error *), void *context,
                               apl_error *err)
{
    struct external_shuffle *finer = NULL; /* gcc 14 does not see that it is set */
    TRY(external_shuffle_new(&s->schema, s->position, s->key, s->fd, s->end, s->bc, &finer, err));
    finer->chosen = true;
    finer->shift = s->shift - BUCKET_BITS;
    apl_status status = for_each(s, bucket, add_record, finer, err);
    if (status == APL_OK)
        status = external_shuffle_take(finer, take, context, err);
    external_shuffle_free(finer);
    return status;
}

apl_status external_shuffle_take(struct external_shuffle *s,
                                 apl_status (*take)(void *context, const apl_value *values, apl_error *err),
                                 void *context, apl_error *err)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        struct bucket *bucket = &s->buckets[i];
        TRY(spill(s, bucket, err));
        if (bucket->bytes > SORT_BYTES && s->shift >= BUCKET_BITS)
            TRY(split_bucket(s, bucket, take, context, err));
        else
            TRY(sort_bucket(s, bucket, take, context, err));
        raw_block_free(&bucket->gathered);
        bucket->gathered = (struct raw_block){0};
    }
    return APL_OK;
}
