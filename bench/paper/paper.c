/*
 * One trial of one loader: trains the network of examples/ on CIFAR-10, for some seconds of the first epoch and as many of later ones,
 * classifies the test split, and
 * prints what was measured as a line of JSON. run.py starts it, again and again; docs/PAPER.md says what for.
 *
 *     paper --loader plain|burst|lmdb|lmdb-raw|apl [OPTION]...
 *     paper --write-lmdb --raw DIR --lmdb DIR     makes what the loaders `lmdb` and `lmdb-raw` read
 *     paper --digest --loader NAME [OPTION]...    a sum over the records of an epoch, the same for all loaders
 */
#include "../../examples/net.h"
#include "hash.h"
#include "lmdb_records.h"
#include "loader.h"
#include "measure.h"
#include "usage.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* What a trial does: train, or only one of the two, so that the time of each can be known. */
enum parts { BOTH, LOAD_ONLY, COMPUTE_ONLY };

struct settings {
    struct loading loading;
    const struct loader_kind *kind;
    enum parts parts;
    double seconds;
    unsigned blocks, threads; /* of the network */
    int write_lmdb, digest, cold;
};

/* What is added up over steps. */
struct phase {
    uint64_t steps, images;
    uint64_t all_images; /* also those of the step that ended too late to count: CPU time has it too */
    double waited, computed, cpu; /* seconds */
};

struct trial {
    struct phase cold, steady; /* of the first epoch; of later ones */
    bool first_is_over;
    uint64_t rounds;          /* steps that were complete when the time since `begun` was up */
    double begun;             /* when the loader was to be opened */
    double opened, inference; /* seconds */
    double loss;              /* of the last batch, the mean */
    size_t staged;
    struct memory memory;
};

_Noreturn void paper_die(const char *format, ...)
{
    va_list arguments;
    fputs("paper: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

_Noreturn void paper_die_of(const char *path)
{
    paper_die("%s: %s", path, strerror(errno));
}

/* Normalised by the moments of the published training split. */
apl_transform paper_transform(bool augmented)
{
    static const float mean[3] = {125.307f, 122.95f, 113.865f}, std[3] = {62.993f, 62.089f, 66.705f};
    apl_transform t = APL_TRANSFORM_INIT;
    t.field = "image";
    t.pad = augmented ? 4 : 0;
    t.crop_height = t.crop_width = PAPER_SIDE;
    t.crop_centre = !augmented;
    t.flip = augmented ? APL_FLIP_RANDOM : APL_FLIP_NONE;
    t.scale = APL_SCALE_NORMALISE;
    t.dtype = APL_F32;
    t.layout = APL_NHWC;
    memcpy(t.mean, mean, sizeof mean);
    memcpy(t.std, std, sizeof std);
    return t;
}

/* -------------------------------------------------------------------------------------------- training */

static double learn(net *n, const struct batch *batch)
{
    const net_score score = net_gradient(n, batch->images, batch->labels, batch->count);
    net_step(n, 0.01f, 0.9f, 5e-4f);
    return score.loss / (double)batch->count;
}

/* The next batch; false behind the last of the first epoch. */
static bool load(const struct settings *s, struct loader *loader, struct trial *t, struct phase *p,
                 struct batch *batch)
{
    if (s->parts == COMPUTE_ONLY && batch->count > 0)
        return true;
    if (s->kind->next(loader, batch))
        return true;
    t->first_is_over = true;
    if (p == &t->cold)
        return false;
    if (!s->kind->next(loader, batch))
        paper_die("the training split has no records");
    return true;
}

/* Steps until the time since `begun` is up, and at least one: the first epoch's until that is over, or later ones'. */
static void train(const struct settings *s, net *n, struct loader *loader, double begun, struct trial *t,
                  struct phase *p, struct batch *batch)
{
    for (;;) {
        const double asked = now();
        if (!load(s, loader, t, p, batch))
            return;
        const double loaded = now();
        if (s->parts != LOAD_ONLY)
            t->loss = learn(n, batch);
        const double ended = now();
        p->all_images += batch->count;
        if (ended - begun > s->seconds && p->steps > 0)
            return;
        p->waited += loaded - asked;
        p->computed += ended - loaded;
        p->images += batch->count;
        p->steps++;
        t->rounds += ended - t->begun <= s->seconds;
    }
}

/* What is left of the first epoch, without training on it. */
static void skip_first(const struct settings *s, struct loader *loader, struct trial *t)
{
    struct batch batch;
    while (!t->first_is_over && s->parts != COMPUTE_ONLY)
        t->first_is_over = !s->kind->next(loader, &batch);
}

/* In the first epoch, from opening the loader on, and then as long in later ones. */
static void train_twice(const struct settings *s, net *n, struct trial *t, struct loader *loader, double cpu)
{
    struct batch batch = {0};
    train(s, n, loader, t->begun, t, &t->cold, &batch);
    t->cold.cpu = usage_cpu() - cpu;
    skip_first(s, loader, t);
    cpu = usage_cpu();
    train(s, n, loader, now(), t, &t->steady, &batch);
    t->steady.cpu = usage_cpu() - cpu;
}

/* Seconds to classify the test split, from opening it. */
static double classify(const struct settings *s, net *n)
{
    struct loading test = s->loading;
    struct batch batch;
    test.split = "test";
    test.shuffled = test.augmented = false;
    const double begun = now();
    struct loader *loader = s->kind->open(&test);
    while (s->kind->next(loader, &batch))
        net_evaluate(n, batch.images, batch.labels, batch.count);
    const double seconds = now() - begun;
    s->kind->close(loader);
    return seconds;
}

static struct trial run(const struct settings *s)
{
    struct trial t = {0};
    net *n = must_have(net_new(PAPER_SIDE, 3, s->blocks, PAPER_CLASSES, s->threads, s->loading.seed));
    const double cpu = usage_cpu();
    t.begun = now();
    struct loader *loader = s->kind->open(&s->loading);
    t.opened = now() - t.begun;
    train_twice(s, n, &t, loader, cpu);
    t.memory = usage_memory();
    t.staged = s->kind->staged(loader);
    s->kind->close(loader);
    if (s->parts == BOTH)
        t.inference = classify(s, n);
    net_free(n);
    return t;
}

static void tell_phase(const char *name, const struct phase *p)
{
    printf("\"%s\": {\"steps\": %llu, \"images\": %llu, \"all_images\": %llu, \"waited\": %.6f, "
           "\"computed\": %.6f, \"cpu\": %.6f}, ",
           name, (unsigned long long)p->steps, (unsigned long long)p->images,
           (unsigned long long)p->all_images, p->waited, p->computed, p->cpu);
}

static void tell_trial(const struct settings *s, const struct trial *t)
{
    printf("{\"loader\": \"%s\", \"ahead\": %u, \"blocks\": %u, \"rounds\": %llu, \"opened\": %.6f, ",
           s->kind->name, s->loading.ahead, s->blocks, (unsigned long long)t->rounds, t->opened);
    tell_phase("cold", &t->cold);
    tell_phase("steady", &t->steady);
    printf("\"inference\": %.6f, \"loss\": %.6f, \"staged\": %zu, \"peak\": %.0f, \"pss\": %.0f, "
           "\"anonymous\": %.0f}\n",
           t->inference, t->loss, t->staged, t->memory.peak, t->memory.pss, t->memory.anonymous);
}

/* ---------------------------------------------------------------------------------------------- digest */

/* Of a record's image and label; their sum does not depend on the order. */
static uint64_t hash_of(const float *image, uint8_t label)
{
    return hash_xxh3_64(image, PAPER_PIXELS * sizeof *image) * (2u * label + 1);
}

/* Two epochs as they are asked for: how many records, and their sums. */
static void tell_digest(const struct settings *s)
{
    struct loader *loader = s->kind->open(&s->loading);
    for (int epoch = 0; epoch < 2; epoch++) {
        struct batch batch;
        uint64_t records = 0, sum = 0;
        while (s->kind->next(loader, &batch)) {
            for (size_t i = 0; i < batch.count; i++)
                sum += hash_of(batch.images + i * PAPER_PIXELS, batch.labels[i]);
            records += batch.count;
        }
        printf("epoch %d: %llu records, %016llx\n", epoch, (unsigned long long)records,
               (unsigned long long)sum);
    }
    s->kind->close(loader);
}

/* -------------------------------------------------------------------------------------------- settings */

/* Drops what the kernel keeps of a file in memory, so that the first epoch reads from the disk. */
static void forget(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory ? directory : ".", name);
    const int file = directory ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

static void forget_all(const struct loading *l)
{
    static const char *const raw[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                      "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
    forget(l->db, "data.mdb");
    forget(l->lmdb, "zstd/data.mdb");
    forget(l->lmdb, "raw/data.mdb");
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++)
        forget(l->raw, raw[i]);
}

static const struct loader_kind *kind_of(const char *name)
{
    static const struct loader_kind *const kinds[] = {&paper_plain, &paper_burst, &paper_lmdb,
                                                      &paper_lmdb_raw, &paper_apl};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    paper_die("there is no loader called %s", name);
}

static enum parts parts_of(const char *name)
{
    if (strcmp(name, "load") != 0 && strcmp(name, "compute") != 0)
        paper_die("--only is load or compute");
    return *name == 'l' ? LOAD_ONLY : COMPUTE_ONLY;
}

static double number(const char *name, const char *text, double least, double most)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        paper_die("--%s is a number from %g to %g, not %s", name, least, most, text);
    return value;
}

enum {
    DB = 256,
    RAW,
    LMDB,
    STAGING,
    LOADER,
    ONLY,
    NUMBER,
    PROCESSES,
    WRITE_LMDB,
    DIGEST,
    PLAIN_IMAGES,
    COLD
};

static const struct option options[] = {{"db", 1, NULL, DB},
                                        {"raw", 1, NULL, RAW},
                                        {"lmdb", 1, NULL, LMDB},
                                        {"staging", 1, NULL, STAGING},
                                        {"loader", 1, NULL, LOADER},
                                        {"only", 1, NULL, ONLY},
                                        {"seconds", 1, NULL, NUMBER},
                                        {"batch-size", 1, NULL, NUMBER},
                                        {"blocks", 1, NULL, NUMBER},
                                        {"threads", 1, NULL, NUMBER},
                                        {"ahead", 1, NULL, NUMBER},
                                        {"readers", 1, NULL, NUMBER},
                                        {"window", 1, NULL, NUMBER},
                                        {"seed", 1, NULL, NUMBER},
                                        {"processes", 0, NULL, PROCESSES},
                                        {"write-lmdb", 0, NULL, WRITE_LMDB},
                                        {"digest", 0, NULL, DIGEST},
                                        {"plain-images", 0, NULL, PLAIN_IMAGES},
                                        {"cold", 0, NULL, COLD},
                                        {NULL, 0, NULL, 0}};

static void set_number(struct settings *s, const char *name, const char *text)
{
    if (strcmp(name, "seconds") == 0)
        s->seconds = number(name, text, 0, 1e6);
    else if (strcmp(name, "batch-size") == 0)
        s->loading.batch_size = (size_t)number(name, text, 1, 65536);
    else if (strcmp(name, "blocks") == 0)
        s->blocks = (unsigned)number(name, text, 0, NET_MAX_BLOCKS);
    else if (strcmp(name, "threads") == 0)
        s->threads = (unsigned)number(name, text, 1, NET_MAX_THREADS);
    else if (strcmp(name, "ahead") == 0)
        s->loading.ahead = (unsigned)number(name, text, 0, 16);
    else if (strcmp(name, "readers") == 0)
        s->loading.readers = (unsigned)number(name, text, 1, 16);
    else if (strcmp(name, "window") == 0)
        s->loading.window = (uint64_t)number(name, text, 0, 1e9);
    else
        s->loading.seed = (uint64_t)number(name, text, 0, 1e15);
}

static void set(struct settings *s, int option, const char *name, const char *text)
{
    switch (option) {
    case DB:
        s->loading.db = text;
        break;
    case RAW:
        s->loading.raw = text;
        break;
    case LMDB:
        s->loading.lmdb = text;
        break;
    case STAGING:
        s->loading.staging = text;
        break;
    case LOADER:
        s->kind = kind_of(text);
        break;
    case ONLY:
        s->parts = parts_of(text);
        break;
    case NUMBER:
        set_number(s, name, text);
        break;
    case PROCESSES:
        s->loading.processes = true;
        break;
    case WRITE_LMDB:
        s->write_lmdb = 1;
        break;
    case DIGEST:
        s->digest = 1;
        break;
    case PLAIN_IMAGES:
        s->loading.augmented = false;
        break;
    case COLD:
        s->cold = 1;
        break;
    default:
        exit(2);
    }
}

static void must_be_given(const char *path, const char *option)
{
    if (!path)
        paper_die("%s is missing", option);
}

static void check(const struct settings *s)
{
    if (!s->kind && !s->write_lmdb)
        paper_die("--loader is missing");
    if (s->kind == &paper_apl)
        must_be_given(s->loading.db, "--db");
    const bool lmdb = s->kind == &paper_lmdb || s->kind == &paper_lmdb_raw;
    if (lmdb || s->write_lmdb)
        must_be_given(s->loading.lmdb, "--lmdb");
    if (s->loading.processes && (!lmdb || s->loading.ahead == 0))
        paper_die("--processes: for those that load ahead from an LMDB");
    if (s->kind == &paper_plain || s->kind == &paper_burst || s->write_lmdb)
        must_be_given(s->loading.raw, "--raw");
}

static struct settings parse(int argc, char **argv)
{
    struct settings s = {.loading = {.staging = "/dev/shm",
                                     .split = "train",
                                     .batch_size = 128,
                                     .seed = 1,
                                     .readers = 1,
                                     .shuffled = true,
                                     .augmented = true},
                         .seconds = 3,
                         .blocks = NET_MAX_BLOCKS,
                         .threads = 2};
    int option, which;
    while ((option = getopt_long(argc, argv, "", options, &which)) != -1)
        set(&s, option, option == '?' ? NULL : options[which].name, optarg);
    if (optind < argc)
        paper_die("%s: all is said by options", argv[optind]);
    check(&s);
    return s;
}

int main(int argc, char **argv)
{
    const struct settings s = parse(argc, argv);
    if (s.write_lmdb) {
        lmdb_records_write(&s.loading);
        return 0;
    }
    if (s.cold)
        forget_all(&s.loading);
    if (s.digest) {
        tell_digest(&s);
        return 0;
    }
    const struct trial t = run(&s);
    tell_trial(&s, &t);
    return 0;
}
