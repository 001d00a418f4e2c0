/* apl_ingest from source to store: small directories in all layouts, everything that can be wrong with them,
 * and genuine archives where there are some. */
#include "apl_ingest.h"
#include "cifar_case.h"
#include "shell.h"

#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------ a place to work
 */

static char place[64], source[96], db[96];

static void set_up(void)
{
    strcpy(place, "/tmp/apl-ingest-XXXXXX");
    cr_assert_not_null(mkdtemp(place));
    snprintf(source, sizeof source, "%s/source", place);
    snprintf(db, sizeof db, "%s/db", place);
    cr_assert_eq(mkdir(source, 0755), 0);
}

static void tear_down(void)
{
    shell("rm -r '%s'", place);
}

TestSuite(ingest, .init = set_up, .fini = tear_down);

static void write_file(const char *name, const void *data, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", source, name);
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(data, 1, size, f), size);
    cr_assert_eq(fclose(f), 0);
}

static void write_buffer(const char *name, struct buffer *b)
{
    write_file(name, b->data, b->size);
    buffer_free(b);
}

static void remove_file(const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", source, name);
    cr_assert_eq(unlink(path), 0);
}

/* ------------------------------------------------------------------------------------------------- sources
 */

static void write_rows(const struct cifar_dataset *d, unsigned member, unsigned rows)
{
    char file[32];
    cifar_file_name(d, member, file);
    if (d->python) {
        struct maker m;
        python_member(&m, d, rows, true);
        write_buffer(file, &m.out);
    } else {
        struct buffer b = {0};
        binary_member(&b, d, rows);
        write_buffer(file, &b);
    }
}

static void write_classes(const struct cifar_dataset *d)
{
    if (d->python) {
        struct maker m;
        python_classes(&m, d);
        write_buffer(d->meta_file, &m.out);
        return;
    }
    for (unsigned l = 0; l < d->label_count; l++) {
        struct buffer b = {0};
        binary_classes(&b, d->labels[l].classes);
        write_buffer(d->labels[l].names_file, &b);
    }
}

/* All members of the data set that the file belongs to; member i has 5 + i rows. */
static const struct cifar_dataset *write_source(const char *file)
{
    const struct cifar_dataset *d = dataset_of(file);
    for (unsigned i = 0; i < d->member_count; i++)
        write_rows(d, i, 5 + i);
    write_classes(d);
    write_file("readme.html", "<html>", 6);
    write_file("file.txt~", "", 0);
    return d;
}

/* ----------------------------------------------------------------------------------------------- ingesting
 */

static char notices[2048];
static unsigned reports, cancel_at;
static int cancel_in = -1, last_phase = -1;

static void notice(void *user, const char *message)
{
    size_t used = strlen(notices);
    (void)user;
    cr_assert(!strchr(message, '\n'));
    snprintf(notices + used, sizeof notices - used, "%s\n", message);
}

static int progress(void *user, const apl_ingest_progress *p)
{
    (void)user;
    cr_assert_geq((int)p->phase, last_phase);
    last_phase = (int)p->phase;
    reports++;
    return (cancel_at && reports >= cancel_at) || (int)p->phase == cancel_in;
}

static apl_status ingest_from(const char *path, bool partial, apl_ingest_summary *summary, apl_error *err)
{
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    options.partial = partial;
    options.progress = progress;
    options.notice = notice;
    apl_writer_options writer = APL_WRITER_OPTIONS_INIT;
    writer.threads = 2;
    options.writer = &writer;
    notices[0] = 0;
    reports = 0;
    last_phase = -1;
    return apl_ingest(path, db, &options, summary, err);
}

static void accepted(bool partial, apl_ingest_summary *summary)
{
    apl_error err;
    cr_assert_eq(ingest_from(source, partial, summary, &err), APL_OK, "%s", err.message);
    cr_assert_eq(last_phase, APL_INGEST_DONE);
}

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

static apl_store *open_db(void)
{
    apl_store *store;
    apl_error err;
    cr_assert_eq(apl_store_open(db, NULL, &store, &err), APL_OK, "%s", err.message);
    return store;
}

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

/* ------------------------------------------------------------------------------------- incomplete sources */

Test(ingest, members_missing)
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

Test(ingest, members_missing_from_a_complete_source)
{
    for (int i = 1; i <= 5; i += 2)
        shell("truncate -s 30730000 '%s/data_batch_%d.bin'", source, i);
    source_refused(false, APL_E_INCOMPLETE,
                   ": lacks data_batch_2.bin, data_batch_4.bin, test_batch.bin, batches.meta.txt");
}

Test(ingest, short_members)
{
    write_source("test_batch.bin");
    source_refused(false, APL_E_INCOMPLETE, ": data_batch_1.bin: 5 of 10000 rows");
    accepted(true, NULL);
    cr_assert(strstr(notices, "source: data_batch_1.bin: 5 of 10000 rows\n"), "%s", notices);
    cr_assert(strstr(notices, "source: test_batch.bin: 10 of 10000 rows\n"), "%s", notices);
}

Test(ingest, empty_member)
{
    write_source("test.bin");
    write_file("train.bin", "", 0);
    accepted(true, NULL);
    cr_assert(strstr(notices, "source: train.bin: empty\n"), "%s", notices);
    apl_store *store = open_db();
    cr_assert_eq(apl_store_info(store)->members, 1);
    apl_store_close(store);
}

Test(ingest, no_rows_at_all)
{
    write_classes(dataset_of("test_batch.bin"));
    source_refused(true, APL_E_INCOMPLETE, ": has no rows");
    write_file("test_batch.bin", "", 0);
    source_refused(true, APL_E_INCOMPLETE, ": has no rows");
}

Test(ingest, classes_missing)
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

Test(ingest, classes_missing_from_a_complete_source)
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

Test(ingest, label_out_of_range)
{
    struct buffer b = {0};
    write_source("test_batch.bin");
    binary_member(&b, dataset_of("test_batch.bin"), 500);
    b.data[417 * 3073] = 10;
    write_buffer("data_batch_3.bin", &b);
    source_refused(true, APL_E_SOURCE,
                   ": data_batch_3.bin: row 417 (byte 1281441): label 10 is not below 10");
}

Test(ingest, sizes)
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

Test(ingest, mixture)
{
    write_source("test_batch.bin");
    write_rows(dataset_of("test"), 0, 3);
    source_refused(true, APL_E_SOURCE,
                   ": train: belongs to cifar-100-python, but members before it to cifar-10-binary");
}

Test(ingest, doubled_member)
{
    char tar[128];
    write_source("test_batch.bin");
    snprintf(tar, sizeof tar, "%s/x.tar", place);
    shell("mkdir '%s/more' && cp '%s/test_batch.bin' '%s/more' && tar cf '%s' -C '%s' test_batch.bin "
          "data_batch_1.bin more/test_batch.bin",
          source, source, source, tar, source);
    refused_from(tar, true, APL_E_SOURCE, ": test_batch.bin: appears twice");
}

Test(ingest, names_in_some_members_only)
{
    struct maker m;
    write_source("test_batch");
    python_member(&m, dataset_of("test_batch"), 3, false);
    write_buffer("data_batch_2", &m.out);
    source_refused(true, APL_E_SOURCE,
                   ": data_batch_2: does not name its rows' files, unlike the members before it");
}

Test(ingest, bad_pickle)
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
Test(ingest, cut_archive)
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

Test(ingest, nothing_of_cifar)
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
    for (unsigned at = 1; at <= 3; at++) {
        cancel_at = at;
        apl_status status = ingest_from(source, true, NULL, &err);
        cr_assert(status == APL_E_CANCELLED || at > 1, "%s", err.message);
        if (status != APL_OK)
            cr_assert_neq(access(db, F_OK), 0);
        else
            shell("rm -r '%s'", db);
    }
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
