/* Memory that a file asks for is in proportion to its size: of constants, a few kilobytes decode to hundreds of megabytes. */
#include "expansion.h"

#include "store_fixture.h"

TestSuite(expansion, .init = fx_set_up, .fini = fx_tear_down, .timeout = 120);

#define VALUE ((size_t)4 << 20)

/* A store of constant values in blocks of so many. */
static apl_status write_constants(uint32_t records, uint32_t block_records)
{
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    apl_writer *w = NULL;
    o.block_records = block_records;
    uint8_t *zeros = calloc(1, VALUE);
    OK(apl_writer_open(fx_path("db"), &o, &w, &fx_err));
    OK(apl_writer_add_field(w, "x", APL_U8, APL_INPUT, 1, (const int64_t[]){VALUE}, &fx_err));
    OK(apl_writer_begin_member(w, "all", "train", 0, &fx_err));
    apl_status status = APL_OK;
    for (uint32_t i = 0; status == APL_OK && i < records; i++)
        status = apl_writer_append(w, &(apl_value){zeros, NULL}, &fx_err);
    if (status == APL_OK)
        status = apl_writer_commit(w, &fx_err);
    apl_writer_close(w);
    free(zeros);
    return status;
}

static apl_status get_first(apl_store *s, uint64_t records)
{
    uint64_t ids[256];
    apl_batch *b = NULL;
    for (uint64_t i = 0; i < records; i++)
        ids[i] = i;
    apl_status status = apl_store_get_batch(s, ids, records, NULL, &b, &fx_err);
    apl_batch_release(b);
    return status;
}

static apl_status open_reader(apl_store *s, uint64_t window, uint64_t budget)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r = NULL;
    o.split = "train";
    o.batch_size = 1;
    o.window = window;
    o.memory_budget = budget;
    o.threads = APL_NO_THREADS;
    apl_status status = apl_reader_open(s, &o, &r, &fx_err);
    apl_reader_close(r);
    return status;
}

/* 80 MiB, of which 2 KB are stored. */
Test(expansion, a_block_is_refused_where_it_is_written_and_where_it_is_read)
{
    FAILS(APL_E_UNSUPPORTED, write_constants(20, 20));
    SAYS("APL_EXPANSION=");
    cr_assert(!fx_exists(fx_path("db/data.mdb")));
    setenv("APL_EXPANSION", "0", 1);
    OK(write_constants(20, 20));
    apl_store *s = fx_open(fx_path("db"));
    OK(apl_store_verify(s, NULL, &fx_err));
    unsetenv("APL_EXPANSION");
    FAILS(APL_E_UNSUPPORTED, apl_store_verify(s, NULL, &fx_err));
    SAYS("83886080 in memory");
    FAILS(APL_E_UNSUPPORTED, get_first(s, 1));
    SAYS("block 0");
    setenv("APL_EXPANSION", "100000", 1);
    OK(get_first(s, 1));
    apl_store_close(s);
}

/* 272 MiB, each block of which is small. */
Test(expansion, so_is_a_window_and_a_batch_of_many_blocks)
{
    OK(write_constants(68, 1));
    apl_store *s = fx_open(fx_path("db"));
    OK(apl_store_verify(s, NULL, &fx_err));
    OK(get_first(s, 60));
    FAILS(APL_E_UNSUPPORTED, get_first(s, 68));
    SAYS("fewer records at a time");
    FAILS(APL_E_UNSUPPORTED, open_reader(s, 0, 0));
    SAYS("memory_budget");
    OK(open_reader(s, 8, 0));
    OK(open_reader(s, 0, (uint64_t)1 << 30));
    setenv("APL_EXPANSION", "0", 1);
    OK(open_reader(s, 0, 0));
    apl_store_close(s);
}

Test(expansion, the_variable_is_a_number)
{
    uint32_t times;
    static const char *const bad[] = {"-1", "x", "1e3", "256 ", "4294967296", "99999999999999999999"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        setenv("APL_EXPANSION", bad[i], 1);
        FAILS(APL_E_INVALID, expansion_allowed(&times, &fx_err));
    }
    setenv("APL_EXPANSION", "", 1);
    OK(expansion_allowed(&times, &fx_err));
    cr_assert_eq(times, 256);
}

Test(expansion, what_overflows_is_allowed)
{
    OK(expansion_check_block(256, UINT64_MAX / 2, UINT64_MAX, &fx_err));
    FAILS(APL_E_UNSUPPORTED, expansion_check_block(256, 0, EXPANSION_BLOCK + 1, &fx_err));
    OK(expansion_check_block(256, 0, EXPANSION_BLOCK, &fx_err));
}
