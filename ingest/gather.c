/* Finds the sources: see gather.h. */
#include "gather.h"

#include "peek.h"
#include "shown.h"

#include <sys/stat.h>

/* Is an archive a WebDataset's, by its first members? */
static bool is_shard(const char *path)
{
    char *names[PEEK_NAMES];
    size_t count = peek_members(path, names);
    const struct format_file file = {.name = path,
                                     .path = path,
                                     .archive = true,
                                     .members = (const char *const *)names,
                                     .member_count = count};
    bool is = format_webdataset.sniff(&file);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return is;
}

/* A directory of shards stands for its archives. */
static apl_status add_directory(struct ingest *in, const char *path, apl_error *err)
{
    struct expanded archives = {0};
    const char *asked = in->options.format;
    apl_status status = expand_archives(path, &archives, err);
    bool shards = archives.count > 0 &&
                  (asked ? strcmp(asked, format_webdataset.name) == 0 : is_shard(archives.paths[0]));
    for (size_t i = 0; status == APL_OK && shards && i < archives.count; i++)
        status = expand_add(&in->given, archives.paths[i], err);
    if (status == APL_OK && !shards)
        status = expand_add(&in->given, path, err);
    expanded_free(&archives);
    return status;
}

static apl_status gather_source(struct ingest *in, const char *source, apl_error *err)
{
    struct expanded files = {0};
    apl_status status = expand_source(source, &files, err);
    for (size_t i = 0; status == APL_OK && i < files.count; i++)
        status = source_is_directory(files.paths[i]) ? add_directory(in, files.paths[i], err)
                                                     : expand_add(&in->given, files.paths[i], err);
    expanded_free(&files);
    return status;
}

apl_status gather_sources(struct ingest *in, const char *source, apl_error *err)
{
    bool streamed = in->options.format && strcmp(in->options.format, format_cifar.name) == 0;
    if (strcmp(source, "-") == 0 && in->options.more_count == 0 && !streamed)
        TRY(spool_standard_input(in->db, report_reading, in, &in->spool, &source, err));
    TRY(gather_source(in, source, err));
    for (size_t i = 0; i < in->options.more_count; i++)
        TRY(gather_source(in, in->options.more[i], err));
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
                                   .poll = report_reading,
                                   .user = in};
    return APL_OK;
}

void gather_free(struct ingest *in)
{
    expanded_free(&in->given);
    spool_close(&in->spool);
}
