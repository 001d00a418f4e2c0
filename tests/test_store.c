/* A store's index: every block that the manifest knows is there, or the error tells whose records are not. */
#include "store.h"
#include "store_fixture.h"

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
