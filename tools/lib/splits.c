#include "splits.h"

#include "args.h"
#include "json.h"
#include "report.h"
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- parsing */

/* A decimal number between 0 and 1. */
static bool parse_ratio(const char *text, double *ratio)
{
    char *end;
    if (!*text || strspn(text, "0123456789.") != strlen(text))
        return false;
    *ratio = strtod(text, &end);
    return !*end && *ratio > 0 && *ratio < 1;
}

/* Cuts NAME@PARENT at the '@'; false if a name is missing. */
static bool cut_parent(struct split_spec *spec)
{
    char *at = strchr(spec->name, '@');
    if (at)
        *at++ = 0;
    spec->parent = at;
    return *spec->name && !(at && !*at);
}

int split_parse_parts(const char *text, struct split_spec *spec)
{
    *spec = (struct split_spec){.name = strdup(text)};
    if (!spec->name)
        return failed("out of memory");
    if (strchr(text, '=') || !cut_parent(spec))
        return misuse("parts are named NAME or NAME@PARENT, without a ratio, not '%s'", shown(text));
    return 0;
}

int split_parse(const char *text, struct split_spec *spec)
{
    char *name = strdup(text), *ratio = name ? strchr(name, '=') : NULL;
    *spec = (struct split_spec){.name = name};
    if (!name)
        return failed("out of memory");
    char *parent = ratio ? strchr(ratio, '@') : NULL;
    if (ratio)
        *ratio++ = 0;
    if (parent)
        *parent++ = 0;
    spec->parent = parent;
    if (!ratio || !*name || (parent && !*parent))
        return misuse("a split is written NAME=RATIO or NAME=RATIO@PARENT, not '%s'", shown(text));
    if (*name == '.' || strchr(name, '/'))
        return misuse("the name of a split contains no '/' and does not begin with '.', as '%s' does",
                      shown(name));
    if (!parse_ratio(ratio, &spec->ratio))
        return misuse("the ratio of split '%s' must be a number between 0 and 1, such as 0.1, not '%s'",
                      shown(name), shown(ratio));
    return 0;
}

void split_spec_free(struct split_spec *spec)
{
    free(spec->name);
    *spec = (struct split_spec){0};
}

apl_status split_make(apl_store *store, const struct split_spec *spec, const apl_split_options *options,
                      apl_error *err)
{
    apl_split_options o = *options;
    o.name = spec->name;
    o.parent = spec->parent;
    if (spec->parts)
        return apl_split_parts(store, &o, spec->parts, spec->concentration, err);
    o.ratio = spec->ratio;
    return apl_split_make(store, &o, err);
}

/* --------------------------------------------------------------------------------------------- reporting */

static const apl_split_file *find(const apl_split_list *list, const char *name)
{
    const apl_split_file *f;
    for (size_t i = 0; (f = apl_split_list_file(list, i)); i++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

static int tell(const char *db, const apl_split_list *list, const char *name)
{
    const apl_split_file *f = find(list, name);
    if (!f || f->status != APL_OK)
        return failed("%s", f ? f->message : "the split has gone");
    printf("%s: %s has %s, %s %s\n", shown_db(db), shown(f->name), counted(f->records, "record"),
           shown(f->rest), count_text(f->rest_records));
    return 0;
}

int split_tell(const char *db, apl_store *store, const char *name)
{
    apl_split_list *list;
    apl_error err;
    if (apl_split_list_open(store, &list, &err) != APL_OK)
        return failed("%s", err.message);
    int status = tell(db, list, name);
    apl_split_list_close(list);
    return status;
}

void split_tell_others(unsigned unusable, unsigned of_other_lists)
{
    if (unusable)
        printf("\n%u split files cannot be used: see apldata verify\n", unusable);
    if (of_other_lists)
        printf("\n%u %s another list of the set: see apldata verify\n", of_other_lists,
               of_other_lists == 1 ? "split belongs to" : "splits belong to");
}

static const char *part_name(char *text, size_t size, const char *name, unsigned part)
{
    snprintf(text, size, "%s-%u", name, part);
    return text;
}

int split_tell_parts(const char *db, apl_store *store, const char *name, unsigned parts)
{
    apl_split_list *list;
    apl_error err;
    char text[300];
    if (apl_split_list_open(store, &list, &err) != APL_OK)
        return failed("%s", err.message);
    int status = 0;
    for (unsigned i = 0; status == 0 && i < parts; i++)
        status = tell(db, list, part_name(text, sizeof text, name, i));
    apl_split_list_close(list);
    return status;
}

uint64_t *split_counts(apl_store *store, const char *name, unsigned field)
{
    const apl_field *f = apl_store_field(store, field);
    uint64_t *counts = calloc((size_t)f->class_count + 1, sizeof *counts);
    int own = apl_store_find_split(store, name);
    if (!counts) {
        report_starved();
        return NULL;
    }
    for (uint64_t c = 0; own >= 0 && c < f->class_count; c++)
        counts[c] = apl_store_class_count(store, (unsigned)own, field, c);
    apl_status status = own < 0 ? apl_split_class_counts(store, name, field, counts, NULL) : APL_OK;
    if (status == APL_E_NOMEM)
        report_starved();
    if (status != APL_OK) {
        free(counts);
        return NULL;
    }
    return counts;
}

const char *split_by_name(apl_split_by by)
{
    static const char *const names[] = {"content", "key", "id", "group"};
    return (unsigned)by < sizeof names / sizeof *names ? names[by] : "?";
}

static json_t *class_counts_json(apl_store *store, const char *name)
{
    json_t *fields = json_object();
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        const apl_field *f = apl_store_field(store, i);
        uint64_t *counts = f->class_count ? split_counts(store, name, i) : NULL;
        json_t *list = json_array();
        for (uint64_t c = 0; counts && c < f->class_count; c++)
            json_array_append_new(list, json_count(counts[c]));
        if (counts)
            json_object_set(fields, shown(f->name), list);
        json_decref(list);
        free(counts);
    }
    return fields;
}

json_t *split_file_json(apl_store *store, const apl_split_file *f, bool classes)
{
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)f->seed);
    if (f->status != APL_OK)
        return json_pack("{s:b, s:o, s:i, s:o}", "ok", 0, "name", json_text(f->name), "status",
                         (int)f->status, "error", json_text(f->message));
    json_t *object = json_pack(
        "{s:b, s:o, s:o, s:o, s:o, s:o, s:f, s:s, s:o, s:s, s:o, s:o}", "ok", 1, "name", json_text(f->name),
        "records", json_count(f->records), "rest", json_text(f->rest), "rest_records",
        json_count(f->rest_records), "parent", json_text(f->parent), "ratio", f->ratio, "seed", seed,
        "stratify", f->stratify ? json_text(f->stratify) : json_null(), "by", split_by_name(f->by), "group",
        f->group ? json_text(f->group) : json_null(), "source_split", json_text(f->source));
    if (object && f->parts)
        json_object_update_new(object, json_pack("{s:i, s:i, s:f}", "part", (int)f->part, "parts",
                                                 (int)f->parts, "concentration", f->concentration));
    if (object && classes) {
        json_object_set_new(object, "class_counts", class_counts_json(store, f->name));
        json_object_set_new(object, "rest_class_counts", class_counts_json(store, f->rest));
    }
    return object;
}

json_t *split_named_json(apl_store *store, const char *name)
{
    apl_split_list *list;
    if (apl_split_list_open(store, &list, NULL) != APL_OK)
        return NULL;
    const apl_split_file *f = find(list, name);
    json_t *object = f ? split_file_json(store, f, false) : NULL;
    apl_split_list_close(list);
    return object;
}

json_t *split_parts_json(apl_store *store, const char *name, unsigned parts)
{
    apl_split_list *list;
    char text[300];
    if (apl_split_list_open(store, &list, NULL) != APL_OK)
        return NULL;
    json_t *files = json_array();
    for (unsigned i = 0; i < parts; i++) {
        const apl_split_file *f = find(list, part_name(text, sizeof text, name, i));
        if (f)
            json_array_append_new(files, split_file_json(store, f, false));
    }
    apl_split_list_close(list);
    return json_pack("{s:b, s:o}", "ok", 1, "parts", files);
}

/* --------------------------------------------------------------------------------------------- listing */

apl_status split_list(apl_store *store, apl_split_list **list, apl_error *err)
{
    apl_status status = apl_split_list_open(store, list, err);
    if (status == APL_OK || err->sys_errno != EACCES)
        return status;
    note("%s; no split files are shown", err->message);
    *list = NULL;
    return APL_OK;
}

bool split_is_stale(const apl_split_file *file)
{
    return file->status == APL_E_MISMATCH && !file->list && !file->replaced;
}

/* Is it the split of that name, or one of its parts? */
static bool is_made(const struct split_spec *spec, const char *name)
{
    char text[300];
    for (unsigned i = 0; i < spec->parts; i++)
        if (strcmp(name, part_name(text, sizeof text, spec->name, i)) == 0)
            return true;
    return !spec->parts && strcmp(name, spec->name) == 0;
}

void split_tell_replaced(apl_store *store, const struct split_spec *spec)
{
    apl_split_list *list;
    const apl_split_file *f;
    if (apl_split_list_open(store, &list, NULL) != APL_OK)
        return;
    unsigned found = 0;
    const char *first = NULL;
    for (size_t i = 0; (f = apl_split_list_file(list, i)); i++)
        if (f->replaced && is_made(spec, f->replaced) && found++ == 0)
            first = f->message;
    if (found == 1)
        note("%s", first);
    else if (found)
        note("%s (%u more like it)", first, found - 1);
    apl_split_list_close(list);
}

/* ----------------------------------------------------------------------------------------------- names */

static size_t usable(const apl_split_list *list)
{
    const apl_split_file *f;
    size_t n = 0;
    for (size_t i = 0; (f = apl_split_list_file(list, i)); i++)
        n += f->status == APL_OK;
    return n;
}

int split_names_open(apl_store *store, struct split_names *s)
{
    unsigned own = apl_store_info(store)->splits;
    const apl_split_file *f;
    apl_error err;
    *s = (struct split_names){0};
    if (split_list(store, &s->list, &err) != APL_OK)
        return failed("%s", err.message);
    s->names = calloc(own + 2 * usable(s->list) + 1, sizeof *s->names);
    if (!s->names) {
        split_names_close(s);
        return failed("out of memory");
    }
    for (unsigned i = 0; i < own; i++)
        s->names[s->count++] = apl_store_split(store, i)->name;
    for (size_t i = 0; (f = apl_split_list_file(s->list, i)); i++) {
        if (f->status != APL_OK)
            continue;
        s->names[s->count++] = f->name;
        s->names[s->count++] = f->rest;
    }
    return 0;
}

void split_names_close(struct split_names *s)
{
    apl_split_list_close(s->list);
    free(s->names);
    *s = (struct split_names){0};
}

/* --------------------------------------------------------------------------------------------- a table */

static void add_row(struct table *table, const char *const *cells)
{
    for (size_t i = 0; i < 7; i++)
        table_add(table, cells[i]);
}

const char *split_rule_text(const apl_split_file *f)
{
    char text[900], parts[80] = "", units[300] = "";
    if (f->concentration > 0)
        snprintf(parts, sizeof parts, ", Dirichlet %.9g, in %u", f->concentration, f->parts);
    else if (f->parts)
        snprintf(parts, sizeof parts, ", in %u", f->parts);
    if (f->by == APL_BY_GROUP)
        snprintf(units, sizeof units, f->stratify ? ", groups of %s" : " of %s", f->group);
    else if (f->by != APL_BY_CONTENT)
        snprintf(units, sizeof units, f->stratify ? ", %ss" : " of %ss", split_by_name(f->by));
    snprintf(text, sizeof text, "by %s%s%s", f->stratify ? f->stratify : "hash", units, parts);
    return shown(text);
}

int split_describe(const apl_split_list *list)
{
    const apl_split_file *f;
    struct table table = TABLE("lrlrllr");
    if (usable(list)) {
        putchar('\n');
        add_row(&table, (const char *[]){"split", "records", "rest", "records", "ratio", "rule", "seed"});
    }
    for (size_t i = 0; (f = apl_split_list_file(list, i)); i++) {
        char seed[24];
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)f->seed);
        if (f->status == APL_OK)
            add_row(&table, (const char *[]){shown(f->name), count_text(f->records), shown(f->rest),
                                             count_text(f->rest_records), number_text("%.9g", f->ratio),
                                             split_rule_text(f), shown(seed)});
    }
    int status = table_print(&table);
    if (!usable(list) && apl_split_list_file(list, 0))
        putchar('\n');
    for (size_t i = 0; (f = apl_split_list_file(list, i)); i++)
        if (f->status != APL_OK)
            printf("split %s cannot be used: %s\n", shown(f->name), shown(f->message));
    return status;
}
