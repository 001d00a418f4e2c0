/* aplingest: turn a dataset archive into a store. */
#include "apl_ingest.h"
#include "args.h"
#include "command_line.h"
#include "describe.h"
#include "interrupt.h"
#include "json.h"
#include "progress.h"
#include "report.h"
#include "sandbox.h"
#include "splits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SPLITS 64
#define MAX_TYPES  64

struct job {
    apl_ingest_options ingest;
    apl_writer_options writer; /* pointed to by `ingest` */
    const char *source, *db, *classes;
    char **class_names, **map;
    uint32_t document_end; /* pointed to by `ingest` */
    bool json, quiet, verbose, no_progress;
    json_t *skipped; /* of files that were left out: path and reason */
    uint64_t skipped_count;
    const char *column_types[MAX_TYPES];
    struct split_spec splits[MAX_SPLITS];
    unsigned split_count;
    const char *stratify;
    struct progress progress;
    uint64_t records; /* seen while reading: how many there are to check */
};

static int take_codec(void *user, const char *name)
{
    struct job *job = user;
    static const char *const codecs[] = {"raw", "zstd", "shuffle", "delta", "picture"};
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        if (strcmp(name, codecs[i]) == 0) {
            job->writer.codec = codecs[i];
            return 0;
        }
    }
    return misuse("no such codec: '%s'; known are raw, zstd, shuffle, delta and picture", shown(name));
}

static int take_shuffle(void *user, const char *seed)
{
    struct job *job = user;
    job->writer.shuffle = 1;
    if (seed && !parse_number(seed, 0, UINT64_MAX, &job->writer.shuffle_seed))
        return misuse("the seed must be a number from 0 to 18446744073709551615, not '%s'", shown(seed));
    return 0;
}

static int take_split(void *user, const char *text)
{
    struct job *job = user;
    if (job->split_count == MAX_SPLITS)
        return misuse("more than %d splits", MAX_SPLITS);
    return split_parse(text, &job->splits[job->split_count++]);
}

static int take_block_records(void *user, const char *text)
{
    struct job *job = user;
    uint64_t n;
    if (!parse_number(text, 1, APL_MAX_BLOCK, &n))
        return misuse("the records in a block must be 1 to %d, not '%s'", APL_MAX_BLOCK, shown(text));
    job->writer.block_records = (uint32_t)n;
    return 0;
}

static int take_level(void *user, const char *text)
{
    struct job *job = user;
    int64_t level;
    if (!parse_integer(text, -128, 22, &level) || level == 0)
        return misuse("the level must be -128 to -1 or 1 to 22, not '%s'", shown(text));
    job->writer.level = (int)level;
    return 0;
}

static int take_skip_bad(void *user, const char *text)
{
    struct job *job = user;
    if (!parse_number(text, 0, UINT64_MAX, &job->ingest.skip_bad))
        return misuse("the bad files to skip must be a number, not '%s'", shown(text));
    return 0;
}

static int take_column_type(void *user, const char *text)
{
    struct job *job = user;
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return misuse("a type is COLUMN=TYPE, such as age=f32, not '%s'", shown(text));
    if (job->ingest.column_type_count == MAX_TYPES)
        return misuse("more than %d types", MAX_TYPES);
    job->column_types[job->ingest.column_type_count++] = text;
    job->ingest.column_types = job->column_types;
    return 0;
}

static int take_source_format(void *user, const char *name)
{
    struct job *job = user;
    static const char *const formats[] = {"cifar", "folder",   "webdataset", "idx", "npy",
                                          "list",  "tfrecord", "tokens",     "raw"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(name, formats[i]) == 0) {
            job->ingest.format = name;
            return 0;
        }
    }
    return misuse(
        "no such format: '%s'; known are cifar, folder, webdataset, idx, npy, list, tfrecord, tokens and raw",
        shown(name));
}

static int take_tokens(void *user, const char *name)
{
    struct job *job = user;
    bool narrow = strcmp(name, "u16") == 0;
    if (!narrow && strcmp(name, "u32") != 0)
        return misuse("tokens are u16 or u32, not '%s'", shown(name));
    job->ingest.tokens = narrow ? APL_U16 : APL_U32;
    job->ingest.format = job->ingest.format ? job->ingest.format : "tokens";
    return 0;
}

static int take_document_end(void *user, const char *text)
{
    struct job *job = user;
    uint64_t token;
    if (!parse_number(text, 0, UINT32_MAX, &token))
        return misuse("the token that ends a document must be a number from 0 to 4294967295, not '%s'",
                      shown(text));
    job->document_end = (uint32_t)token;
    job->ingest.document_end = &job->document_end;
    return 0;
}

static int take_chunk(void *user, const char *text)
{
    struct job *job = user;
    uint64_t n;
    if (!parse_number(text, 1, APL_MAX_VALUE / 4, &n))
        return misuse("the tokens of a record must be 1 to %u, not '%s'", APL_MAX_VALUE / 4, shown(text));
    job->ingest.chunk = (uint32_t)n;
    return 0;
}

static int take_images(void *user, const char *kind)
{
    struct job *job = user;
    if (strcmp(kind, "jpeg") != 0 && strcmp(kind, "pixels") != 0)
        return misuse("images become jpeg or pixels, not '%s'", shown(kind));
    job->ingest.images = kind;
    return 0;
}

static int take_jpeg(void *user, const char *text)
{
    struct job *job = user;
    uint64_t quality;
    if (!parse_number(text, 1, 100, &quality))
        return misuse("the quality of JPEG images must be 1 to 100, not '%s'", shown(text));
    job->ingest.jpeg_quality = (int)quality;
    return 0;
}

/* short=N or WIDTHxHEIGHT. */
static int take_resize(void *user, const char *text)
{
    struct job *job = user;
    uint64_t width = 0, height = 0, shorter = 0;
    char first[16] = "";
    const char *x = strchr(text, 'x');
    if (strncmp(text, "short=", 6) == 0 && parse_number(text + 6, 1, 65500, &shorter)) {
        job->ingest.resize_short = (uint32_t)shorter;
        return 0;
    }
    if (x && (size_t)(x - text) < sizeof first)
        memcpy(first, text, (size_t)(x - text));
    if (!x || !parse_number(first, 1, 65500, &width) || !parse_number(x + 1, 1, 65500, &height))
        return misuse("images are resized to short=N or WIDTHxHEIGHT, such as short=256 or 224x224, not '%s'",
                      shown(text));
    job->ingest.resize_width = (uint32_t)width;
    job->ingest.resize_height = (uint32_t)height;
    return 0;
}

static int take_max_side(void *user, const char *text)
{
    struct job *job = user;
    uint64_t side;
    if (!parse_number(text, 1, 65500, &side))
        return misuse("the longest side of images must be 1 to 65500, not '%s'", shown(text));
    job->ingest.max_side = (uint32_t)side;
    return 0;
}

static int take_version(void *user, const char *value)
{
    (void)user;
    (void)value;
    printf("aplingest %s (libapldata %s)\n", APL_VERSION_STRING, apl_version());
    return OPTIONS_DONE;
}

static const struct option_row rows[] = {
    {0, "format", "NAME",
     "cifar, folder, webdataset, idx, npy, list, tfrecord, tokens or raw\n(default: detected)", OPTION_CALL,
     0, take_source_format},
    {0, "images", "KIND",
     "jpeg: keep JPEG files, others become such; pixels: decode all\n(default: as most are)", OPTION_CALL, 0,
     take_images},
    {0, "jpeg", "QUALITY", "re-encode all images as JPEG, at a quality of 1 to 100", OPTION_CALL, 0,
     take_jpeg},
    {0, "resize", "SIZE",
     "resize images: short=N, the shorter side; or WIDTHxHEIGHT (JPEG files are\nre-encoded, at quality 90 "
     "unless --jpeg says otherwise)",
     OPTION_CALL, 0, take_resize},
    {0, "max-side", "N", "shrink images whose longer side exceeds N", OPTION_CALL, 0, take_max_side},
    {0, "orient", NULL, "turn images as their EXIF says (JPEG files are re-encoded, at quality 95)",
     OPTION_SWITCH, offsetof(struct job, ingest.orient), NULL},
    {0, "classes", "FILE",
     "names of the classes, one per line, for labels without names\n(idx, npy, webdataset)", OPTION_TEXT,
     offsetof(struct job, classes), NULL},
    {0, "map", "FILE", "names for the classes of folders, one per line: n01440764 tench", OPTION_TEXT,
     offsetof(struct job, ingest.map_name), NULL},
    {0, "tokens", "TYPE", "the source is streams of tokens of that type: u16 or u32", OPTION_CALL, 0,
     take_tokens},
    {0, "document-end", "ID", "the token that ends the documents of a stream: each is a record", OPTION_CALL,
     0, take_document_end},
    {0, "chunk", "N", "otherwise, tokens per record (default: 65536)", OPTION_CALL, 0, take_chunk},
    THREADS_ROW("encode", struct job, writer.threads),
    {'b', "block-records", "N", "records in a block (default: 128)", OPTION_CALL, 0, take_block_records},
    {'l', "level", "LEVEL", "compression level of zstd (default: tried and chosen)", OPTION_CALL, 0,
     take_level},
    {0, "codec", "NAME", "raw, zstd, shuffle, delta or picture (default: tried and chosen)", OPTION_CALL, 0,
     take_codec},
    {0, "shuffle", "[=SEED]", "store the records in a keyed random order (default seed: 0)", OPTION_CALL, 0,
     take_shuffle},
    {0, "split", "SPLIT",
     "then divide a split in two; SPLIT is NAME=RATIO or NAME=RATIO@PARENT\n(default parent: train); may be "
     "given several times",
     OPTION_CALL, 0, take_split},
    {0, "stratify", "FIELD", "these splits have exactly their share of each class", OPTION_TEXT,
     offsetof(struct job, stratify), NULL},
    {0, "image", "COLUMN", "list: the column of image paths (default: detected)", OPTION_TEXT,
     offsetof(struct job, ingest.image_column), NULL},
    {0, "label", "COLUMN", "list: the column of labels (default: label)", OPTION_TEXT,
     offsetof(struct job, ingest.label_column), NULL},
    {0, "type", "COLUMN=TYPE",
     "list: the type of a column, such as age=f32, id=utf8 or boxes=f32[-1,4];\nmay be "
     "repeated (default: detected)",
     OPTION_CALL, 0, take_column_type},
    {0, "outside", NULL, "list: paths may be absolute or lead out of the list's folder", OPTION_SWITCH,
     offsetof(struct job, ingest.outside), NULL},
    FORCE_ROW("a store that exists", OPTION_SWITCH, struct job, writer.replace),
    {0, "partial", NULL, "accept a source that lacks members or rows", OPTION_SWITCH,
     offsetof(struct job, ingest.partial), NULL},
    {0, "skip-bad", "N", "leave out up to N bad files, such as images that do not decode", OPTION_CALL, 0,
     take_skip_bad},
    {0, "no-check", NULL, "keep JPEG images without decoding them once to see that they can be",
     OPTION_SWITCH, offsetof(struct job, ingest.unchecked), NULL},
    {0, "keep-files", NULL, "store JPEG images as they came, without an index for fast crops", OPTION_SWITCH,
     offsetof(struct job, ingest.keep_files), NULL},
    JSON_ROW(struct job, json),
    NO_PROGRESS_ROW(struct job, no_progress),
    QUIET_ROW(struct job, quiet),
    {'v', "verbose", NULL, "print more about the store", OPTION_FLAG, offsetof(struct job, verbose), NULL},
    HELP_ROW,
    {0, "version", NULL, "print the version", OPTION_CALL, 0, take_version},
};

static const struct command_line line = {
    .head = "Usage: aplingest [OPTION]... SOURCE... DB\n"
            "Turn the dataset SOURCE into a store: the directory DB.\n"
            "\n"
            "SOURCE is a directory or an archive (.tar, .tar.gz, .tar.zst, .tar.xz, .tar.bz2, .zip; '-' is "
            "standard input) of\n"
            "  cifar       CIFAR-10 or CIFAR-100 in the binary or the python layout\n"
            "  folder      images in folders by class: CLASS/*.jpg or SPLIT/CLASS/*.png\n"
            "  webdataset  files that share keys, such as 17.jpg and 17.cls; set-{000..099}.tar are shards\n"
            "or files, plain or compressed, or a directory of them:\n"
            "  idx         images and labels as MNIST has them: train-images-idx3-ubyte.gz, ...\n"
            "  npy         NumPy arrays of equal length, .npy or .npz: each is a field\n"
            "  list        tables (.csv, .tsv, .jsonl) with a column of paths of images, or without\n"
            "  tfrecord    TFRecord files of tf.train.Example: each feature is a field\n"
            "  tokens      streams of u16 or u32 (--tokens), or pairs of .idx and .bin\n"
            "  raw         any files, as bytes, also from archives; only with --format raw\n"
            "\n",
    .column = 27,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};

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

static void on_skipped(void *user, const char *path, const char *why)
{
    struct job *job = user;
    job->skipped_count++;
    if (job->skipped)
        json_array_append_new(job->skipped,
                              json_pack("{s:o, s:o}", "path", json_text(path), "why", json_text(why)));
    if (job->quiet || job->json)
        return;
    progress_clear(&job->progress);
    fprintf(stderr, "%s: skipped: %s: %s\n", program_name, path, why);
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
    json_t *object =
        json_pack("{s:b, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:O}", "ok", 1, "source",
                  json_text(job->source), "db", json_text(job->db), "format", sum->format, "records",
                  json_count(sum->records), "raw_bytes", json_count(sum->raw_bytes), "source_bytes",
                  json_count(sum->source_bytes), "file_bytes", json_count(sum->file_bytes), "ratio",
                  json_real((double)sum->file_bytes / (double)(sum->raw_bytes + !sum->raw_bytes)), "seconds",
                  seconds, "source_sha256", json_digest(sum->source_digest), "named_splits", splits_json(job),
                  "skipped", job->skipped);
    return print_json(object, EXIT_SUCCESS);
}

/* The splits; and what -v adds: how the fields are stored, as `apldata info` shows it. */
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
    if (job->skipped_count)
        printf("bad files skipped: %s\n", count_text(job->skipped_count));
    if (job->verbose)
        printf("source sha256 %s, %s, %s\n", digest_text(sum->source_digest), sum->format,
               size_text(sum->source_bytes));
    return job->verbose || job->split_count ? report_store(job) : EXIT_SUCCESS;
}

/* Makes the splits of a finished store, which stays even if they fail. */
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

/* Split files of the replaced store stay: another ingest of the same content may need them. */
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
    job->ingest.skipped = on_skipped;
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

/* The lines of a file, each a text of its own; *count of them are the caller's to free, whatever comes back. */
static int read_lines(const char *path, char ***lines, size_t *count)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    if (!file)
        return failed_errno(errno, "%s", shown(path));
    while ((length = getline(&text, &room, file)) >= 0) {
        char **more = realloc(*lines, (*count + 1) * sizeof *more);
        length -= length > 0 && text[length - 1] == '\n';
        length -= length > 0 && text[length - 1] == '\r';
        text[length] = 0;
        if (more)
            *lines = more;
        if (!more || !(more[*count] = strdup(text)))
            break;
        (*count)++;
    }
    bool bad = ferror(file) || !feof(file);
    fclose(file);
    free(text);
    return bad ? failed("%s: cannot be read", shown(path)) : 0;
}

static void free_lines(char **lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(lines[i]);
    free(lines);
}

/* The names of classes, and of those of folders. */
static int read_names(struct job *job)
{
    int status = job->classes ? read_lines(job->classes, &job->class_names, &job->ingest.class_count) : 0;
    job->ingest.classes = (const char *const *)job->class_names;
    if (!status && job->classes && job->ingest.class_count == 0)
        return failed("%s: has no names of classes", shown(job->classes));
    if (!status && job->ingest.map_name)
        status = read_lines(job->ingest.map_name, &job->map, &job->ingest.map_count);
    job->ingest.map = (const char *const *)job->map;
    if (!status && job->ingest.map_name && job->ingest.map_count == 0)
        return failed("%s: has no names of classes", shown(job->ingest.map_name));
    return status;
}

/* Reads the command line and does what it says. */
static int run_job(struct job *job, int argc, char **argv)
{
    int status = options_read(&line, job, argc, argv);
    if (status)
        return status;
    if (job->stratify && !job->split_count)
        return misuse("--stratify needs --split");
    /* The first of the sources, and what stands last. */
    char *ends[] = {argc > optind ? argv[optind] : NULL, argv[argc - 1]};
    int given = argc - optind < 2 ? argc - optind : 2;
    status = take_operands(given, ends, (const char *const[]){"SOURCE", "DB", NULL});
    if (status)
        return status;
    job->source = ends[0];
    job->db = ends[1];
    job->ingest.more = (const char *const *)argv + optind + 1;
    job->ingest.more_count = (size_t)(argc - optind - 2);
    status = read_names(job);
    return status ? status : ingest(job);
}

static int run(int argc, char **argv)
{
    struct job job = {.ingest = APL_INGEST_OPTIONS_INIT, .writer = APL_WRITER_OPTIONS_INIT};
    job.skipped = json_array();
    opterr = 0;
    int status = run_job(&job, argc, argv);
    for (unsigned i = 0; i < job.split_count; i++)
        split_spec_free(&job.splits[i]);
    free_lines(job.class_names, job.ingest.class_count);
    free_lines(job.map, job.ingest.map_count);
    json_decref(job.skipped);
    return options_status(status);
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
