/* apldata audit: what the law of the samples is that a reader was asked for. */
#include "cmd_audit.h"

#include "inputs.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* The value of a field of whole numbers of one record. */
static apl_status value_of(const struct audit_job *job, unsigned field, uint64_t id, uint64_t *value,
                           apl_error *err)
{
    apl_batch *batch = NULL;
    apl_status status = apl_store_get(job->store, id, &batch, err);
    *value = 0;
    if (status == APL_OK)
        memcpy(value, apl_batch_column(batch, field)->data, apl_store_field(job->store, field)->value_bytes);
    apl_batch_release(batch);
    return status;
}

/* The weights of the groups: of each, that of the class of its first record. */
static apl_status set_weights(struct audit_job *job, int field, double *weights, apl_error *err)
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
            status = value_of(job, (unsigned)field, job->orders.ids[i], &value, err);
        weights[g] = asked->weights ? asked->weights[value % asked->weight_count] : 1;
    }
    return status;
}

apl_status audit_law_open(struct audit_job *job, apl_error *err)
{
    const apl_sampling *asked = &job->choice.sampling;
    uint32_t n = job->sample.n, *group = calloc(n, sizeof *group);
    double *weights = calloc(n, sizeof *weights);
    int field = asked->field ? apl_store_find_field(job->store, asked->field) : -1;
    job->law = (struct sampling_law){group, 1, weights, asked->replacement, job->orders.length, false};
    if (!group || !weights)
        return inputs_error(err, APL_E_NOMEM, "memory could not be had");
    apl_status status = APL_OK;
    if (asked->field)
        status =
            inputs_classes(job->store, (unsigned)field, job->orders.ids, n, group, &job->law.groups, err);
    return status == APL_OK ? set_weights(job, field, weights, err) : status;
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
                       asked->weights ? "by weights" : "alike");
    snprintf(text + at, size - (size_t)at, asked->replacement ? "with replacement" : "without replacement");
}
