/* Rejection (see audit_judge()), and p-values and text of counts. */
#include "audit.h"
#include "digest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double audit_two_sided(double lower, double upper, double share)
{
    double at = fmax(0, lower + upper - 1); /* the chance of the count itself */
    return fmin(1, 2 * fmin(lower - share * at, upper - (1 - share) * at));
}

double audit_count_p(const struct audit_sample *s, const char *test, double lower, double upper)
{
    uint64_t key[] = {s->seed, s->first_epoch};
    uint64_t drawn = digest_seeded(key, sizeof key, digest_seeded(test, strlen(test), 0));
    return audit_two_sided(lower, upper, (double)(drawn >> 11) * 0x1p-53);
}

static int by_p(const void *a, const void *b)
{
    const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
    return x->p < y->p ? -1 : x->p > y->p;
}

unsigned audit_judge(struct finding **findings, unsigned count, double level)
{
    unsigned rejected = 0, left = 0;
    bool stood = false;
    for (unsigned i = 0; i < count; i++)
        left += !findings[i]->certain;
    qsort(findings, count, sizeof *findings, by_p);
    for (unsigned i = 0; i < count; i++) {
        struct finding *f = findings[i];
        stood |= !f->certain && f->p > level / left;
        f->rejected = f->certain ? f->p == 0 : !stood;
        left -= f->rejected && !f->certain;
        rejected += f->rejected;
    }
    return rejected;
}

const char *audit_count_text(char text[32], double n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%.0f", fmin(n, 1e18)), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}
