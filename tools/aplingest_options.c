/* The options of aplingest. */
#include "aplingest.h"
#include "args.h"
#include "completion.h"
#include "report.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* Two of one parent would be refused once the store is made, as they share records: see apl/split.h. */
static int check_split(const struct split_spec *before, const struct split_spec *spec)
{
    const char *parent = spec->parent ? spec->parent : "train";
    if (strcmp(before->name, spec->name) == 0)
        return misuse("--split makes '%s' twice", shown(spec->name));
    if (strcmp(before->parent ? before->parent : "train", parent) == 0)
        return misuse(
            "--split: '%s' and '%s' would share records: let '%s' divide what '%s' leaves, %s=%.9g@%s-%s",
            shown(before->name), shown(spec->name), shown(spec->name), shown(before->name), shown(spec->name),
            spec->ratio, shown(parent), shown(before->name));
    return 0;
}

static int take_split(void *user, const char *text)
{
    struct job *job = user;
    if (job->split_count == MAX_SPLITS)
        return misuse("more than %d splits", MAX_SPLITS);
    struct split_spec *spec = &job->splits[job->split_count++];
    int status = split_parse(text, spec);
    for (size_t i = 0; !status && i + 1 < job->split_count; i++)
        status = check_split(&job->splits[i], spec);
    return status;
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

/* The first is image_column, the others follow it. */
static int take_image_column(void *user, const char *name)
{
    struct job *job = user;
    apl_ingest_options *o = &job->ingest;
    if (!o->image_column) {
        o->image_column = name;
        return 0;
    }
    if (o->more_image_column_count == MAX_IMAGES)
        return misuse("more than %d columns of images", MAX_IMAGES);
    job->image_columns[o->more_image_column_count++] = name;
    o->more_image_columns = job->image_columns;
    return 0;
}

static int take_mask_column(void *user, const char *name)
{
    struct job *job = user;
    if (job->ingest.mask_column_count == MAX_IMAGES)
        return misuse("more than %d columns of masks", MAX_IMAGES);
    job->mask_columns[job->ingest.mask_column_count++] = name;
    job->ingest.mask_columns = job->mask_columns;
    return 0;
}

/* What it says is checked here, and whether a field can have it, once there is one. */
static int take_kind(void *user, const char *text)
{
    struct job *job = user;
    char field[APL_MAX_NAME + 1];
    apl_kind kind;
    apl_error err;
    if (job->ingest.kind_count == APL_MAX_FIELDS)
        return misuse("more than %d times --field", APL_MAX_FIELDS);
    if (apl_kind_parse(text, field, &kind, &err) != APL_OK)
        return misuse("--field %s", err.message);
    job->kinds[job->ingest.kind_count++] = text;
    job->ingest.kinds = job->kinds;
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
    if (strcmp(text, "baseline") == 0) {
        job->ingest.jpeg_quality = APL_JPEG_BASELINE;
        return 0;
    }
    if (!parse_number(text, 1, 100, &quality))
        return misuse("the quality of JPEG images must be 1 to 100, or baseline, not '%s'", shown(text));
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

static int read_nothing(int argc, char **argv)
{
    struct job job;
    int status = options_read(&ingest_line, &job, argc, argv);
    return status == OPTIONS_DONE ? 0 : status;
}

static bool completed(size_t i, struct completed_command *command)
{
    *command = (struct completed_command){"", "", read_nothing};
    return i == 0;
}

static int take_completion(void *user, const char *shell)
{
    (void)user;
    int status = completion_print(shell, completed);
    return status ? status : OPTIONS_DONE;
}

static const struct option_row rows[] = {
    {0, "format", "NAME",
     "cifar, folder, webdataset, idx, npy, list, tfrecord, tokens or raw\n(default: detected)", OPTION_CALL,
     0, take_source_format},
    {0, "images", "KIND",
     "jpeg: keep JPEG files, re-encode the others; pixels: decode all\n(default: the kind of most files)",
     OPTION_CALL, 0, take_images},
    {0, "jpeg", "QUALITY",
     "re-encode all images as JPEG, at a quality of 1 to 100; baseline: progressive\nJPEG files, without "
     "loss, so that they are indexed",
     OPTION_CALL, 0, take_jpeg},
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
    {'b', "block-records", "N", "records in a block (default: 128; more of small, fewer of large ones)",
     OPTION_CALL, 0, take_block_records},
    {'l', "level", "LEVEL", "compression level of zstd (default: the smallest result)", OPTION_CALL, 0,
     take_level},
    {0, "codec", "NAME", "raw, zstd, shuffle, delta or picture (default: the smallest result)", OPTION_CALL,
     0, take_codec},
    {0, "shuffle", "[=SEED]", "store the records in a keyed random order (default seed: 0)", OPTION_CALL, 0,
     take_shuffle},
    {0, "split", "SPLIT",
     "then divide a split in two; SPLIT is NAME=RATIO or NAME=RATIO@PARENT\n(default parent: train); may be "
     "given several times",
     OPTION_CALL, 0, take_split},
    {0, "stratify", "FIELD", "these splits have exactly their share of each class", OPTION_TEXT,
     offsetof(struct job, stratify), NULL},
    {0, "image", "COLUMN",
     "list: the column of image paths (default: detected); may be repeated, for records\nof several images",
     OPTION_CALL, 0, take_image_column},
    {0, "mask", "COLUMN",
     "list, webdataset: a column of mask paths, or a field of masks: palette indices and\ngrey levels are "
     "kept, as class numbers; may be repeated",
     OPTION_CALL, 0, take_mask_column},
    {0, "label", "COLUMN", "list: the column of labels (default: label)", OPTION_TEXT,
     offsetof(struct job, ingest.label_column), NULL},
    {0, "type", "COLUMN=TYPE",
     "list: the type of a column, such as age=f32, id=utf8 or boxes=f32[-1,4];\nmay be "
     "repeated (default: detected)",
     OPTION_CALL, 0, take_column_type},
    {0, "field", "NAME=KIND",
     "what a field is, and words about it: boxes=boxes,xywh labels=label,per=boxes\nseg=mask,ignore=255; may "
     "be "
     "repeated (default: as the source says)",
     OPTION_CALL, 0, take_kind},
    {0, "outside", NULL, "list: paths may be absolute or lead out of the list's folder", OPTION_SWITCH,
     offsetof(struct job, ingest.outside), NULL},
    {0, "part", "I/N",
     "make part I of N of the set in the directory DB; other processes make the others.\nauto: as the "
     "launcher "
     "says (Open MPI, PMI, Slurm, torchrun); none: a store, also\nunder mpirun and srun (default there: "
     "auto)",
     OPTION_CALL, 0, part_take},
    {0, "follow-links", NULL, "follow symbolic links in a directory, wherever they lead", OPTION_SWITCH,
     offsetof(struct job, ingest.follow_links), NULL},
    FORCE_ROW("a store that exists", OPTION_SWITCH, struct job, writer.replace),
    {0, "partial", NULL, "accept a source that lacks members or rows", OPTION_SWITCH,
     offsetof(struct job, ingest.partial), NULL},
    {0, "skip-bad", "N", "leave out up to N bad files or rows, such as images that do not decode",
     OPTION_CALL, 0, take_skip_bad},
    {0, "allow-warnings", NULL,
     "keep images that their library only warns of, as it reads them, and list them", OPTION_SWITCH,
     offsetof(struct job, ingest.allow_warnings), NULL},
    {0, "no-check", NULL, "keep JPEG images without checking that they decode", OPTION_SWITCH,
     offsetof(struct job, ingest.unchecked), NULL},
    {0, "keep-files", NULL, "store JPEG images as they came, without an index for fast crops", OPTION_SWITCH,
     offsetof(struct job, ingest.keep_files), NULL},
    JSON_ROW(struct job, json),
    NO_PROGRESS_ROW(struct job, no_progress),
    QUIET_ROW(struct job, quiet),
    {'v', "verbose", NULL, "print more about the store", OPTION_FLAG, offsetof(struct job, verbose), NULL},
    HELP_ROW,
    COMPLETION_ROW(take_completion),
    {0, "version", NULL, "print the version", OPTION_CALL, 0, take_version},
};

const struct command_line ingest_line = {
    .head = "Usage: aplingest [OPTION]... SOURCE... DB\n"
            "Turn the dataset SOURCE into a store: the directory DB.\n"
            "\n"
            "SOURCE is a directory or an archive (.tar, .tar.gz, .tar.zst, .tar.xz, .tar.bz2, .zip; '-' is "
            "standard input) of\n"
            "  cifar       CIFAR-10 or CIFAR-100 in the binary or the python layout\n"
            "  folder      images in folders by class: CLASS/*.jpg or SPLIT/CLASS/*.png\n"
            "  webdataset  files that share keys, such as 17.jpg and 17.cls; set-{000..099}.tar are shards\n"
            "or files, plain or compressed, or a directory of them:\n"
            "  idx         images and labels in MNIST's layout: train-images-idx3-ubyte.gz, ...\n"
            "  npy         NumPy arrays of equal length, .npy or .npz: each is a field\n"
            "  list        tables (.csv, .tsv, .jsonl) with or without columns of image paths\n"
            "  tfrecord    TFRecord files of tf.train.Example: each feature is a field\n"
            "  tokens      streams of u16 or u32 (--tokens), or pairs of .idx and .bin\n"
            "  raw         any files, as bytes, also from archives; only with --format raw\n"
            "\n",
    .column = 27,
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
};
