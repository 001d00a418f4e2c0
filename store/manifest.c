/* The manifest in memory: consistency, and finding one's way from ids to blocks. */
#include "manifest.h"

#include "hash.h"

#include <stdlib.h>
#include <string.h>

void manifest_free(struct manifest *m)
{
    for (uint32_t i = 0; i < m->split_count; i++) {
        free(m->splits[i].name);
        split_free_summaries(&m->splits[i]);
    }
    for (uint32_t i = 0; i < m->member_count; i++)
        free(m->members[i].name);
    for (unsigned f = 0; f < APL_MAX_FIELDS; f++)
        free(m->training[f]);
    free(m->splits);
    free(m->members);
    free(m->segments);
    free(m->tool);
    free(m->source_format);
    buffer_free(&m->digests);
    buffer_free(&m->skipped);
    buffer_free(&m->skipped_places);
    schema_free(&m->schema);
    *m = (struct manifest){0};
}

apl_status manifest_add_skipped(struct manifest *m, const char *path, size_t path_length, const char *why,
                                size_t why_length, apl_error *err)
{
    size_t place = m->skipped.size;
    if (m->skipped_places.size / sizeof place >= APL_MAX_SKIPPED)
        return APL_OK;
    buffer_put(&m->skipped, path, path_length);
    buffer_put(&m->skipped, "", 1);
    buffer_put(&m->skipped, why, why_length);
    buffer_put(&m->skipped, "", 1);
    buffer_put(&m->skipped_places, &place, sizeof place);
    return m->skipped.failed || m->skipped_places.failed ? fail_nomem(err) : APL_OK;
}

const char *manifest_skipped(const struct manifest *m, uint64_t i, const char **why)
{
    size_t place;
    if (i >= m->skipped_places.size / sizeof place)
        return NULL;
    memcpy(&place, m->skipped_places.data + i * sizeof place, sizeof place);
    const char *path = (const char *)m->skipped.data + place;
    if (why)
        *why = path + strlen(path) + 1;
    return path;
}

static struct summary *find_summary(const struct split *split, unsigned field)
{
    struct summary *s = split->summaries;
    while (s && s->field != field)
        s = s->next;
    return s;
}

struct summary split_summary(const struct split *split, unsigned field)
{
    const struct summary *s = find_summary(split, field);
    return s ? *s : (struct summary){.field = field};
}

static void free_summary(struct summary *s)
{
    free(s->classes);
    free(s->moments);
    free(s->colours);
    free(s);
}

void split_free_summaries(struct split *split)
{
    for (struct summary *s = split->summaries, *next; s; s = next) {
        next = s->next;
        free_summary(s);
    }
    split->summaries = NULL;
}

apl_status manifest_new_summary(const struct schema *schema, struct split *split, unsigned f, apl_error *err)
{
    const apl_field *field = &schema->fields[f];
    unsigned channels = field_channels(field);
    bool colours = schema_has_colours(schema, f);
    if ((field->class_count == 0 && channels == 0 && !colours) || find_summary(split, f))
        return APL_OK;
    struct summary *s = calloc(1, sizeof *s);
    if (!s)
        return fail_nomem(err);
    s->field = f;
    s->classes = field->class_count ? calloc((size_t)field->class_count, sizeof *s->classes) : NULL;
    s->moments = channels ? calloc(channels, sizeof *s->moments) : NULL;
    s->colours = colours ? calloc(1, sizeof *s->colours) : NULL;
    if ((field->class_count && !s->classes) || (channels && !s->moments) || (colours && !s->colours)) {
        free_summary(s);
        return fail_nomem(err);
    }
    s->next = split->summaries;
    split->summaries = s;
    return APL_OK;
}

static apl_status bad_layout(apl_error *err, const char *what)
{
    return fail(err, APL_E_CORRUPT, "the manifest is damaged: %s", what);
}

/* Splits, and segments, must cover the ids from 0 without gap or overlap; members the source positions. */
static apl_status check_cover(const struct manifest *m, apl_error *err)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < m->split_count; at += m->splits[i++].count)
        if (m->splits[i].first != at || m->splits[i].count > m->info.records - at)
            return bad_layout(err, "splits do not cover the records");
    if (at != m->info.records)
        return bad_layout(err, "splits do not cover the records");
    at = 0;
    for (uint32_t i = 0; i < m->member_count; at += m->members[i++].count)
        if (m->members[i].first != at || m->members[i].count > m->info.records - at ||
            m->members[i].split >= m->split_count ||
            (i > 0 && m->members[i].number <= m->members[i - 1].number))
            return bad_layout(err, "members do not cover the records");
    if (at != m->info.records)
        return bad_layout(err, "members do not cover the records");
    return APL_OK;
}

static apl_status derive_blocks(struct manifest *m, apl_error *err)
{
    uint64_t at = 0, blocks = 0;
    for (uint32_t i = 0; i < m->segment_count; i++) {
        struct segment *s = &m->segments[i];
        if (s->first_id != at || s->count == 0 || s->count > m->info.records - at ||
            (i > 0 && s->number <= s[-1].number))
            return bad_layout(err, "segments do not cover the records");
        uint64_t n = (s->count - 1) / m->info.block_records + 1;
        if (n > UINT32_MAX)
            return bad_layout(err, "a segment of too many blocks");
        s->first_block = blocks;
        s->block_records = m->info.block_records;
        blocks += n;
        at += s->count;
    }
    if (at != m->info.records)
        return bad_layout(err, "segments do not cover the records");
    m->info.blocks = blocks;
    return APL_OK;
}

apl_status manifest_finish(struct manifest *m, apl_error *err)
{
    if (m->info.block_records == 0 || m->info.block_records > APL_MAX_BLOCK)
        return bad_layout(err, "impossible block size");
    if (m->schema.count == 0)
        return bad_layout(err, "no fields");
    TRY(check_cover(m, err));
    TRY(derive_blocks(m, err));
    m->info.fields = m->schema.count;
    m->info.splits = m->split_count;
    m->info.members = m->member_count;
    m->info.raw_bytes = 0;
    for (unsigned f = 0; f < m->schema.count; f++)
        m->info.raw_bytes += m->schema.fields[f].raw_bytes;
    m->info.tool = m->tool ? m->tool : "";
    m->info.source_format = m->source_format ? m->source_format : "";
    return APL_OK;
}

/* Of `count` structs of `size` bytes each, ascending by the uint64_t at `offset` in each: the last whose number is at most `value`. */
static uint32_t last_at_most(const void *list, uint32_t count, size_t size, size_t offset, uint64_t value)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t number;
        memcpy(&number, (const char *)list + middle * size + offset, sizeof number);
        if (number <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t manifest_split_of(const struct manifest *m, uint64_t id)
{
    return last_at_most(m->splits, m->split_count, sizeof *m->splits, offsetof(struct split, first), id);
}

uint32_t manifest_member_of(const struct manifest *m, uint64_t position)
{
    return last_at_most(m->members, m->member_count, sizeof *m->members, offsetof(struct member, first),
                        position);
}

const struct segment *manifest_segment_of(const struct manifest *m, uint64_t id)
{
    return &m->segments[last_at_most(m->segments, m->segment_count, sizeof *m->segments,
                                     offsetof(struct segment, first_id), id)];
}

uint64_t manifest_block_of(const struct manifest *m, uint64_t id)
{
    const struct segment *s = manifest_segment_of(m, id);
    return s->first_block + (id - s->first_id) / s->block_records;
}

const struct segment *manifest_block_ids(const struct manifest *m, uint64_t block, uint64_t *first,
                                         uint32_t *count)
{
    const struct segment *s = &m->segments[last_at_most(m->segments, m->segment_count, sizeof *m->segments,
                                                        offsetof(struct segment, first_block), block)];
    uint64_t offset = (block - s->first_block) * s->block_records;
    uint64_t left = s->count - offset;
    *first = s->first_id + offset;
    *count = left < s->block_records ? (uint32_t)left : s->block_records;
    return s;
}

apl_status manifest_content_digest(const struct schema *schema, uint8_t digest[32], apl_error *err)
{
    struct sha256 *sha = sha256_new();
    if (!sha)
        return fail_nomem(err);
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_field *field = &schema->fields[f];
        if (field->role != APL_INPUT && field->role != APL_TARGET)
            continue;
        uint8_t head[4] = {(uint8_t)field->role, (uint8_t)field->dtype, (uint8_t)field->ndim, 0};
        sha256_add(sha, field->name, strlen(field->name) + 1);
        sha256_add(sha, head, sizeof head);
        for (unsigned i = 0; i < field->ndim; i++) {
            uint8_t dim[8];
            store_le(dim, (uint64_t)field->shape[i], 8);
            sha256_add(sha, dim, sizeof dim);
        }
        sha256_add(sha, field->digest, sizeof field->digest);
    }
    sha256_end(sha, digest);
    sha256_free(sha);
    return APL_OK;
}
