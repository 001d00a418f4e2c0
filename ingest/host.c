/* What an ingest gives its format, and reports to its caller: see host.h. */
#include "host.h"

#include "notice.h"
#include "parts.h"
#include "said_kinds.h"
#include "source.h"
#include "spool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define REPORT_ROWS  341u /* about 1 MB of CIFAR's rows from one report to the next */
#define PATH_ROOM    1200u
#define REPORT_BYTES (1u << 20) /* of the source, where records are larger */

/* ------------------------------------------------------------------------------- talking to the caller */

static uint64_t bytes_read(const struct ingest *in)
{
    return in->files ? files_bytes(in->files)
                     : in->source_bytes + (in->source ? source_bytes(in->source) : 0);
}

void count_source(struct ingest *in)
{
    in->progress.source_bytes = bytes_read(in);
    if (in->share.parts) { /* how much of it will be read is not known */
        in->progress.source_size = 0;
        return;
    }
    in->progress.source_size = in->files               ? files_size(in->files)
                               : in->sources.count > 1 ? in->source_size
                                                       : source_size(in->source);
}

int report_read(struct ingest *in)
{
    if (!in->options.progress)
        return 0;
    if (in->source || in->files)
        count_source(in);
    return in->options.progress(in->options.user, &in->progress);
}

int report_reading(void *user)
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

int report_checking(void *user, const apl_progress *p)
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
    const struct ingest *in = user;
    notice_tell(&in->options, "%s: %s%s%s", in->host.source, name, *name ? ": " : "", text);
}

void drop_source(struct ingest *in)
{
    source_close(in->source);
    in->source = NULL;
    in->host.source = in->shown;
}

/* ----------------------------------------------------------------------------------- what the format is given */

static apl_status not_the_source(void *user, apl_status status)
{
    struct ingest *in = user;
    in->not_the_source = status != APL_OK;
    return status;
}

static apl_status made_fields(void *user, apl_status status, apl_error *err)
{
    struct ingest *in = user;
    if (status == APL_OK)
        status = said_kinds_settle(&in->host, in->format, in->state, in->writer, err);
    if (status == APL_E_INVALID)
        fail_in(err, status, "%s", in->host.source);
    return not_the_source(in, status);
}

static apl_status give_writer(void *user, apl_writer **writer, apl_error *err)
{
    struct ingest *in = user;
    apl_status status = APL_OK;
    if (!in->writer)
        status =
            in->share.parts ? parts_writer(in, err) : apl_writer_open(in->db, &in->writing, &in->writer, err);
    *writer = in->writer;
    return not_the_source(in, status);
}

/* Is it time to tell of progress again? */
static bool is_due(struct ingest *in)
{
    uint64_t bytes = bytes_read(in);
    if (++in->unreported < REPORT_ROWS && bytes - in->reported_bytes < REPORT_BYTES)
        return false;
    in->unreported = 0;
    in->reported_bytes = bytes;
    return true;
}

/* The path of what lies in a source: with that, if there are several. The paths of files have it in them. */
static const char *full_path(const struct ingest *in, const char *path, char *room, size_t size)
{
    if (in->files || in->sources.count <= 1)
        return path;
    snprintf(room, size, "%s: %s", in->host.source, path);
    return room;
}

static apl_status leave_out(void *user, const char *path, const apl_error *why, apl_error *err)
{
    struct ingest *in = user;
    if (in->skipped >= in->options.skip_bad) {
        char limit[96] = " (--skip-bad N, or skip_bad=N in Python, leaves out up to N bad files)";
        if (in->options.skip_bad)
            snprintf(limit, sizeof limit, " (and more than the %" PRIu64 " bad files to skip)",
                     in->options.skip_bad);
        const char *source = in->files ? "" : in->host.source; /* the paths of files have it in them */
        return not_the_source(in, fail(err, why->status, "%s%s%s: %s%s", source, *source ? ": " : "", path,
                                       why->message, limit));
    }
    apl_writer *writer;
    TRY(give_writer(in, &writer, err));
    char room[PATH_ROOM];
    path = full_path(in, path, room, sizeof room);
    TRY(not_the_source(in, apl_writer_skipped(writer, path, why->message, err)));
    in->skipped++;
    char shown[4096];
    if (in->options.skipped)
        in->options.skipped(in->options.user, printable(shown, sizeof shown, path, strlen(path)),
                            why->message);
    return APL_OK;
}

/* A record whose values contradict what its fields are. */
static apl_status leave_out_record(struct ingest *in, const apl_error *why, apl_error *err)
{
    char place[PATH_ROOM];
    apl_progress p;
    apl_error bad = *why;
    bad.status = APL_E_SOURCE; /* the values are the source's */
    apl_writer_progress(in->writer, &p);
    if (!in->format->where || !in->format->where(in->state, place, sizeof place))
        snprintf(place, sizeof place, "record %" PRIu64, p.records + in->skipped);
    return leave_out(in, place, &bad, err);
}

static apl_status append_record(void *user, const apl_value *values, apl_error *err)
{
    struct ingest *in = user;
    apl_error why;
    apl_status status = apl_writer_append(in->writer, values, err);
    if (status == APL_E_INVALID && apl_writer_check(in->writer, values, &why) == APL_E_INVALID)
        return leave_out_record(in, &why, err);
    if (status == APL_OK && is_due(in) && report_reading(in))
        status = fail(err, APL_E_CANCELLED, "cancelled");
    return not_the_source(in, status);
}

static void tell_warned(void *user, const char *path, const struct warnings *w)
{
    const struct ingest *in = user;
    char room[PATH_ROOM], why[sizeof w->first + 64], more[48] = "";
    if (!in->options.warned)
        return;
    if (w->count > 1)
        snprintf(more, sizeof more, " (and %s more)", number_of(w->count - 1, "warning", "warnings"));
    snprintf(why, sizeof why, "%s%s", w->first, more);
    in->options.warned(in->options.user, full_path(in, path, room, sizeof room), why);
}

static apl_status open_host_file(void *user, size_t file, struct format_stream **stream, apl_error *err)
{
    return files_open(((struct ingest *)user)->files, file, stream, err);
}

static apl_status open_host_part(void *user, size_t file, const struct format_part *part,
                                 struct format_stream **stream, apl_error *err)
{
    return files_open_part(((struct ingest *)user)->files, file, part, stream, err);
}

static apl_status read_host_at(void *user, size_t file, uint64_t offset, void *out, size_t size,
                               apl_error *err)
{
    return files_read_at(((struct ingest *)user)->files, file, offset, out, size, err);
}

static apl_status close_host_file(void *user, struct format_stream *stream, apl_error *err)
{
    return files_close(((struct ingest *)user)->files, stream, err);
}

static void drop_host_file(void *user, struct format_stream *stream)
{
    files_drop(((struct ingest *)user)->files, stream);
}

static apl_status read_host_beside(void *user, size_t file, const char *path, struct buffer *bytes,
                                   apl_error *err)
{
    const struct ingest *in = user;
    return files_read_beside(in->files, file, path, in->options.outside != 0, bytes, err);
}

static apl_status open_scratch(void *user, int *fd, apl_error *err)
{
    struct ingest *in = user;
    return not_the_source(in, spool_open(in->db, fd, err));
}

static apl_status host_cut_off(void *user, struct format_stream *stream, apl_error *err)
{
    return files_cut_off(((struct ingest *)user)->files, stream, err);
}

static apl_status count_records(void *user, const char *split, uint32_t number, uint64_t records,
                                apl_error *err)
{
    struct ingest *in = user;
    return share_count(&in->share, split, number, records, err);
}

/* Who asks for what is a part's own will read other things than the other parts do. */
static struct share *own_share(void *user)
{
    struct ingest *in = user;
    if (in->files && in->host.part)
        files_settle(in->files);
    return &in->share;
}

static void share_of_split(void *user, const char *split, uint64_t *first, uint64_t *count)
{
    share_range(own_share(user), split, first, count);
}

static bool are_any_own(void *user, const char *split, uint64_t records)
{
    return share_peek(own_share(user), split, records);
}

static bool is_own_record(void *user, const char *split, uint64_t records)
{
    return share_pass(own_share(user), split, records);
}

static bool has_all_records(void *user)
{
    return share_ended(&((struct ingest *)user)->share);
}

void host_begin(struct ingest *in)
{
    in->host = (struct format_host){.user = in,
                                    .kinds = &in->kinds,
                                    .partial = in->options.partial != 0,
                                    .unchecked = in->options.unchecked != 0,
                                    .allow_warnings = in->options.allow_warnings != 0,
                                    .threads = in->writing.threads,
                                    .writer = give_writer,
                                    .append = append_record,
                                    .not_the_source = not_the_source,
                                    .made_fields = made_fields,
                                    .bad = leave_out,
                                    .warned = tell_warned,
                                    .notice = notice,
                                    .options = &in->options,
                                    .open_file = open_host_file,
                                    .open_part = open_host_part,
                                    .read_at = read_host_at,
                                    .close_file = close_host_file,
                                    .drop_file = drop_host_file,
                                    .read_beside = read_host_beside,
                                    .cut_off = host_cut_off,
                                    .scratch = open_scratch,
                                    .part = in->options.parts != 0,
                                    .count = count_records,
                                    .share = share_of_split,
                                    .coming = are_any_own,
                                    .own = is_own_record,
                                    .ended = has_all_records};
}
