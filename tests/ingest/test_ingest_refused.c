/* apl_ingest of sources that are incomplete or damaged: what is refused, in which words, and what a partial ingest accepts. */
#include "cifar_source.h"

TestSuite(ingest_refused, .init = set_up, .fini = tear_down);

/* Refused, in these words behind the name of the source, with nothing left behind. */
static void refused_from(const char *path, bool partial, apl_status status, const char *words)
{
    apl_error err;
    cr_assert_eq(ingest_from(path, partial, NULL, &err), status, "%s", err.message);
    cr_assert_eq(strncmp(err.message, path, strlen(path)), 0, "%s", err.message);
    cr_assert_str_eq(err.message + strlen(path), words);
    cr_assert_neq(access(db, F_OK), 0, "there is a db");
}

static void source_refused(bool partial, apl_status status, const char *words)
{
    refused_from(source, partial, status, words);
}

/* ------------------------------------------------------------------------------------- incomplete sources */

Test(ingest_refused, members_missing)
{
    write_source("test_batch.bin");
    remove_file("data_batch_3.bin");
    remove_file("batches.meta.txt");
    accepted(true, NULL);
    cr_assert(strstr(notices, "source: lacks data_batch_3.bin, batches.meta.txt\n"), "%s", notices);
    apl_store *store = open_db();
    cr_assert_eq(apl_store_info(store)->members, 5);
    cr_assert_str_eq(apl_store_member(store, 2)->name, "data_batch_4");
    cr_assert_eq(apl_store_field(store, 1)->class_count, 0);
    apl_store_close(store);
}

Test(ingest_refused, members_missing_from_a_complete_source)
{
    for (int i = 1; i <= 5; i += 2)
        shell("truncate -s 30730000 '%s/data_batch_%d.bin'", source, i);
    source_refused(false, APL_E_INCOMPLETE,
                   ": lacks data_batch_2.bin, data_batch_4.bin, test_batch.bin, batches.meta.txt");
}

Test(ingest_refused, short_members)
{
    write_source("test_batch.bin");
    source_refused(false, APL_E_INCOMPLETE, ": data_batch_1.bin: 5 of 10000 rows");
    accepted(true, NULL);
    cr_assert(strstr(notices, "source: data_batch_1.bin: 5 of 10000 rows\n"), "%s", notices);
    cr_assert(strstr(notices, "source: test_batch.bin: 10 of 10000 rows\n"), "%s", notices);
}

Test(ingest_refused, empty_member)
{
    write_source("test.bin");
    write_file("train.bin", "", 0);
    accepted(true, NULL);
    cr_assert(strstr(notices, "source: train.bin: empty\n"), "%s", notices);
    apl_store *store = open_db();
    cr_assert_eq(apl_store_info(store)->members, 1);
    apl_store_close(store);
}

Test(ingest_refused, no_rows_at_all)
{
    write_classes(dataset_of("test_batch.bin"));
    source_refused(true, APL_E_INCOMPLETE, ": has no rows");
    write_file("test_batch.bin", "", 0);
    source_refused(true, APL_E_INCOMPLETE, ": has no rows");
}

Test(ingest_refused, classes_missing)
{
    struct buffer b = {0};
    write_source("test_batch.bin");
    binary_classes(&b, 9);
    write_buffer("batches.meta.txt", &b);
    accepted(true, NULL);
    cr_assert(strstr(notices, "source: batches.meta.txt: names of 9 of 10 classes\n"), "%s", notices);
    apl_store *store = open_db();
    cr_assert_eq(apl_store_field(store, 1)->class_count, 0);
    apl_store_close(store);
}

Test(ingest_refused, classes_missing_from_a_complete_source)
{
    struct buffer b = {0};
    for (int i = 1; i <= 5; i++)
        shell("truncate -s 30730000 '%s/data_batch_%d.bin'", source, i);
    shell("truncate -s 30730000 '%s/test_batch.bin'", source);
    binary_classes(&b, 9);
    write_buffer("batches.meta.txt", &b);
    source_refused(false, APL_E_INCOMPLETE, ": batches.meta.txt: names of 9 of 10 classes");
}

/* ----------------------------------------------------------------------------------------- damaged sources
 */

Test(ingest_refused, label_out_of_range)
{
    struct buffer b = {0};
    write_source("test_batch.bin");
    binary_member(&b, dataset_of("test_batch.bin"), 500);
    b.data[417 * 3073] = 10;
    write_buffer("data_batch_3.bin", &b);
    source_refused(true, APL_E_SOURCE,
                   ": data_batch_3.bin: row 417 (byte 1281441): label 10 is not below 10");
}

Test(ingest_refused, sizes)
{
    struct buffer b = {0};
    write_source("test_batch.bin");
    binary_member(&b, dataset_of("test_batch.bin"), 2);
    b.size--;
    write_buffer("data_batch_1.bin", &b);
    source_refused(true, APL_E_SOURCE,
                   ": data_batch_1.bin: 6145 bytes, which is not a multiple of the 3073 of a row");
    shell("truncate -s 30733073 '%s/data_batch_1.bin'", source);
    source_refused(true, APL_E_SOURCE, ": data_batch_1.bin: 10001 rows, more than the 10000 published");
}

Test(ingest_refused, mixture)
{
    write_source("test_batch.bin");
    write_rows(dataset_of("test"), 0, 3);
    source_refused(true, APL_E_SOURCE,
                   ": train: belongs to cifar-100-python, but members before it to cifar-10-binary");
}

Test(ingest_refused, doubled_member)
{
    char tar[128];
    write_source("test_batch.bin");
    snprintf(tar, sizeof tar, "%s/x.tar", place);
    shell("mkdir '%s/more' && cp '%s/test_batch.bin' '%s/more' && tar cf '%s' -C '%s' test_batch.bin "
          "data_batch_1.bin more/test_batch.bin",
          source, source, source, tar, source);
    refused_from(tar, true, APL_E_SOURCE, ": test_batch.bin: appears twice");
}

Test(ingest_refused, names_in_some_members_only)
{
    struct maker m;
    write_source("test_batch");
    python_member(&m, dataset_of("test_batch"), 3, false);
    write_buffer("data_batch_2", &m.out);
    source_refused(true, APL_E_SOURCE,
                   ": data_batch_2: does not name its rows' files, unlike the members before it");
}

Test(ingest_refused, bad_pickle)
{
    write_source("test_batch");
    write_file("data_batch_1", "\x80\x02}(U\4datacos\nsystem\n", 22);
    source_refused(true, APL_E_SOURCE,
                   ": data_batch_1: byte 10: opcode GLOBAL: os.system is not a known constructor");
    write_file("data_batch_1", "(dp0\n.", 6);
    source_refused(
        true, APL_E_SOURCE,
        ": data_batch_1: byte 0: ASCII or protocol-1 pickle; save it again with protocol 2 or higher");
    write_file("data_batch_1", "", 0);
    source_refused(true, APL_E_SOURCE, ": data_batch_1: byte 0: the pickle ends too early");
}

/* The source's own trouble comes before what a parser makes of it. */
Test(ingest_refused, cut_archive)
{
    char tar[128];
    apl_error err;
    write_source("test");
    snprintf(tar, sizeof tar, "%s/x.tar.gz", place);
    shell("tar czf '%s' -C '%s' train test meta && truncate -s -200 '%s'", tar, source, tar);
    cr_assert_eq(ingest_from(tar, true, NULL, &err), APL_E_INCOMPLETE, "%s", err.message);
    cr_assert(strstr(err.message, "gzip"), "%s", err.message);
    cr_assert_neq(access(db, F_OK), 0);
}

Test(ingest_refused, nothing_of_cifar)
{
    apl_error err;
    write_file("readme.html", "<html>", 6);
    cr_assert_eq(ingest_from(source, true, NULL, &err), APL_E_SOURCE);
    cr_assert_neq(access(db, F_OK), 0);
    char tar[128];
    snprintf(tar, sizeof tar, "%s/x.tar", place);
    shell("tar cf '%s' -C '%s' readme.html", tar, source);
    cr_assert_eq(ingest_from(tar, true, NULL, &err), APL_E_SOURCE);
    cr_assert(strstr(err.message, "looked for: data_batch_1.bin"), "%s", err.message);
    cr_assert_neq(access(db, F_OK), 0);
    cr_assert_eq(ingest_from("/nonexistent", true, NULL, &err), APL_E_NOTFOUND);
    cr_assert_neq(access(db, F_OK), 0);
}

Test(ingest_refused, lists_that_are_not_there)
{
    static const char *const nothing[] = {NULL};
    const apl_ingest_options init = APL_INGEST_OPTIONS_INIT;
    apl_ingest_options cases[] = {init, init, init, init, init, init};
    cases[0].more_count = 2;
    cases[1].more = nothing, cases[1].more_count = 1;
    cases[2].map_count = 2;
    cases[3].map = nothing, cases[3].map_count = 1;
    cases[4].column_type_count = 2;
    cases[5].column_types = nothing, cases[5].column_type_count = 1;
    write_source("test_batch.bin");
    for (unsigned i = 0; i < 6; i++) {
        apl_error err;
        cr_assert_eq(apl_ingest(source, db, &cases[i], NULL, &err), APL_E_INVALID, "case %u", i);
        cr_assert(strstr(err.message, i % 2 ? "[0] is NULL" : " is NULL, but "), "%s", err.message);
        cr_assert(i != 4 || strstr(err.message, "column_type_count is 2"), "%s", err.message);
    }
}
