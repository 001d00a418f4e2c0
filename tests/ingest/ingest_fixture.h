/* Sources made by a test in a folder of its own, ingested and read back, or refused without a trace. */
#ifndef INGEST_FIXTURE_H
#define INGEST_FIXTURE_H

#include "apl_ingest.h"
#include "bytes.h"
#include "store_fixture.h"

#include <zlib.h>

static char ix_db[96];
static apl_ingest_options ix_options;
static apl_writer_options ix_writing;
static apl_ingest_summary ix_sum;
static char ix_said[4096]; /* notices and skipped records, a line each */

static inline void ix_set_up(void)
{
    fx_set_up();
    snprintf(ix_db, sizeof ix_db, "%s/db", fx_place);
    ix_options = (apl_ingest_options)APL_INGEST_OPTIONS_INIT;
    ix_writing = (apl_writer_options)APL_WRITER_OPTIONS_INIT;
    ix_writing.replace = 1;
}

static inline void ix_hear(void *user, const char *message)
{
    (void)user;
    size_t used = strlen(ix_said);
    snprintf(ix_said + used, sizeof ix_said - used, "%s\n", message);
}

static inline void ix_hear_skipped(void *user, const char *path, const char *why)
{
    size_t used = strlen(ix_said);
    (void)user;
    snprintf(ix_said + used, sizeof ix_said - used, "skipped %s: %s\n", path, why);
}

/* A file in the test's folder. */
static inline void ix_put(const char *name, const void *data, size_t size)
{
    fx_write(fx_path(name), data, size);
}

static inline void ix_put_buffer(const char *name, struct buffer *b)
{
    cr_assert(!b->failed);
    ix_put(name, b->data, b->size);
    buffer_free(b);
}

/* The same packed by gzip. */
static inline void ix_put_gzip(const char *name, const void *data, size_t size)
{
    gzFile f = gzopen(fx_path(name), "wb1");
    cr_assert_not_null(f);
    cr_assert_eq(gzwrite(f, data, (unsigned)size), (int)size);
    cr_assert_eq(gzclose(f), Z_OK);
}

/* Ingests files of the test's folder, the names ended by NULL. */
static inline apl_status ix_ingest(const char *const *names)
{
    static char paths[8][256];
    static const char *more[8];
    size_t count = 0;
    for (; names[count]; count++) {
        snprintf(paths[count], sizeof *paths, "%s/%s", fx_place, names[count]);
        more[count] = paths[count];
    }
    ix_said[0] = 0;
    ix_options.writer = &ix_writing;
    ix_options.notice = ix_hear;
    ix_options.skipped = ix_hear_skipped;
    ix_options.more = more + 1;
    ix_options.more_count = count - 1;
    memset(&fx_err, 0, sizeof fx_err);
    return apl_ingest(more[0], ix_db, &ix_options, &ix_sum, &fx_err);
}

#define IX_NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Ingests them, and opens the store that has come of it, verified. */
#define IX_STORE(...) ix_store(IX_NAMES(__VA_ARGS__))

static inline apl_store *ix_store(const char *const *names)
{
    apl_status status = ix_ingest(names);
    cr_assert_eq(status, APL_OK, "%d %s", status, fx_err.message);
    apl_store *store = fx_open(ix_db);
    OK(apl_store_verify(store, NULL, &fx_err));
    return store;
}

/* What was noticed has these words, or, without them, nothing was; the store is closed. */
static inline void is_said_of(apl_store *s, const char *words)
{
    if (words)
        cr_assert_not_null(strstr(ix_said, words), "%s", ix_said);
    else
        cr_assert_str_empty(ix_said);
    apl_store_close(s);
}

/* Fails with these words in one line, and leaves nothing behind. */
#define IX_REFUSED(status, words, ...) ix_refused(status, words, IX_NAMES(__VA_ARGS__))

static inline void ix_refused(apl_status wanted, const char *words, const char *const *names)
{
    apl_status is = ix_ingest(names);
    cr_assert_eq(is, wanted, "%d %s", is, fx_err.message);
    cr_assert(strstr(fx_err.message, words) && !strchr(fx_err.message, '\n'), "\"%s\" lacks \"%s\"",
              fx_err.message, words);
    cr_assert(!fx_exists(ix_db), "%s", fx_list(ix_db));
}

/* A field's values of all records. */
static inline const apl_column *ix_column(const apl_store *store, const apl_batch *all, const char *field)
{
    int i = apl_store_find_field(store, field);
    cr_assert_geq(i, 0, "no field %s", field);
    return apl_batch_column(all, (unsigned)i);
}

#endif
