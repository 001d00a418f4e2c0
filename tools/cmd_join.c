/* apldata join: a set of stores. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const char *set;
    apl_set_options options;
    bool quiet;
};

static const struct option_row rows[] = {
    {'o', "output", "SET", "the directory of the set, below which all shards lie", OPTION_TEXT,
     offsetof(struct job, set), NULL},
    {0, "add", NULL, "append to the existing list, which is kept as SET/set-DIGEST.apl", OPTION_SWITCH,
     offsetof(struct job, options.append), NULL},
    {0, "force", NULL, "replace a list that exists", OPTION_SWITCH, offsetof(struct job, options.replace),
     NULL},
    {'q', "quiet", NULL, "print nothing but errors", OPTION_FLAG, offsetof(struct job, quiet), NULL},
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata join [OPTION]... SHARD... -o SET\n"
            "Make a set of the stores SHARD, which have the same fields and classes and lie below SET:\n"
            "seal a list of them, SET/set.apl. No shard is changed, and SET can be used like a store.\n"
            "\n",
    .column = 20,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

/* Readers take the first split unless told otherwise. */
static void note_first_split(const char *path, const apl_store *set)
{
    if (apl_store_find_split(set, "train") > 0)
        note("%s: the first split is %s, which readers take unless told otherwise: to have train first, list "
             "a shard that begins with it first",
             shown(path), shown(apl_store_split(set, 0)->name));
}

/* Tells of the shards from `first` on that are links out of the set's directory: they do not move with it. */
static void tell_links(const struct job *job, const apl_store *set, unsigned first)
{
    char path[2 * PATH_MAX], real[PATH_MAX], above[PATH_MAX];
    const apl_shard *shard;
    if (!realpath(job->set, above))
        return;
    size_t n = strcmp(above, "/") == 0 ? 0 : strlen(above);
    for (unsigned i = first; (shard = apl_store_shard(set, i)); i++) {
        snprintf(path, sizeof path, "%s/%s", job->set, shard->name);
        if (realpath(path, real) && (strncmp(real, above, n) != 0 || real[n] != '/'))
            note("%s: shard %s is a link to %s, outside the set, which is not moved or copied with it",
                 shown(job->set), shown(shard->name), shown(real));
    }
}

static int by_content(const void *a, const void *b)
{
    const apl_shard *x = *(const apl_shard *const *)a, *y = *(const apl_shard *const *)b;
    int order = memcmp(x->content_digest, y->content_digest, sizeof x->content_digest);
    return order ? order : x < y ? -1 : x > y; /* in the order of the set */
}

/* Tells of shards that are copies of others: their records are delivered twice. */
static void tell_copies(const struct job *job, const apl_store *set, unsigned count)
{
    const apl_shard **shards = malloc((count + 1) * sizeof *shards);
    for (unsigned i = 0; shards && i < count; i++)
        shards[i] = apl_store_shard(set, i);
    if (shards)
        qsort(shards, count, sizeof *shards, by_content);
    for (unsigned i = 1; shards && i < count; i++)
        if (memcmp(shards[i]->content_digest, shards[i - 1]->content_digest,
                   sizeof shards[i]->content_digest) == 0)
            note("%s: shard %s has the same records as shard %s: the set has them twice", shown(job->set),
                 shown(shards[i]->name), shown(shards[i - 1]->name));
    free(shards);
}

static int join(const struct job *job, const char *const *shards, size_t count)
{
    apl_error err;
    apl_store *set;
    if (apl_set_join(job->set, shards, count, &job->options, &err) != APL_OK ||
        apl_store_open(job->set, NULL, &set, &err) != APL_OK)
        return failed("%s%s", err.message,
                      err.status == APL_E_EXISTS ? "; --add appends to it, --force replaces it" : "");
    const apl_info *info = apl_store_info(set);
    if (!job->quiet) {
        note_first_split(job->set, set);
        tell_copies(job, set, (unsigned)info->shards);
        tell_links(job, set, (unsigned)(info->shards - count));
        printf("%s: %s in %s\n", shown(job->set), counted(info->records, "record"),
               counted(info->shards, "shard"));
    }
    apl_store_close(set);
    return 0;
}

int cmd_join(int argc, char **argv)
{
    struct job job = {.options = APL_SET_OPTIONS_INIT};
    int status = options_read(&line, &job, argc, argv);
    if (status)
        return options_status(status);
    if (!job.set || !*job.set)
        return misuse("where is the set to be? give -o SET");
    if (optind == argc)
        return misuse("a set needs shards");
    return join(&job, (const char *const *)(argv + optind), (size_t)(argc - optind));
}
