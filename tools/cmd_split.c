/* apldata split: divide a split of a store in two. */
#include "args.h"
#include "cmd.h"
#include "report.h"
#include "splits.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Usage: apldata split [OPTION]... DB NAME=RATIO[@PARENT]\n"
    "Divide the records of PARENT in two: NAME has about RATIO of them, PARENT-NAME the rest.\n"
    "PARENT is a split of the source (default: train), or one that was made before, or a rest.\n"
    "The store is not changed: the split is kept in the file DB/NAME.split.\n"
    "\n"
    "      --stratify FIELD     so much of each class, exactly (default: by a hash of the inputs)\n"
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
    bool json, quiet;
};

static int fail_with(const struct job *job, const apl_error *err)
{
    failed("%s%s", err->message, err->status == APL_E_EXISTS ? "; --force replaces it" : "");
    return job->json ? print_json(json_failure(err), EXIT_FAILURE) : EXIT_FAILURE;
}

static int split(const struct job *job)
{
    apl_store *store;
    apl_error err;
    int status = EXIT_SUCCESS;
    if (apl_store_open(job->path, NULL, &store, &err) != APL_OK)
        return fail_with(job, &err);
    if (split_make(store, &job->spec, &job->options, &err) != APL_OK)
        status = fail_with(job, &err);
    else if (job->json)
        status = print_json(split_named_json(store, job->spec.name), EXIT_SUCCESS);
    else if (!job->quiet)
        status = split_tell(job->path, store, job->spec.name);
    apl_store_close(store);
    return status;
}

static int set_option(struct job *job, char **argv, int opt)
{
    uint64_t n;
    switch (opt) {
    case 's':
        job->options.stratify = optarg;
        return *optarg ? 0 : misuse("FIELD is empty");
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
    static const struct option options[] = {
        {"stratify", required_argument, NULL, 's'}, {"seed", required_argument, NULL, 'S'},
        {"force", no_argument, NULL, 'F'},          {"threads", required_argument, NULL, 'j'},
        {"json", no_argument, NULL, 'J'},           {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0}};
    struct job job = {.options = APL_SPLIT_OPTIONS_INIT};
    int opt;
    while ((opt = getopt_long(argc, argv, ":j:qh", options, NULL)) != -1) {
        if (opt == 'h') {
            fputs(help, stdout);
            return EXIT_SUCCESS;
        }
        int status = set_option(&job, argv, opt);
        if (status)
            return status;
    }
    int status = take_operands(argc - optind, argv + optind, (const char *const[]){"DB", "NAME=RATIO", NULL});
    if (status)
        return status;
    job.path = argv[optind];
    status = split_parse(argv[optind + 1], &job.spec);
    if (!status)
        status = split(&job);
    split_spec_free(&job.spec);
    return status;
}
