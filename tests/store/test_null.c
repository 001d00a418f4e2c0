/* Calls with NULL where a handle, a batch or a place for results should be: an answer, not a crash. */
#include "store_fixture.h"

#include "apl_ingest.h"

TestSuite(null, .init = fx_set_up, .fini = fx_tear_down, .timeout = 60);

#define INVALID(call) cr_expect_eq((call), APL_E_INVALID, "%s", #call)

Test(null, describing_nothing)
{
    double a, b;
    size_t n = 5;
    cr_expect_null(apl_store_info(NULL));
    cr_expect_null(apl_store_field(NULL, 0));
    cr_expect_null(apl_store_split(NULL, 0));
    cr_expect_null(apl_store_member(NULL, 0));
    cr_expect_eq(apl_store_find_field(NULL, "image"), -1);
    cr_expect_eq(apl_store_find_split(NULL, "train"), -1);
    cr_expect_eq(apl_store_class_count(NULL, 0, 0, 0), 0);
    INVALID(apl_store_moments(NULL, 0, 0, 0, &a, &b));
    cr_expect_eq(apl_batch_rows(NULL), 0);
    cr_expect_null(apl_batch_ids(NULL));
    cr_expect_null(apl_batch_copies(NULL));
    cr_expect_eq(apl_batch_epoch(NULL), 0);
    cr_expect_eq(apl_batch_position(NULL), 0);
    cr_expect_null(apl_batch_skipped(NULL, &n));
    cr_expect_eq(n, 0);
    cr_expect_null(apl_batch_skipped(NULL, NULL));
    cr_expect_null(apl_batch_column(NULL, 0));
    cr_expect_null(apl_split_list_file(NULL, 0));
    cr_expect_eq(apl_stats_json(NULL, NULL, 0), 0);
    cr_expect_eq(apl_stats_json_all(NULL, 8, NULL, 0), 0);
    cr_expect_eq(apl_stats_explain(NULL, NULL, 8, NULL, NULL, 0), 0);
    cr_expect_eq(apl_stats_metrics(NULL, 1, sizeof(apl_stats), APL_METRICS_OPEN, NULL, 0), 0);
    cr_expect_eq(apl_reader_epoch(NULL), 0);
    cr_expect_eq(apl_reader_batches(NULL), 0);
    apl_reader_cancel(NULL);
    apl_reader_close(NULL);
    apl_store_close(NULL);
    apl_batch_release(NULL);
    apl_split_list_close(NULL);
    apl_writer_close(NULL);
}

Test(null, calls_on_nothing)
{
    apl_store *s = NULL;
    apl_reader *r = NULL;
    apl_batch *batch = NULL;
    apl_writer *w = NULL;
    apl_split_list *list = NULL;
    apl_transform t = APL_TRANSFORM_INIT;
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    uint64_t id = 0, counts[8];
    size_t n = 0;
    INVALID(apl_store_open(NULL, NULL, &s, NULL));
    INVALID(apl_store_open("db", NULL, NULL, NULL));
    INVALID(apl_store_get(NULL, 0, &batch, NULL));
    INVALID(apl_store_get_batch(NULL, &id, 1, NULL, &batch, NULL));
    INVALID(apl_store_verify(NULL, NULL, NULL));
    INVALID(apl_split_make(NULL, &o, NULL));
    INVALID(apl_split_verify(NULL, "val", 1, NULL));
    INVALID(apl_split_ids(NULL, "val", &id, &id, NULL));
    INVALID(apl_split_class_counts(NULL, "val", 0, counts, NULL));
    INVALID(apl_split_list_open(NULL, &list, NULL));
    INVALID(apl_split_list_left(NULL, &list, NULL));
    INVALID(apl_transform_complete(NULL, NULL, &t, NULL));
    INVALID(apl_reader_open(NULL, NULL, &r, NULL));
    INVALID(apl_reader_next(NULL, &batch, NULL));
    INVALID(apl_reader_next_epoch(NULL, NULL));
    INVALID(apl_reader_state(NULL, &id, &n, NULL));
    INVALID(apl_reader_receipt(NULL, NULL, 8, NULL));
    INVALID(apl_reader_stats(NULL, NULL, 8));
    INVALID(apl_reader_transform_complete(NULL, &t, NULL));
    INVALID(apl_reader_actions(NULL, NULL, NULL, NULL, NULL));
    INVALID(apl_reader_source(NULL, 0, &n, &id, NULL));
    INVALID(apl_writer_open(NULL, NULL, &w, NULL));
    INVALID(apl_writer_append(NULL, NULL, NULL));
    INVALID(apl_writer_commit(NULL, NULL));
    INVALID(apl_ingest(NULL, "db", NULL, NULL, NULL));
    apl_writer_progress(NULL, NULL);
    apl_writer_on_commit(NULL, NULL, NULL);
}

Test(null, nowhere_to_put_results)
{
    struct fx_recipe recipe = {fx_fields, COUNT(fx_fields), fx_members, COUNT(fx_members)};
    apl_reader *r = NULL;
    apl_batch *batch = NULL;
    apl_writer *w = NULL;
    uint64_t id = 0;
    fx_make(fx_path("db"), &recipe, NULL);
    apl_store *s = fx_open(fx_path("db"));
    INVALID(apl_store_get(s, 0, NULL, NULL));
    INVALID(apl_store_get_batch(s, &id, 1, NULL, NULL, NULL));
    INVALID(apl_store_get_batch(s, NULL, 1, NULL, &batch, NULL));
    INVALID(apl_store_moments(s, 0, 0, 0, NULL, NULL));
    INVALID(apl_split_ids(s, "train", NULL, NULL, NULL));
    INVALID(apl_split_class_counts(s, "train", 1, NULL, NULL));
    INVALID(apl_split_list_open(s, NULL, NULL));
    INVALID(apl_split_list_left(s, NULL, NULL));
    INVALID(apl_split_make(s, NULL, NULL));
    INVALID(apl_split_verify(s, NULL, 1, NULL));
    INVALID(apl_transform_complete(s, NULL, NULL, NULL));
    INVALID(apl_reader_open(s, NULL, NULL, NULL));
    OK(apl_reader_open(s, NULL, &r, &fx_err));
    INVALID(apl_reader_next(r, NULL, NULL));
    INVALID(apl_reader_state(r, NULL, NULL, NULL));
    INVALID(apl_reader_receipt(r, NULL, sizeof(apl_receipt), NULL));
    INVALID(apl_reader_stats(r, NULL, sizeof(apl_stats)));
    INVALID(apl_reader_source(r, 0, NULL, NULL, NULL));
    INVALID(apl_reader_transform_complete(r, NULL, NULL));
    cr_expect_eq(apl_store_find_field(s, NULL), -1);
    cr_expect_eq(apl_store_find_split(s, NULL), -1);
    apl_reader_close(r);
    INVALID(apl_writer_open(fx_path("w"), NULL, NULL, NULL));
    OK(apl_writer_open(fx_path("w"), NULL, &w, &fx_err));
    INVALID(apl_writer_append(w, NULL, NULL));
    INVALID(apl_writer_add_field(w, NULL, APL_U8, APL_INPUT, 0, NULL, NULL));
    INVALID(apl_writer_begin_member(w, NULL, NULL, 0, NULL));
    apl_writer_progress(w, NULL);
    apl_writer_close(w);
    apl_store_close(s);
}
