/* What is said of a block that is damaged, and which of its records are: see bad_block.h. */
#include "bad_block.h"

#include "kept.h"

static bool has_classes(const struct schema *schema, const struct raw_block *block, uint32_t record)
{
    for (unsigned f = 0; f < schema->count; f++)
        if (!block_class_ok(&schema->fields[f], &block->columns[f], record))
            return false;
    return true;
}

/* Are the values of this record, in kept fields, those of their index? Each has a checksum. */
static bool kept_as_stored(struct block_coder *bc, const struct schema *schema, const struct block_view *view,
                           uint32_t record)
{
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_field *field = &schema->fields[f];
        struct kept_index index;
        if (!field->media)
            continue;
        if (kept_take_index(bc, field, view->records, &view->columns[f], view->columns[f].coded, &index,
                            NULL) != APL_OK)
            return false;
        struct kept_place place = kept_place_of(&index, record);
        if (!kept_value_ok(&place, view->columns[f].coded + place.offset))
            return false;
    }
    return true;
}

/* Can the good values of a field with a wrong checksum be told from the bad ones? Inputs have a hash for each record, kept values
 * their checksums; other fields stand or fall as a whole. */
static bool is_told_apart(const apl_field *field, const struct block_view *view, unsigned f,
                          const struct raw_column *column)
{
    if (field->media)
        return column->ends.size == view->records * sizeof(uint64_t);
    return field->role == APL_INPUT && field_varying(field) == 0 &&
           column->values.size == view->columns[f].raw_bytes;
}

size_t bad_block_records(struct block_coder *bc, const struct schema *schema, const uint8_t *bytes,
                         size_t size, uint64_t first, uint32_t count, uint64_t *bad)
{
    struct block_view view;
    struct raw_block block = {0};
    apl_error ignored;
    size_t n = 0;
    bool readable = block_parse(bc, bytes, size, schema, &view, &ignored) == APL_OK && view.records == count;
    for (unsigned f = 0; readable && f < schema->count; f++) {
        apl_status status = block_decode_column(bc, schema, &view, f, true, &block.columns[f], &ignored);
        if (status != APL_OK && !is_told_apart(&schema->fields[f], &view, f, &block.columns[f]))
            readable = false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct hash128 is = {0}, should_be = {0};
        if (readable) {
            is = block_record_hash(bc, schema, &block, i);
            should_be = block_stored_hash(&view, i);
        }
        if (!readable || is.low != should_be.low || is.high != should_be.high ||
            !has_classes(schema, &block, i) || !kept_as_stored(bc, schema, &view, i))
            bad[n++] = first + i;
    }
    raw_block_free(&block);
    return n;
}

void bad_block_describe(const struct manifest *m, uint64_t number, apl_bad_block *block)
{
    uint64_t first;
    uint32_t count;
    const struct segment *s = manifest_block_ids(m, number, &first, &count);
    *block = (apl_bad_block){.block = number - s->first_block, .first = first, .count = count};
    block->member = m->splits[manifest_split_of(m, first)].name;
    for (uint32_t i = 0; !m->info.shuffled && i < m->member_count; i++)
        if (m->members[i].first <= first && first - m->members[i].first < m->members[i].count)
            block->member = m->members[i].name;
}

apl_status bad_block_error(const struct manifest *manifest, uint64_t number, apl_status status,
                           const char *why, apl_error *err)
{
    uint64_t first;
    uint32_t count;
    manifest_block_ids(manifest, number, &first, &count);
    fail(err, status, "block %llu: %s", (unsigned long long)number, why);
    return fail_records(err, status, first, count);
}
