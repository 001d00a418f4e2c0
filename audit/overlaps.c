/* Overlaps of splits: see overlaps.h. */
#include "overlaps.h"
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

/* Groups that very many splits have part in make as many pairs as there are splits squared. Counting them one by one is given up
 * after this many steps, which take about a second. */
#define MOST_STEPS 200000000u

#define NONE SIZE_MAX

/* The records of a group in a split. */
struct part {
    uint32_t group, split, records;
    size_t before; /* the part of that group that the last split before has; NONE */
};

struct finder {
    const apl_store *store;
    const bool *wanted;
    struct overlaps *found;
    struct part *parts;  /* split by split */
    size_t count, *last; /* of each group: its last part so far */
    uint64_t *hits;      /* of each split: records of the current one whose group it has */
    uint32_t *touched, *scratch, splits;
    uint64_t steps;
    uint32_t repeating; /* splits that are listed because they repeat inputs of their own */
    bool all;           /* every pair is listed */
};

static void finder_free(struct finder *f)
{
    free(f->parts);
    free(f->last);
    free(f->hits);
    free(f->touched);
    free(f->scratch);
}

static apl_status finder_init(struct finder *f, apl_error *err)
{
    const apl_info *info = apl_store_info(f->store);
    uint64_t records = 0;
    f->splits = info->splits;
    for (uint32_t s = 0; s < f->splits; s++) {
        const apl_split *split = apl_store_split(f->store, s);
        if (split->first > info->records || split->count > info->records - split->first ||
            (records += split->count) > info->records)
            return inputs_error(err, APL_E_CORRUPT, "the source's splits have records in common");
    }
    size_t n = (size_t)info->records + 1, splits = (size_t)f->splits + 1;
    f->parts = malloc(n * sizeof *f->parts);
    f->last = malloc(n * sizeof *f->last);
    f->scratch = malloc(n * sizeof *f->scratch);
    f->hits = calloc(splits, sizeof *f->hits);
    f->touched = malloc(splits * sizeof *f->touched);
    f->found->list = calloc(OVERLAPS_MOST, sizeof *f->found->list);
    if (!f->parts || !f->last || !f->scratch || !f->hits || !f->touched || !f->found->list)
        return inputs_no_memory(err);
    memset(f->last, 0xff, n * sizeof *f->last);
    return APL_OK;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void list_parts(struct finder *f, const uint32_t *group, uint32_t number)
{
    const apl_split *split = apl_store_split(f->store, number);
    size_t begin = f->count;
    memcpy(f->scratch, group + split->first, (size_t)split->count * sizeof *f->scratch);
    qsort(f->scratch, (size_t)split->count, sizeof *f->scratch, by_value);
    for (uint64_t i = 0; i < split->count; i++)
        if (i > 0 && f->scratch[i] == f->scratch[i - 1])
            f->parts[f->count - 1].records++;
        else
            f->parts[f->count++] = (struct part){f->scratch[i], number, 1, f->last[f->scratch[i]]};
    for (size_t i = begin; i < f->count; i++)
        f->last[f->parts[i].group] = i;
}

static bool is_wanted(const struct finder *f, uint32_t a, uint32_t b)
{
    return !f->wanted || f->wanted[a] || f->wanted[b];
}

static void add(struct finder *f, uint32_t a, uint32_t b, uint64_t records)
{
    struct overlaps *o = f->found;
    if (!is_wanted(f, a, b) || (!f->all && (records == 0 || (a == b && f->repeating++ >= OVERLAPS_MOST / 2))))
        return;
    if (o->count < OVERLAPS_MOST)
        o->list[o->count++] = (struct overlap){a, b, records};
    else if (a != b)
        o->more++;
}

/* All earlier splits that share a group with split b, whose parts are those from `from` on. */
static void look_back(struct finder *f, uint32_t b, size_t from)
{
    uint64_t own = 0;
    uint32_t touched = 0;
    for (size_t i = from; i < f->count; i++) {
        own += f->parts[i].records - 1;
        for (size_t k = f->parts[i].before; k != NONE && f->steps < MOST_STEPS; k = f->parts[k].before) {
            uint32_t a = f->parts[k].split;
            if (f->hits[a] == 0)
                f->touched[touched++] = a;
            f->hits[a] += f->parts[i].records;
            f->steps++;
        }
    }
    if (!f->all)
        qsort(f->touched, touched, sizeof *f->touched, by_value);
    for (uint32_t i = 0; i < (f->all ? b : touched); i++) {
        uint32_t a = f->all ? i : f->touched[i];
        add(f, a, b, f->hits[a]);
        f->hits[a] = 0;
    }
    add(f, b, b, own);
}

int overlaps_by_pair(const void *a, const void *b)
{
    const struct overlap *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

apl_status overlaps_find(const apl_store *store, const uint32_t *group, const bool *wanted,
                         struct overlaps *overlaps, apl_error *err)
{
    struct finder f = {.store = store, .wanted = wanted, .found = overlaps};
    uint64_t named = 0;
    *overlaps = (struct overlaps){.list = NULL};
    apl_status status = finder_init(&f, err);
    for (uint32_t s = 0; s < f.splits; s++)
        named += !wanted || wanted[s];
    overlaps->pairs = named * (f.splits - named) + named * (named - (named > 0)) / 2;
    f.all = overlaps->pairs <= OVERLAPS_ALL;
    for (uint32_t s = 0; status == APL_OK && s < f.splits; s++) {
        size_t from = f.count;
        list_parts(&f, group, s);
        look_back(&f, s, from);
    }
    if (status == APL_OK)
        qsort(overlaps->list, overlaps->count, sizeof *overlaps->list, overlaps_by_pair);
    overlaps->more_at_least = f.steps >= MOST_STEPS;
    finder_free(&f);
    return status;
}
