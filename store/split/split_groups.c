/* Dividing records by their classes: groups of records with equal units, class by class. */
#include "split.h"

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Groups are records with equal units. Keyed hashes order them; where two are equal by chance, the units
 * themselves do. */
static int compare_groups(const struct split_item *a, const struct split_item *b)
{
    int c = compare_u64(a->order, b->order);
    c = c ? c : compare_u64(a->unit.high, b->unit.high);
    return c ? c : compare_u64(a->unit.low, b->unit.low);
}

static int by_group_and_class(const void *a, const void *b)
{
    const struct split_item *x = a, *y = b;
    int c = compare_groups(x, y);
    return c ? c : compare_u64(x->cls, y->cls);
}

static int by_class(const void *a, const void *b)
{
    const struct split_item *x = a, *y = b;
    int c = compare_u64(x->cls, y->cls);
    return c ? c : compare_groups(x, y);
}

/* Where the group that begins at `from` ends. */
static uint64_t group_end(const struct split_item *items, uint64_t from, uint64_t n)
{
    uint64_t to = from + 1;
    while (to < n && compare_groups(&items[from], &items[to]) == 0)
        to++;
    return to;
}

/* The class that most of items[0 ... n-1] have, which come in the order of their classes; of several the lowest. */
static uint64_t most_frequent(const struct split_item *items, uint64_t n)
{
    uint64_t best = items[0].cls, most = 0;
    for (uint64_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && items[to].cls == items[from].cls; to++)
            continue;
        if (to - from > most) {
            most = to - from;
            best = items[from].cls;
        }
    }
    return best;
}

/* Gives all records of a group one class, and sorts them by class and group. Records with equal inputs are of the
 * lowest of their classes; those that a field puts together of the one that most of them have. */
static void settle_classes(struct split_item *items, uint64_t n, bool lowest)
{
    qsort(items, (size_t)n, sizeof *items, by_group_and_class);
    for (uint64_t from = 0, to; from < n; from = to) {
        to = group_end(items, from, n);
        uint64_t cls = lowest ? items[from].cls : most_frequent(items + from, to - from);
        for (uint64_t i = from; i < to; i++)
            items[i].cls = cls;
    }
    qsort(items, (size_t)n, sizeof *items, by_class);
}

/* ratio x n, to the nearest number; n is below 2^32. */
static uint64_t share(uint64_t ratio, uint64_t n)
{
    uint64_t high = (ratio >> 32) * n, low = (ratio & UINT32_MAX) * n >> 32;
    return (high + low + ((uint64_t)1 << 31)) >> 32;
}

/* How many of a class's n records the parts 0 ... `number` have together, where groups allow. */
static uint64_t bound(const struct split_file *rule, uint32_t number, uint64_t n)
{
    if (rule->rule == SPLIT_STRATIFIED)
        return number == 0 ? share(rule->ratio, n) : n;
    uint64_t parts = rule->parts;
    return (2 * (number + (uint64_t)1) * n + parts) / (2 * parts);
}

static void mark_all(const struct split_set *set, uint32_t number, const struct split_item *items, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        split_set_add(set, number, items[i].record);
}

/* Divides the records of one class, items[0 ... n-1]: exactly, to within a group. */
static void cut_class(const struct split_set *set, const struct split_item *items, uint64_t n)
{
    uint32_t number = 0;
    for (uint64_t from = 0, to; from < n; from = to) {
        to = group_end(items, from, n);
        while (to > bound(&set->files[0], number, n))
            number++;
        mark_all(set, number, items + from, to - from);
    }
}

/* Uniform on 0 ... below-1: number `i` of the numbers drawn for a class. */
static uint64_t draw(struct random_key key, uint64_t cls, uint64_t i, uint64_t below)
{
    uint64_t least = -below % below, x;
    uint64_t words[3] = {cls, i, 0};
    while ((x = siphash(key, words, 3)) < least)
        words[2]++;
    return x % below;
}

/* Deals the groups of one class by an urn (Blackwell and MacQueen, 1973): with the weight parts x concentration,
 * group g goes to any part; else, with the weight 1 for each, where one of the g groups before it went. So the
 * parts come as if shares had been drawn from the symmetric Dirichlet distribution, and then a part for each
 * group with these chances; and it takes nothing but whole numbers, the same on every machine. */
static void deal_class(const struct split_set *set, struct random_key key, const struct split_item *items,
                       uint64_t n, uint32_t *dealt)
{
    const struct split_file *rule = &set->files[0];
    uint64_t fresh = rule->parts * rule->concentration, g = 0;
    for (uint64_t from = 0, to; from < n; from = to, g++) {
        to = group_end(items, from, n);
        uint64_t x = draw(key, items[from].cls, g, fresh + g * SPLIT_UNIT);
        dealt[g] = x < fresh ? (uint32_t)(x / rule->concentration) : dealt[(x - fresh) / SPLIT_UNIT];
        mark_all(set, dealt[g], items + from, to - from);
    }
}

apl_status split_divide_items(const struct split_set *set, struct random_key key, struct split_item *items,
                              uint64_t n, apl_error *err)
{
    bool deal = set->files[0].rule == SPLIT_PARTS_DIRICHLET;
    uint32_t *dealt = deal ? malloc(((size_t)n + 1) * sizeof *dealt) : NULL;
    if (deal && !dealt)
        return fail_nomem(err);
    settle_classes(items, n, set->files[0].by != SPLIT_BY_GROUP);
    for (uint64_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && items[to].cls == items[from].cls; to++)
            continue;
        if (deal)
            deal_class(set, key, items + from, to - from, dealt);
        else
            cut_class(set, items + from, to - from);
    }
    free(dealt);
    return APL_OK;
}
