/* Which other splits a new one shares records with. */
#include "split.h"

#include <errno.h>
#include <stdio.h>

/* What has been found so far. */
struct overlap {
    const struct split_set *set;
    unsigned splits; /* how many others share records with one of the set */
    bool parts;      /* some of these are of divisions into many parts */
    bool same_seed;  /* some have the seed of the set: those count before others */
    /* the one of the set and the other that share most: */
    uint64_t records;
    const char *name;
    char other[SPLIT_MAX_NAME + 1];
    /* a parent that has no record of any other; "": there is none */
    uint64_t left;
    char parent[APL_MAX_NAME + 1];
};

/* How many of those bits are records that `f` divides. */
static uint64_t count_on_side(const struct bitset *bits, const struct split_file *f)
{
    return bitset_count_both(bits, &f->tables[SPLIT_PART]) + bitset_count_both(bits, &f->tables[SPLIT_REST]);
}

/* Does `f` divide records on both sides of `made`, and none besides? If it divides some that `made` does not, it is the
 * parent of `made` that overlaps it. *within: those of one side, from which it may well come; but if the other is empty, that
 * side is all of the parent. */
static bool straddles(const struct split_file *made, const struct split_file *f, bool *within)
{
    uint64_t part = count_on_side(&made->tables[SPLIT_PART], f),
             rest = count_on_side(&made->tables[SPLIT_REST], f);
    if (part + rest != f->records[SPLIT_PART] + f->records[SPLIT_REST])
        return false;
    *within = (part == 0 && made->records[SPLIT_PART]) || (rest == 0 && made->records[SPLIT_REST]);
    return !*within;
}

/* How many records `f` shares with the one of the set that it shares most with; 0 if it is apart from all of them, or
 * comes from one. */
static uint64_t most_shared(const struct split_set *set, const struct split_file *f, const char **name)
{
    uint64_t most = 0;
    bool within = false;
    for (size_t i = 0; i < set->count; i++) {
        const struct split_file *made = &set->files[i];
        if (!straddles(made, f, &within)) {
            if (within)
                return 0;
            continue;
        }
        uint64_t shared = bitset_count_both(&made->tables[SPLIT_PART], &f->tables[SPLIT_PART]);
        if (shared > most) {
            most = shared;
            *name = made->name;
        }
    }
    return most;
}

/* Is the file one that the set replaces? */
static bool is_of_set(const struct split_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->files[i].name, name) == 0)
            return true;
    return false;
}

struct search {
    const struct split_set *set;
    bool found;
};

static bool find_of_set(void *context, const struct split_file *file, bool same)
{
    struct search *s = context;
    (void)same;
    s->found = is_of_set(s->set, file->name);
    return !s->found;
}

static void count_overlap(struct overlap *o, const struct split_file *f, uint64_t shared, const char *name)
{
    const struct split_file *made = &o->set->files[0];
    bool same_seed = f->seed == made->seed && f->generation == made->generation;
    o->splits++;
    o->parts |= split_in_parts(f);
    if (same_seed < o->same_seed || (same_seed == o->same_seed && shared <= o->records))
        return;
    o->same_seed = same_seed;
    o->records = shared;
    o->name = name;
    snprintf(o->other, sizeof o->other, "%s", f->name);
}

static apl_status compare_with(const apl_store *store, const char *name, struct overlap *o, apl_error *err)
{
    const struct split_file *made = &o->set->files[0];
    struct search search = {.set = o->set};
    struct split_file f;
    apl_status status = split_file_read(store, name, &f, err);
    if (status != APL_OK)
        return status == APL_E_NOMEM ? status : APL_OK; /* it has gone since it was listed */
    const char *of = NULL;
    uint64_t shared = 0;
    if (f.first == made->first && f.tables[SPLIT_PART].count == made->tables[SPLIT_PART].count &&
        !(split_in_parts(&f) && split_in_parts(made)))
        shared = most_shared(o->set, &f, &of);
    if (shared)
        status = split_climb(store, &f, find_of_set, &search, err);
    if (shared && !search.found)
        count_overlap(o, &f, shared, of);
    split_file_free(&f);
    return status;
}

static bool has_none_of(const apl_store *store, const char *name, const struct split_file *file)
{
    struct split_file f;
    if (split_file_read(store, name, &f, NULL) != APL_OK)
        return true;
    bool none = f.first != file->first || f.tables[SPLIT_PART].count != file->tables[SPLIT_PART].count ||
                bitset_count_both(&file->tables[SPLIT_REST], &f.tables[SPLIT_PART]) == 0;
    split_file_free(&f);
    return none;
}

static bool is_other(const struct split_set *set, const apl_split_file *f)
{
    return f->status == APL_OK && !f->parts && !is_of_set(set, f->name);
}

/* Takes what a split leaves, if it is to be divided too and leaves out all others. */
static void consider_rest(const apl_store *store, const struct split_file *file, const apl_split_list *list,
                          struct overlap *o)
{
    const struct split_file *made = &o->set->files[0];
    const apl_split_file *f;
    uint64_t left = file->records[SPLIT_REST];
    bool apart = left > o->left && file->first == made->first &&
                 file->tables[SPLIT_REST].count == made->tables[SPLIT_REST].count &&
                 count_on_side(&file->tables[SPLIT_REST], made) == left;
    for (size_t i = 0; apart && (f = apl_split_list_file(list, i)); i++)
        apart = !is_other(o->set, f) || has_none_of(store, f->name, file);
    if (!apart)
        return;
    o->left = left;
    snprintf(o->parent, sizeof o->parent, "%s-%s", file->parent, file->name);
}

/* The largest rest without records of other splits: where these overlap each other, there may be none. */
static void find_parent(const apl_store *store, const apl_split_list *list, struct overlap *o)
{
    struct split_file file;
    const apl_split_file *f;
    for (size_t i = 0; o->splits && (f = apl_split_list_file(list, i)); i++)
        if (is_other(o->set, f) && split_file_read(store, f->name, &file, NULL) == APL_OK) {
            consider_rest(store, &file, list, o);
            split_file_free(&file);
        }
}

static void describe_overlap(const apl_store *store, const struct overlap *o, apl_split_overlap *shared)
{
    char name[64], other[64], parent[128], more[48] = "", advice[160];
    *shared = (apl_split_overlap){.records = o->records, .splits = o->splits};
    if (!o->splits)
        return;
    printable(name, sizeof name, o->name, strlen(o->name));
    printable(other, sizeof other, o->other, strlen(o->other));
    printable(parent, sizeof parent, o->parent, strlen(o->parent));
    if (o->splits > 1)
        snprintf(more, sizeof more, ", and %u more share some", o->splits - 1);
    if (!o->parts && *o->parent)
        snprintf(advice, sizeof advice, "the parent %s avoids it", parent);
    else if (!o->parts)
        snprintf(advice, sizeof advice, "to avoid it, divide what all of them leave");
    else
        snprintf(advice, sizeof advice, "to avoid it, make %s first, and the parts of what it leaves", name);
    snprintf(shared->message, sizeof shared->message, "%s: splits %s and %s share %s%s; %s", store->name,
             name, other, number_of(o->records, "record", "records"), more, advice);
}

apl_status split_find_overlap(apl_store *store, const struct split_set *set, apl_split_overlap *shared,
                              bool *same_seed, apl_error *err)
{
    struct overlap o = {.set = set};
    apl_split_list *list = NULL;
    const apl_split_file *f;
    apl_status status = apl_split_list_open(store, &list, err);
    if (status != APL_OK && err->sys_errno != EACCES) /* what cannot be listed may still be written to */
        return status;
    for (size_t i = 0; status == APL_OK && (f = apl_split_list_file(list, i)); i++)
        if (f->status == APL_OK && !is_of_set(set, f->name) && !(f->parts && set->files[0].parts))
            status = compare_with(store, f->name, &o, err);
    if (status != APL_E_NOMEM)
        status = APL_OK;
    if (list)
        find_parent(store, list, &o);
    apl_split_list_close(list);
    *same_seed = o.same_seed;
    describe_overlap(store, &o, shared);
    return status;
}
