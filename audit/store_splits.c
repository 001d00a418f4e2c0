/* The splits of a store: see store_splits.h. */
#include "store_splits.h"
#include "generator.h"
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------- one split */

/* Both sides of a split, by id. */
struct sides {
    uint64_t *ids;
    uint8_t *part;
    uint32_t *group, *cls;
    uint32_t n;
};

static void sides_free(struct sides *s)
{
    free(s->ids);
    free(s->part);
    free(s->group);
    free(s->cls);
}

apl_status splits_ids(apl_store *store, const char *name, struct split_ids *ids, apl_error *err)
{
    *ids = (struct split_ids){NULL, 0};
    apl_status status = apl_split_ids(store, name, NULL, &ids->count, err);
    if (status != APL_OK)
        return status;
    ids->ids = malloc((size_t)(ids->count + 1) * sizeof *ids->ids);
    return ids->ids ? apl_split_ids(store, name, ids->ids, &ids->count, err) : inputs_no_memory(err);
}

static void merge(struct sides *s, const struct split_ids *part, const struct split_ids *rest)
{
    for (uint64_t p = 0, r = 0; p < part->count || r < rest->count; s->n++) {
        bool take = r == rest->count || (p < part->count && part->ids[p] < rest->ids[r]);
        s->part[s->n] = take;
        s->ids[s->n] = take ? part->ids[p++] : rest->ids[r++];
    }
}

static apl_status take_sides(apl_store *store, const apl_split_file *file, struct sides *s, apl_error *err)
{
    struct split_ids part = {NULL, 0}, rest = {NULL, 0};
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): list_files() gives each split its file */
    apl_status status = splits_ids(store, file->name, &part, err);
    if (status == APL_OK)
        status = splits_ids(store, file->rest, &rest, err);
    size_t n = (size_t)(part.count + rest.count + 1);
    s->ids = malloc(n * sizeof *s->ids);
    s->part = malloc(n);
    s->group = malloc(n * sizeof *s->group);
    s->cls = malloc(n * sizeof *s->cls);
    if (status == APL_OK && !(s->ids && s->part && s->group && s->cls))
        status = inputs_no_memory(err);
    if (status == APL_OK)
        merge(s, &part, &rest);
    free(part.ids);
    free(rest.ids);
    return status;
}

/* Groups by record of the split instead of by id. `first`: of each id a number, all UINT32_MAX before and after. */
static void number_groups(struct sides *s, const uint32_t *unit, uint32_t *first)
{
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t id = unit[s->ids[i]];
        if (first[id] == UINT32_MAX)
            first[id] = i;
        s->group[i] = first[id];
    }
    for (uint32_t i = 0; i < s->n; i++)
        first[unit[s->ids[i]]] = UINT32_MAX;
}

static apl_status take_classes(apl_store *store, const apl_split_file *file, struct sides *s,
                               struct split_sample *sample, apl_error *err)
{
    int field = file->stratify ? inputs_target(store, file->stratify) : inputs_class_field(store);
    if (field < 0 && file->stratify)
        return inputs_error(err, APL_E_CORRUPT, "a split is stratified by a field that the store has not");
    if (field < 0)
        return APL_OK;
    sample->cls = s->cls;
    return inputs_classes(store, (unsigned)field, s->ids, s->n, s->cls, &sample->classes, err);
}

/* Divides again by the rule that the file states. */
static apl_status test_rule(apl_store *store, struct audited_split *split, apl_error *err)
{
    struct finding *f = &split->report.findings[split->report.count];
    apl_status status = apl_split_verify(store, split->file->name, 0, err);
    if (status != APL_OK && status != APL_E_CORRUPT && status != APL_E_MISMATCH)
        return status;
    split->report.count++;
    *f = (struct finding){
        .name = "as its rule says", .unit = "record (nothing is left to chance)", .certain = true};
    f->hypothesis = "dividing again by the rule that the split file states gives the same sides";
    f->statistic = "sides that differ";
    f->rejected = status == APL_E_CORRUPT;
    f->value = f->rejected;
    f->p = f->rejected ? 0 : 1;
    f->effect = 1;
    snprintf(f->detail, sizeof f->detail, "%s",
             status == APL_OK           ? "divided again, the same"
             : status == APL_E_MISMATCH ? "not tested: its parent has been replaced since"
                                        : "divided again, and not the same");
    return APL_OK;
}

/* By id. */
struct store_groups {
    uint32_t *equal; /* the lowest id with equal inputs */
    uint32_t *unit;  /* the lowest id of the records that the current split's rule keeps together */
    uint32_t *scratch;
    const char *field; /* that `unit` is of; "" if each record is by itself; NULL: not set yet */
    size_t n;
};

static apl_status store_groups_init(apl_store *store, struct store_groups *g, apl_error *err)
{
    size_t n = (size_t)apl_store_info(store)->records;
    *g = (struct store_groups){.n = n};
    g->equal = malloc((n + 1) * sizeof *g->equal);
    g->unit = malloc((n + 1) * sizeof *g->unit);
    g->scratch = malloc((n + 1) * sizeof *g->scratch);
    if (!g->equal || !g->unit || !g->scratch)
        return inputs_no_memory(err);
    memset(g->scratch, 0xff, n * sizeof *g->scratch);
    return inputs_equal(store, g->equal, err);
}

static void store_groups_free(struct store_groups *g)
{
    free(g->equal);
    free(g->unit);
    free(g->scratch);
}

/* What the rule of a file puts together, in *unit. */
static apl_status take_units(apl_store *store, const apl_split_file *file, struct store_groups *g,
                             const uint32_t **unit, struct split_sample *sample, apl_error *err)
{
    apl_status status = APL_OK;
    *unit = g->equal;
    if (file->by == APL_BY_CONTENT)
        return APL_OK;
    *unit = g->unit;
    sample->grouped = file->group ? file->group : "";
    if (g->field && strcmp(g->field, sample->grouped) == 0)
        return APL_OK;
    for (uint32_t i = 0; i < g->n; i++)
        g->unit[i] = i;
    g->field = NULL;
    if (file->group)
        status = inputs_equal_field(store, file->group, g->unit, err);
    if (status == APL_OK)
        g->field = sample->grouped;
    return status;
}

static apl_status test_split(apl_store *store, struct audited_split *split, struct store_groups *g,
                             double level, const struct split_statistics *statistics, apl_error *err)
{
    const apl_split_file *file = split->file;
    const uint32_t *unit;
    struct sides s = {.n = 0};
    apl_status status = take_sides(store, file, &s, err);
    struct split_sample sample = {.n = s.n, .part = s.part, .group = s.group, .ratio = file->ratio};
    sample.skewed = file->concentration > 0;
    sample.stratified = file->stratify && !sample.skewed;
    sample.parts = file->parts;
    sample.key = generator_mix(file->seed + generator_mix(file->part));
    if (status == APL_OK)
        status = take_units(store, file, g, &unit, &sample, err);
    if (status == APL_OK)
        status = take_classes(store, file, &s, &sample, err);
    if (status == APL_OK)
        number_groups(&s, unit, g->scratch);
    if (status == APL_OK && !split_test(&sample, level, statistics, &split->report))
        status = inputs_no_memory(err);
    sides_free(&s);
    return status == APL_OK ? test_rule(store, split, err) : status;
}

uint64_t splits_common(const struct split_ids *a, const struct split_ids *b)
{
    uint64_t n = 0;
    for (uint64_t i = 0, k = 0; i < a->count && k < b->count;) {
        n += a->ids[i] == b->ids[k];
        uint64_t x = a->ids[i], y = b->ids[k];
        i += x <= y;
        k += y <= x;
    }
    return n;
}

/* -------------------------------------------------------------------------------------- the source's own */

uint64_t splits_shared(const uint32_t *group, uint32_t *seen, const struct split_ids *a,
                       const struct split_ids *b)
{
    uint64_t shared = 0;
    for (uint64_t i = 0; i < a->count; i++)
        seen[group[a->ids[i]]] = 0;
    for (uint64_t i = 0; i < b->count; i++)
        shared += seen[group[b->ids[i]]] == 0;
    for (uint64_t i = 0; i < a->count; i++)
        seen[group[a->ids[i]]] = UINT32_MAX;
    return shared;
}

static apl_status find_shared(apl_store *store, struct splits_report *report, apl_error *err)
{
    apl_status status = overlaps_find(store, report->equal, NULL, &report->overlaps, err);
    const struct overlaps *o = &report->overlaps;
    report->shared = calloc(o->count + (size_t)1, sizeof *report->shared);
    if (status == APL_OK && !report->shared)
        status = inputs_no_memory(err);
    for (uint32_t i = 0; status == APL_OK && i < o->count; i++) {
        const apl_split *a = apl_store_split(store, o->list[i].a), *b = apl_store_split(store, o->list[i].b);
        report->shared[report->shared_count++] =
            (struct shared_inputs){a->name, b->name, o->list[i].records, b->count};
    }
    return status;
}

/* ------------------------------------------------------------------------------------------- all of them */

apl_status splits_count(apl_store *store, unsigned *count, apl_error *err)
{
    apl_split_list *list;
    const apl_split_file *file;
    *count = 0;
    apl_status status = apl_split_list_open(store, &list, err);
    for (size_t i = 0; status == APL_OK && (file = apl_split_list_file(list, i)) != NULL; i++)
        *count += file->status == APL_OK || !file->list;
    if (status == APL_OK)
        apl_split_list_close(list);
    return status;
}

/* Was the file asked for? */
static bool is_wanted(const apl_split_file *file, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], file->name) == 0 || (file->rest && strcmp(names[i], file->rest) == 0))
            return true;
    return !names;
}

static apl_status list_files(apl_store *store, const char *const *names, size_t count,
                             struct splits_report *report, apl_error *err)
{
    const apl_split_file *file;
    size_t n = 0;
    apl_status status = apl_split_list_open(store, &report->list, err);
    if (status != APL_OK)
        return status;
    while (apl_split_list_file(report->list, n))
        n++;
    report->splits = calloc(n + 1, sizeof *report->splits);
    if (!report->splits)
        return inputs_no_memory(err);
    for (size_t i = 0; (file = apl_split_list_file(report->list, i)) != NULL; i++)
        if (!is_wanted(file, names, count))
            continue;
        else if (file->status == APL_OK)
            report->splits[report->count++].file = file;
        else if (file->list)
            report->of_other_lists++;
        else
            report->unusable++;
    return APL_OK;
}

static apl_status judge(struct splits_report *report, double level, apl_error *err)
{
    struct finding **all = calloc((size_t)report->count * SPLIT_TESTS + 1, sizeof *all);
    if (!all)
        return inputs_no_memory(err);
    for (unsigned i = 0; i < report->count; i++)
        for (unsigned k = 0; k < report->splits[i].report.count; k++)
            all[report->findings++] = &report->splits[i].report.findings[k];
    report->rejected = audit_judge(all, report->findings, level);
    free(all);
    return APL_OK;
}

apl_status splits_audit_named(apl_store *store, const char *const *names, size_t count, double level,
                              const struct split_statistics *statistics, struct splits_report *report,
                              apl_error *err)
{
    struct store_groups g;
    *report = (struct splits_report){.count = 0};
    apl_status status = store_groups_init(store, &g, err);
    if (status == APL_OK)
        status = list_files(store, names, count, report, err);
    for (unsigned i = 0; status == APL_OK && i < report->count; i++)
        status =
            test_split(store, &report->splits[i], &g, level / (report->count * SPLIT_TESTS), statistics, err);
    report->equal = g.equal;
    g.equal = NULL;
    store_groups_free(&g);
    if (status == APL_OK)
        status = find_shared(store, report, err);
    if (status == APL_OK)
        status = judge(report, level, err);
    return status;
}

apl_status splits_audit(apl_store *store, double level, const struct split_statistics *statistics,
                        struct splits_report *report, apl_error *err)
{
    return splits_audit_named(store, NULL, 0, level, statistics, report, err);
}

void splits_report_free(struct splits_report *report)
{
    apl_split_list_close(report->list);
    free(report->splits);
    free(report->shared);
    free(report->overlaps.list);
    free(report->equal);
    *report = (struct splits_report){.count = 0};
}
