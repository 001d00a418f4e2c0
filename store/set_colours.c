/* Sums over the colours of images, of a store or of all shards of a set, whose list has none. */
#include "set.h"
#include "store.h"
#include "store_file.h"

#define UNCOUNTED \
    20 /* one in so many images may be missing from the sums: those that are not indexed are of a kind of their own */

/* The split of that name; NULL: none. */
static const struct split *split_named(const struct manifest *m, const char *name)
{
    for (uint32_t i = 0; i < m->split_count; i++)
        if (strcmp(m->splits[i].name, name) == 0)
            return &m->splits[i];
    return NULL;
}

/* Has the field images that may have sums? What has not saves opening shards. */
static bool may_have_colours(const apl_field *field)
{
    return field->dtype == APL_U8 && (field->media || (field->ndim == 3 && field_varying(field) > 0));
}

/* Adds those of a shard; false: they are of other colours than those before. */
static bool add_of_shard(const apl_store *shard, const char *split, unsigned field, bool first,
                         struct colour_sums *sums, enum colours_kind *kind)
{
    const struct manifest *m = &shard->manifest;
    const struct split *its = split_named(m, split);
    if (!its || field >= m->schema.count)
        return true;
    const struct colour_sums *of = split_summary(its, field).colours;
    if (!of || of->images == 0)
        return true;
    if (!first && schema_colours(&m->schema, field) != *kind)
        return false;
    *kind = schema_colours(&m->schema, field);
    colours_add(sums, of);
    return true;
}

static bool add_of_set(const apl_store *set, const char *split, unsigned field, struct colour_sums *sums,
                       enum colours_kind *kind)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < set_list_of(set->set)->count; i++) {
        apl_store *shard;
        apl_error ignored;
        if (set_take(set, i, &shard, &ignored) != APL_OK)
            return false; /* it is missing, or damaged: reading it will say so */
        ok = add_of_shard(shard, split, field, sums->images == 0, sums, kind);
        store_release_file(shard);
    }
    return ok;
}

bool store_sum_colours(const apl_store *store, unsigned split, unsigned field, struct colour_sums *sums,
                       enum colours_kind *kind)
{
    const struct manifest *m = &store->manifest;
    *sums = (struct colour_sums){0};
    if (split >= m->split_count || field >= m->schema.count || !may_have_colours(&m->schema.fields[field]))
        return false;
    bool ok = store->set ? add_of_set(store, m->splits[split].name, field, sums, kind)
                         : add_of_shard(store, m->splits[split].name, field, true, sums, kind);
    uint64_t images = m->splits[split].count;
    return ok && sums->images > 0 && sums->images >= images - images / UNCOUNTED;
}
