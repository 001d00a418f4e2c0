/* apl_ingest: a source is read member by member, and what its format makes of them appended to a writer. */
#include "apl_ingest.h"

#include "format.h"
#include "sized.h"
#include "source.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPORT_ROWS  341u       /* about 1 MB of CIFAR's rows from one report to the next */
#define REPORT_BYTES (1u << 20) /* of the source, where records are larger */

struct ingest {
    apl_ingest_options options;
    apl_writer_options writing;
    const char *db;
    struct source *source;
    apl_writer *writer;
    struct format_host host;
    const struct format *format;
    void *state;             /* the format's */
    bool not_the_source;     /* what has failed is the writer, or the caller has cancelled */
    uint64_t unreported;     /* rows since the last report, */
    uint64_t reported_bytes; /* and bytes of the source up to that */
    uint64_t skipped;
    bool found; /* a file that the format wants, when names were listed */
    apl_ingest_progress progress;
};

/* ------------------------------------------------------------------------------- talking to the caller */

static int report_read(struct ingest *in)
{
    if (!in->options.progress)
        return 0;
    if (in->source) {
        in->progress.source_bytes = source_bytes(in->source);
        in->progress.source_size = source_size(in->source);
    }
    return in->options.progress(in->options.user, &in->progress);
}

static int report_reading(void *user)
{
    struct ingest *in = user;
    apl_progress p = {0};
    if (in->writer)
        apl_writer_progress(in->writer, &p);
    in->progress.records = p.records;
    in->progress.raw_bytes = p.raw_bytes;
    in->progress.stored_bytes = p.stored_bytes;
    return report_read(in);
}

static int report_checking(void *user, const apl_progress *p)
{
    struct ingest *in = user;
    in->progress.phase = APL_INGEST_CHECKING;
    in->progress.records = p->records;
    in->progress.raw_bytes = p->raw_bytes;
    in->progress.stored_bytes = p->stored_bytes;
    return report_read(in);
}

static void notice(void *user, const char *name, const char *text)
{
    struct ingest *in = user;
    char line[sizeof(((apl_error *)0)->message)];
    if (!in->options.notice)
        return;
    snprintf(line, sizeof line, "%s: %s%s%s", source_name(in->source), name, *name ? ": " : "", text);
    in->options.notice(in->options.user, line);
}

/* ----------------------------------------------------------------------------------- what the format is given */

static apl_status not_the_source(void *user, apl_status status)
{
    struct ingest *in = user;
    in->not_the_source = status != APL_OK;
    return status;
}

static apl_status give_writer(void *user, apl_writer **writer, apl_error *err)
{
    struct ingest *in = user;
    apl_status status = APL_OK;
    if (!in->writing.tool)
        in->writing.tool = "aplingest " APL_VERSION_STRING;
    if (!in->writer)
        status = apl_writer_open(in->db, &in->writing, &in->writer, err);
    *writer = in->writer;
    return not_the_source(in, status);
}

/* Is it time to tell of progress again? */
static bool is_due(struct ingest *in)
{
    uint64_t bytes = source_bytes(in->source);
    if (++in->unreported < REPORT_ROWS && bytes - in->reported_bytes < REPORT_BYTES)
        return false;
    in->unreported = 0;
    in->reported_bytes = bytes;
    return true;
}

static apl_status append_record(void *user, const apl_value *values, apl_error *err)
{
    struct ingest *in = user;
    apl_status status = apl_writer_append(in->writer, values, err);
    if (status == APL_OK && is_due(in) && report_reading(in))
        status = fail(err, APL_E_CANCELLED, "cancelled");
    return not_the_source(in, status);
}

static apl_status leave_out(void *user, const char *path, const apl_error *why, apl_error *err)
{
    struct ingest *in = user;
    if (in->skipped >= in->options.skip_bad) {
        char limit[64] = "";
        if (in->options.skip_bad)
            snprintf(limit, sizeof limit, " (and more than the %" PRIu64 " bad files to skip)",
                     in->options.skip_bad);
        return not_the_source(
            in, fail(err, why->status, "%s: %s: %s%s", source_name(in->source), path, why->message, limit));
    }
    apl_writer *writer;
    TRY(give_writer(in, &writer, err));
    TRY(not_the_source(in, apl_writer_skipped(writer, path, why->message, err)));
    in->skipped++;
    if (in->options.skipped)
        in->options.skipped(in->options.user, path, why->message);
    return APL_OK;
}

static bool is_wanted(const char *name, void *user)
{
    struct ingest *in = user;
    return in->format->wants(in->state, name);
}

/* ------------------------------------------------------------------------------------ member by member */

/* Gives a failure in a member the name of who is to blame: the source where that is broken, else the member.
 */
static apl_status blame(struct ingest *in, const char *name, apl_status status, apl_error *err)
{
    if (in->not_the_source)
        return status;
    apl_error broken;
    if (source_failure(in->source, &broken) != APL_OK) {
        *err = broken;
        return broken.status;
    }
    return fail_in(err, status, "%s: %s", source_name(in->source), name);
}

static apl_status read_members(struct ingest *in, apl_error *err)
{
    struct source_member m;
    apl_status status;
    while ((status = source_next(in->source, &m, err)) == APL_OK) {
        struct format_member member = {m.name, m.path, m.size, source_cursor(in->source)};
        status = in->format->member(in->state, &member, err);
        if (status != APL_OK)
            return blame(in, in->format->folders ? m.path : m.name, status, err);
    }
    return status == APL_END ? APL_OK : status;
}

/* ------------------------------------------------------------------------------------------- which format */

static void end_format(struct ingest *in)
{
    if (in->format)
        in->format->close(in->state);
    in->format = NULL;
    in->state = NULL;
    source_close(in->source);
    in->source = NULL;
}

static apl_status begin_format(struct ingest *in, const struct format *format, apl_error *err)
{
    in->format = format;
    return format->open(&in->host, &in->state, err);
}

/* Does another format take a file of that name? Then a source that has both is not this one's, unless it was asked for. */
static bool is_anothers(const struct ingest *in, const char *name)
{
    const char *slash = strrchr(name, '/');
    return !in->options.format && format_cifar.wants(NULL, slash ? slash + 1 : name);
}

/* The first reading of a source whose format has folders: names only. *other: it is another format's. */
static apl_status list_names(struct ingest *in, const char *path, bool *other, apl_error *err)
{
    struct source_member m;
    apl_status status;
    *other = false;
    TRY(source_open_tree(path, is_wanted, true, report_reading, in, &in->source, err));
    in->host.source = source_name(in->source);
    while ((status = source_next(in->source, &m, err)) == APL_OK && !*other) {
        *other = !m.directory && !in->found && is_anothers(in, m.name);
        in->found |= !m.directory && in->format->wants(in->state, m.name);
        if (!*other)
            TRY(in->format->list(in->state, m.name, m.directory, err));
    }
    if (status == APL_END)
        status = in->format->listed(in->state, err);
    source_close(in->source);
    in->source = NULL;
    return status;
}

/* Can it be read twice? */
static bool is_lasting(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static apl_status open_folders(struct ingest *in, const char *path, bool *other, apl_error *err)
{
    TRY(begin_format(in, &format_folder, err));
    TRY(list_names(in, path, other, err));
    return *other ? APL_OK : source_open_tree(path, is_wanted, false, report_reading, in, &in->source, err);
}

/* What has folders is tried first, and must have images in folders by class, and nothing of CIFAR's. Whatever else is wrong with a
 * source, reading it as CIFAR tells. */
static apl_status open_any(struct ingest *in, const char *path, apl_error *err)
{
    const struct format *asked = in->options.format ? format_by_name(in->options.format) : NULL;
    bool other = false;
    if (in->options.format && !asked)
        return fail(err, APL_E_INVALID, "no format is called %.64s; there are cifar and folder",
                    in->options.format);
    if (asked == &format_folder && !is_lasting(path))
        return fail(err, APL_E_INVALID, "%s: images in folders are read twice, so from a file or directory",
                    strcmp(path, "-") == 0 ? "standard input" : "the source");
    if (asked == &format_folder)
        return open_folders(in, path, &other, err);
    if (!asked && is_lasting(path)) {
        apl_error ignored;
        apl_status status = open_folders(in, path, &other, &ignored);
        if (status == APL_OK && !other)
            return APL_OK;
        if (status == APL_E_CANCELLED || status == APL_E_NOMEM || in->found) {
            *err = ignored;
            return status;
        }
        end_format(in);
    }
    TRY(begin_format(in, &format_cifar, err));
    return source_open(path, is_wanted, report_reading, in, &in->source, err);
}

/* ------------------------------------------------------------------------------------------ the driver */

static apl_status describe_source(struct ingest *in, apl_ingest_summary *sum, apl_error *err)
{
    TRY(in->format->finish(in->state, sum->format, err));
    TRY(source_digest(in->source, sum->source_digest, err));
    return apl_writer_set_source(in->writer, sum->format, sum->source_digest, err);
}

/* The size of the file that has been made. */
static uint64_t file_size(const char *db)
{
    size_t size = strlen(db) + sizeof "/data.mdb";
    char *path = malloc(size);
    struct stat st = {0};
    if (path) {
        snprintf(path, size, "%s/data.mdb", db);
        if (stat(path, &st) != 0)
            st.st_size = 0;
    }
    free(path);
    return (uint64_t)st.st_size;
}

static apl_status commit(struct ingest *in, apl_ingest_summary *sum, apl_error *err)
{
    apl_progress appended;
    apl_writer_progress(in->writer, &appended);
    in->progress.source_bytes = sum->source_bytes = source_bytes(in->source);
    in->progress.source_size = source_size(in->source);
    end_format(in); /* what reading needed: the memory is free for reading back */
    apl_writer_on_commit(in->writer, report_checking, in);
    TRY(apl_writer_commit(in->writer, err));
    sum->records = in->progress.records = appended.records;
    sum->raw_bytes = in->progress.raw_bytes = appended.raw_bytes;
    sum->file_bytes = in->progress.stored_bytes = file_size(in->db);
    in->progress.phase = APL_INGEST_DONE;
    report_read(in);
    return APL_OK;
}

static apl_status take_ingest_options(struct ingest *in, const apl_ingest_options *options, apl_error *err)
{
    in->options = (apl_ingest_options)APL_INGEST_OPTIONS_INIT;
    in->writing = (apl_writer_options)APL_WRITER_OPTIONS_INIT;
    TRY(options_take(&in->options, sizeof in->options, options, "apl_ingest_options", err));
    TRY(options_take(&in->writing, sizeof in->writing, in->options.writer, "apl_writer_options", err));
    in->host = (struct format_host){.user = in,
                                    .partial = in->options.partial != 0,
                                    .unchecked = in->options.unchecked != 0,
                                    .threads = in->writing.threads,
                                    .writer = give_writer,
                                    .append = append_record,
                                    .not_the_source = not_the_source,
                                    .bad = leave_out,
                                    .notice = notice};
    return APL_OK;
}

apl_status apl_ingest(const char *source, const char *db, const apl_ingest_options *options,
                      apl_ingest_summary *summary, apl_error *err)
{
    apl_error own;
    apl_ingest_summary sum = {.format = ""};
    struct ingest in = {.db = db};
    apl_status status;
    if (!err)
        err = &own;
    if (!source || !db)
        return fail(err, APL_E_INVALID, "the source and the store must be named");
    TRY(take_ingest_options(&in, options, err));
    GUARD(open_any(&in, source, err));
    in.host.source = source_name(in.source);
    GUARD(read_members(&in, err));
    GUARD(describe_source(&in, &sum, err));
    GUARD(commit(&in, &sum, err));
    if (summary)
        *summary = sum;
out:
    end_format(&in);
    apl_writer_close(in.writer);
    return status;
}
