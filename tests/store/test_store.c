/* A store's index: every block that the manifest knows is there, or the error tells whose records are not. */
#include "store.h"
#include "store_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

static void set_up(void)
{
    fx_set_up();
    apl_writer_options o = fx_options(1, 32);
    fx_make(fx_path("db"), &fx_small, &o);
}

TestSuite(store, .init = set_up, .fini = fx_tear_down, .timeout = 60);

/* The file's entries, but for one. */
static struct lmdb_reader without(const struct lmdb_reader *whole, size_t missing)
{
    struct lmdb_reader some = *whole;
    some.entries = calloc(whole->count, sizeof *some.entries);
    some.count = 0;
    for (size_t i = 0; i < whole->count; i++)
        if (i != missing)
            some.entries[some.count++] = whole->entries[i];
    return some;
}

Test(store, tells_which_records_a_missing_block_has)
{
    apl_store *s = fx_open(fx_path("db"));
    const uint64_t blocks = s->manifest.info.blocks;
    uint64_t next = 0; /* blocks in the order of their keys have the ids in order */
    cr_assert_eq(s->lmdb.count, blocks + 1);
    for (uint64_t b = 0; b < blocks; b++) {
        struct manifest manifest;
        const struct entry *entries;
        struct lmdb_reader some = without(&s->lmdb, b + 1);
        FAILS(APL_E_CORRUPT, store_index(&some, &manifest, &entries, &fx_err));
        SAYS("missing");
        cr_assert_eq(fx_err.first_record, next);
        cr_assert(fx_err.records > 0 && fx_err.records <= 32);
        next += fx_err.records;
        free(some.entries);
    }
    cr_assert_eq(next, s->manifest.info.records);
    apl_store_close(s);
}

/* A file that is cut while it is open is an error where it is read, and names the records. */
Test(store, cut_while_open)
{
    apl_store_options options = APL_STORE_OPTIONS_INIT;
    apl_store *s;
    apl_batch *batch = NULL;
    char file[512];
    options.io = APL_IO_READ;
    OK(apl_store_open(fx_path("db"), &options, &s, &fx_err));
    uint64_t last = apl_store_info(s)->records - 1;
    snprintf(file, sizeof file, "%s/data.mdb", fx_path("db"));
    cr_assert(chmod(file, 0600) == 0 && truncate(file, 3 * 4096) == 0);
    FAILS(APL_E_CORRUPT, apl_store_get(s, last, &batch, &fx_err));
    SAYS("truncated while it was open");
    cr_assert_eq(fx_err.first_record + fx_err.records, last + 1);
    apl_store_close(s);
}

/* ---------------------------------------------------------------------------------------- arguments */

Test(store, options)
{
    apl_store_options options = APL_STORE_OPTIONS_INIT;
    apl_store *s = fx_open(fx_path("db")), *other = NULL;
    uint8_t content[32];
    memcpy(content, apl_store_info(s)->content_digest, 32);
    apl_store_close(s);
    options.expected_content = content;
    OK(apl_store_open(fx_path("db"), &options, &other, &fx_err));
    apl_store_close(other);
    content[31] ^= 1;
    FAILS(APL_E_MISMATCH, apl_store_open(fx_path("db"), &options, &other, &fx_err));
    SAYS("not the one expected");
    options.size = 0;
    FAILS(APL_E_INVALID, apl_store_open(fx_path("db"), &options, &other, &fx_err));
    FAILS(APL_E_INVALID, apl_store_open(NULL, NULL, &other, &fx_err));
    FAILS(APL_E_INVALID, apl_store_open(fx_path("db"), NULL, NULL, &fx_err));
    cr_assert_eq(apl_store_open(fx_path("none"), NULL, &other, NULL), APL_E_NOTFOUND);
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("none"), NULL, &other, &fx_err));
    SAYS("no such directory");
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("db/data.mdb"), NULL, &other, &fx_err));
    SAYS("give the one that holds data.mdb");
}

Test(store, split_directories_that_are_none)
{
    apl_store_options options = APL_STORE_OPTIONS_INIT;
    apl_store *s = NULL;
    options.split_directory = fx_path("none");
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("db"), &options, &s, &fx_err));
    options.split_directory = fx_path("db/data.mdb");
    FAILS(APL_E_NOTFOUND, apl_store_open(fx_path("db"), &options, &s, &fx_err));
}

/* What does not exist. */
Test(store, numbers_out_of_range)
{
    apl_store *s = fx_open(fx_path("db"));
    const apl_info *info = apl_store_info(s);
    double mean, std;
    cr_assert_null(apl_store_field(s, info->fields));
    cr_assert_null(apl_store_split(s, info->splits));
    cr_assert_null(apl_store_member(s, info->members));
    cr_assert_eq(apl_store_find_split(s, NULL), -1);
    cr_assert_eq(apl_store_find_split(s, "none"), -1);
    cr_assert_eq(apl_store_class_count(s, info->splits, 1, 0), 0);
    cr_assert_eq(apl_store_class_count(s, 0, info->fields, 0), 0);
    cr_assert_eq(apl_store_class_count(s, 0, 0, 0), 0, "a picture has no classes");
    cr_assert_eq(apl_store_class_count(s, 0, 1, 3), 0);
    cr_assert_gt(apl_store_class_count(s, 0, 1, 2), 0);
    cr_assert_eq(apl_store_moments(s, info->splits, 0, 0, &mean, &std), APL_E_NOTFOUND);
    cr_assert_eq(apl_store_moments(s, 0, info->fields, 0, &mean, &std), APL_E_NOTFOUND);
    cr_assert_eq(apl_store_moments(s, 0, 2, 0, &mean, &std), APL_E_NOTFOUND);
    cr_assert_eq(apl_store_moments(s, 0, 0, 3, &mean, &std), APL_E_NOTFOUND);
    cr_assert_eq(apl_store_moments(s, 0, 0, 2, &mean, &std), APL_OK);
    apl_store_close(s);
}

/* All values alike: no deviation; and a split of nothing has no mean. */
Test(store, moments_of_one_value_and_of_none)
{
    static const uint8_t value[4] = {9, 9, 9, 9};
    static const int64_t shape[] = {1, 2, 2};
    apl_value values[] = {{value, NULL}};
    apl_writer *w = NULL;
    double mean, std;
    OK(apl_writer_open(fx_path("flat"), NULL, &w, &fx_err));
    OK(apl_writer_add_field(w, "image", APL_U8, APL_INPUT, 3, shape, &fx_err));
    OK(apl_writer_begin_member(w, "m", "train", 0, &fx_err));
    for (int i = 0; i < 3; i++)
        OK(apl_writer_append(w, values, &fx_err));
    OK(apl_writer_begin_member(w, "n", "none", 1, &fx_err));
    OK(apl_writer_commit(w, &fx_err));
    apl_writer_close(w);
    apl_store *s = fx_open(fx_path("flat"));
    int train = apl_store_find_split(s, "train"), none = apl_store_find_split(s, "none");
    cr_assert_eq(apl_store_moments(s, (unsigned)train, 0, 0, &mean, &std), APL_OK);
    cr_assert(mean == 9 && std == 0);
    cr_assert_eq(apl_store_moments(s, (unsigned)none, 0, 0, &mean, &std), APL_E_NOTFOUND);
    apl_store_close(s);
}

Test(store, ways_to_read_that_there_are_not)
{
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    apl_store *s = NULL;
    for (int io = -1; io <= 3; io += 4) {
        o.io = (apl_io)io;
        FAILS(APL_E_INVALID, apl_store_open(fx_path("db"), &o, &s, &fx_err));
        SAYS("io is");
    }
    setenv("APL_IO", "junk", 1);
    FAILS(APL_E_INVALID, apl_store_open(fx_path("db"), NULL, &s, &fx_err));
    SAYS("APL_IO");
    unsetenv("APL_IO");
}
