/* What the parts of a manifest have to do with each other: docs/FORMAT.md has these rules, and readers count on them. */
#include "digests.h"
#include "manifest.h"

#include <stdlib.h>
#include <string.h>

static int by_member_name(const void *a, const void *b)
{
    const struct split *x = *(const struct split *const *)a, *y = *(const struct split *const *)b;
    return strcmp(x->name, y->name);
}

/* No two splits have the same name: the second could not be asked for. */
static apl_status check_split_names(const struct manifest *m, apl_error *err)
{
    const struct split **sorted = malloc(((size_t)m->split_count + 1) * sizeof(*sorted));
    if (!sorted)
        return fail_nomem(err);
    for (uint32_t i = 0; i < m->split_count; i++)
        sorted[i] = &m->splits[i];
    qsort(sorted, m->split_count, sizeof(*sorted), by_member_name);
    const char *twice = NULL;
    for (uint32_t i = 1; i < m->split_count && !twice; i++)
        if (strcmp(sorted[i - 1]->name, sorted[i]->name) == 0)
            twice = sorted[i]->name;
    free(sorted);
    return twice ? fail(err, APL_E_CORRUPT, "the manifest is damaged: two splits are called %s", twice)
                 : APL_OK;
}

/* The source positions of a member's records are among the ids of its split: in a store that is not shuffled they are the ids,
 * and shuffling keeps splits apart and in their order. */
static apl_status check_member_places(const struct manifest *m, apl_error *err)
{
    for (uint32_t i = 0; i < m->member_count; i++) {
        const struct member *member = &m->members[i];
        const struct split *split = &m->splits[member->split];
        if (member->first < split->first || member->first - split->first > split->count ||
            member->count > split->count - (member->first - split->first))
            return fail(err, APL_E_CORRUPT,
                        "the manifest is damaged: member %s has records outside of its split %s",
                        member->name, split->name);
    }
    return APL_OK;
}

/* The next segment is the one of these records; without records, no segment is due. */
static apl_status take_segment(const struct manifest *m, uint32_t *next, const struct segment *due,
                               const char *name, apl_error *err)
{
    if (due->count == 0)
        return APL_OK;
    const struct segment *is = *next < m->segment_count ? &m->segments[*next] : NULL;
    if (!is || is->number != due->number || is->first_id != due->first_id || is->count != due->count)
        return fail(err, APL_E_CORRUPT, "the manifest is damaged: the records of %s are not one segment",
                    name);
    ++*next;
    return APL_OK;
}

/* Segments are the members, or in a shuffled store the splits, that have records: so no block spans two splits, which readers
 * deliver block by block. */
static apl_status check_segments(const struct manifest *m, apl_error *err)
{
    uint32_t next = 0, count = m->info.shuffled ? m->split_count : m->member_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct split *split = &m->splits[i];
        const struct member *member = &m->members[i];
        struct segment due = {0};
        if (m->info.shuffled)
            due = (struct segment){.number = i, .first_id = split->first, .count = split->count};
        else
            due =
                (struct segment){.number = member->number, .first_id = member->first, .count = member->count};
        TRY(take_segment(m, &next, &due, m->info.shuffled ? split->name : member->name, err));
    }
    return next == m->segment_count
               ? APL_OK
               : fail(err, APL_E_CORRUPT, "the manifest is damaged: there are too many segments");
}

/* A shuffled store's last field, and no other, says where in the source each record was. */
static apl_status check_position_field(const struct manifest *m, apl_error *err)
{
    const struct schema *schema = &m->schema;
    bool shuffled = m->info.shuffled != 0;
    for (unsigned f = 0; f < schema->count; f++)
        if (schema->fields[f].role == APL_POSITION && !(shuffled && f + 1 == schema->count))
            return fail(
                err, APL_E_CORRUPT,
                "the manifest is damaged: field %s has source positions, which only the last field of a "
                "shuffled store has",
                schema->fields[f].name);
    if (shuffled && schema->fields[schema->count - 1].role != APL_POSITION)
        return fail(err, APL_E_CORRUPT,
                    "the manifest is damaged: the store is shuffled, but has no field with source positions");
    return APL_OK;
}

static apl_status check_digests(const struct manifest *m, apl_error *err)
{
    apl_status status = digests_check(&m->digests, m->info.blocks, err);
    return status == APL_OK ? APL_OK : fail_in(err, status, "the manifest is damaged");
}

static apl_status check_schema(const struct manifest *m, apl_error *err)
{
    apl_error inner;
    if (schema_text_lists(&m->schema) != m->text_lists)
        return fail(err, APL_E_CORRUPT,
                    "the manifest is damaged: it has another number of fields of lists of texts");
    return schema_check_kinds(&m->schema, &inner) == APL_OK
               ? APL_OK
               : fail(err, APL_E_CORRUPT, "the manifest is damaged: %s", inner.message);
}

apl_status manifest_check_rules(const struct manifest *m, apl_error *err)
{
    TRY(check_split_names(m, err));
    TRY(check_member_places(m, err));
    TRY(check_segments(m, err));
    TRY(check_position_field(m, err));
    TRY(check_schema(m, err));
    return check_digests(m, err);
}
