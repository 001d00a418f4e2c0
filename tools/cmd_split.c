/* apldata split: divide a split of a store, in two or into many parts. */
#include "args.h"
#include "cmd.h"
#include "command_line.h"
#include "json.h"
#include "report.h"
#include "splits.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const char *path;
    struct split_spec spec;
    apl_split_options options;
    uint64_t folds, clients; /* 0: not given */
    double concentration;    /* 0: not given */
    bool iid, by, json, quiet;
};

static int fail_with(const struct job *job, const apl_error *err)
{
    failed_unless_forced(err);
    return job->json ? print_json(json_failure(err), EXIT_FAILURE) : EXIT_FAILURE;
}

/* Reports what has been made. */
static int tell(const struct job *job, apl_store *store)
{
    const struct split_spec *s = &job->spec;
    if (job->json)
        return print_json(s->parts ? split_parts_json(store, s->name, s->parts)
                                   : split_named_json(store, s->name),
                          EXIT_SUCCESS);
    if (job->quiet)
        return EXIT_SUCCESS;
    return s->parts ? split_tell_parts(job->path, store, s->name, s->parts)
                    : split_tell(job->path, store, s->name);
}

/* Notes what the new splits share with others, and which they have made useless. */
static void warn(const struct job *job, apl_store *store, const apl_split_overlap *shared)
{
    if (shared->splits && !job->options.overlap)
        note("%s", shared->message);
    if (job->options.replace)
        split_tell_replaced(store, &job->spec);
}

static int split(struct job *job)
{
    apl_store *store;
    apl_split_overlap shared = {.splits = 0};
    apl_error err;
    if (apl_store_open(job->path, NULL, &store, &err) != APL_OK)
        return fail_with(job, &err);
    job->options.shared = &shared;
    apl_status made = split_make(store, &job->spec, &job->options, &err);
    int status = made == APL_OK ? tell(job, store) : fail_with(job, &err);
    if (made == APL_OK && !job->quiet)
        warn(job, store, &shared);
    apl_store_close(store);
    return status;
}

/* The old form of apldata check: 'split', with --check among its options. */
static bool take_check(int *argc, char **argv)
{
    int at = 1;
    while (at < *argc && strcmp(argv[at], "--check") != 0 && strcmp(argv[at], "--") != 0)
        at++;
    if (at == *argc || strcmp(argv[at], "--check") != 0)
        return false;
    memmove(argv + at, argv + at + 1, (size_t)(*argc - at) * sizeof *argv); /* and the NULL at the end */
    --*argc;
    command_name = "check";
    return true;
}

static int take_parts(uint64_t *parts, const char *what, const char *value)
{
    if (parse_number(value, 2, APL_MAX_PARTS, parts))
        return 0;
    return misuse("the number of %s must be 2 to %d, not '%s'", what, APL_MAX_PARTS, shown(value));
}

static int take_folds(void *job, const char *value)
{
    return take_parts(&((struct job *)job)->folds, "folds", value);
}

static int take_clients(void *job, const char *value)
{
    return take_parts(&((struct job *)job)->clients, "clients", value);
}

static int take_concentration(void *user, const char *value)
{
    struct job *job = user;
    char *end = (char *)value;
    if (strspn(value, "0123456789.") == strlen(value))
        job->concentration = strtod(value, &end);
    if (job->concentration >= 1e-6 && job->concentration <= 1e6 && !*end)
        return 0;
    return misuse("the concentration must be a number from 0.000001 to 1000000, such as 0.1, not '%s'",
                  shown(value));
}

/* Takes name and parent from the operand, the number of parts from the options. */
static int set_spec(struct job *job, const char *operand)
{
    if (job->folds && job->clients)
        return misuse("--folds and --clients exclude each other");
    if (job->by && job->options.group)
        return misuse("--by and --group exclude each other");
    if (!job->clients && (job->iid || job->concentration > 0))
        return misuse("--%s is for --clients", job->iid ? "iid" : "dirichlet");
    if (job->clients && job->iid == (job->concentration > 0))
        return misuse("--clients needs either --iid or --dirichlet");
    if (!job->folds && !job->clients)
        return split_parse(operand, &job->spec);
    int status = split_parse_parts(operand, &job->spec);
    job->spec.parts = (unsigned)(job->folds + job->clients);
    job->spec.concentration = job->concentration;
    return status;
}

static int take_by(void *user, const char *value)
{
    static const apl_split_by all[] = {APL_BY_CONTENT, APL_BY_KEY, APL_BY_ID};
    struct job *job = user;
    job->by = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(value, split_by_name(all[i])) == 0) {
            job->options.by = all[i];
            return 0;
        }
    return misuse("splits are --by content, key or id, not '%s'", shown(value));
}

static int take_seed(void *job, const char *value)
{
    if (parse_number(value, 0, UINT64_MAX, &((struct job *)job)->options.seed))
        return 0;
    return misuse("the seed must be a number from 0 to 18446744073709551615, not '%s'", shown(value));
}

static const struct option_row rows[] = {
    {0, "folds", "K", "K equal parts, for cross-validation", OPTION_CALL, 0, take_folds},
    {0, "clients", "N", "N parts, for the clients of federated learning:", OPTION_CALL, 0, take_clients},
    {0, "iid", NULL, "  equal ones, each like the whole", OPTION_FLAG, offsetof(struct job, iid), NULL},
    {0, "dirichlet", "A", "  each with class shares drawn from Dirichlet(A)", OPTION_CALL, 0,
     take_concentration},
    {0, "stratify", "FIELD",
     "the same share of each class, exactly (default: by a hash of the inputs);\n"
     "with --dirichlet: the field with the classes (default: the only target)",
     OPTION_TEXT, offsetof(struct job, options.stratify), NULL},
    {0, "by", "content|key|id",
     "hash the inputs, so that equal ones stay together (the default), or the\n"
     "place in the source, or the id, of each record",
     OPTION_CALL, 0, take_by},
    {0, "group", "FIELD", "keep records with the same value of FIELD on one side: patients, videos",
     OPTION_TEXT, offsetof(struct job, options.group), NULL},
    {0, "seed", "N", "another seed, another split (default: 0)", OPTION_CALL, 0, take_seed},
    {0, "overlap", NULL,
     "let it share records with a split that divides the same records; without\n"
     "this, by the same seed it is refused, and by another there is a note",
     OPTION_SWITCH, offsetof(struct job, options.overlap), NULL},
    FORCE_ROW("a split that exists", OPTION_SWITCH, struct job, options.replace),
    THREADS_ROW("divide", struct job, options.threads),
    JSON_ROW(struct job, json),
    QUIET_ROW(struct job, quiet),
    HELP_ROW,
};

static const struct command_line line = {
    .head = "Usage: apldata split [OPTION]... DB NAME=RATIO[@PARENT]\n"
            "       apldata split --folds K [OPTION]... DB NAME[@PARENT]\n"
            "       apldata split --clients N --iid|--dirichlet A [OPTION]... DB NAME[@PARENT]\n"
            "Divide the records of PARENT in two: NAME has about RATIO of them, PARENT-NAME the rest;\n"
            "or into many parts: NAME-0, NAME-1, ..., with the rests PARENT-NAME-0, PARENT-NAME-1, ...\n"
            "PARENT is a split of the source (default: train), one made before, or a rest.\n"
            "To hold out two parts: test=0.1, then val=0.1@train-test; train on train-test-val.\n"
            "The store is not changed: a split is kept in the file DB/NAME.split.\n"
            "To see whether splits leak into each other, run 'apldata check DB' (formerly 'apldata split\n"
            "--check DB').\n"
            "\n",
    .column = 27,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

int cmd_split(int argc, char **argv)
{
    struct job job = {.options = APL_SPLIT_OPTIONS_INIT};
    if (take_check(&argc, argv))
        return cmd_check(argc, argv);
    int status = options_read(&line, &job, argc, argv);
    const char *what = job.folds || job.clients ? "NAME" : "NAME=RATIO";
    if (!status)
        status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", what, NULL});
    if (status)
        return options_status(status);
    job.path = argv[optind];
    status = set_spec(&job, argv[optind + 1]);
    if (!status)
        status = split(&job);
    split_spec_free(&job.spec);
    return status;
}
