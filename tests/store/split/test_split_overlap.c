/* Splits that share records with others which divide the same records. */
#include "split_fixture.h"

TestSuite(split_overlap, .init = set_up, .fini = tear_down);

/* As a caller makes it who knows nothing of overlaps. */
static apl_split_options plain(const char *name, double ratio, const char *parent, uint64_t seed)
{
    apl_split_options o = split_options(name, ratio, parent);
    o.overlap = 0;
    o.seed = seed;
    return o;
}

static apl_status make(apl_store *store, const char *name, double ratio, const char *parent, uint64_t seed)
{
    apl_split_options o = plain(name, ratio, parent, seed);
    return apl_split_make(store, &o, &err);
}

static apl_status parts(apl_store *store, const char *name, unsigned n, const char *parent, uint64_t seed)
{
    apl_split_options o = plain(name, 0, parent, seed);
    return apl_split_parts(store, &o, n, 0, &err);
}

static uint64_t in_both(apl_store *store, const char *a, const char *b)
{
    uint64_t n, m, both = 0;
    uint64_t *x = ids_of(store, a, &n), *y = ids_of(store, b, &m);
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < m; k++)
            both += x[i] == y[k];
    free(x);
    free(y);
    return both;
}

/* The advice is a parent without records of any other split, if there is one. */
Test(split_overlap, a_parent_that_avoids_it)
{
    apl_store *store = plain_store(1000, 100);
    OK(make(store, "held", 0.1, NULL, 0));
    OK(make(store, "dev", 0.1, "train-held", 0));
    FAILS(APL_E_INVALID, "; the parent train-held-dev avoids it", make(store, "val", 0.05, NULL, 0));
    OK(make(store, "other", 0.2, NULL, 7)); /* shares records with both */
    FAILS(APL_E_INVALID, "; to avoid it, divide what all of them leave", make(store, "val", 0.05, NULL, 0));
    apl_store_close(store);
}

Test(split_overlap, of_one_seed_is_refused)
{
    apl_store *store = plain_store(1000, 100);
    uint64_t n;
    OK(make(store, "held", 0.1, NULL, 0));
    OK(apl_split_ids(store, "held", NULL, &n, &err));
    char due[128];
    snprintf(due, sizeof due,
             "splits val and held share %llu records; the parent train-held avoids it, overlap allows it",
             (unsigned long long)n);
    FAILS(APL_E_INVALID, due, make(store, "val", 0.1, NULL, 0));
    FAILS(APL_E_INVALID, due, make(store, "val", 0.3, NULL, 0));
    FAILS(APL_E_NOTFOUND, "val", apl_split_ids(store, "val", NULL, &n, &err));
    apl_split_options o = plain("val", 0.1, NULL, 0);
    o.stratify = "label";
    FAILS(APL_E_INVALID, "splits val and held share", apl_split_make(store, &o, &err));
    OK(make(store, "val", 0.1, "train-held", 0));
    cr_assert_eq(in_both(store, "val", "held"), 0);
    cr_assert_eq(in_both(store, "train-held-val", "held"), 0);
    FAILS(APL_E_INVALID, "splits dev and held share", make(store, "dev", 0.2, NULL, 0));
    FAILS(APL_E_INVALID, "; the parent train-held-val avoids it", make(store, "dev", 0.2, NULL, 0));
    FAILS(APL_E_INVALID, "splits dev and val share", make(store, "dev", 0.2, "train-held", 0));
    OK(make(store, "dev", 0.2, "train-held-val", 0));
    OK(make(store, "of-held", 0.5, "held", 0)); /* what comes from a split is no overlap */
    OK(make(store, "other", 0.5, "held-of-held", 0));
    apl_store_close(store);
}

Test(split_overlap, that_is_allowed)
{
    apl_store *store = plain_store(1000, 100);
    apl_split_overlap shared = {.splits = 9};
    OK(make(store, "tenth", 0.1, NULL, 0));
    apl_split_options o = plain("half", 0.5, NULL, 0);
    o.overlap = 1;
    o.shared = &shared;
    OK(apl_split_make(store, &o, &err));
    cr_assert(shared.splits == 1 && shared.records == in_both(store, "half", "tenth"));
    cr_assert(shared.records > 0 && strstr(shared.message, "splits half and tenth share"), "%s",
              shared.message);
    o = plain("other", 0.5, "test", 0);
    o.shared = &shared;
    OK(apl_split_make(store, &o, &err));
    cr_assert(shared.splits == 0 && shared.records == 0 && !*shared.message);
    apl_store_close(store);
}

/* Repeated random subsampling goes on, and is told. */
Test(split_overlap, of_other_seeds)
{
    apl_store *store = plain_store(1000, 100);
    apl_split_overlap shared;
    char name[16];
    for (unsigned seed = 0; seed < 4; seed++) {
        snprintf(name, sizeof name, "rep%u", seed);
        apl_split_options o = plain(name, 0.3, NULL, seed);
        o.shared = &shared;
        OK(apl_split_make(store, &o, &err));
        cr_assert_eq(shared.splits, 2 * seed); /* with what was made of them */
        /* what is made of them next was told when they were made */
        snprintf(name, sizeof name, "train-rep%u", seed);
        o = plain((const char *[]){"a", "b", "c", "d"}[seed], 0.2, name, 0);
        o.shared = &shared;
        OK(apl_split_make(store, &o, &err));
        cr_assert_eq(shared.splits, 0, "%s", shared.message);
    }
    apl_store_close(store);
}

Test(split_overlap, of_parts)
{
    apl_store *store = plain_store(1000, 100);
    apl_split_overlap shared;
    OK(parts(store, "cv", 5, NULL, 0));
    OK(parts(store, "client", 3, NULL, 0)); /* they have the same records in any case */
    FAILS(APL_E_INVALID, "splits hold and client-0 share", make(store, "hold", 0.2, NULL, 0));
    FAILS(APL_E_INVALID, "make hold first, and the parts of what it leaves",
          make(store, "hold", 0.2, NULL, 0));
    apl_split_options o = plain("hold", 0.2, NULL, 1);
    o.shared = &shared;
    OK(apl_split_make(store, &o, &err));
    cr_assert_eq(shared.splits, 5 + 3);
    /* within a fold, and within another */
    OK(make(store, "inner-0", 0.2, "train-cv-0", 0));
    OK(make(store, "inner-1", 0.2, "train-cv-1", 0));
    o.name = "more";
    o.seed = 2;
    OK(apl_split_make(store, &o, &err));
    cr_assert(strstr(shared.message, "make more first"), "what is made of folds is no way out: %s",
              shared.message);
    OK(parts(store, "nested", 3, "train-cv-2", 0));
    shell("rm '%s'/*.split", db);
    OK(make(store, "held", 0.2, NULL, 0));
    FAILS(APL_E_INVALID, "the parent train-held avoids it", parts(store, "cv", 5, NULL, 0));
    OK(parts(store, "cv", 5, "train-held", 0));
    apl_store_close(store);
}

/* An empty part leaves all of its parent. */
Test(split_overlap, of_parts_that_are_empty)
{
    apl_store *store = plain_store(1000, 100);
    OK(make(store, "held", 0.2, NULL, 0));
    apl_split_options o = plain("skew", 0, NULL, 0);
    FAILS(APL_E_INVALID, "the parent train-held avoids it", apl_split_parts(store, &o, 60, 0.01, &err));
    o.parent = "train-held";
    OK(apl_split_parts(store, &o, 60, 0.01, &err));
    apl_store_close(store);
}

/* Scripts that run again make the same splits in the same order, or others in their places. */
Test(split_overlap, replaced)
{
    apl_store *store = plain_store(1000, 100);
    for (uint64_t seed = 0; seed < 3; seed++)
        for (unsigned again = 0; again < 2; again++) {
            apl_split_overlap shared = {.splits = 9};
            apl_split_options o = plain("held", 0.2 + 0.1 * (double)seed, NULL, seed);
            o.replace = 1;
            o.shared = &shared;
            OK(apl_split_make(store, &o, &err));
            cr_assert_eq(shared.splits, 0, "%s", shared.message);
            o.name = "val";
            o.parent = "train-held";
            OK(apl_split_make(store, &o, &err));
            o.name = "cv", o.parent = "train-held-val", o.ratio = 0;
            OK(apl_split_parts(store, &o, 3, 0, &err));
            o.name = "inner", o.parent = "train-held-val-cv-1", o.ratio = 0.5;
            OK(apl_split_make(store, &o, &err));
            cr_assert_eq(shared.splits, 0, "%s", shared.message);
        }
    /* a split whose parent has gone still holds its records */
    shell("rm '%s/held.split'", db);
    apl_split_overlap shared;
    apl_split_options o = plain("held", 0.5, NULL, 9);
    o.name = "other";
    o.shared = &shared;
    OK(apl_split_make(store, &o, &err));
    cr_assert(shared.splits > 0 && shared.records > 0);
    apl_store_close(store);
}

/* Files that cannot be used have nothing in common with any. */
Test(split_overlap, with_files_of_no_use)
{
    apl_store *store = plain_store(1000, 100);
    OK(make(store, "held", 0.2, NULL, 0));
    shell("printf junk >'%s/held.split'; mkdir '%s/dir.split'", db, db);
    OK(make(store, "val", 0.2, NULL, 0));
    apl_store_close(store);
}
