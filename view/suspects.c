/* Labels that neighbours do not have: see suspects.h. */
#include "suspects.h"

#include <stdlib.h>

#define VOTES_NEEDED 7u /* of NEIGHBOURS */
#define MOST_OWN     1u

/* How many of the neighbours have a class, and their mean distance. */
static unsigned votes_for(const uint32_t *classes, const struct neighbour *list, uint32_t cls,
                          uint32_t *distance)
{
    unsigned votes = 0;
    uint64_t sum = 0;
    for (unsigned k = 0; k < NEIGHBOURS && list[k].at != UINT32_MAX; k++)
        if (classes[list[k].at] == cls) {
            votes++;
            sum += list[k].distance;
        }
    *distance = votes ? (uint32_t)(sum / votes) : 0;
    return votes;
}

/* The class with the most votes; of several the one with the nearest neighbour. */
static struct suspect judge(const uint32_t *classes, uint32_t at, const struct neighbour *list)
{
    struct suspect best = {.at = at, .cls = UINT32_MAX};
    uint32_t unused, distance;
    for (unsigned k = 0; k < NEIGHBOURS && list[k].at != UINT32_MAX; k++) {
        uint32_t cls = classes[list[k].at];
        unsigned votes = cls == UINT32_MAX ? 0 : votes_for(classes, list, cls, &distance);
        if (votes > best.votes) {
            best.cls = cls;
            best.votes = votes;
            best.distance = distance;
        }
    }
    best.own = votes_for(classes, list, classes[at], &unused);
    return best;
}

static int by_weight(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    int votes = (int)(y->votes - y->own) - (int)(x->votes - x->own);
    if (votes)
        return votes;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Keeps the best of all, by sorting what is there whenever there is no room. */
static void list_suspect(struct suspect *list, size_t room, size_t *listed, const struct suspect *one)
{
    if (*listed == room && room > 0 && by_weight(one, &list[room - 1]) >= 0)
        return;
    if (*listed == room && room > 0)
        (*listed)--;
    if (*listed < room)
        list[(*listed)++] = *one;
    if (*listed > 1)
        qsort(list, *listed, sizeof *list, by_weight);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* That two records have the same class. */
static double chance_of(const uint32_t *classes, uint32_t n)
{
    uint32_t *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
    double squares = 0, judged = 0;
    for (uint32_t i = 0; sorted && i < n; i++)
        sorted[i] = classes[i];
    if (sorted)
        qsort(sorted, n, sizeof *sorted, by_number);
    for (uint32_t i = 0, run = 0; sorted && i < n && sorted[i] != UINT32_MAX; i++) {
        run++;
        judged++;
        if (i + 1 == n || sorted[i + 1] != sorted[i]) {
            squares += (double)run * run;
            run = 0;
        }
    }
    free(sorted);
    return judged > 0 ? squares / judged / judged : 0;
}

struct agreement suspects_find(const uint32_t *classes, uint32_t n, const struct neighbour *found,
                               struct suspect *list, size_t room)
{
    struct agreement a = {.chance = chance_of(classes, n)};
    size_t agree = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct neighbour *mine = found + (size_t)i * NEIGHBOURS;
        if (classes[i] == UINT32_MAX || mine[0].at == UINT32_MAX)
            continue;
        struct suspect s = judge(classes, i, mine);
        a.judged++;
        agree += s.cls == classes[i];
        if (s.cls == classes[i] || s.votes < VOTES_NEEDED || s.own > MOST_OWN)
            continue;
        a.suspects++;
        list_suspect(list, room, &a.listed, &s);
    }
    a.agree = a.judged ? (double)agree / (double)a.judged : 0;
    return a;
}
