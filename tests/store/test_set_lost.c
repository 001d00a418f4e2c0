/* Sets whose shards do not fit together, or are lost or damaged: what is wrong is named. */
#include "set_case.h"

TestSuite(set_lost, .init = set_set_up, .fini = fx_tear_down, .timeout = 240);

static apl_status join_two(const char *a, const char *b)
{
    const char *paths[2] = {a, b};
    return apl_set_join(fx_path("set"), paths, 2, NULL, &fx_err);
}

Test(set_lost, refuses_shards_that_do_not_fit)
{
    struct fx_recipe r = {fx_fields, COUNT(fx_fields), members[1], COUNT(members[1])};
    make_shard(0, 0);
    r.field_count--;
    fx_make(fx_path("set/less"), &r, NULL);
    FAILS(APL_E_MISMATCH, join_two(shard_path(0), fx_path("set/less")));
    SAYS("less: has no field track, which");
    FAILS(APL_E_MISMATCH, join_two(fx_path("set/less"), shard_path(0)));
    SAYS("s0: has the field track, which");
    static const char *const other[3] = {"cat", "cow", "emu"};
    apl_field fields[COUNT(fx_fields)];
    memcpy(fields, fx_fields, sizeof fields);
    fields[1].classes = other;
    fx_make(fx_path("set/classes"), &(struct fx_recipe){fields, COUNT(fields), members[1], 3}, NULL);
    FAILS(APL_E_MISMATCH, join_two(shard_path(0), fx_path("set/classes")));
    SAYS("classes: class 1 of field label is cow, but dog in");
    fields[0].shape[1] = 7;
    fx_make(fx_path("set/shape"), &(struct fx_recipe){fields, COUNT(fields), members[1], 3}, NULL);
    FAILS(APL_E_MISMATCH, join_two(shard_path(0), fx_path("set/shape")));
    SAYS("shape: field image is u8[3,7,5], but u8[3,6,5] in");
    memcpy(fields, fx_fields, sizeof fields);
    fields[0].role = APL_TARGET;
    fx_make(fx_path("set/role"), &(struct fx_recipe){fields, COUNT(fields), members[1], 3}, NULL);
    FAILS(APL_E_MISMATCH, join_two(shard_path(0), fx_path("set/role")));
    SAYS("role: field image is target, but input in");
    make_shard(1, 1);
    FAILS(APL_E_MISMATCH, join_two(shard_path(0), shard_path(1)));
    SAYS("s1: ");
    cr_assert(!fx_exists(fx_path("set/set.apl")));
}

Test(set_lost, refuses_shards_that_are_elsewhere_or_twice)
{
    make_shards(0);
    FAILS(APL_E_INVALID, join_two(shard_path(0), fx_path("set/../set/s0/../../out")));
    SAYS("does not lie below");
    FAILS(APL_E_INVALID, join_two(shard_path(0), "/"));
    FAILS(APL_E_INVALID, join_two(shard_path(0), fx_path("set")));
    FAILS(APL_E_INVALID, join_two(shard_path(0), fx_path("set/./s0")));
    SAYS("s0 comes twice");
    fx_shell("ln -s s0 '%s/%s'", fx_place, "set/again");
    FAILS(APL_E_INVALID, join_two(shard_path(0), fx_path("set/again")));
    SAYS("is the same store as");
    FAILS(APL_E_NOTFOUND, join_two(shard_path(0), fx_path("set/none")));
    SAYS("none");
    FAILS(APL_E_INVALID, apl_set_join(shard_path(0), (const char *const[]){shard_path(0)}, 1, NULL, &fx_err));
    FAILS(APL_E_INVALID, apl_set_join(fx_path("set"), NULL, 0, NULL, &fx_err));
    FAILS(APL_E_NOTFOUND,
          apl_set_join(fx_path("nowhere"), (const char *const[]){shard_path(0)}, 1, NULL, &fx_err));
    OK(join(0, 1, 0, 0));
    apl_set_options add = APL_SET_OPTIONS_INIT;
    add.append = 1;
    FAILS(APL_E_INVALID,
          apl_set_join(fx_path("set"), (const char *const[]){shard_path(1), fx_path("set/again")}, 2, &add,
                       &fx_err));
    SAYS("shard again is the same store as shard s0");
    fx_shell("cp -r '%s' '%s'", shard_path(0),
             fx_path("set/copy")); /* another file, though of the same content */
    OK(apl_set_join(fx_path("set"), (const char *const[]){fx_path("set/copy")}, 1, &add, &fx_err));
    fx_shell("rm '%s/%s'", fx_place, "set/set.apl");
    OK(join_two(fx_path("set/../set/s0"), fx_path("set//s1/")));
    apl_store *s = open_set(0);
    cr_assert_str_eq(apl_store_shard(s, 1)->name, "s1");
    apl_store_close(s);
}

/* ----------------------------------------------------------------------------------------------- bad shards */

struct told {
    uint64_t blocks, bad;
    char member[64];
};

static void on_bad(void *user, const apl_bad_block *b)
{
    struct told *t = user;
    t->blocks++;
    t->bad += b->bad_count;
    snprintf(t->member, sizeof t->member, "%s", b->member);
    for (size_t i = 0; i < b->bad_count; i++)
        cr_assert(b->bad[i] - b->first < b->count);
}

/* Shard 1 is bad: its records are 73 ... 122 of train and 226 ... 234 of extra. */
static void check_lost(const char *what)
{
    uint64_t ids[RECORDS], first[RECORDS];
    apl_store *s = open_set(0);
    apl_batch *b = NULL;
    OK(apl_store_get(s, 72, &b, &fx_err));
    apl_batch_release(b);
    FAILS(APL_E_CORRUPT, apl_store_get(s, 80, &b, &fx_err));
    SAYS("shard s1 (records 73 to 122): ");
    SAYS(what);
    cr_assert(fx_err.first_record == 73 && fx_err.records == 50);
    struct told told = {0};
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    o.user = &told;
    o.bad_block = on_bad;
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &o, &fx_err));
    SAYS("s1");
    cr_assert(told.blocks == 2 && told.bad == 59 && strcmp(told.member, "s1") == 0);
    static const unsigned threads[] = {APL_NO_THREADS, 1, 2, 4};
    for (unsigned t = 0; t < COUNT(threads); t++) {
        cr_assert_eq(epoch(s, threads[t], 0, ids), SIZE_MAX);
        SAYS("shard s1 (records 73 to 122): ");
        cr_assert(fx_err.first_record == 73 && fx_err.records == 50);
        cr_assert_eq(epoch(s, threads[t], 49, ids), SIZE_MAX);
        cr_assert_eq(epoch(s, threads[t], 50, t ? ids : first), 138);
        for (unsigned i = 0; i < 138; i++)
            cr_assert(first[i] < 73 || first[i] > 122);
        cr_assert(t == 0 || memcmp(ids, first, 138 * sizeof *ids) == 0, "%u threads", threads[t]);
    }
    apl_store_close(s);
}

Test(set_lost, names_a_shard_that_is_missing)
{
    apl_store_close(made_set(0));
    fx_shell("mv '%s/set/s1' '%s/s1'", fx_place, fx_place);
    check_lost("no such directory");
    fx_shell("mkdir '%s/%s'", fx_place, "set/s1");
    check_lost("there is no data.mdb in it");
    fx_shell("rmdir '%s/set/s1' && ln -s s1 '%s/set/s1'", fx_place, fx_place);
    check_lost("s1");
}

Test(set_lost, names_a_shard_that_has_been_replaced)
{
    apl_store_close(made_set(0));
    fx_shell("mv '%s/set/s1' '%s/set/keep'", fx_place, fx_place);
    fx_shell("cp -r '%s/set/s0' '%s/set/s1'", fx_place, fx_place);
    check_lost("has been replaced");
    /* the same content in other blocks */
    fx_shell("rm -r '%s/%s'", fx_place, "set/s1");
    struct fx_recipe r = {fx_fields, COUNT(fx_fields), members[1], COUNT(members[1])};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.block_records = 5;
    fx_make(shard_path(1), &r, &o);
    check_lost("is not as the list says");
    /* the same content, called otherwise */
    static const char *const other[3] = {"cat", "cow", "emu"};
    apl_field fields[COUNT(fx_fields)];
    memcpy(fields, fx_fields, sizeof fields);
    fields[1].classes = other;
    fx_shell("rm -r '%s/%s'", fx_place, "set/s1");
    o.block_records = 24;
    fx_make(shard_path(1), &(struct fx_recipe){fields, COUNT(fields), members[1], COUNT(members[1])}, &o);
    check_lost("class 1 of field label is cow, but dog in");
}

Test(set_lost, names_a_shard_that_is_damaged)
{
    apl_store_close(made_set(0));
    fx_shell("chmod u+w '%s/set/s1/data.mdb' && truncate -s 8192 '%s/set/s1/data.mdb'", fx_place, fx_place);
    check_lost("s1/data.mdb");
    fx_shell("truncate -s 0 '%s/%s'", fx_place, "set/s1/data.mdb");
    check_lost("it is empty");
}

Test(set_lost, leaves_a_shard_of_a_newer_format_alone)
{
    size_t size, at = 0;
    uint64_t ids[RECORDS];
    apl_store_close(made_set(0));
    uint8_t *data = fx_read(fx_path("set/s1/data.mdb"), &size);
    for (size_t i = 0; i + 8 < size && !at; i++)
        at = memcmp(data + i, "APLM", 4) == 0 ? i : 0;
    data[at + 4] = 9; /* the major version of its format */
    fx_write(fx_path("set/s1/data.mdb"), data, size);
    free(data);
    apl_store *s = open_set(0);
    apl_batch *b = NULL;
    FAILS(APL_E_VERSION, apl_store_get(s, 80, &b, &fx_err));
    SAYS("shard s1");
    SAYS("9.");
    FAILS(APL_E_VERSION, apl_store_verify(s, NULL, &fx_err));
    SAYS("shard s1");
    cr_assert_eq(epoch(s, 2, 50, ids), SIZE_MAX); /* it is not damaged, and is not left out */
    cr_assert_eq(fx_err.status, APL_E_VERSION);
    FAILS(APL_E_VERSION, join(0, SHARDS, 0, 1));
    SAYS("s1");
    apl_store_close(s);
}

Test(set_lost, names_a_block_that_is_damaged)
{
    size_t size, at = 0;
    uint64_t ids[RECORDS];
    apl_store_close(made_set(0));
    uint8_t *data = fx_read(fx_path("set/s1/data.mdb"), &size);
    for (size_t i = 0; i + 4 < size && !at; i++)
        at = memcmp(data + i, "APLB", 4) == 0 && data[i + 20] == 3 && data[i + 24] == 0 ? i : 0;
    data[at + 60] ^= 1; /* in the header of the first block of member d: 24 records */
    fx_write(fx_path("set/s1/data.mdb"), data, size);
    free(data);
    apl_store *s = open_set(0);
    apl_batch *b = NULL;
    FAILS(APL_E_CORRUPT, apl_store_get(s, 75, &b, &fx_err));
    SAYS("s1/d: block 0 (records 73 to 96)");
    struct told told = {0};
    apl_verify_options o = APL_VERIFY_OPTIONS_INIT;
    o.user = &told;
    o.bad_block = on_bad;
    FAILS(APL_E_CORRUPT, apl_store_verify(s, &o, &fx_err));
    cr_assert(told.blocks == 1 && strcmp(told.member, "s1/d") == 0 && fx_err.first_record == 73);
    cr_assert_eq(epoch(s, 2, 24, ids), 188 - 24);
    apl_store_close(s);
}
