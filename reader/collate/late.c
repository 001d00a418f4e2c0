/* Values that are read when their batch is collated: see late.h. */
#include "late.h"

#include "delivery.h"
#include "late_fields.h"
#include "mix.h"
#include "worker.h"

#include <stdatomic.h>

static _Atomic(const struct load_hook *) late_hook;

void late_set_hook(const struct load_hook *hook)
{
    /* release, with the acquire below: who sees the hook sees what it points at */
    atomic_store_explicit(&late_hook, hook, memory_order_release);
}

/* ------------------------------------------------------------------------------------------ of a block */

#define CHECKED_AHEAD 64u

/* All values of a block are read, checked, and forgotten. */
static apl_status check_late_values(struct worker *w, uint32_t index, unsigned field,
                                    const struct raw_column *list, apl_error *err)
{
    const struct mix_source *source = mix_source_of(w->spec, index);
    const struct subset_block *block = &w->spec->subset.block[index];
    uint32_t ahead = 0;
    for (uint32_t i = 0; i < block->records; i++) {
        size_t bytes = kept_listed(list, i).bytes;
        for (; store_is_elsewhere(source->store) && ahead < block->records && ahead < i + CHECKED_AHEAD;
             ahead++)
            if (!store_ahead_value(source->store, block->number, list, ahead, DUE_SOON))
                break;
        ahead = ahead > i ? ahead : i + 1;
        uint8_t *value = scratch_reserve(&w->value, bytes);
        if (!value)
            return fail_nomem(err);
        w->bytes_read += bytes;
        TRY(store_listed_value(source->store, block->number, source->field[field], list, i, value, err));
    }
    return APL_OK;
}

apl_status late_list(struct worker *w, uint32_t index, const struct block_view *view, unsigned field,
                     struct raw_column *list, apl_error *err)
{
    const struct mix_source *source = mix_source_of(w->spec, index);
    raw_column_clear(list); /* where readers share it, one before may have failed */
    w->bytes_read += kept_index_bytes(view->columns[source->field[field]].codec, view->records);
    TRY(store_list_kept(source->store, w->spec->subset.block[index].number, &w->bc, view,
                        source->field[field], list, err));
    return w->spec->options.skip_corrupt ? check_late_values(w, index, field, list, err) : APL_OK;
}

/* ------------------------------------------------------------------------------------------ of a batch */

struct late_value late_value_of(const struct spec *spec, const struct standing *standing,
                                const struct job *job, unsigned field, size_t row)
{
    struct late_value v;
    uint32_t nth, copy;
    v.index = delivery_block(spec, job->deliveries[row], &nth, &copy);
    const struct subset_block *block = &spec->subset.block[v.index];
    v.record = block->chosen ? block->chosen[nth] : nth;
    v.id = block->first_id + v.record;
    v.list = &standing_block(standing, job->epoch, v.index)->ragged[field];
    v.place = kept_listed(v.list, v.record);
    return v;
}

/* Reads a value as it is stored. */
static apl_status read_late(struct worker *w, unsigned field, const struct late_value *v, uint8_t *out,
                            apl_error *err)
{
    const struct mix_source *source = mix_source_of(w->spec, v->index);
    uint64_t number = w->spec->subset.block[v->index].number;
    w->bytes_read += v->place.bytes;
    uint64_t begin = now_ns(), before = w->spent.reading;
    atomic_store_explicit(&w->reading, v->index + 1, memory_order_relaxed);
    const struct load_hook *hook = atomic_load_explicit(&late_hook, memory_order_acquire);
    apl_status status = hook ? hook->before(hook->user, number, err) : APL_OK;
    if (status == APL_OK)
        status =
            store_listed_value(source->store, number, source->field[field], v->list, v->record, out, err);
    worker_has_read(w, begin, number);
    residence_note(&w->values, late_is_probe(v),
                   residence_at_once(w->spent.reading - before, v->place.bytes));
    atomic_store_explicit(&w->reading, 0, memory_order_relaxed);
    return status;
}

static apl_status name_late(const struct late_value *v, apl_status status, apl_error *err)
{
    if (status == APL_OK)
        return APL_OK;
    fail_in(err, status, "record %llu", (unsigned long long)v->id);
    return fail_records(err, status, v->id, 1);
}

/* Restores the file of a value that has been read to w->value: to w->file. */
static apl_status restore_late(struct worker *w, unsigned field, const struct late_value *v, apl_error *err)
{
    const struct mix_source *source = mix_source_of(w->spec, v->index);
    w->file.size = 0;
    apl_status status = kept_restore(&w->bc, &v->place, w->value.data, &w->file, err);
    if (status == APL_OK)
        return APL_OK;
    fail_in(err, status, "field %s: record %u of the block",
            source->store->manifest.schema.fields[source->field[field]].name, v->record);
    return store_block_error(source->store, w->spec->subset.block[v->index].number, status, err);
}

/* Reads a value as it is stored to w->value; and restores it, if that is asked for. */
static apl_status take_late(struct worker *w, unsigned field, const struct late_value *v, bool restore,
                            apl_error *err)
{
    uint8_t *value = scratch_reserve(&w->value, v->place.bytes);
    apl_status status = value ? read_late(w, field, v, value, err) : fail_nomem(err);
    if (status == APL_OK && restore && v->place.form != KEPT_AS_IT_CAME)
        status = restore_late(w, field, v, err);
    return name_late(v, status, err);
}

/* What is to be read now, when it has been asked for, and others that come after it. */
static struct late_value begin_late(const struct worker *w, struct job *job, unsigned field, size_t row)
{
    w->ahead(w, job, field * job->rows + (uint32_t)row);
    return late_value_of(w->spec, w->standing, job, field, row);
}

apl_status late_read(struct worker *w, struct job *job, unsigned field, size_t row, uint8_t *out,
                     apl_error *err)
{
    struct late_value v = begin_late(w, job, field, row);
    if (v.place.form == KEPT_AS_IT_CAME)
        return name_late(&v, read_late(w, field, &v, out, err), err);
    TRY(take_late(w, field, &v, true, err));
    if (w->file.size)
        memcpy(out, w->file.data, w->file.size);
    return APL_OK;
}

apl_status late_take(struct worker *w, struct job *job, unsigned field, size_t row, const uint8_t **value,
                     apl_error *err)
{
    struct late_value v = begin_late(w, job, field, row);
    TRY(take_late(w, field, &v, true, err));
    *value = v.place.form == KEPT_AS_IT_CAME ? w->value.data : w->file.data;
    return APL_OK;
}

apl_status late_take_stored(struct worker *w, struct job *job, unsigned field, size_t row,
                            const uint8_t **value, struct kept_place *place, apl_error *err)
{
    struct late_value v = begin_late(w, job, field, row);
    TRY(take_late(w, field, &v, false, err));
    *value = w->value.data;
    *place = v.place;
    return APL_OK;
}

apl_status late_read_all(struct worker *w, struct job *job, unsigned field, apl_error *err)
{
    for (size_t k = 0; k < job->buffer->batch.rows; k++) {
        uint32_t nth, copy;
        if (!late_is(w->spec, delivery_block(w->spec, job->deliveries[k], &nth, &copy), field))
            continue;
        struct late_value v = begin_late(w, job, field, k);
        TRY(take_late(w, field, &v, false, err));
    }
    return APL_OK;
}
