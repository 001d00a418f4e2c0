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
static struct pages without(const struct pages *whole, size_t missing)
{
    struct pages some = *whole;
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
    cr_assert_eq(s->pages.count, blocks + 1);
    for (uint64_t b = 0; b < blocks; b++) {
        struct manifest manifest;
        const struct entry *entries;
        struct pages some = without(&s->pages, b + 1);
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
    SAYS("cut while it was open");
    cr_assert_eq(fx_err.first_record + fx_err.records, last + 1);
    apl_store_close(s);
}
