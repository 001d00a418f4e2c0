/* A set as one store: its ids, members, segments and blocks. */
#include "set_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers 0 ... count-1 ordered by key, and those of one key by number; NULL: out of memory. */
static uint32_t *ordered(const uint32_t *keys, uint32_t count, uint32_t key_count)
{
    uint32_t *order = malloc(((size_t)count + 1) * sizeof *order);
    size_t *at = calloc((size_t)key_count + 1, sizeof *at);
    if (order && at) {
        for (uint32_t i = 0; i < count; i++)
            at[keys[i] + 1]++;
        for (uint32_t k = 1; k <= key_count; k++)
            at[k] += at[k - 1];
        for (uint32_t i = 0; i < count; i++)
            order[at[keys[i]]++] = i;
    } else {
        free(order);
        order = NULL;
    }
    free(at);
    return order;
}

/* The order of parts, or of pieces: by split, then by shard, then as in the shard. */
static uint32_t *order_of(const struct parts *p, bool pieces, uint32_t splits)
{
    uint32_t count = pieces ? p->piece_count : p->part_count, *order = NULL;
    uint32_t *keys = malloc(((size_t)count + 1) * sizeof *keys);
    if (!keys)
        return NULL;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = p->part[pieces ? p->piece[i].part : i].split;
    order = ordered(keys, count, splits);
    free(keys);
    return order;
}

/* Ids, and runs, whose blocks are not known yet. */
static apl_status place_parts(struct set_list *list, struct parts *p, struct manifest *m, apl_error *err)
{
    uint64_t at = 0;
    uint32_t *order = order_of(p, false, m->split_count);
    list->runs = calloc((size_t)p->part_count + 1, sizeof *list->runs);
    if (!order || !list->runs) {
        free(order);
        return fail_nomem(err);
    }
    for (uint32_t i = 0; i < m->split_count; at += m->splits[i++].count)
        m->splits[i].first = at;
    at = 0;
    for (uint32_t i = 0; i < p->part_count; i++) {
        struct part *part = &p->part[order[i]];
        part->first = at;
        if (part->count)
            list->runs[list->run_count++] = (struct run){.first = at,
                                                         .count = part->count,
                                                         .own_first = part->own_first,
                                                         .own_block = part->own_block,
                                                         .shard = part->shard};
        at += part->count;
    }
    free(order);
    return APL_OK;
}

static apl_status name_member(const struct shard *s, const struct piece *piece, char **name, apl_error *err)
{
    size_t size = strlen(s->name) + piece->length + 2;
    *name = malloc(size);
    if (!*name)
        return fail_nomem(err);
    snprintf(*name, size, "%s/%.*s", s->name, (int)piece->length, piece->name);
    return APL_OK;
}

static apl_status place_members(const struct set_list *list, const struct parts *p, struct manifest *m,
                                apl_error *err)
{
    apl_status status = APL_OK;
    uint32_t *order = order_of(p, true, m->split_count);
    m->members = calloc((size_t)p->piece_count + 1, sizeof *m->members);
    if (!order || !m->members)
        GUARD(fail_nomem(err));
    for (uint32_t i = 0; i < p->piece_count; i++) {
        const struct piece *piece = &p->piece[order[i]];
        const struct part *part = &p->part[piece->part];
        struct member *member = &m->members[m->member_count++];
        *member = (struct member){.split = part->split,
                                  .number = piece->number,
                                  .first = part->first + (piece->own_first - part->own_first),
                                  .count = piece->count};
        GUARD(name_member(&list->shards[part->shard], piece, &member->name, err));
    }
out:
    free(order);
    return status;
}

/* Segments are the members, or in a set of shuffled shards the runs. */
static apl_status place_segments(struct set_list *list, struct manifest *m, apl_error *err)
{
    uint32_t count = m->info.shuffled ? list->run_count : m->member_count, run = 0;
    uint64_t blocks = 0;
    m->segments = calloc((size_t)count + 1, sizeof *m->segments);
    if (!m->segments)
        return fail_nomem(err);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t first = m->info.shuffled ? list->runs[i].first : m->members[i].first;
        uint64_t records = m->info.shuffled ? list->runs[i].count : m->members[i].count;
        if (records == 0)
            continue;
        while (list->runs[run].first + list->runs[run].count <= first)
            run++;
        if (list->runs[run].first == first)
            list->runs[run].first_block = blocks;
        uint32_t block_records = list->shards[list->runs[run].shard].block_records;
        m->segments[m->segment_count] = (struct segment){.number = m->segment_count,
                                                         .first_id = first,
                                                         .count = records,
                                                         .first_block = blocks,
                                                         .block_records = block_records};
        m->segment_count++;
        blocks += (records - 1) / block_records + 1;
    }
    m->info.blocks = blocks;
    return APL_OK;
}

apl_status set_layout(struct set_list *list, struct parts *p, struct manifest *m, apl_error *err)
{
    TRY(place_parts(list, p, m, err));
    TRY(place_members(list, p, m, err));
    TRY(place_segments(list, m, err));
    m->info.fields = m->schema.count;
    m->info.splits = m->split_count;
    m->info.members = m->member_count;
    for (unsigned f = 0; f < m->schema.count; f++)
        m->info.raw_bytes += m->schema.fields[f].raw_bytes;
    m->info.tool = "";
    m->info.source_format = m->source_format ? m->source_format : "";
    return APL_OK;
}
