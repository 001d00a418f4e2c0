/* Splits whose parents have been replaced are refused, and so is what comes from them in turn. */
#include "split_fixture.h"

TestSuite(split_lineage, .init = set_up, .fini = tear_down);

static const char *const names[] = {"dev", "train-val-dev", "half", "val-half", "tiny", "train-val-dev-tiny"};
#define NAMES (sizeof names / sizeof *names)

/* val of train; dev of what it leaves, half of what it has; tiny of what dev leaves. */
static apl_store *family(void)
{
    apl_store *store = plain_store(2000, 100);
    make_split(store, "val", 0.2, NULL, NULL);
    make_split(store, "dev", 0.25, "train-val", NULL);
    make_split(store, "half", 0.5, "val", "label");
    make_split(store, "tiny", 0.1, "train-val-dev", NULL);
    return store;
}

static void replace_val(apl_store *store, double ratio, uint64_t seed)
{
    apl_split_options o = split_options("val", ratio, NULL);
    o.replace = 1;
    o.seed = seed;
    OK(apl_split_make(store, &o, &err));
}

static void expect_replaced(apl_store *store)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < NAMES; i++)
        FAILS(APL_E_MISMATCH, "split val, which it comes from, has been replaced since: make it again",
              apl_split_ids(store, names[i], NULL, &n, &err));
    apl_split_options o = split_options("x", 0.5, "dev");
    FAILS(APL_E_MISMATCH, "dev.split: split val", apl_split_make(store, &o, &err));
}

Test(split_lineage, replaced_with_other_records)
{
    apl_store *store = family();
    uint64_t n = 0;
    replace_val(store, 0.3, 0);
    expect_replaced(store);
    OK(apl_split_ids(store, "val", NULL, &n, &err));
    replace_val(store, 0.2, 7);
    expect_replaced(store);
    /* the same split again is as before */
    replace_val(store, 0.2, 0);
    for (unsigned i = 0; i < NAMES; i++)
        OK(apl_split_ids(store, names[i], NULL, &n, &err));
    apl_store_close(store);
}

Test(split_lineage, made_again)
{
    apl_store *store = family();
    uint64_t n = 0;
    replace_val(store, 0.3, 0);
    apl_split_options o = split_options("dev", 0.25, "train-val");
    o.replace = 1;
    OK(apl_split_make(store, &o, &err));
    OK(apl_split_ids(store, "dev", NULL, &n, &err));
    FAILS(APL_E_MISMATCH, "tiny.split: split dev", apl_split_ids(store, "tiny", NULL, &n, &err));
    FAILS(APL_E_MISMATCH, "half.split: split val", apl_split_ids(store, "half", NULL, &n, &err));
    apl_store_close(store);
}

/* A file that has the records of a child, but says that it is of another generation, is none. */
Test(split_lineage, of_another_generation)
{
    apl_store *store = family();
    uint64_t n = 0;
    char path[160];
    snprintf(path, sizeof path, "%s/half.split", db);
    FILE *f = fopen(path, "rb");
    static uint8_t bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    cr_assert_eq(load_le(bytes + 52, 4), 1);
    for (uint64_t generation = 1; generation <= 2; generation++) {
        store_le(bytes + 52, generation, 4);
        store_le(bytes + size - 8, hash_xxh3_64(bytes, size - 8), 8);
        cr_assert_eq(unlink(path), 0);
        f = fopen(path, "wb");
        cr_assert_eq(fwrite(bytes, 1, size, f), size);
        fclose(f);
        if (generation == 1)
            OK(apl_split_ids(store, "half", NULL, &n, &err));
        else
            FAILS(APL_E_MISMATCH, "half.split: split val", apl_split_ids(store, "half", NULL, &n, &err));
    }
    apl_store_close(store);
}

Test(split_lineage, listed)
{
    apl_store *store = family();
    apl_split_list *list;
    replace_val(store, 0.3, 0);
    OK(apl_split_list_open(store, &list, &err));
    for (unsigned i = 0; i < 3; i++) {
        const apl_split_file *f = apl_split_list_file(list, i);
        cr_assert(f->status == APL_E_MISMATCH && !strcmp(f->replaced, "val") && !f->rest && !f->list);
        cr_assert(strstr(f->message, "make it again"), "%s", f->message);
    }
    const apl_split_file *val = apl_split_list_file(list, 3);
    cr_assert(val->status == APL_OK && !val->replaced && !strcmp(val->rest, "train-val"));
    apl_split_list_close(list);
    apl_store_close(store);
}

/* The store made again of a source that calls its second split otherwise: the content is the same. */
static apl_store *made_again(const char *second)
{
    struct kind kind = {2000, 100, APL_WRITER_OPTIONS_INIT, false};
    kind.options.block_records = 64;
    kind.options.replace = 1;
    second_split = second;
    make_store(db, &kind);
    apl_store *store;
    OK(apl_store_open(db, NULL, &store, &err));
    return store;
}

static void expect_listed_as_wrong(apl_store *store, unsigned from)
{
    apl_split_list *list;
    OK(apl_split_list_open(store, &list, &err));
    for (unsigned i = from; apl_split_list_file(list, i); i++) {
        const apl_split_file *f = apl_split_list_file(list, i);
        cr_assert(f->status == APL_E_MISMATCH && !f->replaced && !f->list, "%s", f->message);
        cr_assert(strstr(f->message, "a split of the source"), "%s", f->message);
    }
    apl_split_list_close(list);
}

/* A name that the source's split has taken over no longer means the records that the other side lacks. */
Test(split_lineage, names_that_the_source_has_taken)
{
    apl_store_close(family());
    apl_store *store = made_again("val");
    uint64_t n = 0;
    OK(apl_split_ids(store, "val", NULL, &n, &err));
    cr_assert_eq(n, 100);
    FAILS(APL_E_MISMATCH, "val.split: its part val has the name of a split of the source",
          apl_split_ids(store, "train-val", NULL, &n, &err));
    FAILS(APL_E_MISMATCH, "val.split: its part val has", apl_split_verify(store, "val", 1, &err));
    FAILS(APL_E_MISMATCH, "half.split: its parent val has", apl_split_ids(store, "half", NULL, &n, &err));
    FAILS(APL_E_MISMATCH,
          "dev.split: split val, which it comes from, shares the name val with a split of the source",
          apl_split_ids(store, "train-val-dev", NULL, &n, &err));
    FAILS(APL_E_MISMATCH, "tiny.split: split val, which", apl_split_verify(store, "tiny", 1, &err));
    expect_listed_as_wrong(store, 0);
    apl_store_close(store);
    shell("rm '%s/val.split'", db);
    store = made_again("val");
    FAILS(APL_E_MISMATCH, "half.split: its parent val has", apl_split_ids(store, "val-half", NULL, &n, &err));
    apl_store_close(store);
}

Test(split_lineage, rests_that_the_source_has_taken)
{
    apl_store_close(family());
    apl_store *store = made_again("train-val-dev");
    uint64_t n = 0;
    FAILS(APL_E_MISMATCH, "dev.split: its rest train-val-dev has the name of a split of the source",
          apl_split_ids(store, "dev", NULL, &n, &err));
    FAILS(APL_E_MISMATCH, "tiny.split: its parent train-val-dev has",
          apl_split_ids(store, "tiny", NULL, &n, &err));
    OK(apl_split_ids(store, "train-val", NULL, &n, &err));
    OK(apl_split_ids(store, "val-half", NULL, &n, &err));
    apl_store_close(store);
    store = made_again("other"); /* and free again */
    OK(apl_split_ids(store, "tiny", NULL, &n, &err));
    apl_store_close(store);
}

/* A file tells its records without its parent, which may be removed, or damaged. */
Test(split_lineage, parents_that_are_gone)
{
    apl_store *store = family();
    uint64_t n = 0;
    replace_val(store, 0.3, 0);
    shell("rm '%s/val.split'", db);
    for (unsigned i = 0; i < NAMES; i++)
        OK(apl_split_ids(store, names[i], NULL, &n, &err));
    shell("printf junk >'%s/val.split'", db);
    for (unsigned i = 0; i < NAMES; i++)
        OK(apl_split_ids(store, names[i], NULL, &n, &err));
    OK(apl_split_verify(store, "tiny", 1, &err));
    shell("rm '%s/val.split'", db);
    apl_split_options o = split_options("val", 0.5, "test");
    OK(apl_split_make(store, &o,
                      &err)); /* val has other records again, of another split; no train-val exists */
    FAILS(APL_E_MISMATCH, "half.split: split val", apl_split_ids(store, "half", NULL, &n, &err));
    OK(apl_split_ids(store, "dev", NULL, &n, &err));
    apl_store_close(store);
}
