/* Which format a source is of: see choose.h. */
#include "choose.h"

#include "found_file.h"
#include "image_options.h"
#include "members.h"
#include "series.h"
#include "shown.h"
#include "source.h"
#include "unread.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The ways on from several sources. */
#define OR_JOIN  ", or make a store of each and a set of them with apldata join"
#define MAKE_ONE ". Unpack them into one directory" OR_JOIN
#define GIVE_ONE ". Give the directory that holds them as the one source" OR_JOIN

/* The ways on from a pipe that was given by its name, and from any pipe with what is no archive. */
#define GIVE_DASH  ", or as standard input: give - as the source"
#define COPY_FIRST ", given by their names: copy what a pipe brings to a file first"

static bool is_pipe(const char *path)
{
    struct stat st;
    return spool_shown(path) == path && stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

apl_status refuse_pipe(const struct ingest *in, apl_status status, apl_error *err)
{
    if (status != APL_E_SOURCE || in->writer || !is_pipe(in->sources.paths[0]))
        return status;
    apl_error why = *err;
    bool raw = in->options.format && strcmp(in->options.format, format_raw.name) == 0;
    return fail(err, status,
                "%s. A pipe that has a name is read as %s: for other archives, give - as the source, and the "
                "pipe as standard input; copy other files to disk first",
                why.message, raw ? "a tar archive" : "CIFAR alone");
}

static const char *way_to_one(const struct ingest *in)
{
    for (size_t i = 0; i < in->sources.count; i++)
        if (!source_is_directory(in->sources.paths[i]))
            return MAKE_ONE;
    return GIVE_ONE;
}

void end_format(struct ingest *in)
{
    if (in->format)
        in->format->close(in->state);
    in->format = NULL;
    in->state = NULL;
    drop_source(in);
    files_free(in->files);
    in->files = NULL;
}

/* Refuses options that the format has no use for. */
static apl_status check_uses(const struct ingest *in, const struct format *format, apl_error *err)
{
    const apl_ingest_options *o = &in->options;
    const struct {
        bool given;
        unsigned use;
        const char *lack;
    } uses[] = {
        {o->chunk || o->document_end || (int)o->tokens, FORMAT_TOKENS, "has no streams of tokens to cut"},
        {o->class_count > 0, FORMAT_CLASSES, "takes no names of classes"},
        {o->map_count > 0, FORMAT_FOLDERS, "has no folders whose classes could be named"},
        {image_options_given(o), FORMAT_IMAGES, "does not decode, resize or turn images"},
        {o->image_column || o->more_image_column_count || o->label_column || o->column_type_count,
         FORMAT_TABLE, "has no columns to be named or typed"},
        {o->mask_column_count > 0, FORMAT_MASKS,
         "has no masks beside its images: tables and WebDataset shards do"},
        {o->outside, FORMAT_TABLE, "has no paths that could lead out of a folder"},
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (uses[i].given && !(format->uses & uses[i].use))
            return fail(err, APL_E_INVALID, "the format %s %s", format->name, uses[i].lack);
    return APL_OK;
}

/* A gap in numbers may be one in the data. Files of values beside each other are numbered for other reasons. */
static apl_status tell_gap(struct ingest *in, const struct format *format, const char *const *paths,
                           size_t count, apl_error *err)
{
    static const struct format *const of_shards[] = {&format_webdataset, &format_tfrecord, &format_list,
                                                     &format_tokens};
    struct series_gap gap;
    char shown[512];
    bool found = false, shards = false;
    for (size_t i = 0; i < sizeof of_shards / sizeof *of_shards; i++)
        shards |= format == of_shards[i];
    if (shards)
        TRY(series_find_gap(paths, count, &gap, &found, err));
    if (found) {
        const char *name = path_last(gap.path), *path = gap.path;
        bool is_first = strcmp(printable(shown, sizeof shown, path, strlen(path)), in->host.source) == 0;
        in->host.notice(in, is_first ? "" : printable(shown, sizeof shown, name, strlen(name)), gap.text);
    }
    return APL_OK;
}

/* Shards that are missing from a series; but who gives one file by its name wants that one. */
static apl_status check_series(struct ingest *in, const struct format *format, apl_error *err)
{
    size_t count = in->files ? in->host.file_count : in->sources.count;
    if (in->options.partial || (count == 1 && !in->looked_for))
        return APL_OK;
    const char **paths = malloc((count + 1) * sizeof *paths);
    if (!paths)
        return fail_nomem(err);
    for (size_t i = 0; i < count; i++)
        paths[i] = in->files ? in->host.files[i].path : in->sources.paths[i];
    apl_status status = series_check(paths, count, err);
    if (status == APL_OK)
        status = tell_gap(in, format, paths, count, err);
    free(paths);
    return status;
}

static apl_status begin_format(struct ingest *in, const struct format *format, apl_error *err)
{
    in->format = format;
    if (in->host.part && !format->parts)
        return fail(err, APL_E_UNSUPPORTED,
                    "sources of the format %s cannot be shared out to parts: make a store of each, and a set "
                    "of them with apldata join",
                    format->name);
    return format->open(&in->host, &in->state, err);
}

/* A format that was asked for, or that single files tell. */
static apl_status open_known(struct ingest *in, const struct format *format, struct files **files,
                             apl_error *err)
{
    const char *path = in->sources.paths[0];
    bool other = false;
    bool standard = spool_shown(path) != path;
    struct stat st;
    TRY(check_uses(in, format, err));
    if (!standard && stat(path, &st) != 0)
        return fail_errno(err, errno, "%s", in->shown);
    if (lists_names(in, format) && !source_is_lasting(path))
        return fail(err, APL_E_INVALID, "%s: the format %s is read twice, so from a file or directory%s",
                    standard ? "standard input" : in->shown, format->name, is_pipe(path) ? GIVE_DASH : "");
    if (in->sources.count > 1 && !format->several && !format->read)
        return fail(err, APL_E_INVALID, "the format %s takes one source, not %zu%s", format->name,
                    in->sources.count, way_to_one(in));
    if (format->read && ((!*files && !format->member) || (*files && standard)))
        return fail(err, APL_E_INVALID, "%s: the format %s needs files or directories%s", spool_shown(path),
                    format->name, standard || is_pipe(path) ? COPY_FIRST : "");
    if (*files)
        in->host.files = files_list(in->files = *files, &in->host.file_count);
    *files = NULL;
    TRY(check_series(in, format, err));
    TRY(begin_format(in, format, err));
    return in->files ? APL_OK : members_open(in, &other, err);
}

/* Is it of images in folders by class, and of nothing of CIFAR's? *done: it is, and it is open. */
static apl_status try_folders(struct ingest *in, bool *done, bool *other, apl_error *err)
{
    TRY(begin_format(in, &format_folder, err));
    apl_status status = members_open(in, other, err);
    *done = status == APL_OK && !*other;
    if (!*done)
        end_format(in);
    return status;
}

/* Nothing of the directory itself is known, as *err says; but what is in its folders may be. */
static apl_status open_deep(struct ingest *in, struct files **files, apl_error *err)
{
    const struct format *format = NULL;
    apl_error why = *err;
    end_format(in);
    files_free(*files);
    *files = NULL;
    in->sources.deep = true;
    TRY(detect(&in->sources, &format, files, err));
    if (format && *files)
        return open_known(in, format, files, err);
    *err = why;
    return why.status;
}

/* Images in folders come first. Whatever else is wrong with a source of which nothing else has shown the format, reading it as CIFAR
 * tells. */
static apl_status open_unknown(struct ingest *in, const char *path, const struct format *format,
                               struct files **files, apl_error *err)
{
    bool done = false, other = false;
    apl_status status = APL_OK;
    apl_error why;
    if (source_is_lasting(path)) {
        status = try_folders(in, &done, &other, &why);
        if (status == APL_E_CANCELLED || status == APL_E_NOMEM || status == APL_E_INVALID ||
            (status != APL_OK && in->found && !format)) {
            *err = why;
            return status;
        }
    }
    if (done)
        return check_uses(in, &format_folder, err);
    if (format && (!other || format->paired)) /* CIFAR has no index; tokens may be called train.bin too */
        return open_known(in, format, files, err);
    TRY(begin_format(in, &format_cifar, err));
    apl_status opened = members_open(in, &other, err);
    if (opened == APL_E_SOURCE && status == APL_E_SOURCE && source_is_directory(path)) {
        *err = why; /* a directory without files of CIFAR's */
        return open_deep(in, files, err);
    }
    TRY(opened);
    return check_uses(in, &format_cifar, err);
}

/* No format that takes several sources has claimed them. */
static apl_status refuse_several(const struct ingest *in, apl_error *err)
{
    char shown[256], table[256] = "";
    for (size_t i = 0; i < in->sources.count; i++) {
        const char *path = in->sources.paths[i];
        struct stat st;
        if (stat(path, &st) != 0)
            return fail_errno(err, errno, "%s", printable(shown, sizeof shown, path, strlen(path)));
    }
    for (size_t i = 0; i < in->sources.count && !*table; i++)
        if (source_is_directory(in->sources.paths[i]))
            TRY(unread_find_table(in, in->sources.paths[i], table, sizeof table, err));
    if (*table)
        return fail(err, APL_E_INVALID,
                    "the %zu sources from %s on are not of one format that is looked for in directories, but "
                    "there is a table, %s: --format list (format=\"list\" in Python) reads tables in "
                    "directories; of images in folders, give the directory that holds all",
                    in->sources.count, in->shown, table);
    return fail(err, APL_E_INVALID,
                "the %zu sources from %s on are not of one format that takes several: cifar and folder "
                "take one%s",
                in->sources.count, in->shown, way_to_one(in));
}

apl_status choose_format(struct ingest *in, struct files **files, apl_error *err)
{
    const struct format *format = NULL;
    const char *path = in->sources.paths[0];
    char names[160];
    if (in->options.format && !(in->sources.asked = format_by_name(in->options.format)))
        return fail(err, APL_E_INVALID, "no format is called %.64s; there are %s", in->options.format,
                    format_names(names, sizeof names));
    in->sources.deep = in->sources.asked || in->sources.count > 1;
    TRY(detect(&in->sources, &format, files, err));
    if (format && (in->sources.asked || in->sources.count > 1 || !source_is_directory(path)))
        return open_known(in, format, files, err);
    if (in->sources.count > 1)
        return refuse_several(in, err);
    return open_unknown(in, path, format, files, err);
}
