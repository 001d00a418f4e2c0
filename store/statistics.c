/* Sums of integers only: they are the same in whatever order they are taken. */
#include "statistics.h"

#include "byte_sums.h"

#include <math.h>

void moments_add(struct moments *moments, const uint8_t *data, size_t n)
{
    struct byte_sums sums = byte_sums(data, n);
    moments->sum += sums.sum;
    moments->squares += sums.squares;
    moments->count += n;
}

bool moments_combine(struct moments *into, const struct moments *from)
{
    struct moments sum;
    if (__builtin_add_overflow(into->count, from->count, &sum.count) ||
        __builtin_add_overflow(into->sum, from->sum, &sum.sum) ||
        __builtin_add_overflow(into->squares, from->squares, &sum.squares))
        return false;
    *into = sum;
    return true;
}

void moments_figures(const struct moments *moments, double *mean, double *std)
{
    /* long double: the square of the mean and the mean of the squares are close to each other */
    long double n = (long double)moments->count, average = (long double)moments->sum / n;
    long double variance = (long double)moments->squares / n - average * average;
    *mean = (double)average;
    *std = sqrt(variance > 0 ? (double)variance : 0);
}

static void add_moments(struct moments *moments, const apl_field *field, const struct raw_column *column,
                        uint32_t from, uint32_t to)
{
    unsigned channels = field_channels(field);
    for (uint32_t i = from; i < to; i++) {
        size_t bytes;
        const uint8_t *value = raw_column_value(column, field, i, &bytes);
        for (unsigned c = 0; c < channels; c++)
            moments_add(&moments[c], value + c * (bytes / channels), bytes / channels);
    }
}

static apl_status add_classes(uint64_t *counts, const apl_field *field, const struct raw_column *column,
                              uint32_t from, uint32_t to, apl_error *err)
{
    for (uint32_t i = from; i < to; i++) {
        size_t bytes;
        const uint8_t *value = raw_column_value(column, field, i, &bytes);
        uint64_t cls = load_le(value, (unsigned)bytes);
        if (cls >= field->class_count)
            return fail(err, APL_E_INVALID, "field %s: a record has class %llu of %llu", field->name,
                        (unsigned long long)cls, (unsigned long long)field->class_count);
        counts[cls]++;
    }
    return APL_OK;
}

/* Of JPEG files, decoding has taken them. */
struct colour_sums statistics_colours(const apl_field *field, const struct raw_column *column, uint32_t from,
                                      uint32_t to)
{
    const struct colour_sums *taken = (const struct colour_sums *)(const void *)column->colours.data;
    struct colour_sums sums = {0};
    for (uint32_t i = from; i < to; i++) {
        struct colour_sums of = {0};
        if (!field->media) {
            int64_t shape[APL_MAX_DIMS];
            size_t bytes;
            const uint8_t *value = raw_column_value(column, field, i, &bytes);
            raw_column_shape(column, field, i, shape);
            unsigned channels = shape[0] > 0 && shape[0] <= 4 ? (unsigned)shape[0] : 0;
            of = colours_of_planes(value, channels, channels ? bytes / channels : 0);
        } else if (i < column->colours.size / sizeof of)
            of = taken[i];
        colours_add(&sums, &of);
    }
    return sums;
}

apl_status statistics_add(struct split *split, unsigned f, const apl_field *field,
                          const struct raw_column *column, uint32_t from, uint32_t to, apl_error *err)
{
    struct summary summary = split_summary(split, f);
    if (summary.moments)
        add_moments(summary.moments, field, column, from, to);
    if (summary.colours) {
        const struct colour_sums sums = statistics_colours(field, column, from, to);
        colours_add(summary.colours, &sums);
    }
    if (summary.classes)
        TRY(add_classes(summary.classes, field, column, from, to, err));
    return APL_OK;
}

void statistics_merge(struct split *into, const struct split *from, const struct schema *schema)
{
    for (const struct summary *more = from->summaries; more; more = more->next) {
        const apl_field *field = &schema->fields[more->field];
        struct summary sum = split_summary(into, more->field);
        for (uint64_t i = 0; sum.classes && i < field->class_count; i++)
            sum.classes[i] += more->classes[i];
        if (sum.colours)
            colours_add(sum.colours, more->colours);
        for (unsigned c = 0; sum.moments && c < field_channels(field); c++) {
            sum.moments[c].count += more->moments[c].count;
            sum.moments[c].sum += more->moments[c].sum;
            sum.moments[c].squares += more->moments[c].squares;
        }
    }
}

apl_status statistics_room(const struct manifest *m, struct split *splits, uint32_t s, apl_error *err)
{
    if (splits[s].summaries)
        return APL_OK;
    for (const struct summary *is = m->splits[s].summaries; is; is = is->next)
        TRY(manifest_new_summary(&m->schema, &splits[s], is->field, err));
    return APL_OK;
}

void statistics_free(struct split *splits, const struct manifest *m)
{
    for (uint32_t s = 0; splits && s < m->split_count; s++)
        split_free_summaries(&splits[s]);
    free(splits);
}
