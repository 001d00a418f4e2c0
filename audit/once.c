/* The one test that leaves nothing to chance: each record exactly once an epoch. */
#include "audit.h"

#include <stdio.h>
#include <stdlib.h>

struct once {
    uint64_t missing, repeated, epochs;
};

static void *once_begin(const struct audit_sample *s)
{
    (void)s;
    return calloc(1, sizeof(struct once));
}

static void once_add(void *state, const struct audit_sample *s, const struct audit_epoch *e)
{
    struct once *o = state;
    uint64_t placed = 0, delivered = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        placed += e->place[i] != UINT32_MAX;
        delivered += e->order[i] < s->n;
    }
    o->missing += s->n - placed;
    o->repeated += delivered - placed;
    o->epochs++;
}

static void once_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct once *o = state;
    (void)level;
    f->hypothesis = "each record of the split is delivered exactly once an epoch";
    f->statistic = "records missing or repeated";
    f->value = (double)(o->missing + o->repeated);
    f->p = f->value == 0 ? 1 : 0;
    f->effect = 1;
    f->certain = true;
    f->unit = "record (nothing is left to chance)";
    char missing[32], repeated[32], epochs[32], n[32];
    snprintf(f->detail, sizeof f->detail, "%s missing, %s repeated in %s epochs of %s",
             audit_count_text(missing, (double)o->missing), audit_count_text(repeated, (double)o->repeated),
             audit_count_text(epochs, (double)o->epochs), audit_count_text(n, s->n));
    free(o);
}

const struct audit_test audit_once = {"exactly once", once_begin, once_add, once_finish, false};
