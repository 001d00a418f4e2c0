/* apldata audit: the law of the samples that a reader was asked for. */
#include "cmd_audit.h"

#include "inputs.h"
#include "order_records.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* The class of record i in the field by which samples are drawn. */
static apl_status value_of(const struct audit_job *job, uint32_t i, uint64_t *value, apl_error *err)
{
    apl_store *store;
    uint64_t id;
    order_records_store(&job->orders, i, &store, &id);
    unsigned field = (unsigned)apl_store_find_field(store, job->choice.sampling.field);
    apl_batch *batch = NULL;
    apl_status status = apl_store_get(store, id, &batch, err);
    *value = 0;
    if (status == APL_OK)
        memcpy(value, apl_batch_column(batch, field)->data, apl_store_field(store, field)->value_bytes);
    apl_batch_release(batch);
    return status;
}

/* The weights of the groups: of each, that of the class of its first record. */
static apl_status set_weights(struct audit_job *job, double *weights, apl_error *err)
{
    const apl_sampling *asked = &job->choice.sampling;
    apl_status status = APL_OK;
    for (uint32_t g = 0; g < job->law.groups; g++)
        weights[g] = -1;
    for (uint32_t i = 0; i < job->sample.n && status == APL_OK; i++) {
        uint32_t g = job->law.group[i];
        uint64_t value = 0;
        if (weights[g] >= 0)
            continue;
        if (asked->weights)
            status = value_of(job, i, &value, err);
        weights[g] = asked->weights ? asked->weights[value % asked->weight_count] : 1;
    }
    return status;
}

/* Where stores have weights, they are the groups. */
static void group_stores(struct audit_job *job, uint32_t *group, double *weights)
{
    const apl_reader_options *o = &job->choice.options;
    for (uint32_t i = 0; i < job->sample.n; i++) {
        apl_store *store;
        uint64_t own;
        group[i] = (uint32_t)order_records_store(&job->orders, i, &store, &own);
    }
    job->law.groups = (uint32_t)o->mix.count + 1;
    weights[0] = o->mix.weight;
    for (size_t k = 0; k < o->mix.count; k++)
        weights[k + 1] = o->mix.sources[k].weight;
}

/* Where records have weights, each is a group. Without replacement their chances have no closed form. */
static apl_status group_records(struct audit_job *job, uint32_t *group, double *weights, apl_error *err)
{
    const apl_sampling *asked = &job->choice.sampling;
    if (!asked->replacement)
        return inputs_error(err, APL_E_UNSUPPORTED,
                            "the law of --record-weights is tested with --replacement only");
    for (uint32_t i = 0; i < job->sample.n; i++)
        group[i] = i;
    for (uint32_t i = 0; i < job->sample.n && i < asked->weight_count; i++)
        weights[i] = asked->weights[i];
    job->law.groups = job->sample.n;
    return asked->weight_field ? order_records_values(&job->orders, asked->weight_field, weights, err)
                               : APL_OK;
}

apl_status audit_law_open(struct audit_job *job, apl_error *err)
{
    const apl_sampling *asked = &job->choice.sampling;
    uint32_t n = job->sample.n, *group = calloc(n, sizeof *group);
    double *weights = calloc(n, sizeof *weights);
    job->law = (struct sampling_law){group, 1, weights, asked->replacement, job->orders.length, false};
    if (!group || !weights)
        return inputs_error(err, APL_E_NOMEM, "out of memory");
    apl_status status = APL_OK;
    if (job->choice.options.mix.weight > 0) {
        group_stores(job, group, weights);
        return APL_OK;
    }
    if (asked->weight_field || (asked->weights && !asked->field))
        return group_records(job, group, weights, err);
    if (asked->field)
        status = order_records_classes(&job->orders, asked->field, group, &job->law.groups, err);
    return status == APL_OK ? set_weights(job, weights, err) : status;
}

void audit_law_close(struct audit_job *job)
{
    free((void *)job->law.group);
    free((void *)job->law.weights);
    job->law = (struct sampling_law){.groups = 0};
}

void audit_law_text(const struct audit_job *job, char *text, size_t size)
{
    const apl_sampling *asked = &job->choice.sampling;
    int at = snprintf(text, size, "samples of %s records an epoch, ", count_text(job->law.records));
    if (asked->field)
        at += snprintf(text + at, size - (size_t)at, "classes of %s %s, ", shown(asked->field),
                       asked->weights ? "by weights" : "balanced");
    else if (asked->weight_field)
        at +=
            snprintf(text + at, size - (size_t)at, "each by its %s as weight, ", shown(asked->weight_field));
    else if (asked->weights)
        at += snprintf(text + at, size - (size_t)at, "each by a weight of its own, ");
    if (job->choice.options.mix.weight > 0)
        at += snprintf(text + at, size - (size_t)at, "stores by weights, ");
    snprintf(text + at, size - (size_t)at, asked->replacement ? "with replacement" : "without replacement");
}
