/* The splits of a store: see store_splits.h. */
#include "store_splits.h"
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static apl_status no_memory(apl_error *err)
{
    (void)inputs_error(err, APL_E_NOMEM, "memory could not be had");
    return APL_E_NOMEM;
}

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

static apl_status ids_of(apl_store *store, const char *name, uint64_t **ids, uint64_t *count, apl_error *err)
{
    *ids = NULL;
    apl_status status = apl_split_ids(store, name, NULL, count, err);
    if (status != APL_OK)
        return status;
    *ids = malloc((size_t)(*count + 1) * sizeof **ids);
    return *ids ? apl_split_ids(store, name, *ids, count, err) : no_memory(err);
}

static void merge(struct sides *s, const uint64_t *part, uint64_t parts, const uint64_t *rest, uint64_t rests)
{
    for (uint64_t p = 0, r = 0; p < parts || r < rests; s->n++) {
        bool take = r == rests || (p < parts && part[p] < rest[r]);
        s->part[s->n] = take;
        s->ids[s->n] = take ? part[p++] : rest[r++];
    }
}

static apl_status take_sides(apl_store *store, const apl_split_file *file, struct sides *s, apl_error *err)
{
    uint64_t *part = NULL, *rest = NULL, parts = 0, rests = 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): list_files() gives each split its file */
    apl_status status = ids_of(store, file->name, &part, &parts, err);
    if (status == APL_OK)
        status = ids_of(store, file->rest, &rest, &rests, err);
    size_t n = (size_t)(parts + rests + 1);
    s->ids = malloc(n * sizeof *s->ids);
    s->part = malloc(n);
    s->group = malloc(n * sizeof *s->group);
    s->cls = malloc(n * sizeof *s->cls);
    if (status == APL_OK && !(s->ids && s->part && s->group && s->cls))
        status = no_memory(err);
    if (status == APL_OK)
        merge(s, part, parts, rest, rests);
    free(part);
    free(rest);
    return status;
}

/* Groups by record of the split instead of by id. `first`: of each id a number, all UINT32_MAX, and left so. */
static void number_groups(struct sides *s, const uint32_t *equal, uint32_t *first)
{
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t id = equal[s->ids[i]];
        if (first[id] == UINT32_MAX)
            first[id] = i;
        s->group[i] = first[id];
    }
    for (uint32_t i = 0; i < s->n; i++)
        first[equal[s->ids[i]]] = UINT32_MAX;
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

/* Divides anew by the rule that the file states. */
static apl_status test_rule(apl_store *store, struct audited_split *split, apl_error *err)
{
    struct finding *f = &split->report.findings[split->report.count];
    apl_status status = apl_split_verify(store, split->file->name, 0, err);
    if (status != APL_OK && status != APL_E_CORRUPT && status != APL_E_MISMATCH)
        return status;
    split->report.count++;
    *f = (struct finding){
        .name = "as its rule says", .unit = "record (nothing is left to chance)", .certain = true};
    f->hypothesis = "dividing anew by the rule that the split file states gives the same sides";
    f->statistic = "sides that differ";
    f->rejected = status == APL_E_CORRUPT;
    f->value = f->rejected;
    f->p = f->rejected ? 0 : 1;
    f->effect = 1;
    snprintf(f->detail, sizeof f->detail, "%s",
             status == APL_OK           ? "divided anew, the same"
             : status == APL_E_MISMATCH ? "not tested: its parent has been made anew since"
                                        : "divided anew, and not the same");
    return APL_OK;
}

static apl_status test_split(apl_store *store, struct audited_split *split, const uint32_t *equal,
                             uint32_t *first, double level, apl_error *err)
{
    struct sides s = {.n = 0};
    apl_status status = take_sides(store, split->file, &s, err);
    struct split_sample sample = {.n = s.n, .part = s.part, .group = s.group, .ratio = split->file->ratio};
    sample.skewed = split->file->concentration > 0;
    sample.stratified = split->file->stratify && !sample.skewed;
    sample.parts = split->file->parts;
    if (status == APL_OK)
        status = take_classes(store, split->file, &s, &sample, err);
    if (status == APL_OK)
        number_groups(&s, equal, first);
    if (status == APL_OK && !split_test(&sample, level, &split->report))
        status = no_memory(err);
    sides_free(&s);
    return status == APL_OK ? test_rule(store, split, err) : status;
}

/* -------------------------------------------------------------------------------------- the source's own */

/* Which of the store's own splits the groups of equal inputs reach: `seen`, by group, is all
 * UINT32_MAX, and left so. */
static void count_shared(const apl_store *store, const uint32_t *equal, uint32_t *seen,
                         struct shared_inputs *s, unsigned a, unsigned b)
{
    const apl_split *x = apl_store_split(store, a), *y = apl_store_split(store, b);
    *s = (struct shared_inputs){.name = x->name, .other = y->name, .count = y->count};
    for (uint64_t id = x->first; id < x->first + x->count; id++) {
        s->records += a == b && seen[equal[id]] == 0;
        seen[equal[id]] = 0;
    }
    for (uint64_t id = y->first; a != b && id < y->first + y->count; id++)
        s->records += seen[equal[id]] == 0;
    for (uint64_t id = x->first; id < x->first + x->count; id++)
        seen[equal[id]] = UINT32_MAX;
}

static apl_status find_shared(const apl_store *store, const uint32_t *equal, uint32_t *seen,
                              struct splits_report *report, apl_error *err)
{
    unsigned splits = apl_store_info(store)->splits;
    report->shared = calloc((size_t)splits * (splits + 1) / 2 + 1, sizeof *report->shared);
    if (!report->shared)
        return no_memory(err);
    for (unsigned a = 0; a < splits; a++)
        for (unsigned b = a; b < splits; b++)
            count_shared(store, equal, seen, &report->shared[report->shared_count++], a, b);
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------- all of them */

apl_status splits_count(apl_store *store, unsigned *count, apl_error *err)
{
    apl_split_list *list;
    const apl_split_file *file;
    *count = 0;
    apl_status status = apl_split_list_open(store, &list, err);
    for (size_t i = 0; status == APL_OK && (file = apl_split_list_file(list, i)) != NULL; i++)
        *count += file->status == APL_OK;
    if (status == APL_OK)
        apl_split_list_close(list);
    return status;
}

static apl_status list_files(apl_store *store, struct splits_report *report, apl_error *err)
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
        return no_memory(err);
    for (size_t i = 0; (file = apl_split_list_file(report->list, i)) != NULL; i++)
        if (file->status == APL_OK)
            report->splits[report->count++].file = file;
        else
            report->unusable++;
    return APL_OK;
}

static apl_status judge(struct splits_report *report, double level, apl_error *err)
{
    struct finding **all = calloc((size_t)report->count * SPLIT_TESTS + 1, sizeof *all);
    if (!all)
        return no_memory(err);
    for (unsigned i = 0; i < report->count; i++)
        for (unsigned k = 0; k < report->splits[i].report.count; k++)
            all[report->findings++] = &report->splits[i].report.findings[k];
    report->rejected = audit_judge(all, report->findings, level);
    free(all);
    return APL_OK;
}

apl_status splits_audit(apl_store *store, double level, struct splits_report *report, apl_error *err)
{
    size_t n = (size_t)apl_store_info(store)->records + 1;
    uint32_t *equal = malloc(n * sizeof *equal), *scratch = malloc(n * sizeof *scratch);
    *report = (struct splits_report){.count = 0};
    apl_status status = equal && scratch ? inputs_equal(store, equal, err) : no_memory(err);
    if (status == APL_OK)
        status = list_files(store, report, err);
    if (status == APL_OK)
        memset(scratch, 0xff, n * sizeof *scratch);
    for (unsigned i = 0; status == APL_OK && i < report->count; i++)
        status =
            test_split(store, &report->splits[i], equal, scratch, level / (report->count * SPLIT_TESTS), err);
    if (status == APL_OK)
        status = find_shared(store, equal, scratch, report, err);
    if (status == APL_OK)
        status = judge(report, level, err);
    free(equal);
    free(scratch);
    return status;
}

void splits_report_free(struct splits_report *report)
{
    apl_split_list_close(report->list);
    free(report->splits);
    free(report->shared);
    *report = (struct splits_report){.count = 0};
}
