/* Making splits. */
#include "sized.h"
#include "split.h"
#include "split_unit.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

static char *copy(const char *text)
{
    return strdup(text ? text : "");
}

/* What is to be made: a division in two, if `parts` is 0. */
struct plan {
    const apl_split_options *options;
    const char *parent, *stratify, *group; /* not NULL */
    enum split_by by;
    enum split_rule rule;
    uint32_t parts;
    uint64_t concentration;
};

static apl_status take_split_options(const apl_store *store, const apl_split_options *asked,
                                     apl_split_options *o, apl_error *err)
{
    *o = (apl_split_options)APL_SPLIT_OPTIONS_INIT;
    if (!store || !asked)
        return fail(err, APL_E_INVALID, "making a split: start from APL_SPLIT_OPTIONS_INIT");
    return options_take(o, sizeof *o, asked, "apl_split_options", err);
}

static apl_status check_split_options(const apl_split_options *o, apl_error *err)
{
    char shown[256];
    if (!o->name)
        return fail(err, APL_E_INVALID, "a split needs a name");
    if (!split_name_ok(o->name))
        return fail(err, APL_E_INVALID,
                    "a split cannot be called '%s': names have 1 to %d bytes, contain no '/' and do not "
                    "begin with '.'",
                    printable(shown, sizeof shown, o->name, strlen(o->name)), SPLIT_MAX_NAME);
    return APL_OK;
}

/* What is to be hashed. */
static apl_status check_by(const apl_store *store, const apl_split_options *o, struct plan *p, apl_error *err)
{
    char shown[256];
    unsigned field;
    printable(shown, sizeof shown, o->name, strlen(o->name));
    p->group = o->group ? o->group : "";
    p->by = *p->group ? SPLIT_BY_GROUP : (enum split_by)o->by;
    if (*p->group && o->by != APL_BY_CONTENT)
        return fail(err, APL_E_INVALID, "split %s: a group is what is hashed: nothing else can be", shown);
    if (*p->group)
        return split_group_field(store, p->group, &field, err);
    return o->by == APL_BY_CONTENT || o->by == APL_BY_KEY || o->by == APL_BY_ID
               ? APL_OK
               : fail(err, APL_E_INVALID, "split %s: it is to hash what this library does not know (%d)",
                      shown, (int)o->by);
}

static apl_status check_ratio(const apl_split_options *o, apl_error *err)
{
    char shown[256];
    if (o->ratio > 0 && o->ratio < 1)
        return APL_OK;
    return fail(err, APL_E_INVALID, "split %s: a ratio of %g: it must be between 0 and 1",
                printable(shown, sizeof shown, o->name, strlen(o->name)), o->ratio);
}

static apl_status check_parts(const apl_split_options *o, unsigned parts, double concentration,
                              apl_error *err)
{
    char shown[256], last[SPLIT_MAX_NAME + 16];
    printable(shown, sizeof shown, o->name, strlen(o->name));
    if (parts < 2 || parts > APL_MAX_PARTS)
        return fail(err, APL_E_INVALID, "split %s: %s: there must be 2 to %d", shown,
                    number_of(parts, "part", "parts"), APL_MAX_PARTS);
    if (o->ratio != 0)
        return fail(err, APL_E_INVALID, "split %s: a ratio of %g: parts are equal, without a ratio", shown,
                    o->ratio);
    if (concentration != 0 && !(concentration >= 1e-6 && concentration <= 1e6))
        return fail(err, APL_E_INVALID, "split %s: a concentration of %g: it must be 0.000001 to 1000000",
                    shown, concentration);
    snprintf(last, sizeof last, "%s-%u", o->name, parts - 1);
    return split_name_ok(last)
               ? APL_OK
               : fail(err, APL_E_INVALID, "split %s: the names of its parts are too long", shown);
}

/* Is there nothing yet that `name` could mean, but for the file `own`? */
static apl_status check_free(const apl_store *store, const char *name, const char *own, apl_error *err)
{
    struct split_file other;
    char shown[256];
    printable(shown, sizeof shown, name, strlen(name));
    if (apl_store_find_split(store, name) >= 0)
        return fail(err, APL_E_INVALID, "%s: the source has a split %s already", store->name, shown);
    apl_status status = strcmp(name, own) != 0 ? split_file_read(store, name, &other, NULL) : APL_E_NOTFOUND;
    if (status == APL_OK) {
        split_file_free(&other);
        return fail(err, APL_E_INVALID, "%s: there is a split %s already", store->name, shown);
    }
    /* files that cannot be read leave no rest that a name could mean */
    if (split_find_rest(store, name, own, &other, NULL) != APL_OK)
        return APL_OK;
    fail(err, APL_E_INVALID, "%s: %s is what split %s leaves already", store->name, shown, other.name);
    split_file_free(&other);
    return APL_E_INVALID;
}

static apl_status check_names(const apl_store *store, const struct split_file *file, apl_error *err)
{
    char *rest = split_rest_name(file);
    if (!rest)
        return fail_nomem(err);
    apl_status status = check_free(store, file->name, file->name, err);
    if (status == APL_OK && strlen(rest) > APL_MAX_NAME)
        status = fail(err, APL_E_INVALID, "%s: split %s: the name of the rest, PARENT-NAME, is too long",
                      store->name, file->name);
    if (status == APL_OK)
        status = check_free(store, rest, file->name, err);
    free(rest);
    return status;
}

/* A part that is left of an earlier division into more parts would pass for one of the new ones. */
static apl_status check_left_over(const apl_store *store, const struct plan *p, apl_error *err)
{
    struct split_file old;
    char next[SPLIT_MAX_NAME + 16], shown[256];
    snprintf(next, sizeof next, "%s-%u", p->options->name, p->parts);
    if (split_file_read(store, next, &old, NULL) != APL_OK)
        return APL_OK;
    bool more = split_in_parts(&old) && old.parts > p->parts;
    uint32_t parts = old.parts;
    split_file_free(&old);
    return more
               ? fail(err, APL_E_INVALID, "%s: split %s is of %u parts made before: remove their files first",
                      store->name, printable(shown, sizeof shown, next, strlen(next)), parts)
               : APL_OK;
}

/* ---------------------------------------------------------------------------------------------- making */

/* NAME, or NAME-NUMBER of one of many parts; NULL: out of memory. */
static char *part_name(const struct plan *p, uint32_t number)
{
    size_t size = strlen(p->options->name) + 16;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, p->parts ? "%s-%u" : "%s", p->options->name, (unsigned)number);
    return name;
}

/* The head of the file, as asked for, and its table of the part. */
static apl_status describe(const apl_store *store, const struct plan *p, const struct selection *parent,
                           uint32_t number, struct split_file *file, apl_error *err)
{
    *file = (struct split_file){.name = part_name(p, number),
                                .parent = copy(p->parent),
                                .source = copy(store->splits[parent->source].name),
                                .stratify = copy(p->stratify),
                                .group = copy(p->group),
                                .by = p->by,
                                .rule = p->rule,
                                .ratio = (uint64_t)ldexp(p->options->ratio, 64),
                                .seed = p->options->seed,
                                .number = number,
                                .parts = p->parts,
                                .concentration = p->concentration,
                                .generation = parent->generation,
                                .first = parent->first};
    memcpy(file->content, store->manifest.info.content_digest, sizeof file->content);
    if (!file->name || !file->parent || !file->source || !file->stratify || !file->group)
        return fail_nomem(err);
    return bitset_init(&file->tables[SPLIT_PART], parent->count, err);
}

/* What the part leaves of the parent. */
static apl_status leave_rest(const struct selection *parent, struct split_file *file, apl_error *err)
{
    TRY(bitset_init(&file->tables[SPLIT_REST], parent->count, err));
    bitset_difference(&file->tables[SPLIT_REST], &parent->bits, &file->tables[SPLIT_PART]);
    for (unsigned side = 0; side < 2; side++)
        file->records[side] = bitset_count(&file->tables[side]);
    return APL_OK;
}

/* Records in two splits that are to be apart are a leak: by the same seed the smaller is in the larger, which nobody
 * expects; by different ones some are, which who repeats a division knows. */
static apl_status check_overlap(apl_store *store, const struct plan *p, const struct split_set *set,
                                apl_error *err)
{
    apl_split_overlap shared;
    bool same_seed;
    TRY(split_find_overlap(store, set, &shared, &same_seed, err));
    if (p->options->shared)
        *p->options->shared = shared;
    return same_seed && !p->options->overlap
               ? fail(err, APL_E_INVALID, "%s, overlap allows it", shared.message)
               : APL_OK;
}

/* Divides the parent; a seed that has divided its records before would not divide them by the ratio. */
static apl_status divide(const apl_store *store, const struct plan *p, const struct selection *parent,
                         const struct split_set *set, apl_error *err)
{
    struct bitset drawn = {0};
    apl_status status;
    GUARD(bitset_init(&drawn, SPLIT_RANGES, err));
    GUARD(split_divide(store, parent, p->options->threads, set, &drawn, err));
    for (size_t i = 0; i < set->count; i++)
        GUARD(leave_rest(parent, &set->files[i], err));
    GUARD(split_check_chance(store, set, &drawn, err));
out:
    bitset_free(&drawn);
    return status;
}

static apl_status make_set(apl_store *store, const struct plan *p, const struct selection *parent,
                           const struct split_set *set, apl_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        TRY(describe(store, p, parent, (uint32_t)i, &set->files[i], err));
        TRY(check_names(store, &set->files[i], err));
    }
    TRY(divide(store, p, parent, set, err));
    TRY(check_overlap(store, p, set, err));
    TRY(split_files_write(store, set->files, set->count, p->options->replace, err));
    split_set_seen(store, set);
    return APL_OK;
}

static const char *default_parent(const apl_store *store)
{
    return apl_store_find_split(store, "train") < 0 && store->manifest.split_count ? store->splits[0].name
                                                                                   : "train";
}

static apl_status make_files(apl_store *store, struct plan *p, apl_error *err)
{
    p->parent = p->options->parent ? p->options->parent : default_parent(store);
    struct selection parent;
    TRY(selection_open(store, p->parent, &parent, err));
    struct split_set set = {.count = p->parts ? p->parts : 1};
    set.files = calloc(set.count, sizeof *set.files);
    apl_status status = set.files ? make_set(store, p, &parent, &set, err) : fail_nomem(err);
    for (size_t i = 0; set.files && i < set.count; i++)
        split_file_free(&set.files[i]);
    free(set.files);
    selection_close(&parent);
    return status;
}

apl_status apl_split_make(apl_store *store, const apl_split_options *options, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    apl_split_options o;
    TRY(take_split_options(store, options, &o, err));
    TRY(check_split_options(&o, err));
    TRY(check_ratio(&o, err));
    struct plan p = {.options = &o, .stratify = o.stratify ? o.stratify : ""};
    TRY(check_by(store, &o, &p, err));
    p.rule = *p.stratify ? SPLIT_STRATIFIED : SPLIT_HASH;
    return make_files(store, &p, err);
}

/* The one field that has classes. */
static apl_status class_field(const apl_store *store, const char **name, apl_error *err)
{
    unsigned f, found = 0;
    for (unsigned i = 0; i < store->manifest.info.fields; i++) {
        const char *candidate = store->manifest.schema.fields[i].name;
        if (split_field(store, candidate, &f, NULL) == APL_OK && found++ == 0)
            *name = candidate;
    }
    return found == 1 ? APL_OK
                      : fail(err, APL_E_INVALID,
                             "%s: %u fields could be the classes: parts by a concentration need the name "
                             "of one",
                             store->name, found);
}

apl_status apl_split_parts(apl_store *store, const apl_split_options *options, unsigned parts,
                           double concentration, apl_error *err)
{
    apl_error own;
    err = err ? err : &own;
    apl_split_options o;
    TRY(take_split_options(store, options, &o, err));
    TRY(check_split_options(&o, err));
    TRY(check_parts(&o, parts, concentration, err));
    struct plan p = {.options = &o, .stratify = o.stratify ? o.stratify : "", .parts = parts};
    TRY(check_by(store, &o, &p, err));
    p.concentration = (uint64_t)(concentration * (double)SPLIT_UNIT + 0.5);
    if (p.concentration && !*p.stratify)
        TRY(class_field(store, &p.stratify, err));
    p.rule = p.concentration ? SPLIT_PARTS_DIRICHLET
             : *p.stratify   ? SPLIT_PARTS_STRATIFIED
                             : SPLIT_PARTS_HASH;
    TRY(check_left_over(store, &p, err));
    return make_files(store, &p, err);
}
