/* The records whose value of a field is wanted. */
#include "subset.h"

#include <stdlib.h>

struct sieve {
    const apl_store *store;
    unsigned field;
    int (*keep)(void *user, uint64_t id, const void *value, size_t bytes);
    void *user;
    uint64_t *ids;
    uint64_t room, kept;
    struct block_coder bc;
    struct raw_column column;
};

#define BLOCKS_AHEAD 64u

/* Of a store at a URL, header and column of the next blocks are asked for before they are needed; but no column of files. */
static bool asks_ahead(const struct sieve *s)
{
    return store_is_elsewhere(s->store) && !s->store->manifest.schema.fields[s->field].media;
}

static apl_status sift_block(struct sieve *s, const struct subset_block *block, apl_error *err)
{
    const struct schema *schema = &s->store->manifest.schema;
    struct block_view view;
    TRY(store_block_head(s->store, block->number, &s->bc, &view, err));
    TRY(store_block_column(s->store, block->number, &s->bc, &view, s->field, err));
    apl_status status = block_decode_column(&s->bc, schema, &view, s->field, false, &s->column, err);
    if (status != APL_OK)
        return store_block_error(s->store, block->number, status, err);
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t record = block->chosen ? block->chosen[i] : i;
        uint64_t id = block->first_id + record;
        size_t bytes;
        const uint8_t *value = raw_column_value(&s->column, &schema->fields[s->field], record, &bytes);
        if (!s->keep(s->user, id, value ? value : (const uint8_t *)"", bytes))
            continue;
        if (s->kept < s->room)
            s->ids[s->kept] = id;
        s->kept++;
    }
    return APL_OK;
}

static apl_status sift(struct sieve *s, const struct subset *subset, apl_error *err)
{
    apl_status status = block_coder_init(&s->bc, err);
    uint32_t asked = 0;
    for (uint32_t b = 0; b < subset->blocks && status == APL_OK; b++) {
        for (; asks_ahead(s) && asked < subset->blocks && asked < b + BLOCKS_AHEAD; asked++)
            (void)store_ahead(s->store, subset->block[asked].number, (uint64_t)1 << s->field,
                              (struct need){false, DUE_UNKNOWN});
        status = sift_block(s, &subset->block[b], err);
    }
    block_coder_free(&s->bc);
    raw_column_free(&s->column);
    if (status == APL_OK && s->kept > s->room && s->ids)
        return fail(err, APL_E_INVALID, "%s: %s kept, and there is room for %llu", s->store->name,
                    number_of(s->kept, "record is", "records are"), (unsigned long long)s->room);
    return status;
}

apl_status apl_store_where(apl_store *store, const char *split, const char *field,
                           int (*keep)(void *user, uint64_t id, const void *value, size_t bytes), void *user,
                           uint64_t *ids, uint64_t *count, apl_error *err)
{
    struct sieve s = {.store = store, .keep = keep, .user = user, .ids = ids};
    struct subset subset;
    if (!store || !field || !keep || !count)
        return fail(err, APL_E_INVALID, "apl_store_where: store, field, keep or count is NULL");
    TRY(store_find_field(store, field, &s.field, err));
    s.room = ids ? *count : 0;
    TRY(subset_open(store, split, &subset, err));
    store_retain(store); /* keep() may close it */
    apl_status status = sift(&s, &subset, err);
    subset_close(&subset);
    store_release(store);
    if (status == APL_OK || status == APL_E_INVALID) /* all have been looked at, with room or without */
        *count = s.kept;
    return status;
}
