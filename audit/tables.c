/* Tests by counting: where blocks come, how classes are spread over batches, in which order small groups come. */
#include "audit.h"
#include "distributions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The root mean square by which the probabilities of the cells would have to be off, in parts of themselves, to be found. */
static double detectable(double df, double level, double samples)
{
    return sqrt(chi2_noncentrality(df, level, 0.9) / samples);
}

/* ------------------------------------------------------------------------------------ blocks by positions */

#define SIDE 64u

struct blocks {
    unsigned rows, columns;
    double row_size[SIDE], column_size[SIDE];
    double cells[SIDE][SIDE];
};

static unsigned part(uint64_t i, uint64_t n, unsigned parts)
{
    return (unsigned)(i * parts / n);
}

static void *blocks_begin(const struct audit_sample *s)
{
    struct blocks *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->rows = s->blocks < SIDE ? s->blocks : SIDE;
    b->columns = s->n / 16 < SIDE ? s->n / 16 : SIDE;
    for (uint32_t i = 0; i < s->n; i++) {
        b->row_size[part(s->block[i], s->blocks, b->rows)]++;
        b->column_size[part(i, s->n, b->columns)]++;
    }
    return b;
}

static void blocks_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct blocks *b = state;
    for (uint32_t k = 0; k < s->n; k++)
        if (e->order[k] < s->n)
            b->cells[part(s->block[e->order[k]], s->blocks, b->rows)][part(k, s->n, b->columns)]++;
}

/* Both margins are fixed in each epoch; that is where the factor (n-1)/n comes from. */
static void blocks_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct blocks *b = state;
    double sum = 0, epochs = (double)s->epochs, n = s->n, df = (double)(b->rows - 1) * (b->columns - 1);
    double worst = 1, where = 0;
    for (unsigned r = 0; r < b->rows; r++)
        for (unsigned c = 0; c < b->columns; c++) {
            double due = epochs * b->row_size[r] * b->column_size[c] / n, off = b->cells[r][c] - due;
            if (due == 0)
                continue;
            sum += off * off / due;
            if (fabs(b->cells[r][c] / due - 1) >= where) {
                where = fabs(b->cells[r][c] / due - 1);
                worst = b->cells[r][c] / due;
            }
        }
    f->hypothesis = "records of every stored block come in every part of an epoch as often as they should";
    f->statistic = "chi-square of source blocks by positions";
    f->df = df;
    f->value = sum * (n - 1) / n;
    f->p = df > 0 ? chi2_upper(f->value, df) : 1;
    f->effect = df > 0 ? detectable(df, level, epochs * n) : 0;
    f->unit = "rms relative error of a cell's probability";
    snprintf(f->detail, sizeof f->detail, "%u x %u cells; the worst has %.3f of its due", b->rows, b->columns,
             worst);
    free(b);
}

void audit_blocks_map(const void *state, const struct audit_sample *s, struct audit_map *map)
{
    const struct blocks *b = state;
    *map = (struct audit_map){b->rows, b->columns, calloc((size_t)b->rows * b->columns, sizeof(double))};
    for (unsigned r = 0; map->share && r < b->rows; r++)
        for (unsigned c = 0; c < b->columns; c++) {
            double due = (double)s->epochs * b->row_size[r] * b->column_size[c] / s->n;
            map->share[r * b->columns + c] = due > 0 ? b->cells[r][c] / due : 1;
        }
}

const struct audit_test audit_blocks = {"blocks by positions", blocks_begin, blocks_add, blocks_finish,
                                        false};

/* ------------------------------------------------------------------------------------ batches by classes */

struct classes {
    double sum, df; /* over epochs */
    uint32_t least, most, at_least, at_most;
    double *size, largest;
    uint32_t *count;
    struct audit_batches batches; /* of the largest classes */
};

static void classes_free(struct classes *c)
{
    free(c->size);
    free(c->count);
    free(c->batches.count);
    free(c);
}

static void *classes_begin(const struct audit_sample *s)
{
    struct classes *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->size = calloc(s->classes, sizeof *c->size);
    c->count = calloc(s->classes, sizeof *c->count);
    c->batches.count = calloc(s->batch + (size_t)1, sizeof *c->batches.count);
    c->least = UINT32_MAX;
    if (!c->size || !c->count || !c->batches.count) {
        classes_free(c);
        return NULL;
    }
    for (uint32_t i = 0; i < s->n; i++)
        c->largest = fmax(c->largest, ++c->size[s->cls[i]]);
    c->batches.drawn = s->batch;
    c->batches.marked = (uint32_t)c->largest;
    return c;
}

static void count_batch(struct classes *c, const struct audit_sample *s, double records)
{
    for (uint32_t k = 0; k < s->classes; k++) {
        double due = records * c->size[k] / s->n, off = c->count[k] - due;
        c->sum += due > 0 ? off * off / due : 0;
        if (records == s->batch && c->size[k] > 0) {
            c->least = c->count[k] < c->least ? c->count[k] : c->least;
            c->most = c->count[k] > c->most ? c->count[k] : c->most;
        }
        if (records == s->batch && c->size[k] == c->largest) {
            c->batches.count[c->count[k]]++;
            c->batches.looked_at++;
        }
        c->count[k] = 0;
    }
}

static void classes_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct classes *c = state;
    uint32_t filled = 0, batches = 0, used = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        if (e->order[k] < s->n)
            c->count[s->cls[e->order[k]]]++;
        if (++filled == s->batch || k + 1 == s->n) {
            count_batch(c, s, filled);
            batches++;
            filled = 0;
        }
    }
    for (uint32_t k = 0; k < s->classes; k++)
        used += c->size[k] > 0;
    c->df += (double)(batches - 1) * (used - 1);
}

/* Batches that are too even are as wrong as batches that are too uneven. */
static void classes_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct classes *c = state;
    f->hypothesis =
        "a batch has of each class what drawing without replacement gives (the hypergeometric law)";
    f->statistic = "chi-square of batches by classes, both tails";
    f->df = c->df;
    f->value = c->sum * (s->n - 1.0) / s->n;
    double upper = c->df > 0 ? chi2_upper(f->value, c->df) : 0.5,
           lower = c->df > 0 ? chi2_lower(f->value, c->df) : 0.5;
    f->p = fmin(1, 2 * fmin(upper, lower));
    f->effect = c->df > 0 ? detectable(c->df, level / 2, (double)s->epochs * s->n) : 0;
    f->unit = "rms relative error of a class's share of a batch";
    if (c->least <= c->most)
        snprintf(f->detail, sizeof f->detail, "a batch of %u has %u to %u of a class", s->batch, c->least,
                 c->most);
    classes_free(c);
}

/* Moves the counts out of the state. */
void audit_class_counts(void *state, struct audit_batches *batches)
{
    struct classes *c = state;
    *batches = c->batches;
    c->batches.count = NULL;
}

const struct audit_test audit_classes = {"classes in batches", classes_begin, classes_add, classes_finish,
                                         true};

/* ------------------------------------------------------------------------------------- orders of small groups */

#define GROUP  5u
#define ORDERS 120u

struct orders {
    double cells[ORDERS], samples;
};

static void *orders_begin(const struct audit_sample *s)
{
    (void)s;
    return calloc(1, sizeof(struct orders));
}

/* The number of the order that five different positions are in (Lehmer's code). */
static unsigned order_number(const uint32_t *place)
{
    unsigned code = 0;
    for (unsigned i = 0; i < GROUP; i++) {
        unsigned smaller = 0;
        for (unsigned j = i + 1; j < GROUP; j++)
            smaller += place[j] < place[i];
        code = code * (GROUP - i) + smaller;
    }
    return code;
}

/* Groups share no record, and so are independent of each other. */
static void orders_add(struct orders *o, uint32_t groups, uint32_t step, uint32_t stride,
                       const uint32_t *places)
{
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t place[GROUP];
        for (uint32_t i = 0; i < GROUP; i++)
            place[i] = places[g * step + i * stride];
        o->cells[order_number(place)]++;
    }
    o->samples += groups;
}

static void near_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    orders_add(state, s->n / GROUP, GROUP, 1, e->place);
}

static void far_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    orders_add(state, s->n / GROUP, 1, s->n / GROUP, e->place);
}

static void orders_finish(void *state, double level, struct finding *f)
{
    struct orders *o = state;
    double due = o->samples / ORDERS;
    for (unsigned i = 0; i < ORDERS; i++)
        f->value += (o->cells[i] - due) * (o->cells[i] - due) / due;
    f->statistic = "chi-square of the 120 orders of five";
    f->df = ORDERS - 1;
    f->p = chi2_upper(f->value, f->df);
    f->effect = detectable(f->df, level, o->samples);
    f->unit = "rms relative error of an order's probability";
    char groups[32];
    snprintf(f->detail, sizeof f->detail, "%s groups", audit_count_text(groups, o->samples));
    free(o);
}

static void near_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    (void)s;
    f->hypothesis =
        "five records that are neighbours in the store come in each of their 120 orders equally often";
    orders_finish(state, level, f);
}

static void far_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    (void)s;
    f->hypothesis = "five records from all over the store come in each of their 120 orders equally often";
    orders_finish(state, level, f);
}

const struct audit_test audit_near_orders = {"orders of neighbours", orders_begin, near_add, near_finish,
                                             false};
const struct audit_test audit_far_orders = {"orders of distant records", orders_begin, far_add, far_finish,
                                            false};
