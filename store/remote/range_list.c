/* What has been asked for ahead: see range_list.h. */
#include "range_list.h"

#include "hash.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ units */

static struct unit **table_at(const struct ranges *all, const struct ahead *of, uint64_t offset)
{
    uint64_t key[2] = {(uint64_t)(uintptr_t)of, offset};
    return (struct unit **)&all->table[hash_xxh3_64(key, sizeof key) % RANGES_TABLE];
}

struct unit *ranges_find(const struct ranges *all, const struct ahead *of, uint64_t offset, size_t n)
{
    struct unit *u = *table_at(all, of, offset);
    while (u && !(u->range->of == of && u->offset == offset && u->n == n))
        u = u->chain;
    return u;
}

static bool add_unit(struct ranges *all, struct range *r, uint64_t offset, size_t n)
{
    struct unit *u = malloc(sizeof *u), **at = table_at(all, r->of, offset);
    if (!u)
        return false;
    *u = (struct unit){*at, r->units, r, offset, n};
    *at = r->units = u;
    return true;
}

void ranges_read_unit(struct ranges *all, struct unit *unit)
{
    struct unit **at = table_at(all, unit->range->of, unit->offset);
    while (*at != unit)
        at = &(*at)->chain;
    *at = unit->chain;
    for (at = &unit->range->units; *at != unit;)
        at = &(*at)->beside;
    *at = unit->beside;
    free(unit);
}

/* ------------------------------------------------------------------------------------------------ ranges */

void ranges_unqueue(struct ranges *all, struct range *r)
{
    *(r->earlier ? &r->earlier->later : &all->first) = r->later;
    *(r->later ? &r->later->earlier : &all->last) = r->earlier;
    r->later = r->earlier = NULL;
    all->waiting--;
}

static void enqueue(struct ranges *all, struct range *r)
{
    r->earlier = all->last;
    *(all->last ? &all->last->later : &all->first) = r;
    all->last = r;
    all->waiting++;
    r->next = all->all;
    if (all->all)
        all->all->before = r;
    all->all = r;
    all->held += r->n;
}

static void free_range(struct ranges *all, struct range *r)
{
    *(r->before ? &r->before->next : &all->all) = r->next;
    if (r->next)
        r->next->before = r->before;
    all->held -= (size_t)r->n;
    free(r->data);
    free(r);
}

void ranges_drop(struct ranges *all, struct range *r)
{
    if (r->stage == RANGE_WAITS)
        ranges_unqueue(all, r);
    while (r->units)
        ranges_read_unit(all, r->units);
    r->unwanted = true;
    if (r->users == 0)
        free_range(all, r);
}

void ranges_release(struct ranges *all, struct range *r)
{
    r->users--;
    if (r->users == 0 && (r->unwanted || !r->units))
        ranges_drop(all, r);
}

/* The last of those that wait takes a neighbour along. */
static bool join_last(struct ranges *all, struct ahead *of, uint64_t offset, size_t n)
{
    struct range *r = all->last;
    if (!r || r->of != of || offset < r->offset + r->n)
        return false;
    uint64_t gap = offset - (r->offset + r->n);
    if (gap > RANGE_GAP || r->n + gap + n > RANGE_JOIN || !add_unit(all, r, offset, n))
        return false;
    r->n += gap + n;
    all->held += (size_t)gap + n;
    return true;
}

bool ranges_add(struct ranges *all, struct ahead *of, uint64_t offset, size_t n)
{
    if (join_last(all, of, offset, n))
        return true;
    struct range *r = calloc(1, sizeof *r);
    if (!r)
        return false;
    r->of = of;
    r->offset = offset;
    r->n = n;
    if (!add_unit(all, r, offset, n)) {
        free(r);
        return false;
    }
    enqueue(all, r);
    return true;
}

void ranges_forked(struct ranges *all)
{
    for (struct range *r = all->all, *next; r; r = next) {
        next = r->next;
        r->users = 0;
        if (r->stage != RANGE_HERE || r->unwanted)
            ranges_drop(all, r);
    }
}
