/* Kept columns: see kept.h. */
#include "kept.h"

#include "transcode.h"

size_t kept_index_bytes(unsigned codec, uint32_t records)
{
    size_t each = codec == CODEC_INDEXED ? 2 * KEPT_LENGTH + KEPT_SUM + 1 : KEPT_LENGTH + KEPT_SUM;
    return each * records;
}

/* ---------------------------------------------------------------------------------------------- encoding */

static apl_status use_transcoder(struct block_coder *bc, apl_error *err)
{
    if (bc->jpeg)
        return APL_OK;
    struct transcoder *t = calloc(1, sizeof *t);
    apl_status status = t ? transcoder_init(t, err) : fail_nomem(err);
    if (status == APL_OK)
        bc->jpeg = t;
    else
        free(t); /* half made, it would be taken for a whole one the next time */
    return status;
}

void kept_free_coder(struct block_coder *bc)
{
    if (bc->jpeg)
        transcoder_free(bc->jpeg);
    free(bc->jpeg);
    bc->jpeg = NULL;
}

/* Appends a value in the form that suits it. */
static apl_status put_value_form(struct block_coder *bc, unsigned codec, const uint8_t *value, size_t bytes,
                                 struct buffer *out, uint8_t *form, apl_error *err)
{
    bool indexed = false;
    if (codec == CODEC_INDEXED) {
        TRY(use_transcoder(bc, err));
        TRY(transcode(bc->jpeg, value, bytes, out, &indexed, err));
    }
    if (!indexed)
        buffer_put(out, value, bytes);
    *form = !indexed                               ? KEPT_AS_IT_CAME
            : transcoder_was_progressive(bc->jpeg) ? KEPT_PROGRESSIVE
                                                   : KEPT_INDEXED;
    return out->failed ? fail_nomem(err) : APL_OK;
}

apl_status kept_encode(struct block_coder *bc, unsigned codec, const struct raw_column *column,
                       uint32_t records, struct buffer *out, apl_error *err)
{
    const uint64_t *ends = (const uint64_t *)(const void *)column->ends.data;
    size_t n = records, index = out->size, forms = codec == CODEC_INDEXED ? KEPT_LENGTH * n : 0;
    if (!buffer_reserve(out, kept_index_bytes(codec, records) + column->values.size))
        return fail_nomem(err);
    out->size += kept_index_bytes(codec, records);
    for (size_t i = 0; i < n; i++) {
        uint64_t start = i ? ends[i - 1] : 0;
        size_t begin = out->size, bytes = (size_t)(ends[i] - start);
        uint8_t form;
        TRY(put_value_form(bc, codec, start ? column->values.data + start : column->values.data, bytes, out,
                           &form, err));
        uint8_t *at = out->data + index;
        store_le(at + KEPT_LENGTH * i, out->size - begin, KEPT_LENGTH);
        store_le(at + KEPT_LENGTH * n + forms + KEPT_SUM * i,
                 hash_xxh3_64(out->data + begin, out->size - begin), KEPT_SUM);
        if (codec == CODEC_INDEXED) {
            store_le(at + KEPT_LENGTH * (n + i), bytes, KEPT_LENGTH);
            at[kept_index_bytes(codec, records) - n + i] = form;
        }
    }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------- index */

static size_t stored_bytes(const struct kept_index *index, uint32_t record)
{
    return (size_t)load_le(index->bytes + (size_t)KEPT_LENGTH * record, KEPT_LENGTH);
}

static struct kept_place place_at(const struct kept_index *index, uint32_t record, uint64_t offset)
{
    size_t n = index->records, sums = index->forms ? 2 * KEPT_LENGTH * n : KEPT_LENGTH * n;
    struct kept_place p = {.offset = offset, .bytes = stored_bytes(index, record)};
    p.sum = load_le(index->bytes + sums + (size_t)KEPT_SUM * record, KEPT_SUM);
    p.file_bytes = p.bytes;
    if (index->forms) {
        p.file_bytes = (size_t)load_le(index->bytes + KEPT_LENGTH * (n + record), KEPT_LENGTH);
        p.form = (enum kept_form)index->bytes[sums + KEPT_SUM * n + record];
    }
    return p;
}

/* Is it a value that there can be, of what is left of the column's coded and raw bytes? */
static bool place_ok(const struct kept_place *p, uint64_t left, uint64_t raw_left)
{
    return p->bytes <= left && p->file_bytes <= raw_left && p->bytes <= APL_MAX_VALUE &&
           p->file_bytes <= APL_MAX_VALUE && (unsigned)p->form < KEPT_FORMS &&
           (p->form != KEPT_AS_IT_CAME || p->bytes == p->file_bytes);
}

apl_status kept_take_index(struct block_coder *bc, const apl_field *field, uint32_t records,
                           const struct column_view *column, const uint8_t *bytes, struct kept_index *index,
                           apl_error *err)
{
    size_t size = kept_index_bytes(column->codec, records);
    uint64_t left = column->coded_bytes - size, raw_left = column->raw_bytes - (size_t)KEPT_LENGTH * records;
    bc->index.size = 0;
    buffer_put(&bc->index, bytes, size);
    if (bc->index.failed)
        return fail_nomem(err);
    *index = (struct kept_index){records, column->codec == CODEC_INDEXED, bc->index.data};
    if (hash_xxh3_64(index->bytes, size) != column->coded_sum)
        return fail(err, APL_E_CORRUPT, "field %s: the checksum of its index is wrong", field->name);
    for (uint32_t i = 0; i < records; i++) {
        struct kept_place p = place_at(index, i, 0);
        if (!place_ok(&p, left, raw_left))
            return fail(err, APL_E_CORRUPT, "field %s: impossible size of record %u of the block",
                        field->name, i);
        left -= p.bytes;
        raw_left -= p.file_bytes;
    }
    return left == 0 && raw_left == 0
               ? APL_OK
               : fail(err, APL_E_CORRUPT, "field %s: its index and its values do not agree", field->name);
}

struct kept_place kept_place_of(const struct kept_index *index, uint32_t record)
{
    uint64_t offset = kept_index_bytes(index->forms ? CODEC_INDEXED : CODEC_KEPT, index->records);
    for (uint32_t i = 0; i < record; i++)
        offset += stored_bytes(index, i);
    return place_at(index, record, offset);
}

apl_status kept_check(struct block_coder *bc, const apl_field *field, uint32_t records,
                      const struct column_view *column, apl_error *err)
{
    struct kept_index index;
    TRY(kept_take_index(bc, field, records, column, column->coded, &index, err));
    uint64_t offset = kept_index_bytes(column->codec, records);
    for (uint32_t i = 0; i < records; i++) {
        struct kept_place p = place_at(&index, i, offset);
        if (!kept_value_ok(&p, column->coded + offset))
            return fail(err, APL_E_CORRUPT, "field %s: the checksum of record %u of the block is wrong",
                        field->name, i);
        offset += p.bytes;
    }
    return APL_OK;
}

bool kept_value_ok(const struct kept_place *place, const uint8_t *value)
{
    uint8_t digest[KEPT_DIGEST_BYTES];
    if (!place->digest)
        return hash_xxh3_64(value, place->bytes) == place->sum;
    hash_sha256(value, place->bytes, digest);
    return memcmp(digest, place->digest, sizeof digest) == 0;
}

uint64_t kept_count(const struct kept_index *index, enum kept_form form)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < index->records; i++)
        count += place_at(index, i, 0).form == form;
    return count;
}

/* -------------------------------------------------------------------------------------------------- list */

/* Room for them has been made. */
static void list_digests(const struct kept_index *index, uint64_t first, const uint8_t *block,
                         struct buffer *out)
{
    uint64_t start = first;
    for (uint32_t i = 0; i < index->records; i++) {
        struct kept_place p = place_at(index, i, 0);
        hash_sha256(block + start, p.bytes, out->data + out->size);
        out->size += KEPT_DIGEST_BYTES;
        start += p.bytes;
    }
}

/* Of n values: where each begins, and where the last one ends, twice as much, and 1 more if it is indexed; then all checksums; and
 * perhaps all digests. */
apl_status kept_list(const struct kept_index *index, uint64_t first, const uint8_t *block,
                     struct raw_column *list, apl_error *err)
{
    uint64_t end = 0, start = first;
    for (uint32_t i = 0; i < index->records; i++) {
        struct kept_place p = place_at(index, i, 0);
        uint64_t place = start << 1 | kept_is_indexed(&p);
        start += p.bytes;
        end += p.file_bytes;
        buffer_le(&list->dims, p.file_bytes, KEPT_LENGTH);
        buffer_put(&list->ends, &end, sizeof end);
        buffer_put(&list->values, &place, sizeof place);
    }
    start <<= 1;
    buffer_put(&list->values, &start, sizeof start);
    for (uint32_t i = 0; i < index->records; i++) {
        uint64_t sum = place_at(index, i, 0).sum;
        buffer_put(&list->values, &sum, sizeof sum);
    }
    if (block && buffer_reserve(&list->values, (size_t)KEPT_DIGEST_BYTES * index->records))
        list_digests(index, first, block, &list->values);
    return list->dims.failed || list->ends.failed || list->values.failed ? fail_nomem(err) : APL_OK;
}

struct kept_place kept_listed(const struct raw_column *list, uint32_t record)
{
    const uint64_t *places = (const uint64_t *)(const void *)list->values.data;
    size_t n = list->dims.size / KEPT_LENGTH, places_end = (2 * n + 1) * sizeof *places,
           digests = places_end + (size_t)KEPT_DIGEST_BYTES * record;
    bool has_digests = list->values.size > places_end;
    uint64_t start;
    return (struct kept_place){.offset = places[record] >> 1,
                               .bytes = (size_t)((places[record + 1] >> 1) - (places[record] >> 1)),
                               .sum = places[n + 1 + record],
                               .digest = has_digests ? list->values.data + digests : NULL,
                               .file_bytes = raw_column_extent(list, record, &start),
                               .form = places[record] & 1 ? KEPT_INDEXED : KEPT_AS_IT_CAME};
}

/* ---------------------------------------------------------------------------------------------- decoding */

apl_status kept_restore(struct block_coder *bc, const struct kept_place *place, const uint8_t *value,
                        struct buffer *out, apl_error *err)
{
    if (kept_is_indexed(place)) {
        TRY(use_transcoder(bc, err));
        bc->jpeg->takes_colours = bc->colours != NULL;
        return transcode_back(bc->jpeg, value, place->bytes, place->file_bytes, out, err);
    }
    buffer_put(out, value, place->bytes);
    return out->failed ? fail_nomem(err) : APL_OK;
}

/* Copies a value, checks the copy and appends the file that it is. */
static apl_status decode_value(struct block_coder *bc, const apl_field *field, uint32_t record,
                               const struct kept_place *place, const uint8_t *coded, struct buffer *into,
                               apl_error *err)
{
    struct buffer *copy = kept_is_indexed(place) ? &bc->value : into;
    size_t begin = kept_is_indexed(place) ? 0 : into->size;
    copy->size = begin;
    if (!buffer_reserve(copy, place->bytes))
        return fail_nomem(err);
    buffer_put(copy, coded + place->offset, place->bytes);
    if (!kept_value_ok(place, place->bytes ? copy->data + begin : NULL))
        return fail(err, APL_E_CORRUPT, "field %s: the checksum of record %u of the block is wrong",
                    field->name, record);
    if (place->form == KEPT_AS_IT_CAME)
        return APL_OK;
    apl_status status = kept_restore(bc, place, copy->data, into, err);
    if (status == APL_OK && transcoder_was_progressive(bc->jpeg) != (place->form == KEPT_PROGRESSIVE))
        return fail(err, APL_E_CORRUPT,
                    "field %s: record %u of the block is not of the form that it is said to be", field->name,
                    record);
    return status == APL_OK ? APL_OK
                            : fail_in(err, status, "field %s, record %u of the block", field->name, record);
}

/* Of the value that was decoded last. */
static apl_status put_colours(struct block_coder *bc, const struct kept_place *place, apl_error *err)
{
    static const struct colour_sums none;
    if (bc->colours)
        buffer_put(bc->colours, kept_is_indexed(place) ? &bc->jpeg->colours : &none, sizeof none);
    return bc->colours && bc->colours->failed ? fail_nomem(err) : APL_OK;
}

/* All values of a column, one after another; the first failure is reported. */
static apl_status decode_values(struct block_coder *bc, const apl_field *field,
                                const struct kept_index *index, const uint8_t *coded, bool despite,
                                struct buffer *into, apl_error *err)
{
    apl_status status = APL_OK;
    struct kept_place p = kept_place_of(index, 0);
    for (uint32_t i = 0; i < index->records; i++) {
        apl_error ignored;
        size_t begin = into->size;
        p = place_at(index, i, p.offset);
        apl_status is = decode_value(bc, field, i, &p, coded, into, status == APL_OK ? err : &ignored);
        if (is != APL_OK && (is != APL_E_CORRUPT || !despite))
            return is;
        status = status == APL_OK ? is : status;
        if (is == APL_OK)
            TRY(put_colours(bc, &p, err));
        if (into->size != begin + p.file_bytes)
            memset(into->data + begin, 0, p.file_bytes);
        into->size = begin + p.file_bytes;
        p.offset += p.bytes;
    }
    return status;
}

apl_status kept_decode(struct block_coder *bc, const apl_field *field, uint32_t records,
                       const struct column_view *column, bool despite, struct buffer *into, apl_error *err)
{
    struct kept_index index;
    into->size = 0;
    TRY(kept_take_index(bc, field, records, column, column->coded, &index, err));
    if (!buffer_reserve(into, column->raw_bytes))
        return fail_nomem(err);
    for (uint32_t i = 0; i < records; i++)
        buffer_le(into, place_at(&index, i, 0).file_bytes, KEPT_LENGTH);
    apl_status status = decode_values(bc, field, &index, column->coded, despite, into, err);
    if (status == APL_OK && hash_xxh3_64(into->data, into->size) != column->raw_sum)
        status =
            fail(err, APL_E_CORRUPT, "field %s: the checksum of its decoded bytes is wrong", field->name);
    if (status != APL_OK && (!despite || into->size != column->raw_bytes))
        into->size = 0;
    return status;
}
