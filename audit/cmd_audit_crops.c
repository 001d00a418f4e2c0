/* apldata audit: where a reader's crops and flips fall. */
#include "cmd_audit.h"
#include "crops.h"
#include "inputs.h"

#include <stdlib.h>

/* An epoch that is being read. */
struct crop_reader {
    struct audit_job *job;
    struct reader_orders orders; /* with readers of its own */
    apl_transform transform;     /* completed */
    enum { DOWN, ACROSS, FLIPPED } drawn[CROP_QUANTITIES];
    unsigned quantities;
    apl_placement *placements; /* of a batch */
    size_t room;
    uint32_t *order;
    struct crop_epoch *into;
    uint64_t seed; /* that crops are drawn with */
    apl_status status;
    apl_error error;
};

static bool make_room(struct crop_reader *r, size_t rows)
{
    if (rows <= r->room)
        return true;
    apl_placement *more = realloc(r->placements, rows * sizeof *more);
    if (!more) {
        r->status = inputs_no_memory(&r->error);
        return false;
    }
    r->placements = more;
    r->room = rows;
    return true;
}

static uint32_t drawn_value(const apl_placement *p, int what)
{
    return (uint32_t)(what == DOWN ? p->top : what == ACROSS ? p->left : p->flip & 1);
}

static void take_batch(void *user, const apl_batch *batch)
{
    struct crop_reader *r = user;
    size_t rows = apl_batch_rows(batch);
    if (r->status != APL_OK || !make_room(r, rows))
        return;
    r->status = apl_batch_placements(r->job->store, &r->transform, r->seed, batch, r->placements, &r->error);
    for (size_t i = 0; r->status == APL_OK && i < rows && r->into->count < r->orders.length; i++) {
        uint32_t at = r->into->count++;
        r->into->record[at] = reader_orders_find(&r->orders, apl_batch_ids(batch)[i]);
        for (unsigned q = 0; q < r->quantities; q++)
            r->into->value[q][at] = drawn_value(&r->placements[i], (int)r->drawn[q]);
    }
}

/* The order is always that of the job's seed. */
static bool take_crops(void *user, uint64_t seed, uint64_t epoch, struct crop_epoch *crops)
{
    struct crop_reader *r = user;
    r->into = crops;
    r->seed = seed;
    bool ok = reader_orders_take(&r->orders, r->job->sample.seed, epoch, r->order);
    if (!ok) {
        r->status = r->orders.error.status;
        r->error = r->orders.error;
    }
    return r->status == APL_OK;
}

static void add_quantity(struct crop_reader *r, struct crop_law *law, int what, const char *name,
                         uint32_t values)
{
    if (values < 2)
        return;
    r->drawn[r->quantities++] = what;
    law->names[law->count] = name;
    law->values[law->count++] = values;
}

/* What the options leave to chance. */
static apl_status law_of_crops(struct crop_reader *r, struct crop_law *law, apl_error *err)
{
    apl_transform *t = &r->transform;
    apl_status status = apl_transform_complete(r->job->store, r->job->choice.options.split, t, err);
    if (status != APL_OK)
        return status;
    const apl_field *f =
        apl_store_field(r->job->store, (unsigned)apl_store_find_field(r->job->store, t->field));
    const int64_t *sides = f->shape + (f->ndim > 2 ? f->ndim - 2 : 0);
    if (f->ndim < 2 || sides[0] <= 0 || sides[1] <= 0)
        return inputs_error(err, APL_E_UNSUPPORTED, "where crops fall is tested for images of one size only");
    if (!t->crop_centre) {
        add_quantity(r, law, DOWN, "down", (uint32_t)(sides[0] + 2 * t->pad - t->crop_height + 1));
        add_quantity(r, law, ACROSS, "across", (uint32_t)(sides[1] + 2 * t->pad - t->crop_width + 1));
    }
    add_quantity(r, law, FLIPPED, "flipped", t->flip == APL_FLIP_RANDOM ? 2 : 1);
    return APL_OK;
}

static apl_status add_all(struct crop_reader *r, struct audit_report *report, apl_error *err)
{
    struct crop_law law = {0};
    apl_status status = law_of_crops(r, &law, err);
    if (status != APL_OK || law.count == 0)
        return status;
    r->order = malloc(((size_t)r->orders.length + 1) * sizeof *r->order);
    if (!r->order)
        return inputs_no_memory(err);
    if (crops_audit(&r->job->sample, r->orders.length, &law,
                    &(struct crop_source){take_crops, r, r->orders.ids}, report))
        return APL_OK;
    *err = r->error;
    return r->status != APL_OK ? r->status : inputs_no_memory(err);
}

apl_status audit_add_crops(struct audit_job *job, struct audit_report *report, apl_error *err)
{
    if (job->choice.options.transform_count == 0)
        return APL_OK;
    struct crop_reader r = {.job = job, .orders = job->orders, .transform = job->choice.transform};
    r.orders.readers = NULL;
    r.orders.load = false;
    r.orders.delay_us = 0;
    r.orders.taken = take_batch;
    r.orders.taken_user = &r;
    apl_status status = add_all(&r, report, err);
    r.orders.ids = NULL; /* they are the job's */
    reader_orders_close(&r.orders, &(struct audit_sample){.n = 0});
    free(r.order);
    free(r.placements);
    return status;
}
