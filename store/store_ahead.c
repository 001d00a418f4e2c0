/* What will be read of a store at a URL is fetched before it is needed. */
#include "kept.h"
#include "set.h"
#include "store_file.h"

#include <stdlib.h>

/* What is read of a block first, and perhaps a little more: the header; then the index of each kept column, if that comes first. */
static size_t first_bytes(const apl_store *store, uint64_t number)
{
    uint64_t first;
    uint32_t records;
    const struct schema *schema = &store->manifest.schema;
    manifest_block_ids(&store->manifest, number, &first, &records);
    size_t bytes = (size_t)block_head_bytes(schema->count, records), most = store->blocks[number].size;
    for (unsigned f = 0; f < schema->count; f++)
        if (schema->fields[f].media)
            bytes += kept_index_bytes(schema_kept_codec(schema, f), records);
    return bytes < most ? bytes : most;
}

static bool ahead_here(const apl_store *store, uint64_t number)
{
    const struct entry *e = &store->blocks[number];
    size_t bytes = schema_keeps(&store->manifest.schema) ? first_bytes(store, number) : e->size;
    return lmdb_reader_ahead(&store->lmdb, e, 0, bytes);
}

/* ------------------------------------------------------------------------------------------------ of a set */

struct opening {
    apl_store *set;
    uint64_t number;
};

/* Opens the shard; if it cannot be, those who need it find out. */
static void open_in_background(void *what)
{
    struct opening *o = what;
    const struct run *run;
    apl_store *shard;
    uint64_t own;
    apl_error error;
    if (set_take_block(o->set, o->number, &shard, &own, &run, &error) == APL_OK) {
        (void)ahead_here(shard, own);
        store_let_go(shard);
    }
    store_release(o->set);
    free(o);
}

static void ask_for_shard(const apl_store *set, uint64_t number)
{
    struct opening *o = malloc(sizeof *o);
    if (!o)
        return;
    *o = (struct opening){store_retain((apl_store *)set), number};
    if (remote_call(open_in_background, o))
        return;
    store_release(o->set);
    free(o);
}

bool store_ahead(const apl_store *store, uint64_t number)
{
    bool asked;
    uint64_t own;
    if (!store->set)
        return ahead_here(store, number);
    apl_store *shard = set_find_open(store, number, &own, &asked);
    if (!shard) {
        if (!asked)
            ask_for_shard(store, number);
        return true;
    }
    bool ok = ahead_here(shard, own);
    store_let_go(shard);
    return ok;
}

bool store_ahead_value(const apl_store *store, uint64_t number, const struct raw_column *list,
                       uint32_t record)
{
    bool asked;
    struct kept_place place = kept_listed(list, record);
    apl_store *shard = store->set ? set_find_open(store, number, &number, &asked) : NULL;
    const apl_store *from = store->set ? shard : store;
    bool ok =
        !from || lmdb_reader_ahead(&from->lmdb, &from->blocks[number], (size_t)place.offset, place.bytes);
    store_let_go(shard);
    return ok;
}
