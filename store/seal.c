/* Committing a store: the manifest, the read-back, and the publication in one step. */
#include "digests.h"
#include "readback.h"
#include "sealed.h"
#include "statistics.h"
#include "store.h"
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------- the manifest */

static int by_number(const void *a, const void *b)
{
    const struct writer_member *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Members by number, and the splits in the order in which they meet. */
static apl_status write_members(apl_writer *w, struct manifest *m, apl_error *err)
{
    size_t n, split_count;
    struct writer_member *members = writer_members(w, &n);
    struct writer_split *splits = writer_splits(w, &split_count);
    uint32_t *place = calloc(split_count + 1, sizeof *place); /* of each split among the manifest's, 1 more */
    m->members = calloc(n + 1, sizeof *m->members);
    m->splits = calloc(split_count + 1, sizeof *m->splits);
    apl_status status = place && m->members && m->splits ? APL_OK : fail_nomem(err);
    if (status == APL_OK)
        qsort(members, n, sizeof *members, by_number);
    uint64_t at = 0;
    for (size_t i = 0; status == APL_OK && i < n; i++) {
        struct writer_member *from = &members[i];
        bool known = place[from->split] != 0;
        if (known && place[from->split] != m->split_count) {
            status = fail(err, APL_E_INVALID, "the members of split %s are not numbered consecutively",
                          splits[from->split].name);
            break;
        }
        if (!known) {
            m->splits[m->split_count] = (struct split){.name = strdup(splits[from->split].name), .first = at};
            place[from->split] = ++m->split_count;
        }
        m->members[m->member_count++] = (struct member){.name = strdup(from->name),
                                                        .split = m->split_count - 1,
                                                        .number = from->number,
                                                        .first = at,
                                                        .count = from->count};
        m->splits[m->split_count - 1].count += from->count;
        at += from->count;
        if (!m->members[i].name || !m->splits[m->split_count - 1].name)
            status = fail_nomem(err);
    }
    free(place);
    return status;
}

/* Members, or in a shuffled store splits, that have records. */
static apl_status list_segments(apl_writer *w, struct manifest *m, apl_error *err)
{
    size_t n;
    struct writer_member *members = writer_members(w, &n);
    m->segments = calloc((w->shuffle ? m->split_count : n) + 1, sizeof *m->segments);
    if (!m->segments)
        return fail_nomem(err);
    for (uint32_t i = 0; !w->shuffle && i < n; i++)
        if (m->members[i].count)
            m->segments[m->segment_count++] = (struct segment){
                .number = members[i].number, .first_id = m->members[i].first, .count = m->members[i].count};
    for (uint32_t i = 0; w->shuffle && i < m->split_count; i++)
        if (m->splits[i].count)
            m->segments[m->segment_count++] =
                (struct segment){.number = i, .first_id = m->splits[i].first, .count = m->splits[i].count};
    return APL_OK;
}

/* All of the manifest except what reading back will add. Takes over the schema. */
static apl_status draft_manifest(apl_writer *w, struct manifest *m, apl_error *err)
{
    TRY(write_members(w, m, err));
    TRY(list_segments(w, m, err));
    m->schema = w->schema;
    w->schema = (struct schema){0};
    m->info.records = w->records;
    m->info.block_records = w->block_records;
    m->info.shuffled = w->shuffle;
    m->info.shuffle_seed = w->shuffle ? w->shuffle_seed : 0;
    m->info.skipped = w->skipped.info.skipped;
    m->skipped = w->skipped.skipped;
    m->skipped_places = w->skipped.skipped_places;
    w->skipped = (struct manifest){0};
    memcpy(m->training, w->training, sizeof m->training);
    memset(w->training, 0, sizeof w->training);
    m->info.has_source_digest = w->has_source_digest;
    memcpy(m->info.source_digest, w->source_digest, 32);
    m->tool = strdup(w->tool);
    m->source_format = strdup(w->source_format ? w->source_format : "");
    if (!m->tool || !m->source_format)
        return fail_nomem(err);
    for (uint32_t s = 0; s < m->split_count; s++)
        for (unsigned f = 0; f < m->schema.count; f++)
            TRY(manifest_new_summary(&m->schema, &m->splits[s], f, err));
    return manifest_finish(m, err);
}

static apl_status fill_manifest(struct manifest *m, const struct findings *found, apl_error *err)
{
    for (unsigned f = 0; f < m->schema.count; f++) {
        apl_field *field = &m->schema.fields[f];
        memcpy(field->digest, found->digests[f], 32);
        field->raw_bytes = found->raw_bytes[f];
        field->stored_bytes = found->stored_bytes[f];
        field->indexed = found->indexed[f];
        m->schema.progressive[f] = found->progressive[f];
    }
    for (uint32_t s = 0; s < m->split_count; s++)
        statistics_merge(&m->splits[s], &found->splits[s], &m->schema);
    TRY(manifest_finish(m, err));
    return manifest_content_digest(&m->schema, m->info.content_digest, err);
}

/* -------------------------------------------------------------------------------------------- shuffled */

struct unpile {
    apl_writer *writer;
    const struct manifest *manifest;
    const struct writer_member *members;
};

/* Turns "place within the member of that number" into the position among all records. */
static uint64_t source_position(const struct unpile *u, uint64_t position)
{
    uint32_t low = 0, high = u->manifest->member_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (u->members[middle].number <= position >> 32)
            low = middle;
        else
            high = middle;
    }
    return u->manifest->members[low].first + (position & UINT32_MAX);
}

static apl_status put_shuffled(void *context, const apl_value *values, apl_error *err)
{
    struct unpile *u = context;
    apl_writer *w = u->writer;
    apl_value copy[APL_MAX_FIELDS];
    uint64_t position;
    memcpy(copy, values, (w->user_fields + 1) * sizeof *copy);
    memcpy(&position, values[w->user_fields].data, sizeof position);
    position = source_position(u, position);
    copy[w->user_fields].data = &position;
    return writer_put(w, copy, err);
}

/* The blocks of a shuffled store, split by split, from its shuffle. */
static apl_status put_piles(apl_writer *w, apl_error *err)
{
    struct manifest m = {0};
    size_t n, split_count;
    struct writer_split *splits = writer_splits(w, &split_count);
    struct unpile u = {w, &m, NULL};
    apl_status status;
    GUARD(write_members(w, &m, err));
    u.members = writer_members(w, &n);
    for (uint32_t i = 0; i < m.split_count; i++) {
        GUARD(writer_begin_segment(w, i, err));
        for (size_t k = 0; k < split_count; k++)
            if (strcmp(splits[k].name, m.splits[i].name) == 0)
                GUARD(external_shuffle_take(splits[k].shuffle, put_shuffled, &u, err));
    }
out:
    manifest_free(&m);
    return status;
}

/* ------------------------------------------------------------------------------------------- read-back */

static int by_place(const void *a, const void *b)
{
    const struct block_fingerprint *x = a, *y = b;
    if (x->segment != y->segment)
        return x->segment < y->segment ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

/* The header hashes of all blocks in the order of ids. */
static apl_status sort_headers(apl_writer *w, const struct manifest *m, struct hash128 **headers,
                               apl_error *err)
{
    size_t n = w->fingerprints.size / sizeof(struct block_fingerprint);
    struct block_fingerprint *fingerprints = (struct block_fingerprint *)(void *)w->fingerprints.data;
    if (n != m->info.blocks)
        return fail(err, APL_E_CORRUPT, "%zu blocks written, %llu expected", n,
                    (unsigned long long)m->info.blocks);
    *headers = malloc((n + 1) * sizeof **headers);
    if (!*headers)
        return fail_nomem(err);
    qsort(fingerprints, n, sizeof *fingerprints, by_place);
    for (size_t i = 0; i < n; i++)
        (*headers)[i] = fingerprints[i].header;
    return APL_OK;
}

static int report_progress(void *user, uint64_t records)
{
    apl_writer *w = user;
    if (!w->on_commit)
        return 0;
    apl_progress progress = {.records = records, .stored_bytes = lmdb_writer_bytes(w->lmdb)};
    progress.raw_bytes = (uint64_t)((double)w->raw_bytes * (double)records / (double)w->records);
    return w->on_commit(w->on_commit_user, &progress);
}

static apl_status open_new_pages(const apl_writer *w, struct lmdb_reader *lmdb, apl_error *err)
{
    return lmdb_reader_open(w->file, APL_IO_AUTO, lmdb, err);
}

/* Decodes every block from the file and compares it with what was appended; takes digests and statistics on
 * the way. */
static apl_status read_back(apl_writer *w, struct manifest *m, apl_error *err)
{
    struct lmdb_reader lmdb;
    struct hash128 *headers = NULL;
    struct findings found = {0};
    size_t digests = m->info.blocks <= DIGESTS_MOST ? (size_t)m->info.blocks * DIGEST_BYTES : 0;
    apl_status status;
    if (!buffer_reserve(&m->digests, digests))
        return fail_nomem(err);
    TRY(open_new_pages(w, &lmdb, err));
    GUARD(sort_headers(w, m, &headers, err));
    if (lmdb.count != m->info.blocks) {
        status = fail(err, APL_E_CORRUPT, "read back %zu blocks, %llu expected", lmdb.count,
                      (unsigned long long)m->info.blocks);
        goto out;
    }
    struct readback what = {.lmdb = &lmdb,
                            .entries = lmdb.entries,
                            .manifest = m,
                            .headers = headers,
                            .take_digests = m->digests.data,
                            .threads = w->threads ? w->threads : 1,
                            .user = w,
                            .progress = report_progress};
    GUARD(readback(&what, &found, err));
    m->digests.size = digests;
    GUARD(fill_manifest(m, &found, err));
out:
    findings_free(&found, m);
    free(headers);
    lmdb_reader_close(&lmdb);
    return status;
}

apl_status writer_seal(apl_writer *w, apl_error *err)
{
    struct manifest m = {0};
    struct buffer bytes = {0};
    apl_status status;
    if (w->records == 0)
        return fail(err, APL_E_INVALID, "a store without records");
    if (w->shuffle)
        GUARD(put_piles(w, err));
    GUARD(writer_drain(w, err));
    GUARD(lmdb_writer_commit(w->lmdb, err));
    GUARD(draft_manifest(w, &m, err));
    GUARD(read_back(w, &m, err));
    GUARD(manifest_encode(&m, &bytes, err));
    GUARD(lmdb_writer_put(w->lmdb, (struct key){KEY_MANIFEST, 0, 0}, bytes.data, bytes.size, err));
    GUARD(lmdb_writer_commit(w->lmdb, err));
    GUARD(lmdb_writer_sync(w->lmdb, err));
    GUARD(sealed_check(w->file, &bytes, err));
    lmdb_writer_close(w->lmdb);
    w->lmdb = NULL;
    GUARD(staging_publish(w->staging, err));
out:
    manifest_free(&m);
    buffer_free(&bytes);
    return status;
}
