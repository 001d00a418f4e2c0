/* Asking each row of the table about each file. */
#include "detect.h"

#include "seen_kind.h"
#include "shown.h"
#include "source.h"

#include <stdio.h>
#include <sys/stat.h>

/* What the sources are, as far as single files tell. */
struct findings {
    const struct format *format;     /* of the first that any has claimed */
    const char *path;                /* that one */
    const struct format_file *other; /* the first that none has, and that belongs to none that it has */
};

bool source_is_lasting(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

bool source_is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool wanted_by_asked(const char *name, const struct format *asked)
{
    return asked->wants(NULL, name);
}

static bool wanted_by_any(const char *name, const struct format *asked)
{
    (void)asked;
    for (size_t i = 0; formats[i]; i++)
        if (formats[i]->read && formats[i]->sniff && !formats[i]->asked_in_folders &&
            formats[i]->wants(NULL, name))
            return true;
    return false;
}

/* What the file seems to be, or how it begins. */
static const char *seems(const struct format_file *file, char *out, size_t size)
{
    for (size_t i = 0; formats[i]; i++)
        if (formats[i]->sniff && formats[i]->sniff(file)) {
            snprintf(out, size, "it seems to be %s (%s)", formats[i]->title, formats[i]->name);
            return out;
        }
    const char *kind = file->archive ? file->head[0] == 'P' ? "a zip archive" : "a tar archive"
                                     : seen_kind(file->head, file->head_size);
    int used = snprintf(out, size, kind ? "it seems to be %s" : "it begins with the bytes", kind);
    for (size_t i = 0; !kind && i < 8 && i < file->head_size; i++)
        used += snprintf(out + used, size - (size_t)used, " %02x", file->head[i]);
    return out;
}

static const struct format *claimed_by(const struct format_file *file)
{
    for (size_t i = 0; formats[i]; i++)
        if (formats[i]->sniff && formats[i]->sniff(file))
            return formats[i];
    return NULL;
}

/* Files of two formats are nobody's. */
static apl_status find_format(const struct format_file *files, size_t count, struct findings *found,
                              apl_error *err)
{
    *found = (struct findings){0};
    for (size_t i = 0; i < count; i++) {
        const struct format *format = claimed_by(&files[i]);
        if (format && found->format && format != found->format)
            return fail(err, APL_E_SOURCE,
                        "%s is of the format %s, but %s of %s: give the format, or one of them", found->path,
                        found->format->name, files[i].path, format->name);
        if (format && !found->format) {
            found->format = format;
            found->path = files[i].path;
        }
    }
    return APL_OK;
}

/* Is it one of the format's files, or does it belong to one of them? */
static bool is_file_of(const struct format_file *file, const struct format *format, const struct files *files)
{
    size_t count;
    const struct format_file *all = files_list(files, &count);
    if (format && claimed_by(file) == format)
        return true;
    for (size_t i = 0; format && format->belongs && i < count; i++)
        if (claimed_by(&all[i]) == format && format->belongs(all[i].name, file->name))
            return true;
    return false;
}

static bool comes_from_standard_input(const struct sources *sources)
{
    return spool_shown(sources->paths[0]) != sources->paths[0];
}

static apl_status refuse_unknown(const struct sources *sources, const struct format_file *file,
                                 apl_error *err)
{
    char seen[160], names[160];
    if (comes_from_standard_input(sources))
        return fail(
            err, APL_E_SOURCE,
            "%s: %s, and only archives are read from there: give it as a file, whose name says what it is",
            file->path, seems(file, seen, sizeof seen));
    return fail(err, APL_E_SOURCE,
                "%s: %s, which is not in a format that is recognised. If it is one of %s all the same, "
                "say so with --format (format= in Python)",
                file->path, seems(file, seen, sizeof seen), format_names(names, sizeof names));
}

static apl_status refuse_asked(const struct format *asked, const char *how, const struct format_file *file,
                               apl_error *err)
{
    char seen[160];
    return fail(err, APL_E_SOURCE, "%s: is not %s, %s: %s", file->path, asked->name, how,
                seems(file, seen, sizeof seen));
}

static apl_status add_all(const struct sources *sources, struct files *files, apl_error *err)
{
    for (size_t i = 0; i < sources->count; i++)
        TRY(files_add(files, sources->paths[i], err));
    return sources->count > 1 ? files_check_distinct(files, err) : APL_OK;
}

/* Every file must be what was asked for, if that can be told; whoever opens it tells of a file that has no name. */
static apl_status check_asked(const struct sources *sources, struct files *files, apl_error *err)
{
    size_t count;
    const struct format_file *all = files_list(files, &count);
    bool told = sources->asked->sniff && !sources->asked->any_bytes;
    for (size_t i = 0; told && i < count; i++)
        if (!sources->asked->sniff(&all[i]) && (all[i].archive || !comes_from_standard_input(sources)))
            return refuse_asked(sources->asked, "as was asked for", &all[i], err);
    if (count == 0 && !sources->asked->member)
        return fail(err, APL_E_SOURCE, "the source holds no file of the format %s: %s", sources->asked->name,
                    sources->asked->title);
    return APL_OK;
}

/* Formats that read members: asked for with something that is no archive of any kind. */
static apl_status check_members_asked(const struct sources *sources, const struct format_file *all,
                                      size_t count, apl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct format *other = claimed_by(&all[i]);
        if (other && other != sources->asked)
            return refuse_asked(sources->asked, "as was asked for", &all[i], err);
    }
    return APL_OK;
}

/* Who reads archives says so of what is empty, and of stores. */
static bool is_refused_anyway(const struct format_file *file)
{
    return file->head_size == 0 || (file->head_size >= 20 && load_le(file->head + 16, 4) == 0xBEEFC0DE);
}

/* Nothing was asked for. */
static apl_status tell_format(const struct sources *sources, struct files *files,
                              const struct format **format, apl_error *err)
{
    size_t count;
    struct findings found;
    const struct format_file *all = files_list(files, &count);
    bool directory = false;
    TRY(find_format(all, count, &found, err));
    for (size_t i = 0; i < count && !found.other; i++)
        if (!claimed_by(&all[i]) && !is_file_of(&all[i], found.format, files))
            found.other = &all[i];
    for (size_t i = 0; i < sources->count; i++)
        directory |= source_is_directory(sources->paths[i]);
    bool shards = found.format && found.format->member && found.format->several && found.other &&
                  found.other->archive; /* reading them tells */
    if (found.format && found.other && !directory && !shards)
        return refuse_asked(found.format, "as others are", found.other, err);
    if (found.other && !found.other->archive && !directory && !is_refused_anyway(found.other))
        return refuse_unknown(sources, found.other, err);
    *format = found.format;
    return APL_OK;
}

/* What belongs to a file that was given; of several only what they need. */
static apl_status add_companions(const struct sources *sources, struct files *files,
                                 const struct format *format, apl_error *err)
{
    if (!format || !format->read || !format->belongs || (sources->count > 1 && !format->paired))
        return APL_OK;
    for (size_t i = 0; i < sources->count; i++)
        if (!source_is_directory(sources->paths[i]))
            TRY(files_add_beside(files, sources->paths[i], format->belongs, err));
    return APL_OK;
}

/* What lies beside files that say nothing by themselves may say it, as an index of tokens does. */
static apl_status add_pairs(const struct sources *sources, struct files *files, apl_error *err)
{
    size_t count;
    (void)files_list(files, &count);
    bool each_is_one = count == sources->count;
    for (size_t i = 0; i < sources->count; i++)
        each_is_one &= !source_is_directory(sources->paths[i]);
    for (size_t f = 0; each_is_one && formats[f]; f++)
        for (size_t i = 0; formats[f]->paired && i < sources->count; i++) {
            const struct format_file *file = &files_list(files, &count)[i];
            if (!claimed_by(file) && formats[f]->wants(NULL, file->name))
                TRY(files_add_beside(files, sources->paths[i], formats[f]->belongs, err));
        }
    return APL_OK;
}

static apl_status look(const struct sources *sources, struct files *files, const struct format **format,
                       apl_error *err)
{
    size_t count;
    const struct format_file *all;
    apl_status status = add_all(sources, files, err);
    if (status != APL_OK && !(sources->asked && sources->asked->read) && sources->count == 1) {
        *format = sources->asked; /* a broken archive, maybe: who reads archives can say so better */
        return status == APL_E_NOMEM || status == APL_E_CANCELLED ? status : APL_OK;
    }
    TRY(status);
    all = files_list(files, &count);
    *format = sources->asked;
    if (!sources->asked) {
        TRY(add_pairs(sources, files, err));
        TRY(tell_format(sources, files, format, err));
        TRY(add_companions(sources, files, *format, err));
        return files_keep(files, is_file_of, *format, err);
    }
    TRY(add_companions(sources, files, *format, err));
    return sources->asked->read ? check_asked(sources, files, err)
                                : check_members_asked(sources, all, count, err);
}

/* Formats that read both ways read these by their members. */
static bool has_archives(const struct sources *sources, const struct files *files)
{
    size_t count;
    const struct format_file *all = files_list(files, &count);
    bool found = count == 0;
    for (size_t i = 0; i < count; i++)
        found |= all[i].archive;
    for (size_t i = 0; i < sources->count; i++)
        found |= source_is_directory(sources->paths[i]);
    return found;
}

apl_status detect(const struct sources *sources, const struct format **format, struct files **files,
                  apl_error *err)
{
    const struct format *asked = sources->asked;
    struct files_options options = {.wants = asked && asked->read ? wanted_by_asked : wanted_by_any,
                                    .any_bytes = asked && asked->any_bytes,
                                    .unopened = asked && asked->read && asked->member,
                                    .follow = sources->follow,
                                    .deep = sources->deep,
                                    .undigested = sources->undigested,
                                    .poll = sources->poll,
                                    .user = sources->user,
                                    .asked = asked};
    bool archives = false;
    *format = asked;
    *files = NULL;
    for (size_t i = 0; i < sources->count; i++)
        if (!source_is_lasting(sources->paths[i]))
            return APL_OK;
    struct files *all = files_new(&options);
    if (!all)
        return fail_nomem(err);
    apl_status status = look(sources, all, format, err);
    if (status == APL_OK && *format && (*format)->member)
        archives = has_archives(sources, all);
    if (status == APL_OK && *format && (*format)->read && !archives)
        *files = all;
    else
        files_free(all);
    return status;
}
