/* Do stores fit together? See merge.h. */
#include "merge.h"

#include "args.h"
#include "describe.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

struct merge {
    struct copy *copy;
    struct copy_source *sources;
    const char *const *paths;
    unsigned count;
};

static const apl_field *field_of(const struct merge *m, unsigned source, unsigned i)
{
    return apl_store_field(m->sources[source].store, m->sources[source].fields[i]);
}

/* ------------------------------------------------------------------------------------------------- fields */

static bool same_shape(const apl_field *a, const apl_field *b)
{
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, a->ndim * sizeof *a->shape) == 0;
}

/* Numbers of classes may be of another width. */
static bool same_type(const apl_field *a, const apl_field *b)
{
    return a->dtype == b->dtype || (a->class_count && b->class_count);
}

/* What nobody has said counts as nothing. */
static bool same_kind(const apl_field *a, const apl_field *b)
{
    char one[APL_KIND_BYTES] = "", other[APL_KIND_BYTES] = "";
    if (a->kind && a->kind->origin != APL_BY_DEFAULT)
        apl_kind_print(NULL, a->kind, one, sizeof one);
    if (b->kind && b->kind->origin != APL_BY_DEFAULT)
        apl_kind_print(NULL, b->kind, other, sizeof other);
    return strcmp(one, other) == 0;
}

static int check_field(const struct merge *m, unsigned source, const apl_field *first, const apl_field *other)
{
    const char *path = m->paths[source], *what = NULL;
    if (!same_type(first, other) || !same_shape(first, other))
        return failed("%s: field %s is %s, but %s in %s", shown_db(path), shown(other->name),
                      type_text(other), type_text(first), shown_db(m->paths[0]));
    if (first->role != other->role)
        return failed("%s: the role of field %s is %s, but %s in %s", shown_db(path), shown(other->name),
                      role_text(other->role), role_text(first->role), shown_db(m->paths[0]));
    if (!first->media != !other->media || (first->media && strcmp(first->media, other->media) != 0))
        return failed("%s: field %s holds %s, but %s in %s", shown_db(path), shown(other->name),
                      other->media ? other->media : "values", first->media ? first->media : "values",
                      shown_db(m->paths[0]));
    if (!same_kind(first, other))
        return failed("%s: field %s is %s, but %s in %s (apldata set-kind says what a field is)",
                      shown_db(path), shown(other->name), other->kind ? kind_text(other->kind) : "of no kind",
                      first->kind ? kind_text(first->kind) : "of no kind", shown_db(m->paths[0]));
    if (!first->class_count != !other->class_count)
        what = other->class_count ? "has classes, but none" : "has no classes, but some";
    return what ? failed("%s: field %s %s in %s", shown_db(path), shown(other->name), what,
                         shown_db(m->paths[0]))
                : 0;
}

/* The fields of the first store, positions aside. */
static void take_fields(struct merge *m)
{
    const apl_store *store = m->sources[0].store;
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        const apl_field *f = apl_store_field(store, i);
        if (f->role == APL_POSITION)
            continue;
        m->sources[0].fields[m->copy->count] = i;
        m->copy->fields[m->copy->count++] = (struct copy_field){.like = f, .dtype = f->dtype};
    }
}

static int match_fields(struct merge *m, unsigned source)
{
    apl_store *store = m->sources[source].store;
    int status = 0;
    for (unsigned i = 0; i < m->copy->count && !status; i++) {
        const apl_field *first = m->copy->fields[i].like;
        int at = apl_store_find_field(store, first->name);
        if (at < 0)
            return failed("%s: has no field %s, which %s has", shown_db(m->paths[source]), shown(first->name),
                          shown_db(m->paths[0]));
        m->sources[source].fields[i] = (unsigned)at;
        status = check_field(m, source, first, apl_store_field(store, (unsigned)at));
    }
    for (unsigned i = 0; i < apl_store_info(store)->fields && !status; i++) {
        const apl_field *f = apl_store_field(store, i);
        if (f->role != APL_POSITION && apl_store_find_field(m->sources[0].store, f->name) < 0)
            status = failed("%s: has the field %s, which %s has not", shown_db(m->paths[source]),
                            shown(f->name), shown_db(m->paths[0]));
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ classes */

/* A name among the classes of all stores. */
struct class
{
    const char *name;
    uint64_t met; /* when it was met first */
    uint32_t number;
};

static int by_name(const void *a, const void *b)
{
    const struct class *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->met > y->met) - (x->met < y->met);
}

static int by_met(const void *a, const void *b)
{
    const struct class *x = a, *y = b;
    return (x->met > y->met) - (x->met < y->met);
}

static bool are_sorted(const struct merge *m, unsigned i)
{
    for (unsigned s = 0; s < m->count; s++) {
        const apl_field *f = field_of(m, s, i);
        for (uint64_t c = 1; c < f->class_count; c++)
            if (strcmp(f->classes[c - 1], f->classes[c]) >= 0)
                return false;
    }
    return true;
}

static bool are_equal(const struct merge *m, unsigned i)
{
    const apl_field *first = field_of(m, 0, i);
    for (unsigned s = 1; s < m->count; s++) {
        const apl_field *f = field_of(m, s, i);
        if (f->class_count != first->class_count || f->dtype != first->dtype)
            return false;
        for (uint64_t c = 0; c < f->class_count; c++)
            if (strcmp(f->classes[c], first->classes[c]) != 0)
                return false;
    }
    return true;
}

/* All names of all stores, each once, in the order of names; they are numbered in that order, or in that in which they were met.
 * Returns how many. */
static size_t unite(const struct merge *m, unsigned i, struct class *all)
{
    size_t n = 0, kept = 0;
    for (unsigned s = 0; s < m->count; s++) {
        const apl_field *f = field_of(m, s, i);
        for (uint64_t c = 0; c < f->class_count; c++, n++)
            all[n] = (struct class){f->classes[c], n, 0};
    }
    qsort(all, n, sizeof *all, by_name);
    for (size_t k = 0; k < n; k++)
        if (kept == 0 || strcmp(all[k].name, all[kept - 1].name) != 0)
            all[kept++] = all[k];
    if (!are_sorted(m, i))
        qsort(all, kept, sizeof *all, by_met);
    for (size_t k = 0; k < kept; k++)
        all[k].number = (uint32_t)k;
    qsort(all, kept, sizeof *all, by_name);
    return kept;
}

static uint32_t *numbers_of(const apl_field *f, const struct class *all, size_t count)
{
    uint32_t *numbers = malloc(((size_t)f->class_count + 1) * sizeof *numbers);
    for (uint64_t c = 0; c < f->class_count && numbers; c++) {
        size_t low = 0, high = count; /* it is there */
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            if (strcmp(all[middle].name, f->classes[c]) <= 0)
                low = middle;
            else
                high = middle;
        }
        numbers[c] = all[low].number;
    }
    return numbers;
}

static int map_classes(struct merge *m, unsigned i, struct class *all)
{
    struct copy_field *field = &m->copy->fields[i];
    size_t count = unite(m, i, all);
    field->classes = malloc((count + 1) * sizeof *field->classes);
    if (!field->classes)
        return failed("out of memory");
    for (size_t k = 0; k < count; k++)
        field->classes[all[k].number] = all[k].name;
    field->class_count = count;
    for (unsigned s = 0; s < m->count; s++) {
        const apl_field *f = field_of(m, s, i);
        field->dtype = f->dtype > field->dtype ? f->dtype : field->dtype; /* u8, u16, u32 */
        m->sources[s].classes[i] = numbers_of(f, all, count);
        if (!m->sources[s].classes[i])
            return failed("out of memory");
    }
    while (field->dtype < APL_U32 && count > (size_t)1 << 8 * apl_dtype_size(field->dtype))
        field->dtype = field->dtype == APL_U8 ? APL_U16 : APL_U32;
    return 0;
}

static int unite_classes(struct merge *m, unsigned i)
{
    size_t most = 0;
    for (unsigned s = 0; s < m->count; s++)
        most += (size_t)field_of(m, s, i)->class_count;
    if (most == 0 || are_equal(m, i))
        return 0;
    struct class *all = calloc(most, sizeof *all);
    int status = all ? map_classes(m, i, all) : failed("out of memory");
    free(all);
    return status;
}

/* ---------------------------------------------------------------------------------------------- the whole */

int merge_schema(struct copy *copy, struct copy_source *sources, const char *const *paths, unsigned count)
{
    struct merge m = {copy, sources, paths, count};
    int status = 0;
    take_fields(&m);
    for (unsigned s = 1; s < count && !status; s++)
        status = match_fields(&m, s);
    for (unsigned i = 0; i < copy->count && !status; i++)
        status = unite_classes(&m, i);
    return status;
}

void merge_free(struct copy *copy, struct copy_source *sources, unsigned count)
{
    for (unsigned i = 0; i < copy->count; i++) {
        free(copy->fields[i].classes);
        for (unsigned s = 0; s < count; s++)
            free(sources[s].classes[i]);
    }
}
