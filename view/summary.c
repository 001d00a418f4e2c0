/* Numbers, described: see summary.h. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>

#define MOST_WHOLE 1e15 /* below it, doubles hold every whole number, and its half */

struct item {
    double v;
    size_t at;
};

static int by_value(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static size_t sort_finite(const double *values, size_t n, struct item *items)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i]))
            items[count++] = (struct item){values[i], i};
    qsort(items, count, sizeof *items, by_value);
    return count;
}

/* Scaled, so that squares of the largest doubles do not overflow. */
static void find_moments(const struct item *items, struct summary *s)
{
    double scale = fmax(fabs(s->least), fabs(s->most)), sum = 0, squares = 0;
    scale = scale > 0 ? scale : 1;
    for (size_t i = 0; i < s->count; i++)
        sum += items[i].v / scale;
    double mean = sum / (double)s->count;
    for (size_t i = 0; i < s->count; i++)
        squares += (items[i].v / scale - mean) * (items[i].v / scale - mean);
    s->mean = mean * scale;
    s->deviation = sqrt(squares / (double)s->count) * scale;
}

static void find_common(const struct item *items, struct summary *s)
{
    for (size_t i = 0, run = 0; i < s->count; i++) {
        bool starts = i == 0 || items[i].v != items[i - 1].v;
        run = starts ? 1 : run + 1;
        s->distinct += starts;
        if (run > s->common_count) {
            s->common_count = run;
            s->common = items[i].v;
        }
    }
}

/* Those far out are at both ends; the more distant end goes first. */
static void find_far(const struct item *items, struct summary *s)
{
    double reach = 3 * (s->quarter[2] - s->quarter[0]);
    double low = s->quarter[0] - reach, high = s->quarter[2] + reach;
    size_t first = 0, last = s->count;
    while (reach > 0 && first < last && items[first].v < low)
        first++;
    while (reach > 0 && last > first && items[last - 1].v > high)
        last--;
    s->far = first + s->count - last;
    s->from = items[first].v;
    s->to = items[last - 1].v;
    for (size_t i = 0, a = 0, b = s->count; i < s->far && i < SUMMARY_FAR; i++) {
        bool below = b == last || (a < first && s->quarter[0] - items[a].v > items[b - 1].v - s->quarter[2]);
        s->far_at[i] = below ? items[a++].at : items[--b].at;
    }
}

static bool whole_numbers(const struct item *items, const struct summary *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (items[i].v != floor(items[i].v))
            return false;
    return fabs(s->from) < MOST_WHOLE && fabs(s->to) < MOST_WHOLE;
}

/* Bins of whole numbers each hold equally many of them: where some held two and others three, these stood out as peaks. */
static void choose_bins(const struct item *items, struct summary *s)
{
    double range = s->to - s->from;
    s->whole = whole_numbers(items, s);
    s->step = s->whole ? ceil((range + 1) / SUMMARY_BINS) : range / SUMMARY_BINS;
    s->bins = s->whole                       ? (unsigned)ceil((range + 1) / s->step)
              : range > 0 && isfinite(range) ? SUMMARY_BINS
                                             : 1;
}

static void fill_bins(const struct item *items, struct summary *s)
{
    choose_bins(items, s);
    for (size_t i = 0; i < s->count; i++) {
        double from = items[i].v - s->from;
        if (items[i].v < s->from || items[i].v > s->to)
            continue;
        double range = s->to - s->from;
        unsigned bin = s->whole      ? (unsigned)(from / s->step)
                       : s->bins > 1 ? (unsigned)(from / range * s->bins)
                                     : 0;
        s->bin[bin < s->bins ? bin : s->bins - 1]++;
    }
}

bool summarise(const double *values, size_t n, struct summary *s)
{
    struct item *items = malloc((n + 1) * sizeof *items);
    *s = (struct summary){0};
    if (!items)
        return false;
    s->count = sort_finite(values, n, items);
    if (s->count > 0) {
        s->least = items[0].v;
        s->least_at = items[0].at;
        s->most = items[s->count - 1].v;
        find_common(items, s);
        for (size_t i = 0; i < s->count && items[s->count - 1 - i].v == s->most; i++)
            s->most_at = items[s->count - 1 - i].at;
        for (unsigned q = 0; q < 3; q++)
            s->quarter[q] = items[(s->count - 1) * (q + 1) / 4].v;
        find_moments(items, s);
        find_far(items, s);
        fill_bins(items, s);
    }
    free(items);
    return true;
}
