/* Reading a whole store on all cores: see readback.h. */
#include "readback.h"

#include "bad_block.h"
#include "bitset.h"
#include "digests.h"
#include "kept.h"
#include "parallel.h"
#include "statistics.h"

#include <stdatomic.h>
#include <stdlib.h>

#define RUN        1024u /* records under one leaf of a field's digest: part of the format */
#define TELL_BYTES (64u << 20)
#define TASK_RUNS \
    4u /* at most, that one thread takes at a time; a block that two tasks share is decoded twice */
#define TASKS    4u /* at least, for each thread, as long as there are as many runs */
#define NO_BLOCK UINT64_MAX

struct worker {
    bool ready;
    struct block_coder bc;
    struct raw_block block; /* the block decoded last, */
    uint64_t number;        /* and which it is */
    bool bad;               /* could not be decoded */
    struct split *splits;   /* this worker's share of the statistics */
    uint64_t raw_bytes[APL_MAX_FIELDS], stored_bytes[APL_MAX_FIELDS];
    uint64_t indexed[APL_MAX_FIELDS], progressive[APL_MAX_FIELDS], unsummed[APL_MAX_FIELDS];
    uint64_t untold; /* bytes decoded since progress was last reported */
};

struct job {
    const struct readback *what;
    const struct manifest *m;
    struct worker *workers;
    uint8_t (*leaves)[32]; /* field by field, run by run */
    uint64_t runs, task_runs;
    atomic_uint_fast64_t records, bad_blocks;
    uint64_t told; /* records that the last report of progress counted; only the calling thread reports */
    struct bitset positions; /* that a record has said are its own; only where they are looked at */
    pthread_mutex_t report;
};

void findings_free(struct findings *found, const struct manifest *manifest)
{
    statistics_free(found->splits, manifest);
    found->splits = NULL;
}

/* ------------------------------------------------------------------------------------------- one block */

static apl_status check_records(struct worker *w, const struct schema *schema, const struct block_view *view,
                                apl_error *err)
{
    for (uint32_t i = 0; i < view->records; i++) {
        struct hash128 is = block_record_hash(&w->bc, schema, &w->block, i),
                       should_be = block_stored_hash(view, i);
        if (is.low != should_be.low || is.high != should_be.high)
            return fail(err, APL_E_CORRUPT, "the hash of record %u of the block is wrong", i);
    }
    return APL_OK;
}

static apl_status check_place(const struct job *job, uint64_t number, const struct block_view *view,
                              apl_error *err)
{
    uint64_t first;
    uint32_t count;
    const struct segment *s = manifest_block_ids(job->m, number, &first, &count);
    if (view->segment != s->number || view->first != first - s->first_id || view->records != count)
        return fail(err, APL_E_CORRUPT, "the block belongs elsewhere");
    struct hash128 header = {0};
    if (job->what->headers)
        header = hash_xxh3_128(view->header, view->header_bytes);
    if (job->what->headers &&
        (header.low != job->what->headers[number].low || header.high != job->what->headers[number].high))
        return fail(err, APL_E_CORRUPT, "the block is not what was written");
    return APL_OK;
}

/* In a shuffled store the source positions of a split's records are its ids in another order. Of a block that is met a second time,
 * by the task that has the other part of it, they are known already. */
static apl_status check_positions(struct job *job, struct worker *w, uint64_t number, bool first_met,
                                  apl_error *err)
{
    uint64_t first;
    uint32_t count;
    if (!job->positions.words || !first_met)
        return APL_OK;
    manifest_block_ids(job->m, number, &first, &count);
    const apl_field *field = &job->m->schema.fields[job->m->schema.count - 1];
    const uint8_t *values = w->block.columns[job->m->schema.count - 1].values.data;
    const struct split *split = &job->m->splits[manifest_split_of(job->m, first)];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t position = load_le(values + (size_t)i * 8, 8);
        if (position - split->first >= split->count)
            return fail(
                err, APL_E_CORRUPT,
                "field %s: record %u of the block has source position %llu, which is not in its split",
                field->name, i, (unsigned long long)position);
        if (!bitset_set(&job->positions, position))
            return fail(err, APL_E_CORRUPT,
                        "field %s: record %u of the block has source position %llu, as another record has",
                        field->name, i, (unsigned long long)position);
    }
    return APL_OK;
}

/* Last of all, as what else is wrong says more: does the block have its digest? */
static apl_status check_block_digest(const struct readback *what, uint64_t number, const uint8_t *bytes,
                                     apl_error *err)
{
    uint8_t digest[DIGEST_BYTES];
    size_t at = (size_t)number * DIGEST_BYTES;
    if (what->take_digests)
        hash_sha256(bytes, what->entries[number].size, what->take_digests + at);
    if (!what->digests)
        return APL_OK;
    hash_sha256(bytes, what->entries[number].size, digest);
    return memcmp(digest, what->digests + at, sizeof digest) == 0
               ? APL_OK
               : fail(err, APL_E_CORRUPT, BLOCK_IS_ANOTHER);
}

/* Adds what a block takes up to the totals. */
static void count_bytes(const struct job *job, struct worker *w, const struct block_view *view)
{
    for (unsigned f = 0; f < job->m->schema.count; f++) {
        w->raw_bytes[f] += view->columns[f].raw_bytes;
        w->untold += view->columns[f].raw_bytes;
        w->stored_bytes[f] += view->columns[f].coded_bytes;
    }
}

/* And the values that are indexed to theirs, also those of progressive files. */
static apl_status count_indexed(const struct job *job, struct worker *w, const struct block_view *view,
                                apl_error *err)
{
    const struct schema *schema = &job->m->schema;
    for (unsigned f = 0; f < schema->count; f++) {
        const struct column_view *v = &view->columns[f];
        struct kept_index index;
        if (v->codec != CODEC_INDEXED)
            continue;
        TRY(kept_take_index(&w->bc, &schema->fields[f], view->records, v, v->coded, &index, err));
        uint64_t progressive = kept_count(&index, KEPT_PROGRESSIVE);
        w->progressive[f] += progressive;
        w->indexed[f] += kept_count(&index, KEPT_INDEXED) + progressive;
    }
    return APL_OK;
}

/* Each block is counted once, where its first record is met, and also if it then turns out to be bad. */
static apl_status decode_again(struct job *job, struct worker *w, uint64_t number, bool first_met,
                               apl_error *err)
{
    const struct entry *e = &job->what->entries[number];
    const uint8_t *bytes;
    struct block_view view;
    TRY(lmdb_reader_value(job->what->lmdb, e, &w->bc.file, &bytes, err));
    TRY(block_parse(&w->bc, bytes, e->size, &job->m->schema, &view, err));
    if (first_met)
        count_bytes(job, w, &view);
    TRY(check_place(job, number, &view, err));
    TRY(block_decode(&w->bc, &job->m->schema, &view, &w->block, err));
    TRY(check_records(w, &job->m->schema, &view, err));
    if (first_met)
        TRY(count_indexed(job, w, &view, err));
    TRY(check_positions(job, w, number, first_met, err));
    return first_met ? check_block_digest(job->what, number, bytes, err) : APL_OK;
}

/* Tells what is wrong with block `number`, and with which of its records. */
static apl_status report_bad_block(struct job *job, struct worker *w, uint64_t number, const char *message,
                                   apl_error *err)
{
    apl_bad_block block;
    bad_block_describe(job->m, number, &block);
    uint64_t *bad = calloc(block.count, sizeof *bad);
    if (!bad)
        return fail_nomem(err);
    const struct entry *e = &job->what->entries[number];
    const uint8_t *bytes;
    apl_error unread;
    bool read = lmdb_reader_value(job->what->lmdb, e, &w->bc.file, &bytes, &unread) == APL_OK;
    block.bad_count =
        bad_block_records(&w->bc, &job->m->schema, bytes, read ? e->size : 0, block.first, block.count, bad);
    if (read && block.bad_count == 0 && check_block_digest(job->what, number, bytes, &unread) != APL_OK)
        for (; block.bad_count < block.count; block.bad_count++) /* all checksums have been made right */
            bad[block.bad_count] = block.first + block.bad_count;
    block.bad = bad;
    block.message = message;
    pthread_mutex_lock(&job->report);
    job->what->bad_block(job->what->user, &block);
    pthread_mutex_unlock(&job->report);
    free(bad);
    return APL_OK;
}

/* Makes block `number` the worker's current one; w->bad if it could not be decoded and that was reported. */
static apl_status use_block(struct job *job, struct worker *w, uint64_t number, bool first_met,
                            apl_error *err)
{
    if (w->number == number)
        return APL_OK;
    apl_error why;
    apl_status status = decode_again(job, w, number, first_met, &why);
    w->number = number;
    w->bad = status != APL_OK;
    if (status == APL_OK)
        return APL_OK;
    if (status != APL_E_CORRUPT || !job->what->bad_block) {
        w->number = NO_BLOCK;
        return bad_block_error(job->what->manifest, number, status, why.message, err);
    }
    if (!first_met)
        return APL_OK;
    atomic_fetch_add_explicit(&job->bad_blocks, 1, memory_order_relaxed);
    return report_bad_block(job, w, number, why.message, err);
}

/* --------------------------------------------------------------------------------------------- one run */

static void hash_slice(struct sha256 *sha, const apl_field *field, const struct raw_column *column,
                       uint32_t from, uint32_t to)
{
    unsigned varying = field_varying(field);
    if (varying == 0) {
        sha256_add(sha, column->values.data + (size_t)from * field->value_bytes,
                   (size_t)(to - from) * field->value_bytes);
        return;
    }
    for (uint32_t i = from; i < to; i++) {
        size_t bytes;
        const uint8_t *value = raw_column_value(column, field, i, &bytes);
        sha256_add(sha, column->dims.data + (size_t)i * varying * 4, (size_t)varying * 4);
        sha256_add(sha, value, bytes);
    }
}

/* One field of the records from ... to-1 of the current block: into the digest, and into the statistics. */
static apl_status take_slice(struct job *job, struct worker *w, struct sha256 **shas, uint64_t id,
                             uint32_t from, uint32_t to, apl_error *err)
{
    uint32_t number = manifest_split_of(job->m, id);
    struct split *split = &w->splits[number];
    TRY(statistics_room(job->m, w->splits, number, err));
    for (unsigned f = 0; f < job->m->schema.count; f++) {
        const apl_field *field = &job->m->schema.fields[f];
        const struct raw_column *column = &w->block.columns[f];
        hash_slice(shas[f], field, column, from, to);
        TRY(statistics_add(split, f, field, column, from, to, err));
        if (schema_has_colours(&job->m->schema, f) && !split_summary(split, f).colours)
            w->unsummed[f] += statistics_colours(field, column, from, to).images;
    }
    return APL_OK;
}

static apl_status tell(struct job *job, struct worker *w, apl_error *err)
{
    w->untold = 0;
    if (w != job->workers || !job->what->progress)
        return APL_OK;
    job->told = atomic_load_explicit(&job->records, memory_order_relaxed);
    return job->what->progress(job->what->user, job->told) ? fail(err, APL_E_CANCELLED, "cancelled") : APL_OK;
}

/* Ids first ... last-1, which lie under one leaf. A block never spans two splits, so neither does a slice. */
static apl_status read_run(struct job *job, struct worker *w, struct sha256 **shas, uint64_t task_first,
                           uint64_t first, uint64_t last, apl_error *err)
{
    for (uint64_t id = first; id < last;) {
        uint64_t block_first, number = manifest_block_of(job->m, id);
        uint32_t count;
        manifest_block_ids(job->m, number, &block_first, &count);
        uint64_t end = block_first + count < last ? block_first + count : last;
        TRY(use_block(job, w, number, block_first >= task_first, err));
        if (!w->bad)
            TRY(take_slice(job, w, shas, id, (uint32_t)(id - block_first), (uint32_t)(end - block_first),
                           err));
        atomic_fetch_add_explicit(&job->records, end - id, memory_order_relaxed);
        if (w->untold >= TELL_BYTES) /* large records, of which a task takes long */
            TRY(tell(job, w, err));
        id = end;
    }
    return APL_OK;
}

static apl_status checker_init(struct job *job, struct worker *w, apl_error *err)
{
    TRY(block_coder_init(&w->bc, err));
    w->bc.any_class = !job->what->bad_block;
    w->bc.takes_colours = true;
    w->number = NO_BLOCK;
    w->splits = calloc(job->m->split_count, sizeof *w->splits);
    if (!w->splits)
        return fail_nomem(err);
    w->ready = true;
    return APL_OK;
}

static apl_status read_task(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct job *job = context;
    struct worker *w = &job->workers[worker];
    struct sha256 *shas[APL_MAX_FIELDS] = {0};
    apl_status status = w->ready ? APL_OK : checker_init(job, w, err);
    for (unsigned f = 0; status == APL_OK && f < job->m->schema.count; f++)
        if (!(shas[f] = sha256_new()))
            status = fail_nomem(err);
    uint64_t first_run = task * job->task_runs, task_first = first_run * RUN;
    for (uint64_t run = first_run; status == APL_OK && run < first_run + job->task_runs && run < job->runs;
         run++) {
        uint64_t last = (run + 1) * RUN < job->m->info.records ? (run + 1) * RUN : job->m->info.records;
        status = read_run(job, w, shas, task_first, run * RUN, last, err);
        for (unsigned f = 0; status == APL_OK && f < job->m->schema.count; f++)
            sha256_end(shas[f], job->leaves[f * job->runs + run]);
    }
    for (unsigned f = 0; f < job->m->schema.count; f++)
        sha256_free(shas[f]);
    return status == APL_OK ? tell(job, w, err) : status;
}

/* ------------------------------------------------------------------------------------------- the whole */

static apl_status conclude(struct job *job, unsigned threads, struct findings *found, apl_error *err)
{
    const struct schema *schema = &job->m->schema;
    struct sha256 *sha = sha256_new();
    if (!sha)
        return fail_nomem(err);
    for (unsigned f = 0; f < schema->count; f++) {
        sha256_add(sha, job->leaves[f * job->runs], (size_t)job->runs * 32);
        sha256_end(sha, found->digests[f]);
        for (unsigned i = 0; i < threads; i++) {
            found->raw_bytes[f] += job->workers[i].raw_bytes[f];
            found->stored_bytes[f] += job->workers[i].stored_bytes[f];
            found->indexed[f] += job->workers[i].indexed[f];
            found->progressive[f] += job->workers[i].progressive[f];
            found->unsummed[f] += job->workers[i].unsummed[f];
        }
    }
    sha256_free(sha);
    for (unsigned i = 0; i < threads; i++)
        for (uint32_t s = 0; job->workers[i].splits && s < job->m->split_count; s++)
            statistics_merge(&found->splits[s], &job->workers[i].splits[s], schema);
    found->bad_blocks = atomic_load_explicit(&job->bad_blocks, memory_order_relaxed);
    return APL_OK;
}

/* How many runs a task has: fewer of a small store, whose records may be large. */
static uint64_t task_runs(uint64_t runs, unsigned threads)
{
    uint64_t each = runs / ((uint64_t)TASKS * threads);
    return each < 1 ? 1 : each < TASK_RUNS ? each : TASK_RUNS;
}

apl_status readback(const struct readback *what, struct findings *found, apl_error *err)
{
    const struct manifest *m = what->manifest;
    unsigned threads = what->threads;
    struct job job = {
        .what = what, .m = m, .report = PTHREAD_MUTEX_INITIALIZER, .runs = (m->info.records + RUN - 1) / RUN};
    apl_status status;
    *found = (struct findings){0};
    job.task_runs = task_runs(job.runs, threads);
    job.workers = calloc(threads, sizeof *job.workers);
    job.leaves = calloc((size_t)job.runs * m->schema.count, sizeof *job.leaves);
    GUARD(job.workers && job.leaves ? APL_OK : fail_nomem(err));
    if (m->info.shuffled && what->bad_block)
        GUARD(bitset_init(&job.positions, m->info.records, err));
    found->splits = calloc(m->split_count, sizeof *found->splits);
    GUARD(found->splits ? APL_OK : fail_nomem(err));
    for (uint32_t s = 0; s < m->split_count; s++)
        GUARD(statistics_room(m, found->splits, s, err));
    GUARD(parallel_for(threads, (size_t)((job.runs + job.task_runs - 1) / job.task_runs), read_task, &job,
                       err));
    /* The calling thread may have been done before the others, or have had no task. */
    GUARD(job.told < m->info.records ? tell(&job, job.workers, err) : APL_OK);
    GUARD(conclude(&job, threads, found, err));
out:
    for (unsigned i = 0; job.workers && i < threads; i++) {
        block_coder_free(&job.workers[i].bc);
        raw_block_free(&job.workers[i].block);
        statistics_free(job.workers[i].splits, m);
    }
    free(job.workers);
    free(job.leaves);
    bitset_free(&job.positions);
    if (status != APL_OK)
        findings_free(found, m);
    return status;
}
