/* Records on their way into the file: gathered into blocks, encoded on threads, and put by one more thread in a fixed
 * order. */
#include "expansion.h"
#include "writer.h"

#include <stdlib.h>

#define DEFAULT_BYTES ((size_t)8 << 20) /* of larger records a block has fewer, so that it stays below this */
#define SMALL_BYTES   ((size_t)64 << 10) /* of smaller records it has more, so that it is not below this */
#define SMALL_RECORDS 4096u

static apl_status encode_slot(void *context, unsigned worker, unsigned slot, apl_error *err)
{
    apl_writer *w = context;
    struct writer_slot *s = &w->slots[slot];
    TRY(block_encode(&w->coders[worker], &w->schema, &s->raw, &s->coded, err));
    TRY(expansion_check_block(w->coders[worker].expansion, s->coded.size,
                              raw_block_bytes(&s->raw, &w->schema), err)); /* or no reader would take it */
    s->header = hash_xxh3_128(s->coded.data, (size_t)load_le(s->coded.data + 4, 4));
    return APL_OK;
}

static apl_status put_slot(void *context, unsigned slot, apl_error *err)
{
    apl_writer *w = context;
    struct writer_slot *s = &w->slots[slot];
    struct block_fingerprint fingerprint = {.segment = s->raw.segment, .header = s->header};
    fingerprint.block = (uint32_t)(s->raw.first / w->block_records);
    TRY(lmdb_writer_put(w->lmdb, (struct key){KEY_BLOCK, fingerprint.segment, fingerprint.block},
                        s->coded.data, s->coded.size, err));
    buffer_put(&w->fingerprints, &fingerprint, sizeof fingerprint);
    /* relaxed: a figure for progress, nothing hangs on it */
    atomic_store_explicit(&w->stored_bytes, lmdb_writer_bytes(w->lmdb), memory_order_relaxed);
    return w->fingerprints.failed ? fail_nomem(err) : APL_OK;
}

apl_status writer_start_pipeline(apl_writer *w, apl_error *err)
{
    struct pipeline_stages stages = {w, encode_slot, put_slot};
    w->depth = 2 * w->threads + 2;
    w->slots = calloc(w->depth, sizeof *w->slots);
    w->coders = calloc(w->threads + 1, sizeof *w->coders);
    if (!w->slots || !w->coders)
        return fail_nomem(err);
    for (unsigned i = 0; i <= w->threads; i++) {
        TRY(block_coder_init(&w->coders[i], err));
        w->coders[i].any_class = true;
    }
    return pipeline_start(w->threads, w->depth, &stages, &w->pipeline, err);
}

static size_t fixed_bytes(const struct schema *schema)
{
    size_t bytes = 0;
    for (unsigned f = 0; f < schema->count; f++)
        bytes += schema->fields[f].value_bytes;
    return bytes;
}

static bool varies(const struct schema *schema)
{
    for (unsigned f = 0; f < schema->count; f++)
        if (field_varying(&schema->fields[f]) > 0)
            return true;
    return false;
}

/* Records of so many bytes that are not small. */
static uint32_t records_of(size_t bytes)
{
    size_t most = bytes ? DEFAULT_BYTES / bytes : WRITER_RECORDS;
    return most >= WRITER_RECORDS ? WRITER_RECORDS : most > 0 ? (uint32_t)most : 1;
}

uint32_t writer_usual_records(const struct schema *schema)
{
    if (varies(schema))
        return 0;
    size_t bytes = fixed_bytes(schema), least = bytes ? SMALL_BYTES / bytes : 0;
    if (least <= WRITER_RECORDS)
        return records_of(bytes);
    return least < SMALL_RECORDS ? (uint32_t)least : SMALL_RECORDS;
}

/* As many as fit, but not fewer than `least` nor more than `most`. */
static uint32_t records_within(size_t fit, uint32_t least, uint32_t most)
{
    return fit < least ? least : fit < most ? (uint32_t)fit : most;
}

/* Of values that vary in size, the first block tells how many records one has; it has come to its end before it was filled. */
static uint32_t fitting_records(const struct raw_block *block, const struct schema *schema)
{
    uint32_t records = block->records;
    size_t bytes = raw_block_bytes(block, schema) / records + 1;
    if (schema_keeps(schema))
        return records_within(KEPT_BLOCK_BYTES / bytes,
                              records < KEPT_BLOCK_LEAST ? KEPT_BLOCK_LEAST : records, WRITER_RECORDS);
    if (records <= WRITER_RECORDS)
        return records_within(DEFAULT_BYTES / bytes, records, WRITER_RECORDS);
    return records_within(SMALL_BYTES / bytes, records, SMALL_RECORDS);
}

/* Is it, the first, large enough? */
static bool is_filled(const struct raw_block *block, const struct schema *schema)
{
    size_t bytes = raw_block_bytes(block, schema);
    if (schema_keeps(schema))
        return block->records >= WRITER_RECORDS ||
               (block->records >= KEPT_BLOCK_LEAST && bytes >= KEPT_BLOCK_BYTES);
    return block->records >= SMALL_RECORDS || bytes >= DEFAULT_BYTES ||
           (block->records >= WRITER_RECORDS && bytes >= SMALL_BYTES);
}

/* Has the block that is being filled as many records as it is to have? */
static bool is_full(apl_writer *w)
{
    const struct raw_block *block = &w->filling->raw;
    if (w->block_records)
        return block->records == w->block_records;
    if (is_filled(block, &w->schema))
        w->block_records = block->records;
    return w->block_records > 0;
}

/* Hands the block that is being filled to the encoders. The first one decides on the codecs. */
static apl_status submit(apl_writer *w, apl_error *err)
{
    if (!w->filling)
        return APL_OK;
    if (!w->chosen)
        TRY(block_choose(&w->coders[w->threads], &w->schema, &w->filling->raw, w->want_codec, w->want_level,
                         err));
    w->chosen = true;
    if (!w->block_records)
        w->block_records = fitting_records(&w->filling->raw, &w->schema);
    w->filling = NULL;
    pipeline_submit(w->pipeline);
    return APL_OK;
}

apl_status writer_put(apl_writer *w, const apl_value *values, apl_error *err)
{
    if (!w->filling) {
        unsigned slot;
        TRY(pipeline_slot(w->pipeline, &slot, err));
        w->filling = &w->slots[slot];
        raw_block_clear(&w->filling->raw);
        w->filling->raw.segment = w->segment;
        w->filling->raw.first = w->next;
    }
    TRY(raw_block_append(&w->filling->raw, &w->schema, values, err));
    w->next++;
    return is_full(w) ? submit(w, err) : APL_OK;
}

apl_status writer_begin_segment(apl_writer *w, uint32_t segment, apl_error *err)
{
    TRY(submit(w, err));
    w->segment = segment;
    w->next = 0;
    return APL_OK;
}

apl_status writer_drain(apl_writer *w, apl_error *err)
{
    TRY(submit(w, err));
    TRY(pipeline_flush(w->pipeline, err));
    pipeline_stop(w->pipeline);
    w->pipeline = NULL;
    return APL_OK;
}

void writer_free_pipeline(apl_writer *w)
{
    pipeline_stop(w->pipeline);
    for (unsigned i = 0; w->slots && i < w->depth; i++) {
        raw_block_free(&w->slots[i].raw);
        buffer_free(&w->slots[i].coded);
    }
    for (unsigned i = 0; w->coders && i <= w->threads; i++)
        block_coder_free(&w->coders[i]);
    free(w->slots);
    free(w->coders);
}
