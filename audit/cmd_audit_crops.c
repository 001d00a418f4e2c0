/* apldata audit: where a reader's crops and flips fall. */
#include "cmd_audit.h"
#include "crop_values.h"
#include "image_read.h"
#include "inputs.h"
#include "order_records.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An epoch that is being read. */
struct crop_reader {
    struct audit_job *job;
    struct reader_orders orders; /* with readers of its own */
    apl_transform transform;     /* completed */
    struct crop_sizes sizes;
    struct crop_values values;
    apl_crop_box *boxes; /* of a batch */
    size_t room;
    uint32_t *order;
    struct crop_epoch *into;
    uint64_t seed; /* that crops are drawn with */
    apl_status status;
    apl_error error;
};

/* ---------------------------------------------------------------------------------------------- sizes */

/* Width and height of the records from ... that are of one store; *to: the first after them. */
static apl_status read_sizes(struct crop_reader *r, const char *name, uint32_t from, uint32_t *to,
                             apl_error *err)
{
    apl_store *store, *next;
    uint64_t own, *ids = malloc((r->orders.n - from) * sizeof *ids);
    size_t part = order_records_store(&r->orders, from, &store, &own);
    int column = apl_store_find_field(store, name);
    apl_get_options options = APL_GET_OPTIONS_INIT;
    apl_batch *batch = NULL;
    options.fields = &name;
    options.field_count = 1;
    for (*to = from; ids && *to < r->orders.n && order_records_store(&r->orders, *to, &next, &own) == part;
         ++*to)
        ids[*to - from] = own;
    apl_status status =
        ids ? apl_store_get_batch(store, ids, *to - from, &options, &batch, err) : inputs_no_memory(err);
    for (uint32_t i = from; status == APL_OK && i < *to; i++) {
        const uint32_t *shape =
            (const uint32_t *)apl_batch_column(batch, (unsigned)column)->data + 3 * (i - from);
        r->sizes.of[i][0] = shape[2];
        r->sizes.of[i][1] = shape[1];
    }
    apl_batch_release(batch);
    free(ids);
    return status;
}

/* Does every store that is read have the field? */
static bool all_have(const struct audit_job *job, const char *name)
{
    bool all = apl_store_find_field(job->store, name) >= 0;
    for (size_t i = 0; i < job->sources.mix_count; i++)
        all = all && apl_store_find_field(job->sources.mix[i].store, name) >= 0;
    return all;
}

/* Of images of one size, or as the store has noted them; *known false: it has not. */
static apl_status find_sizes(struct crop_reader *r, bool *known, apl_error *err)
{
    int field = apl_store_find_field(r->job->store, r->transform.field);
    const apl_field *f = apl_store_field(r->job->store, (unsigned)field);
    const int64_t *sides = f->shape + (f->ndim > 2 ? f->ndim - 2 : 0);
    char name[APL_MAX_NAME + 8];
    *known = true;
    if (f->ndim >= 2 && sides[0] > 0 && sides[1] > 0) {
        r->sizes = (struct crop_sizes){.width = (uint32_t)sides[1], .height = (uint32_t)sides[0]};
        return APL_OK;
    }
    *known = image_shape_field(r->job->store, (unsigned)field, name) && all_have(r->job, name);
    if (!*known)
        return APL_OK;
    r->sizes = (struct crop_sizes){.count = r->orders.n, .of = calloc(r->orders.n, sizeof *r->sizes.of)};
    apl_status status = r->sizes.of ? APL_OK : inputs_no_memory(err);
    for (uint32_t from = 0; status == APL_OK && from < r->orders.n;)
        status = read_sizes(r, name, from, &from, err);
    return status;
}

/* -------------------------------------------------------------------------------------------- reading */

static bool make_room(struct crop_reader *r, size_t rows)
{
    if (rows <= r->room)
        return true;
    apl_crop_box *more = realloc(r->boxes, rows * sizeof *more);
    if (!more) {
        r->status = inputs_no_memory(&r->error);
        return false;
    }
    r->boxes = more;
    r->room = rows;
    return true;
}

/* Another number for each crop: it is to be the same in every run. */
static uint64_t key_of(const struct crop_reader *r, const apl_batch *batch, size_t row)
{
    const uint64_t key[] = {r->seed, apl_batch_epoch(batch), apl_batch_ids(batch)[row],
                            apl_batch_copies(batch)[row]};
    return digest_seeded(key, sizeof key, 0);
}

static void take_row(struct crop_reader *r, const apl_batch *batch, size_t row)
{
    uint32_t at = r->into->count++, values[CROP_QUANTITIES];
    r->into->record[at] = reader_orders_find(&r->orders, apl_batch_ids(batch)[row]);
    crop_values_take(&r->values, &r->boxes[row], key_of(r, batch, row), values);
    for (unsigned q = 0; q < r->values.law.count; q++)
        r->into->value[q][at] = values[q];
}

static void take_batch(void *user, const apl_batch *batch)
{
    struct crop_reader *r = user;
    size_t rows = apl_batch_rows(batch);
    if (r->status != APL_OK || !make_room(r, rows))
        return;
    for (size_t i = 0; r->sizes.of && i < rows; i++) {
        uint32_t record = reader_orders_find(&r->orders, apl_batch_ids(batch)[i]);
        r->boxes[i].image_width = record < r->sizes.count ? r->sizes.of[record][0] : 0;
        r->boxes[i].image_height = record < r->sizes.count ? r->sizes.of[record][1] : 0;
    }
    r->status = apl_batch_boxes(r->job->store, &r->transform, r->seed, batch, r->boxes, &r->error);
    for (size_t i = 0; r->status == APL_OK && i < rows && r->into->count < r->orders.length; i++)
        take_row(r, batch, i);
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

/* What is left to chance is tested by its law; the rest has one place. */
static void add_places(const struct crop_values *v, struct audit_report *report)
{
    struct finding *f = &report->findings[report->count++];
    *f = (struct finding){.name = "places of crops", .certain = true, .any_order = true, .p = v->wrong == 0};
    f->hypothesis =
        "every crop lies within its padded image, in the middle where that is asked for, and none is flipped "
        "unasked";
    f->statistic = "crops that are elsewhere, or flipped";
    f->value = (double)v->wrong;
    f->effect = 1;
    f->unit = "crop (nothing is left to chance)";
    f->rejected = v->wrong > 0;
    report->rejected += f->rejected;
    snprintf(f->detail, sizeof f->detail, "%s of %s crops are elsewhere", count_text(v->wrong),
             count_text(v->seen));
}

/* Where nothing is left to chance, crops are only looked at. */
static bool take_all(struct crop_reader *r)
{
    const struct audit_sample *s = &r->job->sample;
    struct crop_epoch crops = {.record = malloc(((size_t)r->orders.length + 1) * sizeof *crops.record)};
    bool ok = crops.record != NULL;
    for (uint64_t i = 0; ok && i < s->epochs; i++) {
        crops.count = 0;
        ok = take_crops(r, s->seed, s->first_epoch + i, &crops);
    }
    free(crops.record);
    return ok;
}

static bool take_and_test(struct crop_reader *r, struct audit_report *report)
{
    const struct crop_source source = {take_crops, r, r->orders.ids};
    return r->values.law.count == 0
               ? take_all(r)
               : crops_audit(&r->job->sample, r->orders.length, &r->values.law, &source, report);
}

static apl_status test_crops(struct crop_reader *r, struct audit_report *report, apl_error *err)
{
    r->order = malloc(((size_t)r->orders.length + 1) * sizeof *r->order);
    if (!crop_values_init(&r->values, &r->transform, &r->sizes) || !r->order)
        return inputs_no_memory(err);
    if (!take_and_test(r, report)) {
        *err = r->error;
        return r->status != APL_OK ? r->status : inputs_no_memory(err);
    }
    add_places(&r->values, report);
    return APL_OK;
}

static void leave_out(struct audit_job *job, const char *what)
{
    if (job->not_tested_count < NOT_TESTED_MOST)
        job->not_tested[job->not_tested_count++] = what;
}

static apl_status add_all(struct crop_reader *r, struct audit_report *report, apl_error *err)
{
    struct audit_job *job = r->job;
    bool known;
    apl_status status = apl_transform_complete(job->store, job->choice.options.split, &r->transform, err);
    if (status == APL_OK)
        status = find_sizes(r, &known, err);
    if (status != APL_OK)
        return status;
    job->not_tested_count = not_tested(&r->transform, job->choice.options.blend, job->not_tested);
    if (known)
        return test_crops(r, report, err);
    leave_out(job, "crops and flips, as the store does not have the sizes of its images");
    return APL_OK;
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
    crop_values_release(&r.values);
    free(r.sizes.of);
    free(r.order);
    free(r.boxes);
    return status;
}
