/* Taking blocks, or parts of them, from a store's file, or from the file of the shard of a set that has them. */
#include "pinned.h"
#include "set.h"
#include "store_file.h"

/* Where a block is: in the store itself, or in a shard, where it has another number. */
struct place {
    const apl_store *store;
    uint64_t number;
    uint64_t moved; /* from source positions there to those in the set */
};

static void release_shard(void *shard)
{
    store_release_file(shard);
}

/* The coder holds the shard: what is taken may be mapped. */
static apl_status find_in_set(const apl_store *store, uint64_t number, struct block_coder *bc,
                              struct place *place, apl_error *err)
{
    const struct run *run;
    apl_store *shard;
    TRY(set_take_block(store, number, &shard, &place->number, &run, err));
    block_coder_hold(bc, shard, release_shard);
    place->store = shard;
    place->moved = run->first - run->own_first;
    return APL_OK;
}

static inline apl_status find_place(const apl_store *store, uint64_t number, struct block_coder *bc,
                                    struct place *place, apl_error *err)
{
    *place = (struct place){store, number, 0};
    return store->set ? find_in_set(store, number, bc, place, err) : APL_OK;
}

/* Is it the block that belongs there? */
static apl_status check_is_due(const apl_store *store, uint64_t number, const struct block_view *view,
                               apl_error *err)
{
    uint64_t first;
    uint32_t count;
    const struct segment *s = manifest_block_ids(&store->manifest, number, &first, &count);
    return view->segment == s->number && view->first == first - s->first_id && view->records == count
               ? APL_OK
               : fail(err, APL_E_CORRUPT, "the block belongs elsewhere");
}

/* What has come from elsewhere may have been damaged on the way, and is asked for once more. */
static bool may_ask_again(const struct place *at, apl_status status)
{
    return status == APL_E_CORRUPT && lmdb_reader_again(&at->store->lmdb, &at->store->blocks[at->number]);
}

static apl_status take_here(const struct place *at, struct block_coder *bc, struct block_view *view,
                            apl_error *err)
{
    const uint8_t *bytes;
    size_t size = at->store->blocks[at->number].size;
    TRY(pinned_part(at->store, at->number, 0, size, bc, &bytes, err));
    TRY(block_parse(bc, bytes, size, &at->store->manifest.schema, view, err));
    return check_is_due(at->store, at->number, view, err);
}

/* Whole blocks that are taken one after another go on like that: the next ones are fetched meanwhile. Where there are few, any two are
 * near each other; so what is near depends on how many there are. */
#define NEAR   8u
#define SPREAD 16u
#define IN_ROW 4u
#define AHEAD  16u
static void look_ahead(const struct place *at)
{
    apl_store *s = (apl_store *)at->store;
    uint64_t count = s->lmdb.count - 1, near = count < NEAR * SPREAD ? count / SPREAD + 1 : NEAR,
             before = atomic_exchange_explicit(&s->last, at->number, memory_order_relaxed);
    if (at->number + near < before || at->number > before + near) {
        atomic_store_explicit(&s->in_a_row, 0, memory_order_relaxed);
        return;
    }
    if (atomic_fetch_add_explicit(&s->in_a_row, 1, memory_order_relaxed) < IN_ROW)
        return;
    for (uint64_t n = at->number + 1; n <= at->number + AHEAD && n < count; n++) {
        struct extent whole = {0, s->blocks[n].size};
        if (s->blocks[n].key.kind != KEY_BLOCK ||
            lmdb_reader_ahead(&s->lmdb, &s->blocks[n], &whole, 1, (struct need){false, DUE_UNKNOWN}) ==
                ASK_LATER)
            return;
    }
}

/* Of a block from elsewhere the checksums are compared before anybody decodes it. If they are wrong twice, it is they who decode it that
 * find out, and say what is wrong with which records. */
static apl_status take_elsewhere(const struct place *at, struct block_coder *bc, struct block_view *view,
                                 apl_error *err)
{
    const struct schema *schema = &at->store->manifest.schema;
    if (!bc->announces)
        look_ahead(at);
    apl_status status = take_here(at, bc, view, err);
    if (status == APL_OK)
        status = block_check_coded(bc, schema, view, err);
    if (!may_ask_again(at, status))
        return status;
    TRY(take_here(at, bc, view, err));
    apl_error wrong;
    return block_check_coded(bc, schema, view, &wrong) == APL_E_NOMEM ? fail_nomem(err) : APL_OK;
}

apl_status store_block(const apl_store *store, uint64_t number, struct block_coder *bc,
                       struct block_view *view, apl_error *err)
{
    struct place at;
    TRY(find_place(store, number, bc, &at, err));
    apl_status status =
        at.store->lmdb.remote ? take_elsewhere(&at, bc, view, err) : take_here(&at, bc, view, err);
    view->moved = at.moved;
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

static apl_status take_block_head(const struct place *at, struct block_coder *bc, struct block_view *view,
                                  apl_error *err)
{
    uint64_t first;
    uint32_t count;
    const uint8_t *bytes;
    const struct schema *schema = &at->store->manifest.schema;
    manifest_block_ids(&at->store->manifest, at->number, &first, &count);
    /* opening has made sure that each block has as many bytes */
    size_t head = (size_t)block_head_bytes(schema->count, count);
    TRY(pinned_part(at->store, at->number, 0, head, bc, &bytes, err));
    TRY(block_parse_head(bc, bytes, head, at->store->blocks[at->number].size, schema, view, err));
    return check_is_due(at->store, at->number, view, err);
}

apl_status store_block_head(const apl_store *store, uint64_t number, struct block_coder *bc,
                            struct block_view *view, apl_error *err)
{
    struct place at;
    TRY(find_place(store, number, bc, &at, err));
    apl_status status = take_block_head(&at, bc, view, err);
    if (may_ask_again(&at, status))
        status = take_block_head(&at, bc, view, err);
    view->moved = at.moved;
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

static apl_status take_column(const struct place *at, struct block_coder *bc, struct column_view *v,
                              apl_error *err)
{
    return pinned_part(at->store, at->number, v->offset, v->coded_bytes, bc, &v->coded, err);
}

apl_status store_block_column(const apl_store *store, uint64_t number, struct block_coder *bc,
                              struct block_view *view, unsigned field, apl_error *err)
{
    struct place at;
    apl_error wrong;
    TRY(find_place(store, number, bc, &at, err));
    apl_status status = take_column(&at, bc, &view->columns[field], err);
    bool kept = store->manifest.schema.fields[field].media; /* whose values have checksums of their own */
    if (status == APL_OK && at.store->lmdb.remote && !kept &&
        may_ask_again(&at, block_check_column(&store->manifest.schema, view, field, &wrong)))
        status = take_column(&at, bc, &view->columns[field], err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

static apl_status take_index(const struct place *at, struct block_coder *bc, const struct block_view *view,
                             unsigned field, struct kept_index *index, apl_error *err)
{
    const struct column_view *v = &view->columns[field];
    const uint8_t *bytes;
    TRY(pinned_part(at->store, at->number, v->offset, kept_index_bytes(v->codec, view->records), bc, &bytes,
                    err));
    return kept_take_index(bc, &at->store->manifest.schema.fields[field], view->records, v, bytes, index,
                           err);
}

apl_status store_kept_index(const apl_store *store, uint64_t number, struct block_coder *bc,
                            const struct block_view *view, unsigned field, struct kept_index *index,
                            apl_error *err)
{
    struct place at;
    TRY(find_place(store, number, bc, &at, err));
    apl_status status = take_index(&at, bc, view, field, index, err);
    if (may_ask_again(&at, status))
        status = take_index(&at, bc, view, field, index, err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

static apl_status copy_stored(const apl_store *store, uint64_t number, const struct kept_place *place,
                              uint8_t *out, apl_error *err)
{
    const struct entry *e = &store->blocks[number];
    TRY(lmdb_reader_bytes(&store->lmdb, e, (size_t)place->offset, place->bytes, out, err));
    if (!store->lmdb.remote || kept_value_ok(place, out) || !lmdb_reader_again(&store->lmdb, e))
        return APL_OK;
    return lmdb_reader_bytes(&store->lmdb, e, (size_t)place->offset, place->bytes, out, err);
}

static apl_status copy_from_set(const apl_store *store, uint64_t number, const struct kept_place *place,
                                uint8_t *out, apl_error *err)
{
    const struct run *run;
    apl_store *shard;
    uint64_t own;
    TRY(set_take_block(store, number, &shard, &own, &run, err));
    apl_status status = copy_stored(shard, own, place, out, err);
    store_release_file(shard);
    return status;
}

/* Copies a value as it is stored to `out`; the copy is what is checked: a mapped file may change. */
static apl_status copy_value(const apl_store *store, uint64_t number, unsigned field, uint32_t record,
                             const struct kept_place *place, uint8_t *out, apl_error *err)
{
    TRY(store->set ? copy_from_set(store, number, place, out, err)
                   : copy_stored(store, number, place, out, err));
    return kept_value_ok(place, out)
               ? APL_OK
               : fail(err, APL_E_CORRUPT, "field %s: the checksum of record %u of the block is wrong",
                      store->manifest.schema.fields[field].name, record);
}

/* The same of a pinned store, if the value has no digest of its own: out of its block, whose checksums need not be compared. */
static apl_status copy_pinned(const apl_store *store, uint64_t number, struct block_coder *bc,
                              const struct kept_place *place, uint8_t *out, apl_error *err)
{
    struct place at;
    const uint8_t *bytes;
    TRY(find_place(store, number, bc, &at, err));
    TRY(pinned_part(at.store, at.number, (size_t)place->offset, place->bytes, bc, &bytes, err));
    memcpy(out, bytes, place->bytes);
    return APL_OK;
}

/* Appends the file that a value is, whose place in the block is known. */
static apl_status append_file(const apl_store *store, uint64_t number, struct block_coder *bc, unsigned field,
                              uint32_t record, const struct kept_place *place, struct buffer *out,
                              apl_error *err)
{
    struct buffer *copy = kept_is_indexed(place) ? &bc->value : out;
    if (copy == &bc->value)
        copy->size = 0;
    if (!buffer_reserve(copy, place->bytes + 1))
        return fail_nomem(err);
    uint8_t *to = copy->data + copy->size;
    TRY(store->pinned && !place->digest ? copy_pinned(store, number, bc, place, to, err)
                                        : copy_value(store, number, field, record, place, to, err));
    if (copy == out) {
        out->size += place->bytes;
        return APL_OK;
    }
    apl_status status = kept_restore(bc, place, copy->data, out, err);
    return status == APL_OK ? APL_OK
                            : fail_in(err, status, "field %s: record %u of the block",
                                      store->manifest.schema.fields[field].name, record);
}

apl_status store_kept_value(const apl_store *store, uint64_t number, struct block_coder *bc,
                            const struct block_view *view, unsigned field, const struct kept_index *index,
                            uint32_t record, struct buffer *out, apl_error *err)
{
    struct kept_place place = kept_place_of(index, record);
    place.offset += view->columns[field].offset;
    apl_status status = append_file(store, number, bc, field, record, &place, out, err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

apl_status store_list_kept(const apl_store *store, uint64_t number, struct block_coder *bc,
                           const struct block_view *view, unsigned field, struct raw_column *list,
                           apl_error *err)
{
    struct kept_index index;
    const struct column_view *v = &view->columns[field];
    uint64_t first = v->offset + kept_index_bytes(v->codec, view->records);
    TRY(store_kept_index(store, number, bc, view, field, &index, err));
    return kept_list(&index, first, pinned_whole(store, bc), list, err);
}

apl_status store_listed_value(const apl_store *store, uint64_t number, unsigned field,
                              const struct raw_column *list, uint32_t record, uint8_t *out, apl_error *err)
{
    struct kept_place place = kept_listed(list, record);
    apl_status status = copy_value(store, number, field, record, &place, out, err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

apl_status store_listed_file(const apl_store *store, uint64_t number, struct block_coder *bc, unsigned field,
                             const struct raw_column *list, uint32_t record, struct buffer *out,
                             apl_error *err)
{
    struct kept_place place = kept_listed(list, record);
    apl_status status = append_file(store, number, bc, field, record, &place, out, err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}
