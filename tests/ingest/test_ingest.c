/* apl_ingest from source to store: small directories in all layouts, the store and the caller, and genuine archives where there are
 * some. */
#include "cifar_source.h"

TestSuite(ingest, .init = set_up, .fini = tear_down);

/* ------------------------------------------------------------------------------------------- what comes out
 */

static void check_record(apl_store *store, const struct cifar_dataset *d, uint64_t id, unsigned row)
{
    apl_batch *batch;
    apl_error err;
    char name[32];
    cr_assert_eq(apl_store_get(store, id, &batch, &err), APL_OK, "%s", err.message);
    const uint8_t *image = apl_batch_column(batch, 0)->data;
    for (unsigned j = 0; j < CIFAR_IMAGE; j++)
        cr_assert_eq(image[j], pixel(row, j));
    for (unsigned l = 0; l < d->label_count; l++)
        cr_assert_eq(*(const uint8_t *)apl_batch_column(batch, 1 + l)->data, label_of(d, l, row));
    if (d->python) {
        const apl_column *names = apl_batch_column(batch, 1 + d->label_count);
        snprintf(name, sizeof name, "row_%u.png", row);
        cr_assert_eq(names->bytes, strlen(name));
        cr_assert_eq(memcmp(names->data, name, names->bytes), 0);
    }
    apl_batch_release(batch);
}

static void check_fields(apl_store *store, const struct cifar_dataset *d)
{
    const apl_info *info = apl_store_info(store);
    cr_assert_str_eq(info->source_format, d->format);
    cr_assert(info->has_source_digest);
    cr_assert_eq(info->fields, 1 + d->label_count + d->python);
    cr_assert_str_eq(apl_store_field(store, 0)->name, "image");
    for (unsigned l = 0; l < d->label_count; l++) {
        const apl_field *field = apl_store_field(store, 1 + l);
        cr_assert_str_eq(field->name, d->labels[l].field);
        cr_assert_eq(field->role, APL_TARGET);
        cr_assert_eq(field->class_count, d->labels[l].classes);
        cr_assert_str_eq(field->classes[3], "class 3");
    }
    if (d->python)
        cr_assert_eq(apl_store_field(store, 1 + d->label_count)->role, APL_NAME);
}

static void check_store(const struct cifar_dataset *d)
{
    apl_store *store = open_db();
    check_fields(store, d);
    cr_assert_eq(apl_store_info(store)->members, d->member_count);
    uint64_t id = 0;
    for (unsigned i = 0; i < d->member_count; i++) {
        const apl_member *member = apl_store_member(store, i);
        cr_assert_str_eq(member->name, d->members[i].name);
        cr_assert_str_eq(member->split, d->members[i].split);
        cr_assert_eq(member->first, id);
        cr_assert_eq(member->count, 5 + i);
        for (unsigned row = 0; row < 5 + i; row++)
            check_record(store, d, id++, row);
    }
    cr_assert_eq(apl_store_info(store)->records, id);
    apl_store_close(store);
}

Test(ingest, every_layout)
{
    static const char *const files[] = {"test_batch.bin", "test_batch", "test.bin", "test"};
    for (int i = 0; i < 4; i++) {
        apl_ingest_summary summary;
        const struct cifar_dataset *d = write_source(files[i]);
        accepted(true, &summary);
        check_store(d);
        cr_assert_str_eq(summary.format, d->format);
        cr_assert_eq(summary.records, d->member_count == 6 ? 45 : 11);
        cr_assert_gt(summary.source_bytes, summary.records * CIFAR_IMAGE);
        struct stat st;
        char path[160];
        snprintf(path, sizeof path, "%s/data.mdb", db);
        cr_assert_eq(stat(path, &st), 0);
        cr_assert_eq(summary.file_bytes, (uint64_t)st.st_size);
        shell("rm -r '%s' '%s' && mkdir '%s'", source, db, source);
    }
}

static void content_digest(uint8_t digest[32])
{
    apl_store *store = open_db();
    memcpy(digest, apl_store_info(store)->content_digest, 32);
    apl_store_close(store);
}

/* Binary and python archives of the same pictures have the same content. */
Test(ingest, layouts_have_the_same_content)
{
    static const char *const files[2][2] = {{"test_batch.bin", "test_batch"}, {"test.bin", "test"}};
    for (int i = 0; i < 2; i++) {
        uint8_t digest[2][32];
        for (int k = 0; k < 2; k++) {
            write_source(files[i][k]);
            accepted(true, NULL);
            content_digest(digest[k]);
            shell("rm -r '%s' '%s' && mkdir '%s'", source, db, source);
        }
        cr_assert_eq(memcmp(digest[0], digest[1], 32), 0);
    }
}

/* Files of the published size, though all zeros: nothing is partial. */
Test(ingest, complete_source)
{
    const struct cifar_dataset *d = dataset_of("test_batch.bin");
    char file[32];
    for (unsigned i = 0; i < d->member_count; i++)
        shell("truncate -s 30730000 '%s/%s'", source, cifar_file_name(d, i, file));
    write_classes(d);
    apl_ingest_summary summary;
    accepted(false, &summary);
    cr_assert_str_empty(notices);
    cr_assert_eq(summary.records, 60000);
    cr_assert_eq(summary.raw_bytes, 184380000);
    cr_assert_gt(reports, 100);
}

/* ---------------------------------------------------------------------------------------- store and caller
 */

Test(ingest, existing_store)
{
    apl_error err;
    uint8_t before[32], after[32];
    write_source("test_batch.bin");
    accepted(true, NULL);
    content_digest(before);
    cr_assert_eq(ingest_from(source, true, NULL, &err), APL_E_EXISTS);
    cr_assert_eq(strncmp(err.message, db, strlen(db)), 0, "%s", err.message);
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    options.partial = 1;
    apl_writer_options writer = APL_WRITER_OPTIONS_INIT;
    writer.replace = 1;
    options.writer = &writer;
    write_rows(dataset_of("test_batch.bin"), 5, 1);
    write_file("test_batch.bin", "\xff", 1);
    cr_assert_eq(apl_ingest(source, db, &options, NULL, &err), APL_E_SOURCE);
    content_digest(after);
    cr_assert_eq(memcmp(before, after, 32), 0);
    remove_file("test_batch.bin");
    cr_assert_eq(apl_ingest(source, db, &options, NULL, NULL), APL_OK);
    content_digest(after);
    cr_assert_neq(memcmp(before, after, 32), 0);
}

Test(ingest, cancelled)
{
    apl_error err;
    write_source("test_batch");
    for (cancel_at = 1; cancel_at <= 3; cancel_at++) {
        cr_assert_eq(ingest_from(source, true, NULL, &err), APL_E_CANCELLED, "report %u", cancel_at);
        cr_assert_eq(reports, cancel_at, "it has gone on");
        cr_assert(strstr(err.message, "cancelled"), "%s", err.message);
        cr_assert_neq(access(db, F_OK), 0);
    }
    cancel_at = 0;
    cancel_in = APL_INGEST_DONE; /* too late */
    cr_assert_eq(ingest_from(source, true, NULL, &err), APL_OK, "%s", err.message);
    apl_store_close(open_db());
}

/* Enough rows for reports while reading; and one while checking. */
Test(ingest, cancelled_midway)
{
    apl_error err;
    shell("truncate -s 30730000 '%s/test_batch.bin'", source);
    for (cancel_at = 2; cancel_at < 18; cancel_at += 3) {
        cr_assert_eq(ingest_from(source, true, NULL, &err), APL_E_CANCELLED);
        cr_assert_eq(last_phase, APL_INGEST_READING);
        cr_assert_neq(access(db, F_OK), 0);
    }
    cancel_at = 0;
    cancel_in = APL_INGEST_CHECKING;
    cr_assert_eq(ingest_from(source, true, NULL, &err), APL_E_CANCELLED, "%s", err.message);
    cr_assert_neq(access(db, F_OK), 0);
}

Test(ingest, arguments)
{
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    apl_error err;
    cr_assert_eq(apl_ingest(NULL, db, NULL, NULL, &err), APL_E_INVALID);
    cr_assert_eq(apl_ingest(source, NULL, NULL, NULL, &err), APL_E_INVALID);
    options.size = 0;
    cr_assert_eq(apl_ingest(source, db, &options, NULL, &err), APL_E_INVALID);
    cr_assert_eq(apl_ingest(source, db, NULL, NULL, NULL), APL_E_SOURCE);
}

/* ------------------------------------------------------------------------------------------ genuine archives
 */

static bool genuine(const char *name, char path[512])
{
    const char *folder = getenv("APL_DATA");
    snprintf(path, 512, "%s/%s", folder && *folder ? folder : "../shared/data", name);
    if (access(path, R_OK) == 0)
        return true;
    printf("skipped (no %s)\n", name);
    return false;
}

Test(ingest, genuine_sample)
{
    char path[512];
    apl_ingest_summary summary;
    apl_error err;
    if (!genuine("cifar-10-binary-sample.tar.gz", path))
        return;
    cr_assert_eq(ingest_from(path, false, NULL, &err), APL_E_INCOMPLETE);
    cr_assert_eq(ingest_from(path, true, &summary, &err), APL_OK, "%s", err.message);
    cr_assert_eq(summary.records, 6187);
    apl_store *store = open_db();
    cr_assert_eq(apl_store_info(store)->records, 6187);
    cr_assert_str_eq(apl_store_field(store, 1)->classes[9], "truck");
    apl_store_close(store);
}

Test(ingest, genuine_interrupted_download)
{
    char path[512];
    apl_error err;
    if (!genuine("cifar-10-python-truncated.tar.gz", path))
        return;
    for (int partial = 0; partial < 2; partial++) {
        cr_assert_eq(ingest_from(path, partial, NULL, &err), APL_E_INCOMPLETE);
        cr_assert(strstr(err.message, "3670016"), "%s", err.message);
        cr_assert_neq(access(db, F_OK), 0);
    }
}
