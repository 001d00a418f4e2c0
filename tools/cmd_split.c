/* apldata split: divide a split of a store, in two or into many parts. */
#include "args.h"
#include "cmd.h"
#include "json.h"
#include "report.h"
#include "splits.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: apldata split [OPTION]... DB NAME=RATIO[@PARENT]\n"
    "       apldata split --folds K [OPTION]... DB NAME[@PARENT]\n"
    "       apldata split --clients N --iid|--dirichlet A [OPTION]... DB NAME[@PARENT]\n"
    "Divide the records of PARENT in two: NAME has about RATIO of them, PARENT-NAME the rest;\n"
    "or into many parts: NAME-0, NAME-1, ..., with the rests PARENT-NAME-0, PARENT-NAME-1, ...\n"
    "PARENT is a split of the source (default: train), or one that was made before, or a rest.\n"
    "The store is not changed: a split is kept in the file DB/NAME.split.\n"
    "Whether splits leak into each other, 'apldata check DB' tells ('apldata split --check DB' is its old "
    "form).\n"
    "\n"
    "      --folds K            K equal parts, for cross-validation\n"
    "      --clients N          N parts, for the clients of federated learning:\n"
    "      --iid                  equal ones, each like the whole\n"
    "      --dirichlet A          each with shares of the classes drawn from Dirichlet(A)\n"
    "      --stratify FIELD     so much of each class, exactly (default: by a hash of the inputs);\n"
    "                           with --dirichlet: where the classes are (default: the only target)\n"
    "      --by content|key|id  hash the inputs, so that equal ones stay together (the default), or the\n"
    "                           place in the source, or the id, of each by itself\n"
    "      --group FIELD        keep records with the same value of FIELD on one side: patients, videos\n"
    "      --seed N             another seed, another split (default: 0)\n"
    "      --force              replace a split that exists\n"
    "  -j, --threads N          threads that divide (default: one per core)\n"
    "      --json               print one JSON object\n"
    "  -q, --quiet              print nothing but errors\n"
    "  -h, --help               print this help\n";

struct job {
    const char *path;
    struct split_spec spec;
    apl_split_options options;
    uint64_t folds, clients; /* 0: not told */
    double concentration;    /* 0: not told */
    bool iid, by, json, quiet;
};

static int fail_with(const struct job *job, const apl_error *err)
{
    failed("%s%s", err->message, err->status == APL_E_EXISTS ? "; --force replaces it" : "");
    return job->json ? print_json(json_failure(err), EXIT_FAILURE) : EXIT_FAILURE;
}

/* Tells what has been made. */
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

static int split(const struct job *job)
{
    apl_store *store;
    apl_error err;
    if (apl_store_open(job->path, NULL, &store, &err) != APL_OK)
        return fail_with(job, &err);
    apl_status made = split_make(store, &job->spec, &job->options, &err);
    int status = made == APL_OK ? tell(job, store) : fail_with(job, &err);
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

static int set_parts(uint64_t *parts, const char *what)
{
    if (parse_number(optarg, 2, APL_MAX_PARTS, parts))
        return 0;
    return misuse("the number of %s must be 2 to %d, not '%s'", what, APL_MAX_PARTS, shown(optarg));
}

static int set_concentration(struct job *job)
{
    char *end = optarg;
    if (strspn(optarg, "0123456789.") == strlen(optarg))
        job->concentration = strtod(optarg, &end);
    if (job->concentration >= 1e-6 && job->concentration <= 1e6 && !*end)
        return 0;
    return misuse("the concentration must be a number from 0.000001 to 1000000, such as 0.1, not '%s'",
                  shown(optarg));
}

/* What the operand says, and into how many parts the options do. */
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

static int set_by(apl_split_options *o)
{
    static const apl_split_by all[] = {APL_BY_CONTENT, APL_BY_KEY, APL_BY_ID};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(optarg, split_by_name(all[i])) == 0) {
            o->by = all[i];
            return 0;
        }
    return misuse("splits are --by content, key or id, not '%s'", shown(optarg));
}

static int set_option(struct job *job, char **argv, int opt)
{
    uint64_t n;
    switch (opt) {
    case 'K':
        return set_parts(&job->folds, "folds");
    case 'N':
        return set_parts(&job->clients, "clients");
    case 'A':
        return set_concentration(job);
    case 'I':
        job->iid = true;
        return 0;
    case 's':
        job->options.stratify = optarg;
        return *optarg ? 0 : misuse("FIELD is empty");
    case 'g':
        job->options.group = optarg;
        return *optarg ? 0 : misuse("FIELD is empty");
    case 'b':
        job->by = true;
        return set_by(&job->options);
    case 'S':
        if (!parse_number(optarg, 0, UINT64_MAX, &job->options.seed))
            return misuse("the seed must be a number from 0 to 18446744073709551615, not '%s'",
                          shown(optarg));
        return 0;
    case 'F':
        job->options.replace = 1;
        return 0;
    case 'j':
        if (!parse_number(optarg, 1, MAX_THREADS, &n))
            return misuse("the number of threads must be 1 to %d, not '%s'", MAX_THREADS, shown(optarg));
        job->options.threads = (unsigned)n;
        return 0;
    case 'J':
        job->json = true;
        return 0;
    case 'q':
        job->quiet = true;
        return 0;
    default:
        return misused_option(argv, opt);
    }
}

int cmd_split(int argc, char **argv)
{
    static const struct option options[] = {{"folds", required_argument, NULL, 'K'},
                                            {"clients", required_argument, NULL, 'N'},
                                            {"dirichlet", required_argument, NULL, 'A'},
                                            {"iid", no_argument, NULL, 'I'},
                                            {"stratify", required_argument, NULL, 's'},
                                            {"by", required_argument, NULL, 'b'},
                                            {"group", required_argument, NULL, 'g'},
                                            {"seed", required_argument, NULL, 'S'},
                                            {"force", no_argument, NULL, 'F'},
                                            {"threads", required_argument, NULL, 'j'},
                                            {"json", no_argument, NULL, 'J'},
                                            {"quiet", no_argument, NULL, 'q'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct job job = {.options = APL_SPLIT_OPTIONS_INIT};
    int opt;
    if (take_check(&argc, argv))
        return cmd_check(argc, argv);
    while ((opt = getopt_long(argc, argv, ":j:qh", options, NULL)) != -1) {
        if (opt == 'h') {
            fputs(help, stdout);
            return EXIT_SUCCESS;
        }
        int status = set_option(&job, argv, opt);
        if (status)
            return status;
    }
    const char *what = job.folds || job.clients ? "NAME" : "NAME=RATIO";
    int status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", what, NULL});
    if (status)
        return status;
    job.path = argv[optind];
    status = set_spec(&job, argv[optind + 1]);
    if (!status)
        status = split(&job);
    split_spec_free(&job.spec);
    return status;
}
