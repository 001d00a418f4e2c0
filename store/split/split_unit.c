/* What a record is known by when it is divided: see split_unit.h. */
#include "split_unit.h"

apl_status split_group_field(const apl_store *store, const char *name, unsigned *field, apl_error *err)
{
    TRY(store_find_field(store, name, field, err));
    const apl_field *is = apl_store_field(store, *field);
    /* equal numbers may have different bytes there: 0 and -0 */
    if (is->dtype >= APL_F16 && is->dtype <= APL_F64)
        return fail(err, APL_E_INVALID,
                    "%s: field %s has floating-point values: records are not grouped by it", store->name,
                    is->name);
    /* of one varying dimension the bytes tell the shape, of more they do not */
    if (is->ndim > 1 && is->value_bytes == 0)
        return fail(err, APL_E_INVALID, "%s: the shape of field %s varies: records are not grouped by it",
                    store->name, is->name);
    return APL_OK;
}

/* The field that says where in the source each record was; -1: the ids do. */
static int position_field(const apl_store *store)
{
    for (unsigned i = 0; i < store->manifest.schema.count; i++)
        if (store->manifest.schema.fields[i].role == APL_POSITION)
            return (int)i;
    return -1;
}

apl_status split_units_open(const apl_store *store, const struct split_file *rule, struct split_units *units,
                            apl_error *err)
{
    unsigned group;
    *units = (struct split_units){.store = store, .by = rule->by, .field = -1};
    if (rule->by == SPLIT_BY_GROUP) {
        TRY(split_group_field(store, rule->group, &group, err));
        units->field = (int)group;
    } else if (rule->by == SPLIT_BY_KEY) {
        units->field = position_field(store);
    }
    return APL_OK;
}

void split_units_close(struct split_units *u)
{
    if (u->ready)
        block_coder_free(&u->bc);
    raw_column_free(&u->column);
    free(u->units);
    *u = (struct split_units){.field = -1};
}

/* Decodes the field that decides, if there is one. */
static apl_status decode(struct split_units *u, uint64_t number, const struct block_view *view,
                         apl_error *err)
{
    if (u->field < 0)
        return APL_OK;
    if (!u->ready)
        TRY(block_coder_init(&u->bc, err));
    u->ready = true;
    apl_status status = block_decode_column(&u->bc, &u->store->manifest.schema, view, (unsigned)u->field,
                                            false, &u->column, err);
    return status == APL_OK ? APL_OK : store_block_error(u->store, number, status, err);
}

static apl_status key_of(const struct split_units *u, uint64_t id, uint32_t record, struct hash128 *unit,
                         apl_error *err)
{
    const struct manifest *m = &u->store->manifest;
    uint64_t position = u->field < 0 ? id : load_le(u->column.values.data + (size_t)record * 8, 8);
    const struct split *split = &m->splits[manifest_split_of(m, id)];
    if (position - split->first >= split->count)
        return fail(err, APL_E_CORRUPT, "%s: record %llu has a source position that its split does not have",
                    u->store->name, (unsigned long long)id);
    const struct member *member = &m->members[manifest_member_of(m, position)];
    *unit = (struct hash128){((uint64_t)member->number << 32) + (position - member->first), 0};
    return APL_OK;
}

static apl_status unit_of(const struct split_units *u, const struct block_view *view, uint64_t id,
                          uint32_t record, struct hash128 *unit, apl_error *err)
{
    size_t bytes;
    const uint8_t *value;
    switch (u->by) {
    case SPLIT_BY_KEY:
        return key_of(u, id, record, unit, err);
    case SPLIT_BY_ID:
        *unit = (struct hash128){id, 0};
        return APL_OK;
    case SPLIT_BY_GROUP:
        value = raw_column_value(&u->column, &u->store->manifest.schema.fields[u->field], record, &bytes);
        *unit = hash_xxh3_128(value, bytes);
        return APL_OK;
    case SPLIT_BY_CONTENT:
        break;
    }
    *unit = block_stored_hash(view, record);
    return APL_OK;
}

apl_status split_units_read(struct split_units *u, uint64_t number, const struct block_view *view,
                            apl_error *err)
{
    uint64_t first;
    uint32_t count;
    manifest_block_ids(&u->store->manifest, number, &first, &count);
    if (count > u->room) {
        struct hash128 *units = realloc(u->units, count * sizeof *units);
        if (!units)
            return fail_nomem(err);
        u->units = units;
        u->room = count;
    }
    TRY(decode(u, number, view, err));
    for (uint32_t i = 0; i < count; i++)
        TRY(unit_of(u, view, first + i, i, &u->units[i], err));
    return APL_OK;
}
