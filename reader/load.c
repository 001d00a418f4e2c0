/* From the store into slots: see load.h. */
#include "load.h"

#include "late.h"
#include "late_fields.h"
#include "mix.h"
#include "stage.h"

#include <stdatomic.h>
#include <stdlib.h>

#define PAGE_BYTES 4096u /* the smallest that machines have */

static _Atomic(const struct load_hook *) load_hook;

void load_set_hook(const struct load_hook *hook)
{
    /* release, with the acquire below: who sees the hook sees what it points at */
    atomic_store_explicit(&load_hook, hook, memory_order_release);
}

static uint32_t largest_records(const apl_reader *r)
{
    uint32_t most = 1; /* no allocation is of nothing */
    for (uint32_t i = 0; i < r->spec.subset.blocks; i++)
        most = r->spec.subset.block[i].records > most ? r->spec.subset.block[i].records : most;
    return most;
}

/* Are there records in blocks that have no slot? */
static bool has_partial_blocks(const apl_reader *r)
{
    if (r->spec.options.plan.sampler && !r->cache.keeps)
        return true;
    for (uint32_t i = 0; i < r->spec.subset.blocks; i++)
        if (r->spec.subset.block[i].chosen)
            return true;
    return false;
}

apl_status worker_init(struct worker *w, apl_error *err)
{
    const apl_reader *r = w->reader;
    size_t n = r->spec.options.batch_size, most = options_most(&r->spec.options),
           records = largest_records(r);
    if (!r->spec.options.ids_only)
        TRY(block_coder_init(&w->bc, err));
    w->bc.announces = true;
    w->rows = calloc(records, sizeof *w->rows);
    w->sources = calloc(n, sizeof *w->sources);
    w->placements = calloc(n, sizeof *w->placements);
    w->slots = calloc(most > records ? most : records, sizeof *w->slots);
    bool ok = w->rows && w->sources && w->placements && w->slots;
    if (ok && r->spec.options.followed)
        ok = (w->geometry = calloc(n, sizeof *w->geometry)) &&
             (w->made = calloc(APL_MAX_FIELDS, sizeof *w->made));
    for (unsigned f = 0; ok && has_partial_blocks(r) && f < r->spec.schema->count; f++)
        if (r->cache.standing.slab.value_bytes[f])
            ok = (w->scratch[f] = malloc(records * r->cache.standing.slab.value_bytes[f])) != NULL;
    return ok ? APL_OK : fail_nomem(err);
}

void worker_free(struct worker *w)
{
    block_coder_free(&w->bc);
    free(w->rows);
    free(w->sources);
    free(w->placements);
    free(w->slots);
    photo_free(w->photo);
    scratch_free(&w->pixels);
    scratch_free(&w->crop);
    effects_free(&w->effects);
    scratch_free(&w->value);
    buffer_free(&w->file);
    for (unsigned f = 0; f < APL_MAX_FIELDS; f++)
        free(w->scratch[f]);
    made_free(w->made, APL_MAX_FIELDS);
    free(w->geometry);
    scratch_free(&w->places);
    scratch_free(&w->last);
}

/* Where each record of the block goes; those that are not in the split or the sample go to scratch memory, since
 * checksums are over all. */
static void place_rows(struct worker *w, unsigned f, uint32_t index, const struct cached_block *b)
{
    const apl_reader *r = w->reader;
    const struct subset_block *block = &r->spec.subset.block[index];
    for (uint32_t i = 0; block->chosen && i < block->records; i++)
        w->rows[i] = w->scratch[f] + i * r->cache.standing.slab.value_bytes[f];
    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t slot = cached_slot(b, block, i), record = block->chosen ? block->chosen[i] : i;
        w->rows[record] = slot == NO_SLOT ? w->scratch[f] + record * r->cache.standing.slab.value_bytes[f]
                                          : slab_value(&r->cache.standing.slab, f, slot);
    }
}

/* A field of a block: into slots, into a column, or, if it is read late, into a list. */
static apl_status load_field(struct worker *w, uint32_t index, const struct cached_block *b,
                             const struct block_view *view, unsigned f, struct raw_column *ragged,
                             apl_error *err)
{
    const apl_reader *r = w->reader;
    const struct mix_source *source = mix_source_of(&r->spec, index);
    const struct schema *schema = &source->store->manifest.schema;
    const apl_field *stored = &schema->fields[source->field[f]];
    apl_status status;
    if (r->spec.options.stages)
        return APL_OK;
    if (field_varying(&r->spec.schema->fields[f]) > 0) {
        status = block_decode_column(&w->bc, schema, view, source->field[f], false, &ragged[f], err);
        if (status == APL_OK && field_varying(stored) == 0 &&
            !raw_column_vary(&ragged[f], stored, view->records))
            status = fail_nomem(err);
    } else {
        place_rows(w, f, index, b);
        status = block_decode_rows(&w->bc, schema, view, source->field[f], w->rows, err);
    }
    return status == APL_OK ? APL_OK : mix_name_block(&r->spec, index, status, err);
}

/* Of a store elsewhere, or of one here. False: there is no room for more. */
static bool block_ahead(const apl_reader *r, struct load_item item, bool elsewhere, bool late)
{
    const struct mix_source *source = mix_source_of(&r->spec, item.index);
    uint64_t parts = schema_keeps(&source->store->manifest.schema) ? source->fields : 0;
    return store_is_elsewhere(source->store) != elsewhere ||
           store_ahead(
               source->store, r->spec.subset.block[item.index].number, parts,
               (struct need){late, elsewhere ? future_of_block(r, item.parity, item.index) : DUE_UNKNOWN});
}

bool load_ahead(const apl_reader *r, const struct load_item *items, unsigned count, bool late)
{
    unsigned i = 0;
    while (!r->spec.options.ids_only && i < count && block_ahead(r, items[i], true, late))
        i++;
    return i == count;
}

void load_ahead_here(const apl_reader *r, const struct load_item *items, unsigned count)
{
    for (unsigned i = 0; !r->spec.options.ids_only && i < count; i++)
        if (!load_is_probe(items[i]))
            (void)block_ahead(r, items[i], false, false);
}

/* Of a file that is mapped, the pages are read when they are touched: here, so that reading is not taken for decoding. */
static void touch_column(const struct column_view *column)
{
    for (size_t at = 0; at < column->coded_bytes; at += PAGE_BYTES)
        (void)*(const volatile uint8_t *)(column->coded + at);
}

static apl_status time_whole(struct worker *w, uint32_t index, struct block_view *view, apl_error *err)
{
    const apl_reader *r = w->reader;
    const struct mix_source *source = mix_source_of(&r->spec, index);
    uint64_t begin = now_ns();
    apl_status status = store_block(source->store, r->spec.subset.block[index].number, &w->bc, view, err);
    for (unsigned f = 0; status == APL_OK && f < r->spec.schema->count; f++)
        if (r->spec.options.wanted[f])
            touch_column(&view->columns[source->field[f]]);
    worker_has_read(w, begin, r->spec.subset.block[index].number);
    return status;
}

static apl_status time_column(struct worker *w, const apl_store *store, uint64_t number,
                              struct block_view *view, unsigned field, apl_error *err)
{
    uint64_t begin = now_ns();
    apl_status status = store_block_column(store, number, &w->bc, view, field, err);
    if (status == APL_OK)
        touch_column(&view->columns[field]);
    worker_has_read(w, begin, number);
    return status;
}

static apl_status time_head(struct worker *w, const apl_store *store, uint64_t number,
                            struct block_view *view, apl_error *err)
{
    uint64_t begin = now_ns();
    apl_status status = store_block_head(store, number, &w->bc, view, err);
    worker_has_read(w, begin, number);
    return status;
}

static apl_status load_whole(struct worker *w, uint32_t index, const struct cached_block *b,
                             struct raw_column *ragged, apl_error *err)
{
    const apl_reader *r = w->reader;
    struct block_view view;
    TRY(time_whole(w, index, &view, err));
    w->bytes_read += view.bytes;
    for (unsigned f = 0; f < r->spec.schema->count; f++)
        if (r->spec.options.wanted[f])
            TRY(load_field(w, index, b, &view, f, ragged, err));
    return APL_OK;
}

/* Of a store with kept fields, nothing is read that is not needed now. */
static apl_status load_parts(struct worker *w, uint32_t index, const struct cached_block *b,
                             struct raw_column *ragged, apl_error *err)
{
    const apl_reader *r = w->reader;
    const struct mix_source *source = mix_source_of(&r->spec, index);
    uint64_t number = r->spec.subset.block[index].number;
    struct block_view view;
    TRY(time_head(w, source->store, number, &view, err));
    w->bytes_read += view.header_bytes;
    if (store_is_elsewhere(source->store) || !residence_is_sure(&w->blocks))
        store_ahead_columns(source->store, number, &view, source->fields, w->again);
    for (unsigned f = 0; f < r->spec.schema->count; f++) {
        if (!r->spec.options.wanted[f])
            continue;
        if (late_is(&r->spec, index, f)) {
            TRY(late_list(w, index, &view, f, &ragged[f], err));
            continue;
        }
        w->bytes_read += view.columns[source->field[f]].coded_bytes;
        TRY(time_column(w, source->store, number, &view, source->field[f], err));
        TRY(load_field(w, index, b, &view, f, ragged, err));
    }
    return APL_OK;
}

/* A hook stands for slow storage, and its time for reading. */
static apl_status run_load_hook(struct worker *w, uint32_t index, apl_error *err)
{
    const struct load_hook *hook = atomic_load_explicit(&load_hook, memory_order_acquire);
    if (!hook)
        return APL_OK;
    uint64_t begin = now_ns();
    apl_status status = hook->before(hook->user, w->reader->spec.subset.block[index].number, err);
    worker_has_read(w, begin, w->reader->spec.subset.block[index].number);
    return status;
}

static apl_status decode_block(struct worker *w, uint32_t index, const struct cached_block *b,
                               struct raw_column *ragged, apl_error *err)
{
    const apl_reader *r = w->reader;
    TRY(run_load_hook(w, index, err));
    bool parts = schema_keeps(&mix_source_of(&r->spec, index)->store->manifest.schema);
    apl_status status = parts ? load_parts(w, index, b, ragged, err) : load_whole(w, index, b, ragged, err);
    if (status == APL_OK && r->spec.options.stages)
        status = stage_is_kept(&r->spec, err);
    if (status == APL_OK && r->spec.options.windows.length && r->spec.options.windows.block[index].bad)
        status = mix_name_block(&r->spec, index,
                                fail(err, APL_E_CORRUPT, "it was corrupt when the reader was opened"), err);
    return status == APL_OK ? APL_OK : mix_block_error(&r->spec, index, status, err);
}

/* Into slots that readers share: perhaps it is there already. */
static apl_status decode_shared(struct worker *w, uint32_t index, const struct cached_block *b,
                                struct loaded_block *loaded, apl_error *err)
{
    struct decoded *decoded = w->reader->cache.decoded;
    switch (decoded_begin(decoded, index, &loaded->ragged)) {
    case DECODED_FOUND:
        loaded->found = true;
        return APL_OK;
    case DECODED_NOMEM:
        return fail_nomem(err);
    case DECODED_YOURS:
        break;
    }
    apl_status status = decode_block(w, index, b, loaded->ragged, err);
    decoded_end(decoded, index, status == APL_OK);
    return status;
}

apl_status load_block(struct worker *w, uint32_t index, const struct cached_block *b,
                      struct loaded_block *loaded, apl_error *err)
{
    const apl_reader *r = w->reader;
    *loaded = (struct loaded_block){.found = false};
    if (r->spec.options.ids_only)
        return APL_OK;
    if (r->cache.decoded)
        return decode_shared(w, index, b, loaded, err);
    if (r->spec.options.ragged && !(loaded->ragged = calloc(r->spec.schema->count, sizeof *loaded->ragged)))
        return fail_nomem(err);
    return decode_block(w, index, b, loaded->ragged, err);
}
