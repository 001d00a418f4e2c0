/* Consecutive deliveries: the earlier stored must come first half of the time. */
#include "audit.h"
#include "distributions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct ascents {
    double epochs, count;
};

static void *ascents_begin(const struct audit_sample *s)
{
    (void)s;
    return calloc(1, sizeof(struct ascents));
}

static void ascents_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct ascents *a = state;
    for (uint32_t k = 0; k + 1 < s->n; k++)
        a->count += e->order[k] < e->order[k + 1];
    a->epochs++;
}

/* The law is that of the Eulerian numbers: a sum of n-1 independent indicators, close to normal, of variance (n+1) / 12. */
static void ascents_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct ascents *a = state;
    double pairs = (s->n - 1.0) * a->epochs, deviation = sqrt((s->n + 1.0) / 12 * a->epochs);
    f->hypothesis = "of two consecutive deliveries, the earlier stored comes first half of the time";
    f->statistic = "normal: ascents of all epochs";
    f->value = a->epochs > 0 ? (a->count - pairs / 2) / deviation : 0;
    f->p = normal_two_sided(f->value);
    f->effect = a->epochs > 0 ? (normal_upper_quantile(level / 2) + normal_upper_quantile(0.1)) * deviation /
                                    (pairs / 2)
                              : 0;
    f->unit = "of a half, the same in all epochs";
    if (a->epochs > 0)
        snprintf(f->detail, sizeof f->detail, "%.5f of all consecutive pairs", a->count / pairs);
    free(a);
}

const struct audit_test audit_ascents = {"ascents", ascents_begin, ascents_add, ascents_finish, false};
