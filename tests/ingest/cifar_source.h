/* Small directories of CIFAR in all layouts, to ingest. */
#ifndef CIFAR_SOURCE_H
#define CIFAR_SOURCE_H

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

static apl_store *open_db(void)
{
    apl_store *store;
    apl_error err;
    cr_assert_eq(apl_store_open(db, NULL, &store, &err), APL_OK, "%s", err.message);
    return store;
}

#endif
