/* aplingest: turn a dataset archive into a store. */
#include "apl_ingest.h"
#include "args.h"
#include "describe.h"
#include "interrupt.h"
#include "progress.h"
#include "report.h"
#include "sandbox.h"
#include "splits.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: aplingest [OPTION]... SOURCE DB\n"
    "Turn the dataset archive SOURCE into a store: the directory DB.\n"
    "\n"
    "SOURCE is CIFAR-10 or CIFAR-100 in the binary or the python layout, as .tar, .tar.gz,\n"
    ".tar.zst, .tar.xz, .tar.bz2 or an unpacked directory; '-' is standard input.\n"
    "\n"
    "  -j, --threads N          threads that encode (default: one per core)\n"
    "  -b, --block-records N    records in a block (default: 128)\n"
    "  -l, --level LEVEL        compression level of zstd (default: tried and chosen)\n"
    "      --codec NAME         raw, zstd, shuffle, delta or picture (default: tried and chosen)\n"
    "      --shuffle[=SEED]     store the records in a keyed random order (default seed: 0)\n"
    "      --split SPLIT        then divide a split in two; SPLIT is NAME=RATIO or NAME=RATIO@PARENT\n"
    "                           (default parent: train); may be given several times\n"
    "      --stratify FIELD     these splits have so much of each class, exactly\n"
    "      --force              replace a store that exists\n"
    "      --partial            accept a source that lacks members or rows\n"
    "      --json               print one JSON object instead of the summary\n"
    "      --no-progress        no progress bar\n"
    "  -q, --quiet              print nothing but errors\n"
    "  -v, --verbose            say more of the store that was made\n"
    "  -h, --help               print this help\n"
    "      --version            print the version\n";

#define MAX_SPLITS 64

struct job {
    apl_ingest_options ingest;
    apl_writer_options writer; /* which it points to */
    const char *source, *db;
    bool json, quiet, verbose, no_progress;
    struct split_spec splits[MAX_SPLITS];
    unsigned split_count;
    const char *stratify;
    struct progress progress;
    uint64_t records; /* seen while reading: how many there are to check */
};

enum {
    OPT_CODEC = 256,
    OPT_SHUFFLE,
    OPT_SPLIT,
    OPT_STRATIFY,
    OPT_FORCE,
    OPT_PARTIAL,
    OPT_JSON,
    OPT_NO_PROGRESS,
    OPT_VERSION
};

static const struct option options[] = {
    {"threads", required_argument, NULL, 'j'},
    {"block-records", required_argument, NULL, 'b'},
    {"level", required_argument, NULL, 'l'},
    {"codec", required_argument, NULL, OPT_CODEC},
    {"shuffle", optional_argument, NULL, OPT_SHUFFLE},
    {"split", required_argument, NULL, OPT_SPLIT},
    {"stratify", required_argument, NULL, OPT_STRATIFY},
    {"force", no_argument, NULL, OPT_FORCE},
    {"partial", no_argument, NULL, OPT_PARTIAL},
    {"json", no_argument, NULL, OPT_JSON},
    {"no-progress", no_argument, NULL, OPT_NO_PROGRESS},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static int set_codec(struct job *job, const char *name)
{
    static const char *const codecs[] = {"raw", "zstd", "shuffle", "delta", "picture"};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (strcmp(name, codecs[i]) == 0) {
            job->writer.codec = codecs[i];
            return 0;
        }
    }
    return misuse("no such codec: '%s'; known are raw, zstd, shuffle, delta and picture", shown(name));
}

static int set_shuffle(struct job *job, const char *seed)
{
    job->writer.shuffle = 1;
    if (seed && !parse_number(seed, 0, UINT64_MAX, &job->writer.shuffle_seed))
        return misuse("the seed must be a number from 0 to 18446744073709551615, not '%s'", shown(seed));
    return 0;
}

static int add_split(struct job *job, const char *text)
{
    if (job->split_count == MAX_SPLITS)
        return misuse("more than %d splits", MAX_SPLITS);
    return split_parse(text, &job->splits[job->split_count++]);
}

static int set_number(struct job *job, int opt, const char *text)
{
    uint64_t n;
    int64_t level;
    switch (opt) {
    case 'j':
        if (!parse_number(text, 1, MAX_THREADS, &n))
            return misuse("the number of threads must be 1 to %d, not '%s'", MAX_THREADS, shown(text));
        job->writer.threads = (unsigned)n;
        return 0;
    case 'b':
        if (!parse_number(text, 1, APL_MAX_BLOCK, &n))
            return misuse("the records in a block must be 1 to %d, not '%s'", APL_MAX_BLOCK, shown(text));
        job->writer.block_records = (uint32_t)n;
        return 0;
    default:
        if (!parse_integer(text, -128, 22, &level) || level == 0)
            return misuse("the level must be -128 to -1 or 1 to 22, not '%s'", shown(text));
        job->writer.level = (int)level;
        return 0;
    }
}

static int set_flag(struct job *job, int opt)
{
    switch (opt) {
    case OPT_FORCE:
        job->writer.replace = 1;
        break;
    case OPT_PARTIAL:
        job->ingest.partial = 1;
        break;
    case OPT_JSON:
        job->json = true;
        break;
    case OPT_NO_PROGRESS:
        job->no_progress = true;
        break;
    case 'q':
        job->quiet = true;
        break;
    case 'v':
        job->verbose = true;
        break;
    }
    return 0;
}

static int set_option(struct job *job, char **argv, int opt)
{
    switch (opt) {
    case 'j':
    case 'b':
    case 'l':
        return set_number(job, opt, optarg);
    case OPT_CODEC:
        return set_codec(job, optarg);
    case OPT_SHUFFLE:
        return set_shuffle(job, optarg);
    case OPT_SPLIT:
        return add_split(job, optarg);
    case OPT_STRATIFY:
        job->stratify = optarg;
        return *optarg ? 0 : misuse("FIELD is empty");
    case '?':
    case ':':
        return misused_option(argv, opt);
    default:
        return set_flag(job, opt);
    }
}

static int on_progress(void *user, const apl_ingest_progress *p)
{
    struct job *job = user;
    if (interrupted())
        return 1;
    struct progress_state state = {.records = p->records, .raw_bytes = p->raw_bytes, .fraction = -1};
    if (p->phase == APL_INGEST_READING) {
        job->records = p->records;
        state.what = "reading";
        state.stored_bytes = p->stored_bytes;
        if (p->source_size)
            state.fraction = (double)p->source_bytes / (double)p->source_size;
    } else {
        state.what = "checking";
        if (job->records)
            state.fraction = (double)p->records / (double)job->records;
    }
    progress_show(&job->progress, &state);
    return 0;
}

static void on_notice(void *user, const char *message)
{
    struct job *job = user;
    if (job->quiet)
        return;
    progress_clear(&job->progress);
    fprintf(stderr, "%s: note: %s\n", program_name, message);
}

static int report_failure(const struct job *job, const apl_error *err)
{
    if (err->status == APL_E_CANCELLED)
        return EXIT_FAILURE; /* the signal speaks for itself */
    failed("%s%s", err->message, err->status == APL_E_EXISTS ? "; --force replaces it" : "");
    return job->json ? print_json(json_failure(err), EXIT_FAILURE) : EXIT_FAILURE;
}

/* The splits that were made. */
static json_t *splits_json(const struct job *job)
{
    apl_store *store;
    json_t *list = json_array();
    if (job->split_count == 0 || apl_store_open(job->db, NULL, &store, NULL) != APL_OK)
        return list;
    for (unsigned i = 0; i < job->split_count; i++)
        json_array_append_new(list, split_named_json(store, job->splits[i].name));
    apl_store_close(store);
    return list;
}

static int report_json(const struct job *job, const apl_ingest_summary *sum, double seconds)
{
    json_t *object = json_pack(
        "{s:b, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o}", "ok", 1, "source",
        json_text(job->source), "db", json_text(job->db), "format", sum->format, "records",
        json_count(sum->records), "raw_bytes", json_count(sum->raw_bytes), "source_bytes",
        json_count(sum->source_bytes), "file_bytes", json_count(sum->file_bytes), "ratio",
        json_real((double)sum->file_bytes / (double)(sum->raw_bytes + !sum->raw_bytes)), "seconds", seconds,
        "source_sha256", json_digest(sum->source_digest), "named_splits", splits_json(job));
    return print_json(object, EXIT_SUCCESS);
}

/* The splits; and what -v adds: how the fields are stored, as `apldata info` says it. */
static int report_store(const struct job *job)
{
    apl_store *store;
    apl_error err;
    int status = EXIT_SUCCESS;
    if (apl_store_open(job->db, NULL, &store, &err) != APL_OK)
        return failed("%s", err.message);
    for (unsigned i = 0; i < job->split_count && !status; i++)
        status = split_tell(job->db, store, job->splits[i].name);
    if (job->verbose && !status) {
        status = describe_fields(store);
        printf("content sha256 %s\n", digest_text(apl_store_info(store)->content_digest));
    }
    apl_store_close(store);
    return status;
}

static int report_success(const struct job *job, const apl_ingest_summary *sum, double seconds)
{
    if (job->json)
        return report_json(job, sum, seconds);
    if (job->quiet)
        return EXIT_SUCCESS;
    printf("%s: %s records, %s -> %s (%s), %s, %s\n", shown(job->db), count_text(sum->records),
           size_text(sum->raw_bytes), size_text(sum->file_bytes), ratio_text(sum->file_bytes, sum->raw_bytes),
           duration_text(seconds), rate_text(sum->raw_bytes, seconds));
    if (job->verbose)
        printf("source sha256 %s, %s, %s\n", digest_text(sum->source_digest), sum->format,
               size_text(sum->source_bytes));
    return job->verbose || job->split_count ? report_store(job) : EXIT_SUCCESS;
}

/* Makes the splits of a store that is there; it stays, whatever comes of them. */
static apl_status make_splits(const struct job *job, apl_error *err)
{
    apl_store *store;
    apl_split_options asked = APL_SPLIT_OPTIONS_INIT;
    asked.stratify = job->stratify;
    asked.threads = job->writer.threads;
    asked.replace = job->writer.replace;
    apl_status status = apl_store_open(job->db, NULL, &store, err);
    if (status != APL_OK)
        return status;
    for (unsigned i = 0; i < job->split_count && status == APL_OK; i++)
        status = split_make(store, &job->splits[i], &asked, err);
    apl_store_close(store);
    return status;
}

static int report_split_failure(const struct job *job, const apl_error *err)
{
    failed("%s%s", err->message, err->status == APL_E_EXISTS ? "; --force replaces it" : "");
    failed("%s: the store has been made, but not all of its splits", shown(job->db));
    return job->json ? print_json(json_failure(err), EXIT_FAILURE) : EXIT_FAILURE;
}

/* Split files of the store that was replaced stay: they may be wanted with another ingest of the same content. */
static void tell_stale_splits(const struct job *job)
{
    apl_store *store;
    apl_split_list *list;
    const apl_split_file *f;
    if (apl_store_open(job->db, NULL, &store, NULL) != APL_OK)
        return;
    if (apl_split_list_open(store, &list, NULL) == APL_OK) {
        for (size_t i = 0; (f = apl_split_list_file(list, i)); i++)
            if (split_is_stale(f))
                note("%s: the split %s is of the store that was replaced; it is not used, and can be removed",
                     shown(job->db), shown(f->name));
        apl_split_list_close(list);
    }
    apl_store_close(store);
}

static int ingest(struct job *job)
{
    apl_ingest_summary sum = {0};
    apl_error err;
    job->ingest.user = job;
    job->ingest.writer = &job->writer;
    job->ingest.progress = on_progress;
    job->ingest.notice = on_notice;
    interrupt_catch();
    sandbox_limit_memory(job->writer.threads);
    sandbox_enter();
    progress_begin(&job->progress, !job->quiet && !job->json && !job->no_progress);
    double began = now_seconds();
    apl_status status = apl_ingest(job->source, job->db, &job->ingest, &sum, &err);
    progress_clear(&job->progress);
    if (status != APL_OK)
        return report_failure(job, &err);
    if (job->split_count && make_splits(job, &err) != APL_OK)
        return report_split_failure(job, &err);
    if (job->writer.replace && !job->quiet)
        tell_stale_splits(job);
    return report_success(job, &sum, now_seconds() - began);
}

/* Reads the command line and does what it says. */
static int run_job(struct job *job, int argc, char **argv)
{
    int opt;
    while ((opt = getopt_long(argc, argv, ":j:b:l:qvh", options, NULL)) != -1) {
        if (opt == 'h') {
            fputs(help, stdout);
            return EXIT_SUCCESS;
        }
        if (opt == OPT_VERSION) {
            printf("aplingest %s (libapldata %s)\n", APL_VERSION_STRING, apl_version());
            return EXIT_SUCCESS;
        }
        int status = set_option(job, argv, opt);
        if (status)
            return status;
    }
    if (job->stratify && !job->split_count)
        return misuse("--stratify is for --split, of which there is none");
    int status = take_operands(argc - optind, argv + optind, (const char *const[]){"SOURCE", "DB", NULL});
    if (status)
        return status;
    job->source = argv[optind];
    job->db = argv[optind + 1];
    return ingest(job);
}

static int run(int argc, char **argv)
{
    struct job job = {.ingest = APL_INGEST_OPTIONS_INIT, .writer = APL_WRITER_OPTIONS_INIT};
    opterr = 0;
    int status = run_job(&job, argc, argv);
    for (unsigned i = 0; i < job.split_count; i++)
        split_spec_free(&job.splits[i]);
    return status;
}

int main(int argc, char **argv)
{
    program_name = "aplingest";
    interrupt_ignore_limits();
    int status = finish_output(run(argc, argv));
    if (status)
        interrupt_die();
    return status;
}
