/* Verifying a store: reading all of it and comparing what is found with what the manifest says. */
#include "parallel.h"
#include "readback.h"
#include "set_verify.h"
#include "sized.h"

#include <stdlib.h>

struct verifier {
    const apl_verify_options *options;
    uint64_t records;
    uint64_t bad_first, bad_count; /* records of the first bad block; 0 of them: none yet */
};

static int forward_progress(void *user, uint64_t records)
{
    struct verifier *v = user;
    return v->options->progress ? v->options->progress(v->options->user, records, v->records) : 0;
}

static void forward_bad(void *user, const apl_bad_block *block)
{
    struct verifier *v = user;
    if (v->bad_count == 0 || block->first < v->bad_first) {
        v->bad_first = block->first;
        v->bad_count = block->count;
    }
    if (v->options->bad_block)
        v->options->bad_block(v->options->user, block);
}

static apl_status differs(const apl_store *store, const char *field, const char *what, apl_error *err)
{
    return fail(err, APL_E_CORRUPT, "%s: field %s: the manifest's %s differs from what the blocks hold",
                store->name, field, what);
}

/* Sums over images, and products over pixels: they may be missing from a manifest older than they are. */
static bool same_colours(const struct colour_sums *stored, const struct colour_sums *found, unsigned minor)
{
    static const struct colour_sums none;
    stored = stored ? stored : &none;
    struct colour_sums is = found && (stored->images || minor >= FORMAT_MINOR_IMAGES) ? *found : none;
    if (stored->with_products == 0 && minor < FORMAT_MINOR_PRODUCTS) {
        is.with_products = 0;
        memset(is.pixel_products, 0, sizeof is.pixel_products);
    }
    return memcmp(stored, &is, sizeof is) == 0;
}

/* Of splits that have no summary of a field. */
static apl_status compare_unsummed(const apl_store *store, const struct findings *found, apl_error *err)
{
    const struct manifest *m = &store->manifest;
    for (unsigned f = 0; f < m->schema.count && m->info.format_minor >= FORMAT_MINOR_IMAGES; f++)
        if (found->unsummed[f])
            return differs(store, m->schema.fields[f].name, "sums over images", err);
    return APL_OK;
}

static apl_status compare_statistics(const apl_store *store, const struct findings *found, apl_error *err)
{
    const struct manifest *m = &store->manifest;
    for (uint32_t s = 0; s < m->split_count; s++)
        for (const struct summary *stored = m->splits[s].summaries; stored; stored = stored->next) {
            const apl_field *field = &m->schema.fields[stored->field];
            struct summary is = split_summary(&found->splits[s], stored->field);
            if (stored->classes &&
                memcmp(stored->classes, is.classes, (size_t)field->class_count * sizeof *is.classes) != 0)
                return differs(store, field->name, "class counts", err);
            if (stored->moments &&
                memcmp(stored->moments, is.moments, field_channels(field) * sizeof *is.moments) != 0)
                return differs(store, field->name, "moments", err);
            if (!same_colours(stored->colours, is.colours, m->info.format_minor))
                return differs(store, field->name, "sums over images", err);
        }
    return compare_unsummed(store, found, err);
}

static apl_status compare_digests(const apl_store *store, const struct findings *found, apl_error *err)
{
    const struct schema *schema = &store->manifest.schema;
    uint8_t content[32];
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_field *field = &schema->fields[f];
        if (memcmp(found->digests[f], field->digest, 32) != 0)
            return differs(store, field->name, "digest", err);
        if (found->raw_bytes[f] != field->raw_bytes || found->stored_bytes[f] != field->stored_bytes)
            return differs(store, field->name, "sizes", err);
        if (found->indexed[f] != field->indexed || found->progressive[f] != schema->progressive[f])
            return differs(store, field->name, "number of indexed values", err);
    }
    TRY(compare_statistics(store, found, err));
    TRY(manifest_content_digest(schema, content, err));
    if (memcmp(content, store->manifest.info.content_digest, 32) != 0)
        return fail(err, APL_E_CORRUPT, "%s: the content digest is not that of the fields", store->name);
    return APL_OK;
}

static apl_status verify_store(apl_store *store, struct verifier *v, apl_error *err)
{
    struct readback what = {.lmdb = &store->lmdb,
                            .entries = store->blocks,
                            .manifest = &store->manifest,
                            .digests = store->manifest.digests.data,
                            .threads = threads_for(v->options->threads),
                            .user = v,
                            .progress = forward_progress,
                            .bad_block = forward_bad};
    struct findings found;
    apl_status status = readback(&what, &found, err);
    if (status != APL_OK)
        return fail_in(err, status, "%s", store->name);
    if (found.bad_blocks)
        status = fail_records(err,
                              fail(err, APL_E_CORRUPT, "%s: %llu of %s %s damaged", store->name,
                                   (unsigned long long)found.bad_blocks,
                                   number_of(store->manifest.info.blocks, "block", "blocks"),
                                   found.bad_blocks == 1 ? "is" : "are"),
                              v->bad_first, v->bad_count);
    else
        status = compare_digests(store, &found, err);
    findings_free(&found, &store->manifest);
    return status;
}

/* A shard, which is no set. */
static apl_status verify_one(apl_store *store, const apl_verify_options *options, apl_error *err)
{
    struct verifier v = {.options = options, .records = store->manifest.info.records};
    return verify_store(store, &v, err);
}

apl_status apl_store_verify(apl_store *store, const apl_verify_options *options, apl_error *err)
{
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    if (!store)
        return fail(err, APL_E_INVALID, "apl_store_verify: store is NULL");
    TRY(options_take(&o, sizeof o, options, "apl_verify_options", err));
    apl_error own;
    err = err ? err : &own;
    struct verifier v = {.options = &o, .records = store->manifest.info.records};
    return store->set ? set_verify(store, &o, verify_one, err) : verify_store(store, &v, err);
}
