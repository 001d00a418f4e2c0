/* apl_ingest: a source is read member by member, and what its format makes of them appended to a writer. */
#include "apl_ingest.h"

#include "detect.h"
#include "files.h"
#include "format.h"
#include "found_file.h"
#include "hash.h"
#include "sized.h"
#include "source.h"

#include <errno.h>
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
    const char **paths; /* of all sources */
    struct sources sources;
    char shown[256];       /* the first, safe to print */
    struct source *source; /* of formats that read members: the one being read */
    struct files *files;   /* of formats that read files */
    struct sha256 *sha;    /* of several sources: over those that have been read */
    uint64_t source_bytes; /* of the sources before the one being read */
    uint64_t source_size;  /* of several: of all */
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

static uint64_t bytes_read(const struct ingest *in)
{
    return in->files ? files_bytes(in->files)
                     : in->source_bytes + (in->source ? source_bytes(in->source) : 0);
}

static void count_source(struct ingest *in)
{
    in->progress.source_bytes = bytes_read(in);
    in->progress.source_size = in->files               ? files_size(in->files)
                               : in->sources.count > 1 ? in->source_size
                                                       : source_size(in->source);
}

static int report_read(struct ingest *in)
{
    if (!in->options.progress)
        return 0;
    if (in->source || in->files)
        count_source(in);
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
    snprintf(line, sizeof line, "%s: %s%s%s", in->host.source, name, *name ? ": " : "", text);
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
    uint64_t bytes = bytes_read(in);
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
        const char *source = in->files ? "" : in->host.source; /* the paths of files have it in them */
        return not_the_source(in, fail(err, why->status, "%s%s%s: %s%s", source, *source ? ": " : "", path,
                                       why->message, limit));
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

static apl_status host_cut_off(void *user, struct format_stream *stream, apl_error *err)
{
    return files_cut_off(((struct ingest *)user)->files, stream, err);
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

/* One source to its end. */
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
    files_free(in->files);
    in->files = NULL;
}

static apl_status begin_format(struct ingest *in, const struct format *format, apl_error *err)
{
    in->format = format;
    if (format != &format_tokens &&
        (in->options.chunk || in->options.document_end || (int)in->options.tokens))
        return fail(err, APL_E_INVALID, "the format %s has no streams of tokens to cut", format->name);
    if (in->options.class_count && format != &format_idx && format != &format_npy)
        return fail(err, APL_E_INVALID, "the format %s takes no names of classes", format->name);
    return format->open(&in->host, &in->state, err);
}

/* Does another format take a file of that name? Then a source that has both is not this one's, unless it was asked for. */
static bool is_anothers(const struct ingest *in, const char *name)
{
    const char *slash = strrchr(name, '/');
    return !in->options.format && format_cifar.wants(NULL, slash ? slash + 1 : name);
}

/* Shows a file that was listed to a format that wants to look at it. */
static apl_status show_file(struct ingest *in, const struct source_member *m, apl_error *err)
{
    if (m->directory || !in->format->looks || !in->format->looks(in->state, m->name))
        return APL_OK;
    struct format_member member = {m->name, m->path, 0, source_cursor(in->source)};
    TRY(source_look(in->source, &member.size, err));
    apl_status status = in->format->look(in->state, &member, err);
    return status == APL_OK ? APL_OK : blame(in, m->path, status, err);
}

/* The first reading of a source whose format has folders: names, and a look at some files. *other: it is another format's. */
static apl_status list_names(struct ingest *in, const char *path, bool *other, apl_error *err)
{
    struct source_member m;
    apl_status status;
    TRY(source_open_tree(path, is_wanted, SOURCE_LIST, report_reading, in, &in->source, err));
    in->host.source = source_name(in->source);
    while ((status = source_next(in->source, &m, err)) == APL_OK && !*other) {
        *other = !m.directory && !in->found && is_anothers(in, m.name);
        in->found |= !m.directory && in->format->wants(in->state, m.name);
        if (*other)
            break;
        TRY(in->format->list(in->state, m.name, m.directory, err));
        TRY(show_file(in, &m, err));
    }
    if (status == APL_END)
        status = in->format->listed(in->state, err);
    source_close(in->source);
    in->source = NULL;
    return status;
}

/* Opens a source of a format that reads members: of those that list them, a second time. */
static apl_status open_members(struct ingest *in, const char *path, bool *other, apl_error *err)
{
    *other = false;
    if (in->format->list)
        TRY(list_names(in, path, other, err));
    if (*other)
        return APL_OK;
    TRY(in->format->folders ? source_open_tree(path, is_wanted, in->format->list ? SOURCE_TREE : SOURCE_ANY,
                                               report_reading, in, &in->source, err)
                            : source_open(path, is_wanted, report_reading, in, &in->source, err));
    in->host.source = source_name(in->source);
    return APL_OK;
}

/* A format that was asked for, or that single files tell. */
static apl_status open_known(struct ingest *in, const struct format *format, struct files **files,
                             apl_error *err)
{
    const char *path = in->sources.paths[0];
    bool other = false;
    if (format->list && !source_is_lasting(path))
        return fail(err, APL_E_INVALID, "%s: images in folders are read twice, so from a file or directory",
                    strcmp(path, "-") == 0 ? "standard input" : "the source");
    if (in->sources.count > 1 && !format->several && !format->read)
        return fail(err, APL_E_INVALID, "the format %s takes one source, not %zu", format->name,
                    in->sources.count);
    if (format->read && !*files && !format->member)
        return fail(err, APL_E_INVALID, "%s: the format %s needs files or directories",
                    strcmp(path, "-") == 0 ? "standard input" : path, format->name);
    if (*files)
        in->host.files = files_list(in->files = *files, &in->host.file_count);
    *files = NULL;
    TRY(begin_format(in, format, err));
    return in->files ? APL_OK : open_members(in, path, &other, err);
}

/* Is it of images in folders by class, and of nothing of CIFAR's? *done: it is, and it is open. */
static apl_status try_folders(struct ingest *in, const char *path, bool *done, bool *other, apl_error *err)
{
    TRY(begin_format(in, &format_folder, err));
    apl_status status = open_members(in, path, other, err);
    *done = status == APL_OK && !*other;
    if (!*done)
        end_format(in);
    return status;
}

/* Images in folders come first. Whatever else is wrong with a source of which nothing else has told the format, reading it as CIFAR
 * tells. */
static apl_status open_unknown(struct ingest *in, const char *path, const struct format *format,
                               struct files **files, apl_error *err)
{
    bool done = false, other = false;
    if (source_is_lasting(path)) {
        apl_error why;
        apl_status status = try_folders(in, path, &done, &other, &why);
        if (status == APL_E_CANCELLED || status == APL_E_NOMEM ||
            (status != APL_OK && in->found && !format)) {
            *err = why;
            return status;
        }
    }
    if (done)
        return APL_OK;
    if (format && !other)
        return open_known(in, format, files, err);
    TRY(begin_format(in, &format_cifar, err));
    return open_members(in, path, &other, err);
}

/* No format that takes several sources has claimed them. */
static apl_status refuse_several(const struct ingest *in, apl_error *err)
{
    char shown[256];
    for (size_t i = 0; i < in->sources.count; i++) {
        const char *path = in->sources.paths[i];
        struct stat st;
        if (stat(path, &st) != 0)
            return fail_errno(err, errno, "%s", printable(shown, sizeof shown, path, strlen(path)));
    }
    return fail(
        err, APL_E_INVALID,
        "%s and the %zu sources after it are not of one format that takes several: cifar and folder take one",
        in->shown, in->sources.count - 1);
}

static apl_status open_any(struct ingest *in, struct files **files, apl_error *err)
{
    const struct format *format = NULL;
    const char *path = in->sources.paths[0];
    char names[160];
    if (in->options.format && !(in->sources.asked = format_by_name(in->options.format)))
        return fail(err, APL_E_INVALID, "no format is called %.64s; there are %s", in->options.format,
                    format_names(names, sizeof names));
    TRY(detect(&in->sources, &format, files, err));
    if (format && (in->sources.asked || in->sources.count > 1 || !source_is_directory(path)))
        return open_known(in, format, files, err);
    if (in->sources.count > 1)
        return refuse_several(in, err);
    return open_unknown(in, path, format, files, err);
}

/* ------------------------------------------------------------------------------------------ the driver */

/* One of several sources has been read. */
static apl_status close_source(struct ingest *in, const char *path, apl_error *err)
{
    const char *name = path_last(path);
    uint8_t digest[32], size[8];
    TRY(source_digest(in->source, digest, err));
    if (!in->sha && !(in->sha = sha256_new()))
        return fail_nomem(err);
    store_le(size, source_bytes(in->source), 8);
    sha256_add(in->sha, name, strlen(name) + 1);
    sha256_add(in->sha, size, sizeof size);
    sha256_add(in->sha, digest, sizeof digest);
    in->source_bytes += source_bytes(in->source);
    source_close(in->source);
    in->source = NULL;
    return APL_OK;
}

static apl_status read_sources(struct ingest *in, apl_error *err)
{
    bool other = false;
    if (in->files)
        return in->format->read(in->state, err);
    TRY(read_members(in, err));
    for (size_t i = 1; i < in->sources.count; i++) {
        TRY(close_source(in, in->sources.paths[i - 1], err));
        TRY(open_members(in, in->sources.paths[i], &other, err));
        TRY(read_members(in, err));
    }
    return APL_OK;
}

static apl_status take_digest(struct ingest *in, uint8_t sha256[32], apl_error *err)
{
    if (in->files)
        return files_digest(in->files, sha256, err);
    if (in->sources.count == 1)
        return source_digest(in->source, sha256, err);
    TRY(close_source(in, in->sources.paths[in->sources.count - 1], err));
    sha256_end(in->sha, sha256);
    return APL_OK;
}

static apl_status describe_source(struct ingest *in, apl_ingest_summary *sum, apl_error *err)
{
    TRY(in->format->finish(in->state, sum->format, err));
    TRY(take_digest(in, sum->source_digest, err));
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
    count_source(in);
    sum->source_bytes = in->progress.source_bytes;
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

static apl_status take_image_options(struct ingest *in, apl_error *err)
{
    const char *images = in->options.images;
    int quality = in->options.jpeg_quality;
    if (images && strcmp(images, "jpeg") != 0 && strcmp(images, "pixels") != 0)
        return fail(err, APL_E_INVALID, "images become jpeg or pixels, not %.64s", images);
    if (quality < 0 || quality > 100)
        return fail(err, APL_E_INVALID, "a JPEG quality of %d: it is from 1 to 100", quality);
    if (quality && images && strcmp(images, "pixels") == 0)
        return fail(err, APL_E_INVALID, "images become pixels, or JPEG files of quality %d, not both",
                    quality);
    in->host.jpeg_quality = quality;
    in->host.images = quality                         ? IMAGES_JPEG
                      : !images                       ? IMAGES_AUTO
                      : strcmp(images, "pixels") == 0 ? IMAGES_PIXELS
                                                      : IMAGES_JPEG;
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
                                    .notice = notice,
                                    .options = &in->options,
                                    .open_file = open_host_file,
                                    .open_part = open_host_part,
                                    .read_at = read_host_at,
                                    .close_file = close_host_file,
                                    .drop_file = drop_host_file,
                                    .read_beside = read_host_beside,
                                    .cut_off = host_cut_off};
    return take_image_options(in, err);
}

static apl_status gather_sources(struct ingest *in, const char *source, apl_error *err)
{
    size_t count = in->options.more_count + 1;
    in->paths = calloc(count, sizeof *in->paths);
    if (!in->paths)
        return fail_nomem(err);
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        in->paths[i] = i == 0 ? source : in->options.more[i - 1];
        if (stat(in->paths[i], &st) == 0 && S_ISREG(st.st_mode))
            in->source_size += (uint64_t)st.st_size;
    }
    in->progress.source_size = in->source_size;
    const char *shown = strcmp(source, "-") == 0 ? "standard input" : source;
    in->host.source = printable(in->shown, sizeof in->shown, shown, strlen(shown));
    in->sources = (struct sources){.paths = in->paths, .count = count, .poll = report_reading, .user = in};
    return APL_OK;
}

apl_status apl_ingest(const char *source, const char *db, const apl_ingest_options *options,
                      apl_ingest_summary *summary, apl_error *err)
{
    apl_error own;
    apl_ingest_summary sum = {.format = ""};
    struct ingest in = {.db = db};
    struct files *files = NULL;
    apl_status status;
    if (!err)
        err = &own;
    if (!source || !db)
        return fail(err, APL_E_INVALID, "the source and the store must be named");
    TRY(take_ingest_options(&in, options, err));
    GUARD(gather_sources(&in, source, err));
    GUARD(open_any(&in, &files, err));
    GUARD(read_sources(&in, err));
    GUARD(describe_source(&in, &sum, err));
    GUARD(commit(&in, &sum, err));
    if (summary)
        *summary = sum;
out:
    end_format(&in);
    files_free(files);
    sha256_free(in.sha);
    free(in.paths);
    apl_writer_close(in.writer);
    return status;
}
