/*
 * From how many blocks an epoch's first and last positions come. A window that does not cover the split has not let all blocks
 * in when it begins to deliver, and has spent some when it ends: however well it mixes, both ends come from too few.
 */
#include "audit.h"
#include "distributions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PER_BLOCK 1.25 /* positions at an end, for each block: a quarter of the blocks misses them */
#define LEAST     9.0  /* the variance from which on the count is close to normal */

struct ends {
    uint32_t looked_at;         /* positions at either end */
    uint32_t *seen, mark;       /* of each block: the last end that had it */
    double mean, variance;      /* of the number of blocks at one end */
    double count[2], epochs[2]; /* first positions in even epochs, last ones in odd: independent */
};

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The chance that `drawn` of n have none of m; extended precision, as the covariances of many blocks are tiny. */
static long double chance_of_none(long double n, long double m, long double drawn)
{
    if (m + drawn > n)
        return 0;
    return expl(lgammal(n - m + 1) - lgammal(n - m - drawn + 1) - lgammal(n + 1) + lgammal(n - drawn + 1));
}

/* Mean and variance of the blocks that `drawn` of n records come from, size by size. `size` is in order. */
static void law_of_blocks(struct ends *e, double n, const uint32_t *size, uint32_t blocks)
{
    long double all = blocks, missing = 0, pairs = 0;
    for (uint32_t i = 0, next; i < blocks; i = next) {
        for (next = i; next < blocks && size[next] == size[i];)
            next++;
        missing += (next - i) * chance_of_none(n, size[i], e->looked_at);
        for (uint32_t k = 0, end; k < blocks; k = end) {
            for (end = k; end < blocks && size[end] == size[k];)
                end++;
            long double count = (long double)(next - i) * (end - k - (k == i));
            pairs += count * chance_of_none(n, (long double)size[i] + size[k], e->looked_at);
        }
    }
    e->mean = (double)(all - missing);
    e->variance = (double)(missing + pairs - missing * missing);
}

static bool make_law(struct ends *e, const struct audit_sample *s)
{
    uint32_t *size = calloc(s->blocks + (size_t)1, sizeof *size);
    double looked_at = ceil(PER_BLOCK * s->blocks);
    if (!size)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        size[s->block[i]]++;
    qsort(size, s->blocks, sizeof *size, by_size);
    e->looked_at = looked_at < s->n ? (uint32_t)looked_at : s->n;
    law_of_blocks(e, s->n, size, s->blocks);
    free(size);
    return true;
}

static void *ends_begin(const struct audit_sample *s)
{
    struct ends *e = calloc(1, sizeof *e);
    if (e && (e->seen = calloc(s->blocks + (size_t)1, sizeof *e->seen)) && make_law(e, s))
        return e;
    if (e)
        free(e->seen);
    free(e);
    return NULL;
}

static void ends_add(void *state, const struct audit_sample *s, const struct audit_epoch *epoch)
{
    struct ends *e = state;
    unsigned last = epoch->index % 2;
    const uint32_t *order = epoch->order + (last ? s->n - e->looked_at : 0);
    e->mark++;
    for (uint32_t k = 0; k < e->looked_at; k++) {
        uint32_t *seen = &e->seen[s->block[order[k]]];
        e->count[last] += *seen != e->mark;
        *seen = e->mark;
    }
    e->epochs[last]++;
}

/* Both ends together; with too few blocks, or epochs, there is nothing to be seen. */
static void ends_finish(void *state, const struct audit_sample *s, double level, struct finding *f)
{
    struct ends *e = state;
    double seen = e->count[0] + e->count[1], epochs = e->epochs[0] + e->epochs[1];
    f->hypothesis = "an epoch's first and last positions come from as many blocks as chance gives them";
    f->statistic = "chi-square of blocks at the start of even epochs, and at the end of odd ones";
    for (unsigned i = 0; i < 2; i++) {
        double variance = e->epochs[i] * e->variance, off = e->count[i] - e->epochs[i] * e->mean;
        f->value += variance >= LEAST ? off * off / variance : 0;
        f->df += variance >= LEAST;
    }
    f->p = f->df > 0 ? chi2_upper(f->value, f->df) : 1;
    f->effect = f->df > 0 ? sqrt(chi2_noncentrality(f->df, level, 0.9) * e->variance / epochs) : s->blocks;
    f->unit = "blocks more or fewer";
    if (epochs > 0)
        snprintf(f->detail, sizeof f->detail, "%u positions come from %.2f blocks, %.2f expected%s",
                 e->looked_at, seen / epochs, e->mean, f->df > 0 ? "" : ": too few to judge");
    free(e->seen);
    free(e);
}

const struct audit_test audit_ends = {"blocks at both ends", ends_begin, ends_add, ends_finish, false};
