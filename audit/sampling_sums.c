/* What the tests of samples add up: see sampling_sums.h. */
#include "sampling_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CELLS 32 /* rows, and columns, of the table of positions */

/* ---------------------------------------------------------------------------------------------- making */

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* Rounds up a number that is just below a whole one. */
static double whole_part(double x)
{
    return floor(x + 1e-9 + 1e-12 * x);
}

/* Without replacement: which groups are rounded up, those of the largest remainders. */
static bool set_rounding(struct sampling_sums *r)
{
    uint32_t n = r->law->groups;
    double *rests = calloc((size_t)n + 1, sizeof *rests), up = r->law->records;
    if (!rests)
        return false;
    for (uint32_t g = 0; g < n; g++) {
        rests[g] = r->due[g] - whole_part(r->due[g]);
        up -= whole_part(r->due[g]);
    }
    qsort(rests, n, sizeof *rests, descending);
    double least = up >= 1 ? rests[(uint32_t)up - 1] : 2, near = 1e-9 + 1e-12 * r->law->records;
    r->ties_up = up;
    for (uint32_t g = 0; g < n; g++) {
        double rest = r->due[g] - whole_part(r->due[g]);
        r->up[g] = rest > least + near ? 1 : rest > least - near ? 2 : 0;
        r->ties_up -= r->up[g] == 1;
        r->ties += r->up[g] == 2;
    }
    free(rests);
    return true;
}

static bool set_due(struct sampling_sums *r)
{
    const struct sampling_law *law = r->law;
    double sum = 0;
    for (uint32_t g = 0; g < law->groups; g++)
        sum += law->weights[g];
    for (uint32_t i = 0; i < r->sample->n; i++)
        r->size[law->group[i]]++;
    for (uint32_t g = 0; g < law->groups; g++) {
        r->due[g] = law->records * (law->weights[g] / sum);
        r->possible += law->weights[g] > 0 ? r->size[g] : 0;
    }
    return law->replacement || set_rounding(r);
}

/* As many cells as can each expect about twenty deliveries. */
static unsigned cells(double deliveries)
{
    double most = sqrt(deliveries / 20);
    return most < 2 ? 2 : most > MOST_CELLS ? MOST_CELLS : (unsigned)most;
}

bool sampling_sums_make(struct sampling_sums *r, const struct audit_sample *s, const struct sampling_law *law)
{
    *r = (struct sampling_sums){.sample = s, .law = law, .epochs = (double)s->epochs};
    r->order = calloc(law->records, sizeof *r->order);
    r->count = calloc(s->n, sizeof *r->count);
    r->in = calloc(law->groups, sizeof *r->in);
    r->size = calloc(law->groups, sizeof *r->size);
    r->due = calloc(law->groups, sizeof *r->due);
    r->up = calloc(law->groups, 1);
    r->sum = calloc(s->n, sizeof *r->sum);
    r->groups = calloc(law->groups, sizeof *r->groups);
    r->residual = calloc(s->n, sizeof *r->residual);
    r->before = calloc(s->n, sizeof *r->before);
    r->rows = r->columns = cells(r->epochs * law->records);
    r->table = calloc((size_t)r->rows * r->columns, sizeof *r->table);
    r->blocks = calloc(s->blocks, sizeof *r->blocks);
    bool ok = r->order && r->count && r->in && r->size && r->due && r->up && r->sum && r->groups &&
              r->residual && r->before && r->table && r->blocks;
    return ok && set_due(r);
}

void sampling_sums_release(struct sampling_sums *r)
{
    void *all[] = {r->order,  r->count,    r->in,     r->size, r->due,   r->up,
                   r->groups, r->residual, r->before, r->sum,  r->table, r->blocks};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* -------------------------------------------------------------------------------------- an epoch's counts */

static void count_deliveries(struct sampling_sums *r)
{
    const struct sampling_law *law = r->law;
    memset(r->count, 0, r->sample->n * sizeof *r->count);
    memset(r->in, 0, law->groups * sizeof *r->in);
    for (uint32_t k = 0; k < law->records; k++)
        if (r->order[k] < r->sample->n)
            r->count[r->order[k]]++;
        else
            r->missing++;
    for (uint32_t i = 0; i < r->sample->n; i++)
        r->in[law->group[i]] += r->count[i];
}

static void take_draws(struct sampling_sums *r)
{
    const struct sampling_law *law = r->law;
    for (uint32_t g = 0; g < law->groups; g++) {
        r->groups[g] += r->in[g];
        if (r->due[g] > 0)
            r->group_spread += (r->in[g] - r->due[g]) * (r->in[g] - r->due[g]) / r->due[g];
    }
    for (uint32_t i = 0; i < r->sample->n; i++) {
        uint32_t g = law->group[i];
        double due = r->due[g] / r->size[g], off = r->count[i] - due;
        r->unlawful += due == 0 ? r->count[i] : 0;
        r->residual[i] = due > 0 ? off / sqrt(due) : 0;
        r->product_due += due * due;
    }
    r->df = r->possible - 1;
}

static void take_shares(struct sampling_sums *r)
{
    r->df = 0;
    for (uint32_t g = 0; g < r->law->groups; g++) {
        double n = r->size[g], more = (double)(r->in[g] % r->size[g]) / n;
        double off = r->in[g] - whole_part(r->due[g]);
        bool lawful = r->up[g] == 2 ? off == 0 || off == 1 : off == r->up[g];
        r->unlawful += lawful ? 0 : fmax(1, fabs(off));
        r->groups[g] += off;
        r->df += more > 0 ? n - 1 : 0;
        r->product_due += n * fmin(more, 1 - more) * fmin(more, 1 - more);
    }
    for (uint32_t i = 0; i < r->sample->n; i++) {
        uint32_t g = r->law->group[i], each = r->in[g] / r->size[g];
        double n = r->size[g], more = (double)(r->in[g] % r->size[g]) / n, extra = (double)r->count[i] - each;
        r->unlawful += extra < 0 ? -extra : extra > 1 ? extra - 1 : 0;
        r->residual[i] = more > 0 ? (extra - more) / sqrt(more * (1 - more) * n / (n - 1)) : 0;
    }
}

/* --------------------------------------------------------------------------------------- an epoch's order */

static void take_positions(struct sampling_sums *r)
{
    uint64_t n = r->sample->n, all = r->law->records;
    for (uint64_t k = 0; k < all; k++) {
        uint64_t row = r->order[k] * (uint64_t)r->rows / n, column = k * r->columns / all;
        r->table[row * r->columns + column]++;
    }
}

/* Neighbours of the same block: their mean and variance over all orders of the deliveries that the epoch has.
 */
static void take_neighbours(struct sampling_sums *r)
{
    const uint32_t *block = r->sample->block;
    double m = r->law->records, two = 0, three = 0, four = 0, squares = 0;
    memset(r->blocks, 0, r->sample->blocks * sizeof *r->blocks);
    for (uint32_t k = 0; k < r->law->records; k++)
        r->blocks[block[r->order[k]]]++;
    for (uint32_t k = 1; k < r->law->records; k++)
        r->neighbours += block[r->order[k]] == block[r->order[k - 1]];
    for (uint32_t b = 0; b < r->sample->blocks; b++) {
        double c = r->blocks[b], pairs = c * (c - 1);
        two += pairs;
        three += pairs * (c - 2);
        four += pairs * (c - 2) * (c - 3);
        squares += pairs * pairs;
    }
    if (m < 4)
        return;
    double due = two / m, triples = 2 * three / (m * (m - 1)),
           apart = (four + two * two - squares) / (m * (m - 1));
    r->neighbours_due += due;
    r->neighbours_variance += due + triples + apart - due * due;
}

static void take_residuals(struct sampling_sums *r, uint64_t index)
{
    double due = r->product_due;
    if (r->law->replacement)
        take_draws(r);
    else
        take_shares(r);
    for (uint32_t i = 0; i < r->sample->n; i++) {
        r->product += r->residual[i] * r->before[i];
        r->spread += r->residual[i] * r->residual[i];
        r->sum[i] += r->residual[i];
    }
    if (index == 0) /* nothing precedes it */
        r->product_due = due;
    else
        r->product_variance += r->df;
    double *residual = r->residual;
    r->residual = r->before;
    r->before = residual;
}

bool sampling_sums_take(struct sampling_sums *r, const struct order_source *source, uint64_t index)
{
    const struct audit_sample *s = r->sample;
    if (!source->order(source->user, s->seed, s->first_epoch + index, r->order))
        return false;
    count_deliveries(r);
    if (r->missing > 0)
        return true;
    take_residuals(r, index);
    take_positions(r);
    take_neighbours(r);
    return true;
}
