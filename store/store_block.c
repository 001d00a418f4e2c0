/* Taking blocks, or parts of them, from a store's file. */
#include "store.h"

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

apl_status store_block(const apl_store *store, uint64_t number, struct block_coder *bc,
                       struct block_view *view, apl_error *err)
{
    const struct entry *e = &store->blocks[number];
    const uint8_t *bytes;
    apl_status status = lmdb_reader_value(&store->lmdb, e, &bc->file, &bytes, err);
    if (status == APL_OK)
        status = block_parse(bc, bytes, e->size, &store->manifest.schema, view, err);
    if (status == APL_OK)
        status = check_is_due(store, number, view, err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

apl_status store_block_head(const apl_store *store, uint64_t number, struct block_coder *bc,
                            struct block_view *view, apl_error *err)
{
    const struct entry *e = &store->blocks[number];
    uint64_t first;
    uint32_t count;
    const uint8_t *bytes;
    manifest_block_ids(&store->manifest, number, &first, &count);
    /* opening has made sure that each block has as many bytes */
    size_t head = (size_t)block_head_bytes(store->manifest.schema.count, count);
    apl_status status = lmdb_reader_part(&store->lmdb, e, 0, head, &bc->file, &bytes, err);
    if (status == APL_OK)
        status = block_parse_head(bc, bytes, head, e->size, &store->manifest.schema, view, err);
    if (status == APL_OK)
        status = check_is_due(store, number, view, err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

apl_status store_block_column(const apl_store *store, uint64_t number, struct block_coder *bc,
                              struct block_view *view, unsigned field, apl_error *err)
{
    struct column_view *v = &view->columns[field];
    apl_status status = lmdb_reader_part(&store->lmdb, &store->blocks[number], v->offset, v->coded_bytes,
                                         &bc->file, &v->coded, err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

apl_status store_kept_index(const apl_store *store, uint64_t number, struct block_coder *bc,
                            const struct block_view *view, unsigned field, struct kept_index *index,
                            apl_error *err)
{
    const struct column_view *v = &view->columns[field];
    const uint8_t *bytes;
    apl_status status = lmdb_reader_part(&store->lmdb, &store->blocks[number], v->offset,
                                         kept_index_bytes(view->records), &bc->file, &bytes, err);
    if (status == APL_OK)
        status =
            kept_take_index(bc, &store->manifest.schema.fields[field], view->records, v, bytes, index, err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

/* The value of a record is not the one that the index tells of. */
static apl_status wrong_value(const apl_store *store, unsigned field, uint32_t record, apl_error *err)
{
    return fail(err, APL_E_CORRUPT, "field %s: the checksum of record %u of the block is wrong",
                store->manifest.schema.fields[field].name, record);
}

apl_status store_kept_value(const apl_store *store, uint64_t number, struct block_coder *bc,
                            const struct block_view *view, unsigned field, const struct kept_index *index,
                            uint32_t record, struct buffer *out, apl_error *err)
{
    size_t offset, size;
    const uint8_t *bytes;
    kept_place(index, record, &offset, &size);
    if (!buffer_reserve(out, size))
        return fail_nomem(err);
    apl_status status = lmdb_reader_part(&store->lmdb, &store->blocks[number],
                                         view->columns[field].offset + offset, size, &bc->file, &bytes, err);
    if (status == APL_OK) {
        buffer_put(out, bytes, size);
        /* the copy is what is checked: a mapped file may change */
        if (!kept_value_ok(index, record, size ? out->data + out->size - size : NULL, size))
            status = wrong_value(store, field, record, err);
    }
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}

apl_status store_list_kept(const apl_store *store, uint64_t number, struct block_coder *bc,
                           const struct block_view *view, unsigned field, struct raw_column *list,
                           apl_error *err)
{
    struct kept_index index;
    uint64_t first = view->columns[field].offset + kept_index_bytes(view->records);
    TRY(store_kept_index(store, number, bc, view, field, &index, err));
    return kept_list(&index, first, list, err);
}

apl_status store_listed_value(const apl_store *store, uint64_t number, unsigned field,
                              const struct raw_column *list, uint32_t record, uint8_t *out, apl_error *err)
{
    const struct kept_places *places = kept_places(list);
    uint64_t start;
    size_t size = raw_column_extent(list, record, &start);
    apl_status status = lmdb_reader_bytes(&store->lmdb, &store->blocks[number],
                                          (size_t)(places->first + start), size, out, err);
    /* the copy is what is checked: a mapped file may change */
    if (status == APL_OK && hash_xxh3_64(out, size) != places->sums[record])
        status = wrong_value(store, field, record, err);
    return status == APL_OK ? APL_OK : store_block_error(store, number, status, err);
}
