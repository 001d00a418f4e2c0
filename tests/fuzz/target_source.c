/* An archive as it lies in a file: read as a source, member by member; and if that comes to its end, ingested,
 * and the store that it gives verified. */
#include "apl_ingest.h"
#include "cifar.h"
#include "fuzz.h"
#include "source.h"

static bool wanted(const char *name, void *user)
{
    struct cifar_part part;
    (void)user;
    return cifar_find(name, &part) || *name == 'd';
}

/* Reads a member in portions that grow; what it says of its size is true. */
static void read_member(struct source *source, const struct source_member *member)
{
    struct cursor *c = source_cursor(source);
    uint64_t left = member->size;
    for (size_t portion = 1; left > 0; portion = portion > 9000 ? 1 : portion * 3) {
        size_t n = portion < left ? portion : (size_t)left;
        if (!cursor_take(c, n))
            break;
        left -= n;
    }
    apl_error err;
    if (left > 0)
        MUST(source_failure(source, &err) != APL_OK);
    else
        MUST(cursor_at_end(c) || source_failure(source, &err) != APL_OK);
}

/* Returns whether a member of CIFAR was there, and all of the source is well. */
static bool read_source(const char *path)
{
    struct source *source;
    struct source_member member;
    struct cifar_part part;
    apl_error err;
    apl_status status;
    bool known = false;
    if (source_open(path, wanted, NULL, NULL, &source, &err) != APL_OK)
        return false;
    while ((status = source_next(source, &member, &err)) == APL_OK) {
        known |= cifar_find(member.name, &part);
        for (const char *p = member.path; *p; p++)
            MUST((unsigned char)*p >= ' ' && *p != 127);
        if (member.size % 3) /* others are left unread */
            read_member(source, &member);
    }
    MUST(status != APL_END || source_bytes(source) == source_size(source));
    MUST(status == APL_END || !strchr(err.message, '\n'));
    source_close(source);
    return known && status == APL_END;
}

static void verify(const char *db)
{
    apl_store *store;
    MUST(apl_store_open(db, NULL, &store, NULL) == APL_OK);
    apl_verify_options options = APL_VERIFY_OPTIONS_INIT;
    options.threads = 1;
    MUST(apl_store_verify(store, &options, NULL) == APL_OK);
    apl_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128], db[128];
    apl_error err;
    snprintf(path, sizeof path, "%s", fuzz_file("archive", data, size));
    if (!read_source(path))
        return 0;
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    options.partial = 1;
    apl_writer_options writer = APL_WRITER_OPTIONS_INIT;
    writer.threads = 1;
    writer.replace = 1;
    options.writer = &writer;
    snprintf(db, sizeof db, "%s/db", fuzz_folder());
    if (apl_ingest(path, db, &options, NULL, &err) == APL_OK)
        verify(db);
    return 0;
}
