/* Checking splits: see check.h. */
#include "check.h"
#include "inputs.h"
#include "siblings.h"

#include <stdlib.h>
#include <string.h>

struct checking {
    apl_store *store;
    const struct check_options *options;
    struct check_report *report;
    size_t n; /* records of the store */
    uint32_t *seen, *group;
    const char *grouped; /* the field that `group` is of; NULL: none yet */
    uint8_t *side;
};

unsigned check_failures(const struct check_report *r)
{
    unsigned failures = r->splits.rejected + r->splits.unusable;
    for (size_t i = 0; i < r->pair_count; i++)
        failures += (r->pairs[i].in_both > 0) + (r->pairs[i].equal > 0) + (r->pairs[i].grouped > 0);
    return failures + (unsigned)(r->more < 1000000 ? r->more : 1000000);
}

/* ------------------------------------------------------------------------------------------------- pairs */

static void add_pair(struct check_report *r, const char *other, const char *split, const char *group)
{
    r->pairs[r->pair_count++] = (struct checked_pair){.split = split, .other = other, .group = group};
}

/* Was the split asked for? If no split was named, all are. */
static bool is_named(const struct check_options *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->names[i], name) == 0)
            return true;
    return o->count == 0;
}

/* Room for more pairs. */
static apl_status make_room(struct check_report *r, size_t more, apl_error *err)
{
    struct checked_pair *larger = realloc(r->pairs, (r->pair_count + more + 1) * sizeof *larger);
    r->pairs = larger ? larger : r->pairs;
    return larger ? APL_OK : inputs_no_memory(err);
}

static apl_status list_named(struct checking *c, apl_error *err)
{
    const struct check_options *o = c->options;
    apl_status status = make_room(c->report, o->count * (o->count - 1) / 2, err);
    for (size_t i = 0; status == APL_OK && i < o->count; i++)
        for (size_t k = i + 1; k < o->count; k++)
            add_pair(c->report, o->names[i], o->names[k], o->group);
    return status;
}

static bool *wanted_splits(const struct checking *c)
{
    unsigned own = apl_store_info(c->store)->splits;
    bool *wanted = calloc(own + (size_t)1, sizeof *wanted);
    for (unsigned i = 0; wanted && i < own; i++)
        wanted[i] = is_named(c->options, apl_store_split(c->store, i)->name);
    return wanted;
}

static bool is_listed(const struct overlaps *o, uint32_t a, uint32_t b)
{
    struct overlap key = {a, b, 0};
    return bsearch(&key, o->list, o->count, sizeof key, overlaps_by_pair) != NULL;
}

/* Those that share inputs or groups; all, if there are few. `before`: what is listed already; NULL: nothing. */
static apl_status add_overlaps(struct checking *c, const uint32_t *group, const struct overlaps *before,
                               struct overlaps *o, apl_error *err)
{
    struct check_report *r = c->report;
    bool *wanted = wanted_splits(c);
    apl_status status = wanted ? overlaps_find(c->store, group, wanted, o, err) : inputs_no_memory(err);
    free(wanted);
    if (status == APL_OK)
        status = make_room(r, o->count, err);
    for (uint32_t i = 0; status == APL_OK && i < o->count; i++) {
        const struct overlap *p = &o->list[i];
        if (p->a != p->b && !(before && is_listed(before, p->a, p->b)))
            add_pair(r, apl_store_split(c->store, p->a)->name, apl_store_split(c->store, p->b)->name,
                     c->options->group);
    }
    r->own_pairs = o->pairs;
    for (size_t i = 0; i < r->pair_count; i++)
        r->pairs[i].own = true;
    r->more = o->more > r->more ? o->more : r->more;
    r->more_at_least |= o->more_at_least || (before && o->more);
    return status;
}

static apl_status list_own(struct checking *c, apl_error *err)
{
    struct overlaps inputs = {.list = NULL}, groups = {.list = NULL};
    const char *field = c->options->group;
    apl_status status = add_overlaps(c, c->report->splits.equal, NULL, &inputs, err);
    if (status == APL_OK && field)
        status = inputs_equal_field(c->store, field, c->group, err);
    if (status == APL_OK && field) {
        c->grouped = field;
        status = add_overlaps(c, c->group, &inputs, &groups, err);
    }
    free(inputs.list);
    free(groups.list);
    return status;
}

/* Those that divide the same records, and so have some in common. */
static apl_status list_siblings(struct checking *c, apl_error *err)
{
    const struct check_options *o = c->options;
    struct check_report *r = c->report;
    struct siblings_list found;
    apl_status status = siblings_find(c->store, r->splits.list, o->names, o->count, &found, err);
    if (status == APL_OK)
        status = make_room(r, found.count, err);
    for (size_t i = 0; status == APL_OK && i < found.count; i++) {
        const struct siblings *s = &found.list[i];
        const char *own = s->b->group ? s->b->group : s->a->group;
        add_pair(r, s->shares, s->b->name, o->group ? o->group : own);
    }
    free(found.list);
    return status;
}

static apl_status list_pairs(struct checking *c, apl_error *err)
{
    struct check_report *r = c->report;
    const char *group = c->options->group;
    if (c->options->count > 1)
        return list_named(c, err);
    apl_status status = list_own(c, err);
    if (status == APL_OK)
        status = make_room(r, r->splits.count, err);
    for (unsigned i = 0; status == APL_OK && i < r->splits.count; i++) {
        const apl_split_file *f = r->splits.splits[i].file;
        add_pair(r, f->rest, f->name, group ? group : f->group);
    }
    return status == APL_OK ? list_siblings(c, err) : status;
}

/* --------------------------------------------------------------------------------------------- balances */

/* Of a split whose records of each class are part[], against all[]. */
static apl_status add_balance(struct checking *c, const char *split, const char *whole, const uint64_t *part,
                              const uint64_t *all, apl_error *err)
{
    struct balance *b = &c->report->balances[c->report->balance_count++];
    uint64_t classes = apl_store_field(c->store, (unsigned)c->report->class_field)->class_count;
    double total = 0, alpha = c->options->level / (double)(classes ? classes : 1);
    *b = (struct balance){.split = split, .whole = whole};
    b->classes = calloc((size_t)classes + 1, sizeof *b->classes);
    b->count = b->classes ? classes : 0;
    for (uint64_t k = 0; k < classes; k++) {
        total += (double)all[k];
        b->records += part[k];
    }
    for (uint64_t k = 0; b->records > 0 && k < b->count; k++) {
        struct class_share *s = &b->classes[k];
        s->records = part[k];
        s->share = (double)part[k] / (double)b->records;
        s->expected = (double)all[k] / total;
        c->options->statistics->interval((double)part[k], (double)b->records, alpha, &s->low, &s->high);
        s->outside = s->expected < s->low || s->expected > s->high;
        b->outside += s->outside;
    }
    return b->classes ? APL_OK : inputs_no_memory(err);
}

/* The source's own, against all of them together. */
static apl_status weigh_own(struct checking *c, uint64_t *part, uint64_t *all, uint64_t classes,
                            apl_error *err)
{
    unsigned own = apl_store_info(c->store)->splits, field = (unsigned)c->report->class_field;
    apl_status status = APL_OK;
    for (uint64_t k = 0; k < classes; k++)
        for (unsigned i = 0; i < own; i++)
            all[k] += apl_store_class_count(c->store, i, field, k);
    for (unsigned i = 0; status == APL_OK && own > 1 && i < own; i++) {
        const char *name = apl_store_split(c->store, i)->name;
        for (uint64_t k = 0; k < classes; k++)
            part[k] = apl_store_class_count(c->store, i, field, k);
        if (is_named(c->options, name))
            status = add_balance(c, name, NULL, part, all, err);
    }
    return status;
}

/* One made by apldata split, against its parent. */
static apl_status weigh_file(struct checking *c, const apl_split_file *f, uint64_t *part, uint64_t *all,
                             uint64_t classes, apl_error *err)
{
    unsigned field = (unsigned)c->report->class_field;
    apl_status status = apl_split_class_counts(c->store, f->name, field, part, err);
    if (status == APL_OK)
        status = apl_split_class_counts(c->store, f->rest, field, all, err);
    for (uint64_t k = 0; status == APL_OK && k < classes; k++)
        all[k] += part[k];
    return status == APL_OK ? add_balance(c, f->name, f->parent, part, all, err) : status;
}

static apl_status weigh_all(struct checking *c, apl_error *err)
{
    struct check_report *r = c->report;
    unsigned own = apl_store_info(c->store)->splits;
    r->class_field = c->options->statistics ? inputs_class_field(c->store) : -1;
    if (r->class_field < 0)
        return APL_OK;
    uint64_t classes = apl_store_field(c->store, (unsigned)r->class_field)->class_count;
    uint64_t *counts = calloc((size_t)classes * 2 + 1, sizeof *counts);
    r->balances = calloc((size_t)own + r->splits.count + 1, sizeof *r->balances);
    apl_status status = counts && r->balances ? APL_OK : inputs_no_memory(err);
    if (status == APL_OK)
        status = weigh_own(c, counts, counts + classes, classes, err);
    for (unsigned i = 0; status == APL_OK && i < r->splits.count; i++)
        status = weigh_file(c, r->splits.splits[i].file, counts, counts + classes, classes, err);
    free(counts);
    return status;
}

/* ------------------------------------------------------------------------------------------------- leaks */

/* Marks the records of every pair. */
static apl_status mark_pairs(const struct checking *c, uint8_t *wanted, apl_error *err)
{
    apl_status status = APL_OK;
    for (size_t i = 0; status == APL_OK && i < 2 * c->report->pair_count; i++) {
        const struct checked_pair *p = &c->report->pairs[i / 2];
        struct split_ids ids = {NULL, 0};
        status = splits_ids(c->store, i % 2 ? p->other : p->split, &ids, err);
        for (uint64_t k = 0; status == APL_OK && k < ids.count; k++)
            wanted[ids.ids[k]] = 1;
        free(ids.ids);
    }
    return status;
}

static apl_status hash_images(struct checking *c, apl_error *err)
{
    struct check_report *r = c->report;
    r->image_field = c->options->images ? looks_field(c->store, c->options->decoder) : -1;
    if (r->image_field < 0 || r->pair_count == 0)
        return APL_OK;
    uint8_t *wanted = calloc(c->n + 1, 1);
    apl_status status = wanted ? mark_pairs(c, wanted, err) : inputs_no_memory(err);
    if (status == APL_OK)
        status = looks_find(c->store, (unsigned)r->image_field, c->options->decoder, wanted, &r->looks, err);
    free(wanted);
    return status;
}

static int by_distance(const void *a, const void *b)
{
    const struct near_pair *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static apl_status find_near(struct checking *c, struct checked_pair *p, const struct split_ids *other,
                            const struct split_ids *split, apl_error *err)
{
    size_t room = 0;
    struct near_pair pair;
    for (uint64_t i = 0; i < other->count; i++)
        c->side[other->ids[i]] = 1;
    for (uint64_t i = 0; i < split->count; i++) {
        if (!near_find(c->report->looks.index, (uint32_t)split->ids[i], c->options->near, c->side,
                       c->report->splits.equal, &pair))
            continue;
        if (p->near == room) {
            struct near_pair *larger = realloc(p->nearest, (room = 2 * room + 64) * sizeof *larger);
            if (!larger)
                return inputs_no_memory(err);
            p->nearest = larger;
        }
        p->nearest[p->near++] = pair;
    }
    for (uint64_t i = 0; i < other->count; i++)
        c->side[other->ids[i]] = 0;
    if (p->near > 0)
        qsort(p->nearest, (size_t)p->near, sizeof *p->nearest, by_distance);
    return APL_OK;
}

static apl_status find_grouped(struct checking *c, struct checked_pair *p, const struct split_ids *other,
                               const struct split_ids *split, apl_error *err)
{
    apl_status status = APL_OK;
    if (!c->grouped || strcmp(c->grouped, p->group) != 0)
        status = inputs_equal_field(c->store, p->group, c->group, err);
    if (status != APL_OK)
        return status;
    c->grouped = p->group;
    p->grouped = splits_shared(c->group, c->seen, other, split);
    return APL_OK;
}

static apl_status check_pair(struct checking *c, struct checked_pair *p, apl_error *err)
{
    struct split_ids other = {NULL, 0}, split = {NULL, 0};
    apl_status status = splits_ids(c->store, p->other, &other, err);
    if (status == APL_OK)
        status = splits_ids(c->store, p->split, &split, err);
    if (status == APL_OK) {
        p->records = split.count;
        p->other_records = other.count;
        p->in_both = splits_common(&other, &split);
        p->equal = splits_shared(c->report->splits.equal, c->seen, &other, &split);
    }
    if (status == APL_OK && p->group)
        status = find_grouped(c, p, &other, &split, err);
    if (status == APL_OK && c->report->looks.index)
        status = find_near(c, p, &other, &split, err);
    free(other.ids);
    free(split.ids);
    return status;
}

/* --------------------------------------------------------------------------------------------- the whole */

static apl_status begin(struct checking *c, apl_error *err)
{
    c->n = (size_t)apl_store_info(c->store)->records;
    c->seen = malloc((c->n + 1) * sizeof *c->seen);
    c->group = malloc((c->n + 1) * sizeof *c->group);
    c->side = calloc(c->n + 1, 1);
    if (!c->seen || !c->group || !c->side)
        return inputs_no_memory(err);
    memset(c->seen, 0xff, c->n * sizeof *c->seen);
    return APL_OK;
}

static void end(struct checking *c)
{
    free(c->seen);
    free(c->group);
    free(c->side);
}

apl_status check_splits(apl_store *store, const struct check_options *o, struct check_report *report,
                        apl_error *err)
{
    struct checking c = {.store = store, .options = o, .report = report};
    uint64_t records;
    apl_status status = APL_OK;
    *report = (struct check_report){.class_field = -1, .image_field = -1};
    for (size_t i = 0; status == APL_OK && i < o->count; i++)
        status = apl_split_ids(store, o->names[i], NULL, &records, err);
    if (status == APL_OK && o->group && apl_store_find_field(store, o->group) < 0)
        status = inputs_error(err, APL_E_NOTFOUND, "there is no such field to group by");
    if (status == APL_OK)
        status = splits_audit_named(store, o->count ? o->names : NULL, o->count, o->level, o->statistics,
                                    &report->splits, err);
    if (status == APL_OK)
        status = begin(&c, err);
    if (status == APL_OK)
        status = repeats_find(store, o->names, o->count, report->splits.equal, c.seen, &report->repeats, err);
    if (status == APL_OK)
        status = list_pairs(&c, err);
    if (status == APL_OK)
        status = weigh_all(&c, err);
    if (status == APL_OK)
        status = hash_images(&c, err);
    for (size_t i = 0; status == APL_OK && i < report->pair_count; i++)
        status = check_pair(&c, &report->pairs[i], err);
    end(&c);
    return status;
}

void check_report_free(struct check_report *r)
{
    splits_report_free(&r->splits);
    repeats_free(&r->repeats);
    for (size_t i = 0; i < r->balance_count; i++)
        free(r->balances[i].classes);
    for (size_t i = 0; i < r->pair_count; i++)
        free(r->pairs[i].nearest);
    looks_free(&r->looks);
    free(r->balances);
    free(r->pairs);
    *r = (struct check_report){.class_field = -1, .image_field = -1};
}
