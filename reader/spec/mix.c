/* The stores that a reader reads: see mix.h. */
#include "mix.h"

#include "kind_rule.h"
#include "kind_text.h"
#include "token_windows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_SOURCES 65535u
#define NO_FIELD     UINT8_MAX

_Static_assert(APL_MAX_FIELDS < NO_FIELD, "a field's number fits into a byte");

/* --------------------------------------------------------------------------------------------- opening */

apl_status mix_check(const apl_reader_options *asked, apl_error *err)
{
    if (asked->id_count && !asked->ids)
        return fail(err, APL_E_INVALID, "ids is NULL");
    if (asked->ids && asked->id_count == 0)
        return fail(err, APL_E_INVALID, "ids is empty: NULL means all records of the split");
    if (asked->mix.count && !asked->mix.sources)
        return fail(err, APL_E_INVALID, "mix.sources is NULL");
    if (asked->mix.count >= MOST_SOURCES)
        return fail(err, APL_E_INVALID, "a mix of %zu stores: at most %u", asked->mix.count + 1,
                    MOST_SOURCES);
    return APL_OK;
}

static apl_status add_source(struct spec *spec, apl_store *store, const char *split, apl_error *err)
{
    struct mix_source *s = &spec->sources.source[spec->sources.count++];
    s->store = store_retain(store);
    spec->elsewhere = spec->elsewhere || store_is_elsewhere(store);
    s->split = strdup(split ? split : store->splits[0].name);
    return s->split ? APL_OK : fail_nomem(err);
}

static apl_status open_subset(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    struct subset_part *parts = calloc(spec->sources.count, sizeof *parts);
    if (!parts)
        return fail_nomem(err);
    for (uint32_t i = 0; i < spec->sources.count; i++)
        parts[i] = (struct subset_part){.store = spec->sources.source[i].store,
                                        .split = spec->sources.source[i].split};
    struct subset_ids ids = {asked->ids, asked->id_count};
    apl_status status = subset_open_parts(parts, spec->sources.count, ids, &spec->subset, err);
    free(parts);
    return status;
}

apl_status mix_open(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    for (size_t i = 0; i < asked->mix.count; i++)
        if (!asked->mix.sources[i].store)
            return fail(err, APL_E_INVALID, "mix.sources[%zu].store is NULL", i);
    spec->sources.source = calloc(asked->mix.count + 1, sizeof *spec->sources.source);
    if (!spec->sources.source)
        return fail_nomem(err);
    TRY(add_source(spec, spec->store, asked->split, err));
    for (size_t i = 0; i < asked->mix.count; i++)
        TRY(add_source(spec, asked->mix.sources[i].store, asked->mix.sources[i].split, err));
    return open_subset(spec, asked, err);
}

void mix_close(struct spec *spec)
{
    for (uint32_t i = 0; i < spec->sources.count; i++) {
        free(spec->sources.source[i].split);
        store_release(spec->sources.source[i].store);
    }
    free(spec->sources.source);
}

/* --------------------------------------------------------------------------------------------- weights */

static apl_status check_weight(const struct spec *spec, uint32_t i, double weight, apl_error *err)
{
    if (!isfinite(weight) || weight <= 0)
        return fail(err, APL_E_INVALID,
                    "%s: its weight in the mix is %g: weights are finite and above 0, or all are 0",
                    spec->sources.source[i].store->name, weight);
    if (spec->subset.part[i].records == 0)
        return fail(err, APL_E_INVALID, "%s: has a weight in the mix, but none of the %s that are read",
                    spec->sources.source[i].store->name,
                    spec->options.windows.length ? "windows" : "records");
    return APL_OK;
}

static apl_status check_by_tokens(const struct spec *spec, bool any, apl_error *err)
{
    if (!any)
        return fail(err, APL_E_INVALID, "weights by tokens: no store of the mix has a weight");
    if (!spec->options.pack.row && !spec->options.windows.length)
        return fail(
            err, APL_E_INVALID,
            "weights by tokens are for values that are packed or windowed: others have weights by records");
    return APL_OK;
}

apl_status mix_weights(const struct spec *spec, const apl_reader_options *asked, double **weights,
                       apl_error *err)
{
    bool any = asked->mix.weight != 0;
    for (size_t i = 0; i < asked->mix.count; i++)
        any |= asked->mix.sources[i].weight != 0;
    *weights = NULL;
    if (asked->mix.by_tokens)
        TRY(check_by_tokens(spec, any, err));
    if (!any)
        return APL_OK;
    if (asked->mix.count == 0)
        return fail(err, APL_E_INVALID, "weight is a store's share of a mix, and there is no mix");
    for (uint32_t i = 0; i < spec->sources.count; i++)
        TRY(check_weight(spec, i, i ? asked->mix.sources[i - 1].weight : asked->mix.weight, err));
    *weights = calloc(spec->sources.count + (size_t)1, sizeof **weights);
    for (uint32_t i = 0; *weights && i < spec->sources.count; i++)
        (*weights)[i] = i ? asked->mix.sources[i - 1].weight : asked->mix.weight;
    return *weights ? APL_OK : fail_nomem(err);
}

/* ---------------------------------------------------------------------------------------------- fields */

static bool same_type(const apl_field *a, const apl_field *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) == 0;
}

static apl_status same_classes(const struct spec *spec, const apl_store *store, const apl_field *a,
                               const apl_field *b, apl_error *err)
{
    char own[256], other[256];
    if (a->class_count != b->class_count)
        return fail(err, APL_E_MISMATCH, "%s: field %s has %s, but %llu in %s", store->name, a->name,
                    number_of(b->class_count, "class", "classes"), (unsigned long long)a->class_count,
                    spec->store->name);
    for (uint64_t c = 0; c < a->class_count; c++)
        if (strcmp(a->classes[c], b->classes[c]) != 0)
            return fail(err, APL_E_MISMATCH, "%s: class %llu of field %s is %.64s, but %.64s in %s",
                        store->name, (unsigned long long)c, a->name,
                        printable(other, sizeof other, b->classes[c], strlen(b->classes[c])),
                        printable(own, sizeof own, a->classes[c], strlen(a->classes[c])), spec->store->name);
    return APL_OK;
}

/* Would both do the same beside an image that moves? An image of which nobody has said so is one by default. */
static bool same_action(const apl_field *a, const apl_field *b)
{
    if (kind_agrees(a->kind, b->kind) || (field_action(a) == KIND_STAYS && field_action(b) == KIND_STAYS))
        return true;
    const apl_field *said = field_kind(a) == APL_KIND_NONE ? b : a, *other = said == a ? b : a;
    return field_kind(said) == APL_KIND_IMAGE && field_kind(other) == APL_KIND_NONE;
}

/* What the caller declares is so in all stores. */
static apl_status same_kind(const struct spec *spec, const apl_store *store, unsigned f, const apl_field *b,
                            apl_error *err)
{
    const apl_field *a = &spec->schema->fields[f];
    char own[160] = "of no kind", other[160] = "of no kind";
    if (spec->declared[f] || same_action(a, b))
        return APL_OK;
    if (a->kind)
        (void)apl_kind_print(NULL, a->kind, own, sizeof own);
    if (b->kind)
        (void)apl_kind_print(NULL, b->kind, other, sizeof other);
    return fail(err, APL_E_MISMATCH, "%s: field %s is %s, but %s in %s: declare what it is (kinds)",
                store->name, a->name, other, own, spec->store->name);
}

/* Is field f, if it is needed, the same in this store? */
static apl_status match_field(const struct spec *spec, struct mix_source *s, unsigned f, bool needed,
                              bool moves, apl_error *err)
{
    const struct schema *schema = &s->store->manifest.schema;
    const apl_field *own = &spec->schema->fields[f];
    char here[128], there[128];
    int found = schema_find(schema, own->name);
    s->field[f] = found < 0 ? NO_FIELD : (uint8_t)found;
    if (!needed)
        return APL_OK;
    if (found < 0)
        return fail(err, APL_E_MISMATCH, "%s: has no field %s, which %s has", s->store->name, own->name,
                    spec->store->name);
    if (!same_type(own, &schema->fields[found]))
        return fail(err, APL_E_MISMATCH, "%s: field %s is %s, but %s in %s", s->store->name, own->name,
                    field_type_text(&schema->fields[found], there), field_type_text(own, here),
                    spec->store->name);
    if (moves)
        TRY(same_kind(spec, s->store, f, &schema->fields[found], err));
    return same_classes(spec, s->store, own, &schema->fields[found], err);
}

apl_status mix_match_fields(struct spec *spec, const apl_reader_options *asked, apl_error *err)
{
    const apl_sampling *by = asked->sampling;
    int sampled = by ? schema_find(spec->schema, by->weight_field ? by->weight_field : by->field) : -1;
    for (uint32_t i = 0; i < spec->sources.count; i++) {
        const struct schema *schema = &spec->sources.source[i].store->manifest.schema;
        for (unsigned f = 0; f < spec->schema->count; f++)
            TRY(match_field(spec, &spec->sources.source[i], f, spec->options.wanted[f] || (int)f == sampled,
                            asked->transform_count > 0, err));
        for (unsigned f = 0; f < spec->schema->count; f++)
            if (spec->options.wanted[f])
                spec->sources.source[i].fields |= (uint64_t)1 << spec->sources.source[i].field[f];
        for (unsigned f = 0; !asked->fields && f < schema->count; f++)
            if (schema_find(spec->schema, schema->fields[f].name) < 0)
                return fail(err, APL_E_MISMATCH,
                            "%s: has a field %s, which %s has not: name the fields that are wanted",
                            spec->sources.source[i].store->name, schema->fields[f].name, spec->store->name);
    }
    return APL_OK;
}

bool mix_keeps(const struct mix_source *source, unsigned field)
{
    unsigned f = source->field[field];
    return f != NO_FIELD && source->store->manifest.schema.fields[f].media;
}

uint64_t mix_average_bytes(const struct spec *spec, unsigned field, bool kept)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < spec->sources.count; i++) {
        const struct manifest *m = &spec->sources.source[i].store->manifest;
        unsigned f = spec->sources.source[i].field[field];
        bool counts = f != NO_FIELD && mix_keeps(&spec->sources.source[i], field) == kept;
        uint64_t average = !counts ? 0 : m->schema.fields[f].raw_bytes / m->info.records;
        most = average > most ? average : most;
    }
    return most;
}

/* --------------------------------------------------------------------------------------------- telling */

apl_status mix_digest(const struct spec *spec, uint8_t digest[32], apl_error *err)
{
    if (spec->sources.count == 1) {
        memcpy(digest, spec->store->manifest.info.content_digest, 32);
        return APL_OK;
    }
    struct sha256 *sha = sha256_new();
    if (!sha)
        return fail_nomem(err);
    for (uint32_t i = 0; i < spec->sources.count; i++)
        sha256_add(sha, spec->sources.source[i].store->manifest.info.content_digest, 32);
    sha256_end(sha, digest);
    sha256_free(sha);
    return APL_OK;
}

/* A file is the same if it is the same inode that has not been written since, and the same in content; and if its blocks were compared
 * with the same digest, or none of them. */
static void put_file(struct buffer *b, const apl_store *store)
{
    buffer_le(b, (uint64_t)store->device, 8);
    buffer_le(b, (uint64_t)store->inode, 8);
    buffer_le(b, (uint64_t)store->modified.tv_sec, 8);
    buffer_le(b, (uint64_t)store->modified.tv_nsec, 8);
    buffer_le(b, store->manifest.info.file_bytes, 8);
    buffer_put(b, store->manifest.info.content_digest, 32);
    buffer_le(b, store->pinned, 1);
    if (store->pinned)
        buffer_put(b, store->manifest.info.digest, 32);
}

apl_status mix_digest_decoded(const struct spec *spec, struct hash128 *digest, apl_error *err)
{
    struct buffer b = {0};
    for (uint32_t i = 0; i < spec->sources.count; i++) {
        put_file(&b, spec->sources.source[i].store);
        for (unsigned f = 0; f < spec->schema->count; f++) {
            bool wanted = spec->options.wanted[f], late = wanted && mix_keeps(&spec->sources.source[i], f);
            buffer_le(&b, wanted ? spec->sources.source[i].field[f] : NO_FIELD, 1);
            /* values that are read late were checked, or not */
            buffer_le(&b, late && spec->options.skip_corrupt, 1);
            buffer_le(&b, field_varying(&spec->schema->fields[f]) > 0, 1); /* perhaps in this reader alone */
        }
    }
    buffer_le(&b, spec->options.windows.length > 0, 1); /* then kept values are decoded too */
    for (uint32_t i = 0; i < spec->subset.blocks; i++) {
        const struct subset_block *block = &spec->subset.block[i];
        buffer_le(&b, block->part, 4);
        buffer_le(&b, block->number, 8);
        buffer_le(&b, block->count, 4);
        for (uint32_t k = 0; block->chosen && k < block->count; k++)
            buffer_le(&b, block->chosen[k], 2);
    }
    bool failed = b.failed;
    if (!failed)
        *digest = hash_xxh3_128(b.data, b.size);
    buffer_free(&b);
    return failed ? fail_nomem(err) : APL_OK;
}

/* A shard that is missing has more records than the block, and the message names them all. Are they known, and where is the store's
 * record 0? */
static bool concerns_shard(const struct spec *spec, uint32_t index, const apl_error *err, uint64_t *base)
{
    const struct subset_block *block = &spec->subset.block[index];
    uint64_t first;
    uint32_t count;
    manifest_block_ids(&mix_source_of(spec, index)->store->manifest, block->number, &first, &count);
    *base = block->first_id - first;
    return err->records > count && err->first_record <= first && first - err->first_record < err->records;
}

apl_status mix_block_error(const struct spec *spec, uint32_t index, apl_status status, apl_error *err)
{
    const struct windows *w = &spec->options.windows;
    uint64_t base;
    const struct subset_block *block =
        w->records.blocks ? windows_records(w, index) : &spec->subset.block[index];
    if (err && !w->records.blocks && concerns_shard(spec, index, err, &base))
        return fail_records(err, status, err->first_record + base, err->records);
    return fail_records(err, status, block->first_id, block->records);
}

apl_status mix_name_block(const struct spec *spec, uint32_t index, apl_status status, apl_error *err)
{
    store_block_error(mix_source_of(spec, index)->store, spec->subset.block[index].number, status, err);
    return mix_block_error(spec, index, status, err);
}

apl_status mix_find(const struct spec *spec, uint64_t id, size_t *source, uint64_t *own, apl_error *err)
{
    for (uint32_t i = 0; i < spec->subset.parts; i++) {
        const struct subset_part *part = &spec->subset.part[i];
        if (id - part->first_id >= part->store->manifest.info.records)
            continue;
        *source = i;
        *own = id - part->first_id;
        return APL_OK;
    }
    fail(err, APL_E_NOTFOUND, "none of the reader's stores has a record %llu", (unsigned long long)id);
    return fail_records(err, APL_E_NOTFOUND, id, 1);
}
