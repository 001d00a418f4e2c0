/* What is rejected: see audit_judge(); what a count is worth; how it is written. */
#include "audit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

double audit_count_p(const struct audit_sample *s, const char *test, double lower, double upper)
{
    uint64_t key[] = {s->seed, s->first_epoch};
    double share =
        (double)(XXH3_64bits_withSeed(key, sizeof key, XXH3_64bits(test, strlen(test))) >> 11) * 0x1p-53;
    double at = fmax(0, lower + upper - 1); /* the chance of the count itself */
    return fmin(1, 2 * fmin(lower - share * at, upper - (1 - share) * at));
}

unsigned audit_judge(struct finding **findings, unsigned count, double level)
{
    unsigned rejected = 0;
    for (unsigned i = 0; i < count; i++)
        findings[i]->rejected = false;
    for (; rejected < count; rejected++) {
        struct finding *least = NULL;
        for (unsigned i = 0; i < count; i++)
            if (!findings[i]->rejected && (!least || findings[i]->p < least->p))
                least = findings[i];
        if (!least || least->p > level / (count - rejected))
            break;
        least->rejected = true;
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
