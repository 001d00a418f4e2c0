/* Windows: see windows.h. */
#include "windows.h"
#include "controls.h"
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_AT 1000000u /* records a window, in whole epochs */

struct measure {
    const struct audit_sample *sample;
    uint32_t *block, *cls;   /* of each record, if it had been shuffled */
    double *block_size;      /* records in each block */
    double *class_size;      /* and class */
    uint32_t *count, *order; /* of each class in a batch; of an epoch */
};

static bool measure_begin(struct measure *m, const struct audit_sample *s)
{
    size_t n = s->n;
    *m = (struct measure){.sample = s};
    m->block = malloc(n * sizeof *m->block);
    m->cls = calloc(n, sizeof *m->cls);
    m->block_size = calloc(s->blocks, sizeof *m->block_size);
    m->class_size = calloc(s->classes + (size_t)1, sizeof *m->class_size);
    m->count = calloc(s->classes + (size_t)1, sizeof *m->count);
    m->order = malloc(n * sizeof *m->order);
    if (!m->block || !m->cls || !m->block_size || !m->class_size || !m->count || !m->order)
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        m->block_size[s->block[i]]++;
        m->class_size[s->cls ? s->cls[i] : 0]++;
    }
    if (!audit_right.order((void *)s, s->seed, UINT64_MAX, m->order)) /* any uniform permutation */
        return false;
    for (uint32_t i = 0; i < s->n; i++) {
        m->block[i] = s->block[m->order[i]];
        m->cls[i] = s->cls ? s->cls[m->order[i]] : 0;
    }
    return true;
}

static void measure_end(struct measure *m)
{
    free(m->block);
    free(m->cls);
    free(m->block_size);
    free(m->class_size);
    free(m->count);
    free(m->order);
}

static double excess_of_neighbours(const struct measure *m, const uint32_t *block)
{
    double same = 0, due = 0, n = m->sample->n;
    for (uint32_t b = 0; b < m->sample->blocks; b++)
        due += m->block_size[b] * (m->block_size[b] - 1) / n;
    for (uint32_t k = 0; k + 1 < m->sample->n; k++)
        same += block[m->order[k]] == block[m->order[k + 1]];
    return due > 0 ? same / due : 1;
}

/* Chi-square of full batches by classes, by its degrees of freedom. */
static double spread_of_classes(const struct measure *m, const uint32_t *cls)
{
    const struct audit_sample *s = m->sample;
    double sum = 0, n = s->n, batch = s->batch, used = 0;
    uint32_t batches = s->n / s->batch;
    for (uint32_t b = 0; b < batches; b++) {
        memset(m->count, 0, s->classes * sizeof *m->count);
        for (uint32_t k = b * s->batch; k < (b + 1) * s->batch; k++)
            m->count[cls[m->order[k]]]++;
        for (uint32_t c = 0; c < s->classes; c++) {
            double due = batch * m->class_size[c] / n, off = m->count[c] - due;
            sum += due > 0 ? off * off / due : 0;
        }
    }
    for (uint32_t c = 0; c < s->classes; c++)
        used += m->class_size[c] > 0;
    return batches > 0 && used > 1 && batch < n ? sum / (batches * (used - 1)) * (n - 1) / (n - batch) : 1;
}

static void add_mixing(const struct measure *m, const uint32_t *block, const uint32_t *cls, double share,
                       struct mixing *mixing)
{
    mixing->neighbours += share * excess_of_neighbours(m, block);
    mixing->classes += m->sample->cls ? share * spread_of_classes(m, cls) : 0;
}

static bool is_whole(const struct measure *m)
{
    uint32_t k = 0;
    while (k < m->sample->n && m->order[k] < m->sample->n)
        k++;
    return k == m->sample->n;
}

static apl_status measure_window(const struct reader_orders *orders, struct measure *m, uint64_t epochs,
                                 struct window_point *point, apl_error *err)
{
    const struct audit_sample *s = m->sample;
    struct reader_orders o = *orders;
    apl_status status = APL_OK;
    o.readers = NULL;
    o.load = false;
    o.taken = NULL;
    o.options.window = point->window;
    o.options.memory_budget = 0;
    for (uint64_t e = 0; status == APL_OK && e < epochs; e++) {
        if (!reader_orders_take(&o, s->seed, s->first_epoch + e, m->order)) {
            *err = o.error;
            status = o.error.status;
        } else if (!is_whole(m)) {
            status = inputs_error(err, APL_E_INVALID, "an epoch lacks records");
        } else {
            add_mixing(m, s->block, s->cls, 1.0 / (double)epochs, &point->stored);
            add_mixing(m, m->block, m->cls, 1.0 / (double)epochs, &point->shuffled);
        }
    }
    o.ids = NULL; /* they are the caller's */
    reader_orders_close(&o, &(struct audit_sample){.n = 0});
    return status;
}

apl_status windows_measure(const struct reader_orders *orders, const struct audit_sample *s,
                           struct windows *windows, apl_error *err)
{
    struct measure m;
    uint64_t lanes = orders->options.ranks.lanes ? orders->options.ranks.lanes : 1;
    uint64_t window = 2 * lanes * apl_store_info(orders->store)->block_records;
    apl_status status = APL_OK;
    *windows = (struct windows){.epochs = LOOK_AT / s->n};
    windows->epochs = windows->epochs < 3 ? 3 : windows->epochs > 20 ? 20 : windows->epochs;
    if (!measure_begin(&m, s))
        status = inputs_error(err, APL_E_NOMEM, "out of memory");
    for (bool last = false; status == APL_OK && !last && windows->count < WINDOWS_MOST; window *= 2) {
        struct window_point *point = &windows->points[windows->count++];
        last = window >= s->n;
        point->window = last ? s->n : window;
        status = measure_window(orders, &m, windows->epochs, point, err);
    }
    measure_end(&m);
    return status;
}
