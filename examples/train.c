/*
 * Trains a small convolutional network on the images of a store, and tests it after every epoch:
 *
 *     train [--epochs N] [--seconds S] [--threads N] [--batch-size N] [--seed N] [--side N]
 *           [--train SPLIT] [--test SPLIT] [DB]
 *
 * The reader crops, flips and normalises the images on threads of its own while the network learns from
 * earlier ones. "stall" is the share of training time spent waiting for images. Of JPEG files, which may have
 * any size, the reader decodes a random part, and scales it to --side pixels.
 */
#include "net.h"

#include <apl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct settings {
    const char *db, *train, *test;
    double epochs, seconds, threads, batch_size, seed, side;
} settings;

/* Which fields of the store are the images and the labels, and what they look like. */
typedef struct fields {
    unsigned image, label, channels, side, classes;
    int jpeg;
} fields;

/* The result of an epoch, or of a test. */
typedef struct result {
    net_score score;
    size_t images;
    double seconds, waited;
} result;

static apl_error err;

/* --------------------------------------------------------------------------------------------- helpers */

static void die(const char *message)
{
    fprintf(stderr, "train: %s\n", message);
    exit(1);
}

static void must(apl_status status)
{
    if (status != APL_OK)
        die(err.message);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --------------------------------------------------------------------------------------------- reading */

static int is_jpeg(const apl_field *f)
{
    return f->media && strcmp(f->media, "image/jpeg") == 0;
}

/* The first field of JPEG files or of square u8 images, and the first u8 field with classes. */
static fields find_fields(const apl_store *store, unsigned jpeg_side)
{
    fields found = {0, 0, 0, 0, 0, 0};
    for (unsigned i = apl_store_info(store)->fields; i-- > 0;) {
        const apl_field *f = apl_store_field(store, i);
        const int square =
            f->dtype == APL_U8 && f->ndim == 3 && f->shape[1] > 0 && f->shape[1] == f->shape[2];
        if (is_jpeg(f) || square) {
            found.image = i;
            found.jpeg = is_jpeg(f);
            found.channels = found.jpeg ? 3 : (unsigned)f->shape[0];
            found.side = found.jpeg ? jpeg_side : (unsigned)f->shape[1];
        } else if (f->dtype == APL_U8 && f->classes) {
            found.label = i;
            found.classes = (unsigned)f->class_count;
        }
    }
    if (!found.side || !found.classes)
        die("the store has no field of JPEG files or square u8 images, or none of u8 labels with classes");
    return found;
}

/* What is learned from is cropped at random; what is tested, in the middle. Images of one size are tested whole. */
static void set_crop(apl_transform *t, const fields *f, int learning)
{
    if (f->jpeg || learning)
        t->crop_height = t->crop_width = f->side;
    if (f->jpeg && learning) {
        t->sizing = APL_SIZING_RANDOM;
    } else if (f->jpeg) {
        t->sizing = APL_SIZING_RESIZE;
        t->resize_short = f->side * 8 / 7;
        t->crop_centre = 1;
    } else if (learning) {
        t->pad = f->side / 8;
    }
}

/* Images are normalised, in NHWC; those to learn from are shuffled and augmented. */
static apl_reader *open_reader(apl_store *store, const fields *f, const settings *s, int learning)
{
    apl_transform transform = APL_TRANSFORM_INIT;
    transform.field = apl_store_field(store, f->image)->name;
    transform.scale = APL_SCALE_NORMALISE; /* by the moments of the split "train", also for the test */
    transform.dtype = APL_F32;
    transform.layout = APL_NHWC;
    transform.flip = learning ? APL_FLIP_RANDOM : APL_FLIP_NONE;
    set_crop(&transform, f, learning);
    const char *const names[2] = {transform.field, apl_store_field(store, f->label)->name};
    apl_reader_options options = APL_READER_OPTIONS_INIT;
    options.split = learning ? s->train : s->test;
    options.fields = names;
    options.field_count = 2;
    options.batch_size = (size_t)s->batch_size;
    options.sequential = !learning;
    options.seed = (uint64_t)s->seed;
    options.transforms = &transform;
    options.transform_count = 1;
    apl_reader *reader;
    must(apl_reader_open(store, &options, &reader, &err));
    return reader;
}

static double waited(apl_reader *reader)
{
    apl_stats stats;
    must(apl_reader_stats(reader, &stats, sizeof stats));
    return stats.wait;
}

/* -------------------------------------------------------------------------------------------- training */

/* How far training has come: its learning rate, which rises for a fifth of the way and falls for the rest. */
typedef struct course {
    const settings *settings;
    double steps, of, begun;
} course;

static double progress(const course *c)
{
    const double by_steps = c->steps / c->of, by_time = (now() - c->begun) / c->settings->seconds;
    return c->settings->seconds > 0 && by_time > by_steps ? by_time : by_steps;
}

static float learning_rate(double progress)
{
    const double most = 0.05, rise = 0.2;
    return (float)(most * (progress < rise ? 0.05 + 0.95 * progress / rise : (1 - progress) / (1 - rise)));
}

/* One step against the gradient of the mean loss of a batch. */
static net_score learn(net *n, course *c, const float *images, const uint8_t *labels, size_t count)
{
    const double at = progress(c);
    const net_score score = net_gradient(n, images, labels, count);
    net_step(n, learning_rate(at < 1 ? at : 1), 0.9f, 5e-4f);
    c->steps++;
    return score;
}

/* Goes once through what a reader gives: learns from it where there is a course, else only looks. */
static result run_epoch(net *n, apl_reader *reader, const fields *f, course *c)
{
    result r = {{0, 0}, 0, now(), waited(reader)};
    apl_batch *batch;
    apl_status status = APL_OK;
    while ((!c || progress(c) < 1) && (status = apl_reader_next(reader, &batch, &err)) == APL_OK) {
        const float *images = apl_batch_column(batch, f->image)->data;
        const uint8_t *labels = apl_batch_column(batch, f->label)->data;
        const size_t rows = apl_batch_rows(batch);
        const net_score score = c ? learn(n, c, images, labels, rows) : net_evaluate(n, images, labels, rows);
        apl_batch_release(batch);
        r.images += rows;
        r.score.loss += score.loss;
        r.score.right += score.right;
    }
    if (status != APL_OK && status != APL_END)
        die(err.message);
    r.seconds = now() - r.seconds;
    r.waited = waited(reader) - r.waited;
    must(apl_reader_next_epoch(reader, &err));
    return r;
}

static double percent(double part, double of)
{
    return of > 0 ? 100 * part / of : 0;
}

static void report(int epoch, const result *train, const result *test)
{
    printf("%5d  %6.3f  %5.1f %%  %5.1f %%  %10.0f  %5.2f %%  %4.1f s\n", epoch,
           train->images ? train->score.loss / (double)train->images : 0,
           percent((double)train->score.right, (double)train->images),
           percent((double)test->score.right, (double)test->images), (double)train->images / train->seconds,
           percent(train->waited, train->seconds), train->seconds + test->seconds);
    fflush(stdout);
}

static void train(apl_store *store, const settings *s)
{
    const fields f = find_fields(store, (unsigned)s->side);
    net *n = net_new(f.side, f.channels, NET_MAX_BLOCKS, f.classes, (unsigned)s->threads, (uint64_t)s->seed);
    if (!n)
        die("there is not enough memory, or the side of the images is not a multiple of 8");
    apl_reader *lessons = open_reader(store, &f, s, 1), *exam = open_reader(store, &f, s, 0);
    course c = {s, 0, s->epochs * (double)apl_reader_batches(lessons), now()};
    printf("weights: %zu; threads: %.0f; images in a batch: %.0f\n", net_weight_count(n), s->threads,
           s->batch_size);
    puts("epoch    loss    train     test    images/s    stall    time");
    for (int epoch = 1; progress(&c) < 1; epoch++) {
        const result learned = run_epoch(n, lessons, &f, &c), tested = run_epoch(n, exam, &f, NULL);
        report(epoch, &learned, &tested);
    }
    apl_reader_close(lessons);
    apl_reader_close(exam);
    net_free(n);
}

/* ---------------------------------------------------------------------------------------- command line */

static void usage(void)
{
    fputs("usage: train [--epochs N] [--seconds S] [--threads N] [--batch-size N] [--seed N] [--side N]\n"
          "             [--train SPLIT] [--test SPLIT] [DB]\n",
          stderr);
    exit(2);
}

/* Sets the option called `name`; 0 if no option has that name, or the text is not a number from `least` to `most`. */
static int set_option(settings *s, const char *name, const char *text)
{
    const struct {
        const char *name;
        double *value, least, most;
    } options[] = {{"--epochs", &s->epochs, 1, 10000},
                   {"--seconds", &s->seconds, 0, 1e6},
                   {"--threads", &s->threads, 1, NET_MAX_THREADS},
                   {"--batch-size", &s->batch_size, 1, 65536},
                   {"--seed", &s->seed, 0, 1e15},
                   {"--side", &s->side, 8, 1024}};
    if (strcmp(name, "--train") == 0 || strcmp(name, "--test") == 0) {
        *(strcmp(name, "--train") == 0 ? &s->train : &s->test) = text;
        return 1;
    }
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(name, options[i].name) == 0) {
            char *end;
            *options[i].value = strtod(text, &end);
            return end != text && !*end && *options[i].value >= options[i].least &&
                   *options[i].value <= options[i].most;
        }
    return 0;
}

static settings parse(int argc, char **argv)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    settings s = {
        .db = "db", .train = "train", .test = "test", .epochs = 8, .batch_size = 128, .seed = 1, .side = 64};
    s.threads = (double)(cores < 1 ? 1 : cores > NET_MAX_THREADS ? NET_MAX_THREADS : cores);
    int i = 1;
    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
        if (!set_option(&s, argv[i], argv[i + 1]))
            usage();
    if (i + 1 < argc || (i < argc && argv[i][0] == '-'))
        usage();
    if (i < argc)
        s.db = argv[i];
    return s;
}

int main(int argc, char **argv)
{
    const settings s = parse(argc, argv);
    apl_store *store;
    must(apl_store_open(s.db, NULL, &store, &err));
    train(store, &s);
    apl_store_close(store);
    return 0;
}
