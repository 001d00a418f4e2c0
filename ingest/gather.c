/* Finds the sources: see gather.h. */
#include "gather.h"

#include "distinct.h"
#include "found_file.h"
#include "path_split.h"
#include "shown.h"
#include "zipfile.h"

#include <sys/stat.h>
#include <unistd.h>

/* The first members of an archive. */
struct peeked {
    char *names[PEEK_NAMES];
    size_t count;
};

static void peeked_free(struct peeked *peeked)
{
    for (size_t i = 0; i < peeked->count; i++)
        free(peeked->names[i]);
}

/* Are they a WebDataset's? */
static bool are_of_shard(const char *path, const struct peeked *peeked)
{
    const struct format_file file = {.name = path,
                                     .path = path,
                                     .archive = true,
                                     .members = (const char *const *)peeked->names,
                                     .member_count = peeked->count};
    return format_webdataset.sniff(&file);
}

static bool is_shard(const char *path)
{
    struct peeked peeked = {0};
    peeked.count = peek_members(path, peeked.names);
    bool is = are_of_shard(path, &peeked);
    peeked_free(&peeked);
    return is;
}

/* Is a file of that name what a directory of another format has? (An .idx may be a shard's index.) */
static bool is_of_other_format(const char *name)
{
    static const struct format *const others[] = {&format_cifar, &format_folder, &format_npy,
                                                  &format_tfrecord};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i]->wants(NULL, name))
            return true;
    return false;
}

/* `from`: the directory that the user has named, or, of a file, NULL: then it is the path that was. */
static apl_status give_source(struct ingest *in, const char *path, const char *from, apl_error *err)
{
    TRY(expand_add(&in->given, path, err));
    in->given.below[in->given.count - 1] = path_split_from(from ? from : path, from != NULL);
    return APL_OK;
}

/* A directory of shards stands for its archives, or those of its folders, which may be splits. */
static apl_status add_directory(struct ingest *in, const char *path, apl_error *err)
{
    struct expanded archives = {0};
    const char *asked = in->options.format;
    TRY(expand_add(&in->folders, path, err));
    bool may_be = !asked || strcmp(asked, format_webdataset.name) == 0;
    apl_status status = may_be ? expand_archives(path, is_of_other_format, &archives, err) : APL_OK;
    bool shards = archives.count > 0 && (asked || is_shard(archives.paths[0]));
    for (size_t i = 0; status == APL_OK && shards && i < archives.count; i++)
        status = give_source(in, archives.paths[i], path, err);
    if (status == APL_OK && !shards)
        status = give_source(in, path, path, err);
    expanded_free(&archives);
    return status;
}

/* A store would lie among the files that it is made of. */
static apl_status check_not_target(const struct ingest *in, const char *source, apl_error *err)
{
    struct stat from, to;
    char shown[256];
    if (stat(source, &from) != 0 || stat(in->set ? in->set : in->db, &to) != 0 || from.st_dev != to.st_dev ||
        from.st_ino != to.st_ino)
        return APL_OK;
    return fail(err, APL_E_INVALID,
                "%s: is the source and the store at once: give the store a directory of its own",
                printable(shown, sizeof shown, source, strlen(source)));
}

static apl_status gather_source(struct ingest *in, const char *source, apl_error *err)
{
    struct expanded files = {0};
    TRY(check_not_target(in, source, err));
    apl_status status = expand_source(source, &files, err);
    if (status == APL_OK) /* a pattern may have found a single file */
        in->looked_for |= strcmp(files.paths[0], source) != 0 || source_is_directory(source);
    for (size_t i = 0; status == APL_OK && i < files.count; i++) {
        bool directory = source_is_directory(files.paths[i]);
        in->host.whole |= directory;
        status =
            directory ? add_directory(in, files.paths[i], err) : give_source(in, files.paths[i], NULL, err);
    }
    expanded_free(&files);
    return status;
}

/* --------------------------------------------------------------------------------------------------- standard input */

/* Is the first member that either takes CIFAR's, and no image? */
static bool are_cifar(const char *path, const struct peeked *peeked)
{
    for (size_t i = 0; i < peeked->count && !are_of_shard(path, peeked); i++) {
        if (format_folder.wants(NULL, peeked->names[i]))
            return false;
        if (format_cifar.wants(NULL, path_last(peeked->names[i])))
            return true;
    }
    return false;
}

/* Is one reading enough for what the head has been read of? */
static bool is_read_once(const struct standard *s, const struct format *asked)
{
    struct peeked peeked = {0};
    if (asked == &format_cifar)
        return !zipfile_is(s->head, s->size); /* the directory of a zip archive is at its end */
    if (!s->archive)
        return false;
    peeked.count = peek_members(s->path, peeked.names);
    bool is = peeked.count > 0 && (asked ? asked->member && (!asked->list || asked->lists_for_parts)
                                         : are_cifar(s->path, &peeked));
    peeked_free(&peeked);
    return is;
}

/* *source: by what it is to be opened. What must be copied is so once the store is locked, as that takes as long as the input does. */
static apl_status take_standard_input(struct ingest *in, const char **source, apl_error *err)
{
    struct standard *s = &in->standard;
    const struct format *asked = in->options.format ? format_by_name(in->options.format) : NULL;
    apl_writer *writer;
    if (in->options.format && !asked)
        return APL_OK; /* it is refused */
    TRY(standard_open(in->db, report_reading, in, s, err));
    if (!*s->path || (!s->whole && is_read_once(s, asked)))
        return APL_OK;
    if (!s->whole && s->archive) {
        TRY(in->host.writer(in, &writer, err));
        TRY(standard_copy(s, err));
    }
    *source = s->path;
    return APL_OK;
}

/* Also by another name, such as /dev/stdin, if it is a pipe: what is a file can be read by any. */
static bool is_standard_input(const char *source)
{
    struct stat named, standard;
    return strcmp(source, "-") == 0 ||
           (stat(source, &named) == 0 && S_ISFIFO(named.st_mode) && fstat(STDIN_FILENO, &standard) == 0 &&
            named.st_dev == standard.st_dev && named.st_ino == standard.st_ino);
}

apl_status gather_sources(struct ingest *in, const char *source, apl_error *err)
{
    if (in->options.more_count == 0 && is_standard_input(source)) {
        source = "-";
        TRY(take_standard_input(in, &source, err));
    }
    TRY(gather_source(in, source, err));
    for (size_t i = 0; i < in->options.more_count; i++)
        TRY(gather_source(in, in->options.more[i], err));
    TRY(distinct_paths((const char *const *)in->given.paths, in->given.count, err));
    for (size_t i = 0; i < in->given.count; i++) {
        struct stat st;
        if (stat(in->given.paths[i], &st) == 0 && S_ISREG(st.st_mode))
            in->source_size += (uint64_t)st.st_size;
    }
    in->progress.source_size = in->source_size;
    const char *shown = spool_shown(in->given.paths[0]);
    in->host.source = printable(in->shown, sizeof in->shown, shown, strlen(shown));
    in->sources = (struct sources){.paths = (const char *const *)in->given.paths,
                                   .count = in->given.count,
                                   .follow = in->options.follow_links != 0,
                                   .undigested = in->host.part,
                                   .poll = report_reading,
                                   .user = in};
    return APL_OK;
}

void gather_free(struct ingest *in)
{
    expanded_free(&in->given);
    expanded_free(&in->folders);
    standard_close(&in->standard);
}
