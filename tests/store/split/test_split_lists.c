/* Splits of a set that grows: those of an older list stay, beside those of the new one. */
#include "set_case.h"
#include "split_file.h"

#include <unistd.h>

TestSuite(split_lists, .init = set_set_up, .fini = fx_tear_down, .timeout = 60);

static apl_store *open_list(const char *file)
{
    char path[96];
    apl_store *s = NULL;
    snprintf(path, sizeof path, "set/%s", file);
    OK(apl_store_open(fx_path(path), NULL, &s, &fx_err));
    return s;
}

static apl_status divide(apl_store *s, const char *name, int replace)
{
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    o.name = name;
    o.ratio = 0.3;
    o.replace = replace;
    o.threads = APL_NO_THREADS;
    o.overlap = 1;
    return apl_split_make(s, &o, &fx_err);
}

static uint64_t records(apl_store *s, const char *name)
{
    uint64_t n = 0;
    OK(apl_split_ids(s, name, NULL, &n, &fx_err));
    return n;
}

/* How many files no list uses; the first is called that, or NULL. */
static size_t left(apl_store *s, const char *first)
{
    apl_split_list *list;
    size_t n = 0;
    OK(apl_split_list_left(s, &list, &fx_err));
    for (const apl_split_file *f; (f = apl_split_list_file(list, n)); n++) {
        cr_assert_eq(f->status, APL_E_MISMATCH);
        cr_assert(n || !first || strstr(f->message, first), "%s", f->message);
    }
    apl_split_list_close(list);
    return n;
}

/* A set with a split has grown: its older list, and the new one. */
static void grow(apl_store **older, apl_store **newer, char kept[SET_KEPT_BYTES])
{
    make_shards(0);
    OK(join(0, 2, 0, 0));
    apl_store *s = open_set(0);
    OK(divide(s, "val", 0));
    cr_assert(set_find_list(s->set, apl_store_info(s)->content_digest, kept));
    cr_assert_str_eq(kept, "set.apl");
    OK(join(2, 1, 1, 0));
    *newer = open_set(0);
    cr_assert(set_find_list((*newer)->set, apl_store_info(s)->content_digest, kept));
    apl_store_close(s);
    *older = open_list(kept);
}

Test(split_lists, are_kept_apart)
{
    apl_store *older, *newer;
    char kept[SET_KEPT_BYTES];
    grow(&older, &newer, kept);
    uint64_t before = records(older, "val");
    FAILS(APL_E_MISMATCH, apl_split_ids(newer, "train-val", NULL, &(uint64_t){0}, &fx_err));
    SAYS(kept);
    OK(divide(newer, "val", 0));
    FAILS(APL_E_EXISTS, divide(newer, "val", 0));
    SAYS("val.split-");
    OK(divide(newer, "val", 1));
    cr_assert_eq(records(older, "val"), before);
    cr_assert_eq(records(older, "train-val") + before, 123);
    cr_assert_eq(records(newer, "train-val") + records(newer, "val"), 188);
    OK(apl_split_verify(older, "val", APL_NO_THREADS, &fx_err));
    OK(apl_split_verify(newer, "val", APL_NO_THREADS, &fx_err));
    OK(divide(newer, "new", 0)); /* a name that is free is nobody else's */
    cr_assert(access(fx_path("set/new.split"), F_OK) == 0);
    OK(divide(older, "new", 0));
    OK(apl_split_verify(newer, "new", APL_NO_THREADS, &fx_err));
    OK(apl_split_verify(older, "new", APL_NO_THREADS, &fx_err));
    apl_store_close(older);
    apl_store_close(newer);
}

Test(split_lists, are_listed)
{
    apl_store *older, *newer;
    apl_split_list *list;
    char kept[SET_KEPT_BYTES];
    grow(&older, &newer, kept);
    OK(apl_split_list_open(newer, &list, &fx_err));
    cr_assert_eq(apl_split_list_file(list, 0)->status, APL_E_MISMATCH);
    cr_assert_str_eq(apl_split_list_file(list, 0)->list, kept);
    apl_split_list_close(list);
    OK(divide(newer, "val", 0));
    for (unsigned round = 0; round < 2; round++) { /* with the other list's file, and without */
        OK(apl_split_list_open(newer, &list, &fx_err));
        cr_assert_eq(apl_split_list_file(list, 0)->status, APL_OK, "%s",
                     apl_split_list_file(list, 0)->message);
        cr_assert_str_eq(apl_split_list_file(list, 0)->name, "val");
        cr_assert_null(apl_split_list_file(list, 0)->list);
        cr_assert_null(apl_split_list_file(list, 1));
        apl_split_list_close(list);
        unlink(fx_path("set/val.split"));
    }
    apl_store_close(older);
    apl_store_close(newer);
}

/* Once the older list is gone, its splits are as those of any store that was here before. */
Test(split_lists, without_their_list_are_of_no_use)
{
    apl_store *older, *newer;
    apl_split_list *list;
    char kept[SET_KEPT_BYTES], path[64];
    grow(&older, &newer, kept);
    apl_store_close(older);
    snprintf(path, sizeof path, "set/%s", kept);
    fx_shell("rm -f '%s'; echo garbage >'%s'", fx_path(path), fx_path(path));
    for (unsigned round = 0; round < 2; round++) { /* of a list that cannot be read, and of none */
        OK(apl_split_list_open(newer, &list, &fx_err));
        cr_assert_eq(apl_split_list_file(list, 0)->status, APL_E_MISMATCH);
        cr_assert_null(apl_split_list_file(list, 0)->list);
        apl_split_list_close(list);
        unlink(fx_path(path));
    }
    OK(divide(newer, "val", 1)); /* in its place */
    cr_assert_eq(left(newer, NULL), 0);
    FAILS(APL_E_EXISTS, divide(newer, "val", 0));
    SAYS("val.split:");
    OK(apl_split_verify(newer, "val", APL_NO_THREADS, &fx_err));
    apl_store_close(newer);
}

/* Nobody has to replace what a list that is gone has left, and it is told of. */
Test(split_lists, of_no_list_are_left_alone)
{
    apl_store *older, *newer;
    char kept[SET_KEPT_BYTES], path[64];
    grow(&older, &newer, kept);
    snprintf(path, sizeof path, "set/%s", kept);
    OK(divide(newer, "new", 0));
    OK(divide(older, "new", 0)); /* new.split-DIGEST */
    cr_assert_eq(left(newer, NULL), 0);
    cr_assert_eq(left(older, NULL), 0);
    fx_shell("mv '%s' '%s.away'", fx_path(path), fx_path(path));
    cr_assert_eq(left(newer, "new.split-"), 1);
    OK(divide(newer, "val", 0));
    FAILS(APL_E_EXISTS, divide(newer, "val", 0));
    SAYS("val.split-");
    OK(apl_split_verify(newer, "val", APL_NO_THREADS, &fx_err));
    cr_assert_eq(left(newer, "new.split-"), 2);
    fx_shell("mv '%s.away' '%s'", fx_path(path), fx_path(path));
    cr_assert_eq(left(newer, NULL), 0);
    OK(apl_split_verify(older, "val", APL_NO_THREADS, &fx_err));
    apl_store_close(older);
    apl_store_close(newer);
}

/* Damage to the file of another list is that list's. */
Test(split_lists, of_others_may_be_damaged)
{
    apl_store *older, *newer;
    char kept[SET_KEPT_BYTES];
    uint64_t n;
    grow(&older, &newer, kept);
    OK(divide(newer, "val", 0));
    fx_shell("chmod u+w '%s'; printf x >>'%s'", fx_path("set/val.split"), fx_path("set/val.split"));
    FAILS(APL_E_CORRUPT, apl_split_ids(older, "val", NULL, &n, &fx_err));
    OK(apl_split_verify(newer, "val", APL_NO_THREADS, &fx_err));
    apl_store_close(older);
    apl_store_close(newer);
}

Test(split_lists, damage_is_told)
{
    apl_store *older, *newer;
    char kept[SET_KEPT_BYTES];
    uint64_t n;
    grow(&older, &newer, kept);
    OK(divide(newer, "val", 0));
    fx_shell("for f in '%s'-*; do rm -f \"$f\"; echo garbage >\"$f\"; done%s", fx_path("set/val.split"), "");
    FAILS(APL_E_CORRUPT, apl_split_ids(newer, "val", NULL, &n, &fx_err));
    SAYS("val.split-");
    FAILS(APL_E_CORRUPT, apl_split_verify(newer, "val", APL_NO_THREADS, &fx_err));
    SAYS("val.split-");
    apl_store_close(older);
    apl_store_close(newer);
}
