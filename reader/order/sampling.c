/* What a caller asks to be sampled: see sampling.h. */
#include "sampling.h"

#include "classes.h"

#include <math.h>
#include <stdlib.h>

apl_status sampling_check_weights(const char *what, const double *weights, size_t count, apl_error *err)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(weights[i]) || weights[i] < 0)
            return fail(err, APL_E_INVALID, "%s[%zu] is %g: weights are finite, and not negative", what, i,
                        weights[i]);
        any |= weights[i] > 0;
    }
    return any ? APL_OK : fail(err, APL_E_INVALID, "%s: none is above 0", what);
}

static apl_status check_sampling(const struct subset *subset, const apl_sampling *asked, apl_error *err)
{
    if ((asked->weights == NULL) != (asked->weight_count == 0))
        return fail(err, APL_E_INVALID, "sampling: weights and weight_count: both or none");
    if (asked->weight_field && (asked->field || asked->weights))
        return fail(err, APL_E_INVALID,
                    "sampling: weight_field excludes field and weights, as its values are the weights");
    if (asked->weights)
        TRY(sampling_check_weights("sampling: weights", asked->weights, asked->weight_count, err));
    if (asked->weights && !asked->field && asked->weight_count != subset->records)
        return fail(err, APL_E_INVALID, "sampling: %s for the %s that are read",
                    number_of(asked->weight_count, "weight", "weights"),
                    number_of(subset->records, "record", "records"));
    uint64_t records = asked->records ? asked->records : subset->records;
    if (records > SAMPLER_MOST_RECORDS || asked->weight_count > SAMPLER_MOST_RECORDS)
        return fail(err, APL_E_UNSUPPORTED, "sampling: more than 2^32 - 2 records an epoch, or weights");
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- groups */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Numbers the values that there are in ascending order. */
static apl_status number_values(const uint64_t *values, uint32_t *group, uint32_t n, uint32_t *groups,
                                apl_error *err)
{
    uint64_t *sorted = malloc(n * sizeof *sorted);
    uint32_t distinct = 0;
    if (!sorted)
        return fail_nomem(err);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || sorted[i] != sorted[distinct - 1])
            sorted[distinct++] = sorted[i];
    for (uint32_t i = 0; i < n; i++)
        group[i] =
            (uint32_t)((uint64_t *)bsearch(&values[i], sorted, distinct, sizeof *sorted, by_value) - sorted);
    free(sorted);
    *groups = distinct;
    return APL_OK;
}

/* The id of record `i` of the subset. */
static uint64_t id_of(const struct subset *subset, uint64_t i)
{
    uint32_t b = 0;
    while (i >= subset->block[b].before + subset->block[b].count)
        b++;
    return subset_id(subset, b * subset->stride + (uint32_t)(i - subset->block[b].before));
}

/* Takes values as the numbers of groups, of which there are `count`. */
static apl_status take_values(const struct subset *subset, const apl_sampling *asked, const uint64_t *values,
                              uint32_t *group, apl_error *err)
{
    for (uint32_t i = 0; i < subset->records; i++) {
        if (values[i] >= asked->weight_count)
            return fail(err, APL_E_INVALID,
                        "sampling: there are %zu weights, but record %llu has the %s %lld",
                        asked->weight_count, (unsigned long long)id_of(subset, i), asked->field,
                        (long long)values[i]);
        group[i] = (uint32_t)values[i];
    }
    return APL_OK;
}

/* Makes groups of the records by the values of the field. */
static apl_status group_records(const struct subset *subset, const apl_sampling *asked, uint32_t *group,
                                struct sample_rule *rule, apl_error *err)
{
    uint32_t n = (uint32_t)subset->records;
    uint64_t *values = malloc(n * sizeof *values);
    apl_status status = values ? classes_read(subset, asked->field, values, err) : fail_nomem(err);
    rule->group = group;
    rule->groups = (uint32_t)asked->weight_count;
    if (status == APL_OK)
        status = asked->weights ? take_values(subset, asked, values, group, err)
                                : number_values(values, group, n, &rule->groups, err);
    free(values);
    return status;
}

/* The weights of records that a field holds. */
static apl_status read_weights(const struct subset *subset, const char *field, double **weights,
                               apl_error *err)
{
    bool any = false;
    *weights = malloc((size_t)subset->records * sizeof **weights);
    if (!*weights)
        return fail_nomem(err);
    TRY(field_weights_read(subset, field, *weights, err));
    for (uint64_t i = 0; i < subset->records; i++) {
        double w = (*weights)[i];
        if (!isfinite(w) || w < 0)
            return fail(err, APL_E_INVALID,
                        "sampling: record %llu has the %s %g: weights are finite, and not negative",
                        (unsigned long long)id_of(subset, i), field, w);
        any |= w > 0;
    }
    return any ? APL_OK : fail(err, APL_E_INVALID, "sampling: no record has a %s above 0", field);
}

/* Makes groups of the records by the store that they are of. */
static void group_parts(const struct subset *subset, uint32_t *group, struct sample_rule *rule)
{
    for (uint32_t b = 0; b < subset->blocks; b++)
        for (uint32_t i = 0; i < subset->block[b].count; i++)
            group[subset->block[b].before + i] = subset->block[b].part;
    rule->group = group;
    rule->groups = subset->parts;
}

/* ------------------------------------------------------------------------------------------- the whole */

/* Can a reader tell the copies of a record apart? */
static apl_status check_copies(const struct subset *subset, const struct sampler *sampler, apl_error *err)
{
    if (sampler_limit(sampler) <= sampler_radix(subset))
        return APL_OK;
    return fail(err, APL_E_UNSUPPORTED,
                "sampling: a record may come up to %u times an epoch; of one of %s, %u copies can "
                "be told apart",
                sampler_limit(sampler), number_of(subset->records, "record", "records"),
                sampler_radix(subset));
}

apl_status sampling_open(const struct subset *subset, const apl_sampling *asked, const double *part_weights,
                         uint64_t seed, struct sampler **sampler, apl_error *err)
{
    TRY(check_sampling(subset, asked, err));
    if (part_weights && (asked->field || asked->weights || asked->weight_field))
        return fail(err, APL_E_INVALID,
                    "sampling: weights of stores, and a field or weights of records, exclude each other");
    struct sample_rule rule = {.seed = seed,
                               .records = asked->records ? asked->records : subset->records,
                               .weights = part_weights ? part_weights : asked->weights,
                               .replacement = asked->replacement};
    uint32_t *group = NULL;
    double *own = NULL;
    apl_status status = APL_OK;
    if (asked->weight_field) {
        status = read_weights(subset, asked->weight_field, &own, err);
        rule.weights = own;
    } else if (asked->field || part_weights) {
        group = malloc((size_t)subset->records * sizeof *group);
        status = group ? APL_OK : fail_nomem(err);
    }
    if (status == APL_OK && part_weights)
        group_parts(subset, group, &rule);
    else if (status == APL_OK && group)
        status = group_records(subset, asked, group, &rule, err);
    if (status == APL_OK)
        status = sampler_new(&rule, subset, sampler, err);
    free(group);
    free(own);
    return status == APL_OK ? check_copies(subset, *sampler, err) : status;
}

apl_status sampling_open_shares(const struct subset *subset, const apl_sampling *asked,
                                const struct token_rule *rule, uint64_t seed, struct sampler **sampler,
                                uint64_t *tokens, apl_error *err)
{
    struct token_rule own = *rule;
    struct token_shares *shares = NULL;
    TRY(check_sampling(subset, asked, err));
    if (asked->field || asked->weights || asked->weight_field || asked->replacement)
        return fail(err, APL_E_INVALID,
                    "sampling: what is packed is sampled by weights of stores, without replacement");
    own.records = asked->records ? asked->records : subset->records;
    TRY(token_shares_new(&own, subset, &shares, err));
    *tokens = token_shares_tokens(shares);
    apl_status status = APL_OK;
    if (token_shares_most(shares) > SAMPLER_MOST_RECORDS)
        status = fail(err, APL_E_UNSUPPORTED, "sampling: an epoch may have more than 2^32 - 2 records");
    if (status == APL_OK)
        status = sampler_new(&(struct sample_rule){.seed = seed, .shares = shares}, subset, sampler, err);
    if (status != APL_OK) {
        token_shares_free(shares);
        return status;
    }
    return check_copies(subset, *sampler, err);
}
