/* WebDataset: what becomes of endings, keys and shards, and everything that can be wrong with them. */
#include "key_log.h"
#include "webdataset_case.h"

TestSuite(format_webdataset, .init = ix_set_up, .fini = fx_tear_down, .timeout = 120);

/* ---------------------------------------------------------------------------------------------------- shards to read */

/* Keys from `first` on, each with an image and a label. */
static void put_plain_shard(const char *name, unsigned first, unsigned count)
{
    char member[32];
    for (unsigned i = first; i < first + count; i++) {
        snprintf(member, sizeof member, "%03u.jpg", i);
        add_jpeg(member, 8 + i);
        snprintf(member, sizeof member, "%03u.cls", i);
        add(member, i % 2 ? "1" : " 0\n");
    }
    put_shard(name);
}

static void same_text(const apl_batch *all, const apl_store *store, const char *field, size_t row,
                      const char *want)
{
    const apl_column *c = ix_column(store, all, field);
    size_t size = (size_t)(c->offsets[row + 1] - c->offsets[row]);
    cr_assert(size == strlen(want) && memcmp((const uint8_t *)c->data + c->offsets[row], want, size) == 0,
              "%s of record %zu: %.*s", field, row, (int)size, (const char *)c->data + c->offsets[row]);
}

/* ----------------------------------------------------------------------------------------------------- what is read */

Test(format_webdataset, a_field_for_every_ending)
{
    put_plain_shard("train-000000.tar", 0, 3);
    put_plain_shard("train-000001.tar", 3, 2);
    put_plain_shard("val-000000.tar", 5, 2);
    apl_store *store = IX_STORE("train-{000000..000001}.tar", "val-*.tar");
    apl_batch *all = fx_get_all(store);
    cr_assert_str_eq(ix_sum.format, "webdataset");
    cr_assert_eq(ix_sum.records, 7);
    cr_assert_eq(apl_store_info(store)->splits, 2);
    cr_assert_eq(apl_store_split(store, 1)->first, 5);
    const apl_field *image = apl_store_field(store, (unsigned)apl_store_find_field(store, "image"));
    cr_assert_str_eq(image->media, "image/jpeg");
    const apl_column *label = ix_column(store, all, "label");
    cr_assert_eq(label->dtype, APL_U8);
    for (size_t i = 0; i < 7; i++) {
        char key[8];
        snprintf(key, sizeof key, "%03zu", i);
        same_text(all, store, "__key__", i, key);
        cr_assert_eq(((const uint8_t *)label->data)[i], i % 2);
    }
    apl_batch_release(all);
    apl_store_close(store);
}

Test(format_webdataset, names_that_tell_no_split_beside_others_are_worth_a_line)
{
    put_plain_shard("train-0.tar", 0, 1);
    put_plain_shard("holdout-0.tar", 1, 1);
    put_plain_shard("holdout-1.tar", 2, 1);
    is_said_of(
        IX_STORE("train-0.tar", "holdout-0.tar", "holdout-1.tar"),
        "holdout-0.tar: in the split 'train', as its name tells no split, and those of others do (and 1 "
        "more)\n");
    is_said_of(IX_STORE("holdout-0.tar", "holdout-1.tar"), NULL);
}

Test(format_webdataset, names_that_tell_two_splits_are_worth_a_line)
{
    put_plain_shard("train-0.tar", 0, 1);
    put_plain_shard("train-val-0.tar", 1, 1);
    is_said_of(IX_STORE("train-0.tar", "train-val-0.tar"),
               "train-val-0.tar: in the split 'train', though its name tells 'val' too\n");
}

Test(format_webdataset, arrays_text_json_and_bytes)
{
    for (unsigned i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "./d.1/%u.boxes.npy", i);
        add_bytes(name, npy, sizeof npy - 1);
        snprintf(name, sizeof name, "./d.1/%u.TXT", i);
        add(name, "h\xc3\xb6");
        snprintf(name, sizeof name, "./d.1/%u.json", i);
        add(name, "{}");
        snprintf(name, sizeof name, "./d.1/%u.xyz", i);
        add_bytes(name, "\xff\0", i);
        snprintf(name, sizeof name, "./d.1/%u.turn.cls", i);
        add(name, i ? "-3" : "70000");
    }
    add("__meta__/notes.txt", "of all");
    add("README", "no ending");
    put_shard("x.tar");
    ix_options.format = "webdataset";
    apl_store *store = IX_STORE("x.tar");
    apl_batch *all = fx_get_all(store);
    cr_assert(strstr(ix_said, "belong to no key: 2"), "%s", ix_said);
    const int16_t rows[6] = {1, 2, 3, 4, 5, 6};
    const apl_column *boxes = ix_column(store, all, "boxes");
    cr_assert_eq(boxes->dtype, APL_I16);
    cr_assert(memcmp((const uint8_t *)boxes->data + 12, rows, 12) == 0);
    const apl_column *turn = ix_column(store, all, "turn");
    cr_assert_eq(turn->dtype, APL_I64);
    cr_assert_eq(((const int64_t *)turn->data)[1], -3);
    same_text(all, store, "text", 1, "h\xc3\xb6");
    same_text(all, store, "json", 0, "{}");
    same_text(all, store, "xyz", 1, "\xff");
    same_text(all, store, "__key__", 1, "d.1/1");
    cr_assert_str_eq(apl_store_field(store, (unsigned)apl_store_find_field(store, "json"))->media,
                     "application/json");
    apl_batch_release(all);
    apl_store_close(store);
}

/* Labels alone, too, and those whose other files come elsewhere. */
Test(format_webdataset, a_label_shows_what_a_shard_is)
{
    add("0.cls", "1");
    add("1.cls", "2");
    add("0.txt", "x");
    add("1.txt", "y");
    put_shard("apart.tar");
    IX_REFUSED(APL_E_SOURCE, "apart.tar: 0: has no .txt, which 2 of the 4 keys have", "apart.tar");
    add("0.cls", "3");
    add("1.cls", "0");
    put_shard("labels.tar");
    apl_store *store = IX_STORE("labels.tar");
    cr_assert_str_eq(ix_sum.format, "webdataset");
    cr_assert_eq(ix_sum.records, 2);
    apl_store_close(store);
}

/* -------------------------------------------------------------------------------------------------- what is refused */

Test(format_webdataset, keys)
{
    put_plain_shard("a.tar", 0, 4);
    put_plain_shard("b.tar", 3, 2);
    IX_REFUSED(APL_E_SOURCE, "b.tar: 003: the key is in ", "a.tar", "b.tar");
    SAYS("a.tar too");
    add("1.cls", "0");
    add("1.txt", "a");
    add("2.cls", "0");
    add("2.txt", "b");
    add("1.cls", "1");
    add("1.txt", "c");
    put_shard("again.tar");
    IX_REFUSED(APL_E_SOURCE, "again.tar: 1: the key comes again, behind other keys", "again.tar");
    add("1.cls", "0");
    add("1.txt", "a");
    add("1.cls", "0");
    put_shard("twice.tar");
    IX_REFUSED(APL_E_SOURCE, "twice.tar: 1: has two files .cls", "twice.tar");
    ix_options.skip_bad = 3;
    apl_store *store = IX_STORE("a.tar", "b.tar");
    cr_assert_eq(ix_sum.records, 5);
    cr_assert(strstr(ix_said, "b.tar: 003: the key is in "), "%s", ix_said);
    const char *why;
    cr_assert_str_eq(strstr(apl_store_skipped(store, 0, &why), "b.tar"), "b.tar: 003");
    apl_store_close(store);
}

/* Shards are often numbered anew for each split, and their keys too. */
Test(format_webdataset, keys_of_each_split)
{
    put_plain_shard("train-0.tar", 0, 4);
    put_plain_shard("train-1.tar", 4, 2);
    put_plain_shard("val-0.tar", 0, 3);
    apl_store *store = IX_STORE("train-0.tar", "train-1.tar", "val-0.tar");
    cr_assert(apl_store_split(store, 0)->count == 6 && apl_store_split(store, 1)->count == 3);
    apl_store_close(store);
    fx_shell("rm -r '%s'%s", ix_db, "");
    put_plain_shard("val-1.tar", 2, 2);
    IX_REFUSED(APL_E_SOURCE, "val-1.tar: 002: the key is in ", "train-0.tar", "val-0.tar", "val-1.tar");
    SAYS("val-0.tar too");
}

Test(format_webdataset, files_that_a_key_lacks_or_has_too_many)
{
    add("1.cls", "0");
    add("1.txt", "a");
    add("2.cls", "0");
    add("2.txt", "b");
    add("3.txt", "c");
    put_shard("lacks.tar");
    IX_REFUSED(APL_E_SOURCE, "lacks.tar: 3: has no .cls, which 2 of the 3 keys have", "lacks.tar");
    add("1.cls", "0");
    add("1.txt", "a");
    add("2.cls", "0");
    add("2.txt", "b");
    add("3.txt", "c");
    add("3.cls", "1");
    add("3.bin", "c");
    put_shard("more.tar");
    IX_REFUSED(APL_E_SOURCE, "more.tar: 3: has a .bin, which only 1 of the 3 keys have", "more.tar");
    ix_options.skip_bad = 1;
    apl_store_close(IX_STORE("more.tar"));
    cr_assert_eq(ix_sum.records, 2);
}

Test(format_webdataset, values)
{
    static const struct {
        const char *ending, *good, *bad, *why;
    } cases[] = {
        {"cls", "1", "cat", ".cls: holds 'cat', which is not a whole number"},
        {"cls", "1", "", "which is not a whole number"},
        {"cls", "1", "7", ".cls: the label 7 is not of 0 to 1"},
        {"cls", "1", "-1", ".cls: the label -1 is not of 0 to 1"},
        {"cls", "1", "99999999999999999999", "which is not a whole number"},
        {"cls", "1", "9223372036854775808", ".cls: 9223372036854775808 is not a valid i64"},
        {"txt", "a", "\xff", ".txt: is not UTF-8"},
        {"npy", "\x93NUMPY", "x", ".npy: ends within its header"},
        {"jpg", "x", "", ".jpg: "},
    };
    static const char *const names[] = {"a", "b"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[32];
        add("1.bin", "x");
        snprintf(name, sizeof name, "1.%s", cases[i].ending);
        add(name, cases[i].bad);
        put_shard("bad.tar");
        bool label = strncmp(cases[i].why, ".cls: the label", 15) == 0;
        ix_options.classes = names;
        ix_options.class_count = label ? 2 : 0;
        ix_ingest(IX_NAMES("bad.tar"));
        cr_assert_neq(fx_err.status, APL_OK);
        SAYS("bad.tar: 1: ");
        SAYS(cases[i].why);
        cr_assert(!fx_exists(ix_db));
    }
}

Test(format_webdataset, shards)
{
    put_plain_shard("a.tar", 0, 3);
    put_shard("empty.tar");
    put_plain_shard("b.tar", 3, 3);
    IX_REFUSED(APL_E_INCOMPLETE, "empty.tar: is an empty shard: it has no files of samples", "a.tar", "b.tar",
               "empty.tar");
    ix_options.format = "webdataset";
    IX_REFUSED(APL_E_INCOMPLETE, "empty.tar: is an empty shard", "a.tar", "empty.tar", "b.tar");
    ix_options.partial = 1;
    apl_store_close(IX_STORE("a.tar", "empty.tar", "b.tar"));
    cr_assert_eq(ix_sum.records, 6);
    ix_options.partial = 0;
    cr_assert_eq(ix_ingest(IX_NAMES("{a,c}.tar")), APL_E_NOTFOUND);
    SAYS("c.tar: No such file");
    size_t size;
    uint8_t *whole = fx_read(fx_path("b.tar"), &size);
    for (size_t cut = 100; cut < size - 1024; cut += 700) {
        ix_put("cut.tar", whole, cut);
        cr_assert_neq(ix_ingest(IX_NAMES("a.tar", "cut.tar")), APL_OK, "cut at %zu", cut);
        SAYS("cut.tar: ");
    }
    free(whole);
}

/* A folder of shards that has not all of a series. */
Test(format_webdataset, missing_shards)
{
    cr_assert_eq(mkdir(fx_path("s"), 0755), 0);
    put_plain_shard("s/train-0-of-2.tar", 0, 2);
    IX_REFUSED(APL_E_INCOMPLETE, "train-0-of-2.tar: of the 2 shards that its name speaks of, 1 is missing",
               "s");
    apl_store_close(IX_STORE("s/train-0-of-2.tar"));
    ix_options.partial = 1;
    apl_store_close(IX_STORE("s"));
}

/* Their names are the splits'. */
Test(format_webdataset, folders_of_shards)
{
    fx_shell("mkdir -p '%s'/train '%s'/val/deep", fx_path("s"), fx_path("s"));
    put_plain_shard("s/train/000.tar", 0, 2);
    put_plain_shard("s/train/001.tar", 2, 2);
    put_plain_shard("s/val/000.tar", 4, 1);
    ix_put("s/train/000.idx", "", 0);
    ix_put("s/README", "x", 1);
    for (unsigned asked = 0; asked < 2; asked++) {
        ix_options.format = asked ? "webdataset" : NULL;
        apl_store *store = IX_STORE("s");
        cr_assert_eq(apl_store_info(store)->records, 5);
        cr_assert_eq(apl_store_split(store, 1)->first, 4);
        cr_assert_str_eq(apl_store_split(store, 1)->name, "val");
        apl_store_close(store);
        fx_shell("rm -r '%s'%s", ix_db, "");
    }
    ix_options.format = NULL;
    ix_put("s/val/cover.jpg", "x", 1);
    cr_assert_neq(ix_ingest(IX_NAMES("s")), APL_OK);
    SAYS("these would become classes: train, val"); /* as in a folder of images */
}

/* That a folder is called as a file of CIFAR's does not make it one. */
Test(format_webdataset, folders_of_other_archives)
{
    fx_shell("mkdir -p '%s'/train%s", fx_path("s"), "");
    add("cat/1.jpg", "x");
    put_shard("s/train/0.tar");
    IX_REFUSED(APL_E_SOURCE, "has no images in folders by class, but an archive, train/0.tar", "s");
}

Test(format_webdataset, a_schema_says_what_the_fields_are)
{
    static const char schema[] = "{\"version\":1,\"split\":\"odd\",\"place\":0,\"fields\":["
                                 "{\"name\":\"n\",\"ending\":\"n.cls\",\"dtype\":\"u64\",\"role\":\"target\","
                                 "\"shape\":[]}]}";
    add("__apl__/schema.json", schema);
    add("1.n.cls", "18446744073709551615");
    put_shard("odd-000000.tar");
    apl_store *store = IX_STORE("odd-000000.tar");
    cr_assert_eq(apl_store_info(store)->fields, 1);
    cr_assert_str_eq(apl_store_split(store, 0)->name, "odd");
    apl_store_close(store);
    static const char *const bad[][2] = {{"{", "is not JSON"},
                                         {"{\"version\":2}", "is not of version 1"},
                                         {"{\"version\":1,\"fields\":[]}", "has no list of 1 to 64 fields"},
                                         {"{\"version\":1,\"fields\":[{}]}", "field 0 has no name"}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        add("__apl__/schema.json", bad[i][0]);
        add("1.n.cls", "1");
        put_shard("bad.tar");
        cr_assert_neq(ix_ingest(IX_NAMES("bad.tar")), APL_OK);
        SAYS("bad.tar: __apl__/schema.json: ");
        SAYS(bad[i][1]);
    }
    add("__apl__/schema.json", schema);
    add("1.n.cls", "256");
    add("1.m.cls", "256");
    put_shard("more.tar");
    cr_assert_eq(ix_ingest(IX_NAMES("more.tar")), APL_E_SOURCE);
    SAYS("more.tar: 1: has a .m.cls, which schema.json does not have");
}

/* --------------------------------------------------------------------------------------------------- many keys */

static unsigned scratches;

static apl_status give_scratch(void *user, int *fd, apl_error *err)
{
    (void)user;
    (void)err;
    char path[] = "/tmp/apl-keys-XXXXXX";
    scratches++;
    *fd = mkstemp(path);
    cr_assert_geq(*fd, 0);
    unlink(path);
    return APL_OK;
}

/* Beyond a million, hashes lie in a file. */
Test(format_webdataset, keys_beyond_those_in_memory)
{
    const struct format_host host = {.scratch = give_scratch, .options = &ix_options};
    for (unsigned count = 1000; count <= 1200000; count += 1199000) {
        struct key_log *log = key_log_new(&host);
        unsigned found = 0;
        const char *first;
        for (unsigned i = 0; i < count; i++) {
            unsigned key = i % 400 == 399 ? i / 2 : i;
            OK(key_log_add(log, (const char *)&key, sizeof key, &fx_err));
        }
        OK(key_log_end(log, &fx_err));
        for (unsigned i = 0; i < count; i++) {
            unsigned key = i % 400 == 399 ? i / 2 : i;
            OK(key_log_show(log, (const char *)&key, sizeof key, i % 2 ? "odd" : "even", &first, &fx_err));
            bool twice = i % 400 == 399 && (i / 2) % 400 != 399;
            cr_assert_eq(first != NULL, twice, "%u", i);
            if (twice)
                cr_assert_str_eq(first, (i / 2) % 2 ? "odd" : "even");
            found += twice;
        }
        cr_assert_geq(found, count / 1000);
        key_log_free(log);
    }
    cr_assert_eq(scratches, 1);
}
