/* apldata set-kind: says what the fields of a sealed store are. */
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "describe.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    bool quiet, no_progress;
    struct progress progress;
};

static const struct option_row rows[] = {
    NO_PROGRESS_ROW(struct job, no_progress),
    QUIET_ROW(struct job, quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata set-kind [OPTION]... DB NAME=KIND[,WORD]...\n"
            "Say what the field NAME of the store DB is, for every NAME: its values stay as they are.\n"
            "\n"
            "  image[,chw|hwc|hw]               pixels, or kept image files\n"
            "  mask[,ignore=N]                  a whole number for each pixel\n"
            "  map[,nearest|linear]             another number for each pixel, such as a depth\n"
            "  boxes[,xyxy|xywh|cxcywh|yxyx]    with -rel: in parts of the image's sides\n"
            "  keypoints[,xy|xyv|xyz]           the same; flip=A-B+C-D: pairs that a flip exchanges\n"
            "  vectors                          two planes, such as optical flow\n"
            "  pinned                           it lies in the image and cannot be moved: a camera matrix\n"
            "  label, text, tokens, audio[,rate=N]\n"
            "  plain                            it has nothing to do with the image\n"
            "\n"
            "and with any of them: of=FIELD, its image, where there are several; per=FIELD, one element for\n"
            "each of that field's, such as the labels of boxes.\n"
            "\n",
    .column = 21,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

static int show(void *user, uint64_t done, uint64_t of)
{
    struct job *job = user;
    struct progress_state state = {.what = "copying", .records = done, .fraction = (double)done / (double)of};
    progress_show(&job->progress, &state);
    return interrupted();
}

/* The kinds as they are now, and what has become of pins. */
static int report(const char *path, const char *const *kinds, size_t count)
{
    char field[APL_MAX_NAME + 1];
    apl_kind kind;
    apl_store *store;
    apl_error err;
    if (apl_store_open(path, NULL, &store, &err) != APL_OK)
        return failed("%s", err.message);
    for (size_t i = 0; i < count; i++)
        if (apl_kind_parse(kinds[i], field, &kind, &err) == APL_OK)
            printf("%s: %s is %s\n", shown_db(path), shown(field), kind_text(&kind));
    const apl_info *info = apl_store_info(store);
    if (info->has_digest)
        printf("%s: the digest is now %s: pins of the one before (--expect, expected_digest) refuse it\n",
               shown_db(path), digest_text(info->digest));
    apl_store_close(store);
    return 0;
}

/* Before anything is opened; and no field comes twice, as the first would be said for nothing. */
static int check_kinds(const char *const *kinds, size_t count)
{
    static char fields[APL_MAX_FIELDS][APL_MAX_NAME + 1];
    apl_kind kind;
    apl_error err;
    if (count > APL_MAX_FIELDS)
        return misuse("more than %d fields", APL_MAX_FIELDS);
    for (size_t i = 0; i < count; i++) {
        if (apl_kind_parse(kinds[i], fields[i], &kind, &err) != APL_OK)
            return misuse("%s", err.message);
        for (size_t k = 0; k < i; k++)
            if (strcmp(fields[k], fields[i]) == 0)
                return misuse("%s: field %s comes twice", shown(kinds[i]), shown(fields[i]));
    }
    return 0;
}

static int set_kinds(struct job *job, const char *path, const char *const *kinds, size_t count)
{
    apl_error err;
    interrupt_catch();
    progress_begin(&job->progress, !job->quiet && !job->no_progress);
    apl_status status = apl_store_set_kinds(path, kinds, count, show, job, &err);
    progress_clear(&job->progress);
    if (status == APL_E_CANCELLED)
        return EXIT_FAILURE; /* the signal speaks for itself */
    if (status != APL_OK)
        return failed("%s", err.message);
    return job->quiet ? 0 : report(path, kinds, count);
}

int cmd_set_kind(int argc, char **argv)
{
    struct job job = {0};
    int status = options_read(&line, &job, argc, argv);
    if (status)
        return options_status(status);
    if (optind == argc || !*argv[optind])
        return misuse("which DB?");
    if (optind + 1 == argc)
        return misuse("what is said of it? give NAME=KIND, as in boxes=boxes,xywh");
    const char *const *kinds = (const char *const *)(argv + optind + 1);
    size_t count = (size_t)(argc - optind - 1);
    status = check_kinds(kinds, count);
    return status ? status : set_kinds(&job, argv[optind], kinds, count);
}
