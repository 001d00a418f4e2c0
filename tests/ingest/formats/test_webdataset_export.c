/* WebDataset: shards that APL has exported, whose schema names their splits. */
#include "webdataset_case.h"

TestSuite(webdataset_export, .init = ix_set_up, .fini = fx_tear_down, .timeout = 120);

/* A shard of an export with one sample, of a split that comes at that place. */
static void put_export_shard(const char *name, const char *split, unsigned place, const char *key)
{
    char schema[256], member[32];
    snprintf(schema, sizeof schema,
             "{\"version\":1,\"split\":\"%s\",\"place\":%u,\"fields\":[{\"name\":\"n\",\"ending\":\"n.cls\","
             "\"dtype\":\"u8\",\"role\":\"input\",\"shape\":[]}]}",
             split, place);
    add("__apl__/schema.json", schema);
    snprintf(member, sizeof member, "%s.n.cls", key);
    add(member, "1");
    put_shard(name);
}

static void splits_are(apl_store *store, const char *const *names)
{
    unsigned count = 0;
    for (; names[count]; count++)
        cr_assert_str_eq(apl_store_split(store, count)->name, names[count]);
    cr_assert_eq(apl_store_info(store)->splits, count);
    apl_store_close(store);
}

/* Their places are the schema's, whatever words the names of their shards have. */
Test(webdataset_export, splits_of_an_export_keep_their_order)
{
    put_export_shard("train-0.tar", "train", 0, "a");
    put_export_shard("test-0.tar", "test", 1, "b");
    put_export_shard("holdout-0.tar", "holdout", 2, "c");
    put_export_shard("test-1.tar", "test", 1, "d");
    splits_are(IX_STORE("holdout-0.tar", "test-0.tar", "test-1.tar", "train-0.tar"),
               (const char *const[]){"train", "test", "holdout", NULL});
    fx_shell("rm -r '%s'%s", ix_db, "");
    put_export_shard("test-0.tar", "test", 0, "b");
    splits_are(IX_STORE("test-0.tar", "train-0.tar"), (const char *const[]){"train", "test", NULL});
    fx_shell("rm -r '%s'%s", ix_db, "");
    put_export_shard("x.tar", "x", 70000, "x");
    IX_REFUSED(APL_E_SOURCE, "x.tar: __apl__/schema.json: is of a split that cannot be", "x.tar");
}

static void put_empty_shard(const char *name, const char *split, unsigned place, const char *records)
{
    char schema[256];
    snprintf(
        schema, sizeof schema,
        "{\"version\":1,\"split\":\"%s\",\"place\":%u,%s\"fields\":[{\"name\":\"n\",\"ending\":\"n.cls\","
        "\"dtype\":\"u8\",\"role\":\"input\",\"shape\":[]}]}",
        split, place, records);
    add("__apl__/schema.json", schema);
    put_shard(name);
}

/* But a shard that should have some is an error, as it may have been cut off. */
Test(webdataset_export, splits_of_an_export_may_be_empty)
{
    const char *const all[] = {"a", "train", "b", NULL};
    put_empty_shard("a-0.tar", "a", 0, "\"records\":0,");
    put_export_shard("train-0.tar", "train", 1, "k");
    put_empty_shard("b-0.tar", "b", 2, "\"records\":0,");
    splits_are(IX_STORE("a-0.tar", "b-0.tar", "train-0.tar"), all);
    fx_shell("rm -r '%s'%s", ix_db, "");
    splits_are(IX_STORE("train-0.tar", "b-0.tar", "a-0.tar"), all);
    fx_shell("rm -r '%s'%s", ix_db, "");
    put_empty_shard("b-0.tar", "b", 2, "\"records\":1,");
    IX_REFUSED(APL_E_INCOMPLETE, "b-0.tar: is an empty shard", "a-0.tar", "train-0.tar", "b-0.tar");
    put_empty_shard("b-0.tar", "b", 2, "");
    IX_REFUSED(APL_E_INCOMPLETE, "b-0.tar: is an empty shard", "b-0.tar", "train-0.tar");
    IX_REFUSED(APL_E_SOURCE, "has no files that share keys", "a-0.tar");
}

Test(webdataset_export, more_splits_than_there_may_be)
{
    char name[16], split[16];
    fx_shell("mkdir '%s'%s", fx_path("s"), "");
    for (unsigned i = 0; i < 33; i++) {
        snprintf(name, sizeof name, "s/%02u.tar", i);
        snprintf(split, sizeof split, "s%u", i);
        put_export_shard(name, split, i, split);
    }
    IX_REFUSED(APL_E_UNSUPPORTED, "has one more than 32 splits", "s");
}

/* A shard with one sample, and `place` saying where it stands. */
static void put_placed_shard(const char *name, const char *place)
{
    char schema[65536];
    snprintf(
        schema, sizeof schema,
        "{\"version\":1,\"split\":\"train\",\"place\":0,%s,\"fields\":[{\"name\":\"n\",\"ending\":\"n.cls\","
        "\"dtype\":\"u8\",\"role\":\"input\",\"shape\":[]}]}",
        place);
    add("__apl__/schema.json", schema);
    snprintf(schema, sizeof schema, "%s.n.cls", name);
    add(schema, "1");
    put_shard(name);
}

#define SHARD(number, records) \
    "\"shard\":" #number ",\"first\":" #number ",\"export\":[{\"name\":\"train\",\"records\":" #records "}]"

Test(webdataset_export, shards_of_an_export_are_counted)
{
    put_placed_shard("a", SHARD(0, 3));
    put_placed_shard("b", SHARD(1, 3));
    put_placed_shard("c", SHARD(2, 3));
    apl_store_close(IX_STORE("b", "c", "a")); /* whatever they are called */
    fx_shell("rm -r '%s'%s", ix_db, "");
    apl_store_close(IX_STORE("b"));
    fx_shell("rm -r '%s'%s", ix_db, "");
    IX_REFUSED(APL_E_INCOMPLETE,
               "c: of the shards before it some are missing, train-000001.tar first: of the 3", "a", "c");
    IX_REFUSED(APL_E_INCOMPLETE, "b: it has been cut off, or", "a", "b");
    put_placed_shard("b", "\"shard\":1,\"first\":2,\"export\":[{\"name\":\"train\",\"records\":3}]");
    IX_REFUSED(APL_E_INCOMPLETE, "a: lacks some of its 2 records", "a", "b");
    put_placed_shard("d", SHARD(0, 3));
    IX_REFUSED(APL_E_SOURCE,
               "d: begins with record 0 of the split train, but shards before it have 1 record: ", "a", "d");
    put_placed_shard("d", SHARD(1, 4));
    IX_REFUSED(APL_E_SOURCE, "its split train has 4 records, and theirs 3", "a", "d");
    put_placed_shard("a", SHARD(0, 1));
    put_placed_shard("e", "\"shard\":7"); /* says too little to be checked */
    apl_store_close(IX_STORE("a", "e"));
}

Test(webdataset_export, places_that_no_shard_has)
{
    char many[60000] = "\"shard\":0,\"first\":0,\"export\":[{\"name\":\"train\",\"records\":1}";
    put_placed_shard("a", "\"shard\":-1,\"first\":0,\"export\":[]");
    IX_REFUSED(APL_E_SOURCE, "a: __apl__/schema.json: has no number that a shard can have", "a");
    put_placed_shard("a", "\"shard\":0,\"first\":-1,\"export\":[]");
    IX_REFUSED(APL_E_SOURCE, "has no number that a shard can have", "a");
    put_placed_shard("a", "\"shard\":0,\"first\":0,\"export\":[{\"name\":\"train\",\"records\":-1}]");
    IX_REFUSED(APL_E_SOURCE, "split 0 has no name or number of records", "a");
    for (unsigned i = 0; i < 1024; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",{\"name\":\"%u\",\"records\":1}", i);
    strcat(many, "]");
    put_placed_shard("a", many);
    IX_REFUSED(APL_E_UNSUPPORTED, "names one more than 1024 splits", "a");
}
