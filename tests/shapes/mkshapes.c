/*
 * mkshapes - makes an archive of drawn shapes in the layout of CIFAR. The same options give the same bytes,
 * and the same seed the same pictures, labels and order in the binary and in the python layout.
 */
#include "draw.h"
#include "pickle.h"
#include "tar.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mkshapes [--rows N] [--seed N] [--python] [--cifar100] OUT\n"
    "  OUT         .tar, .tar.gz, .tar.zst, .tar.xz or .tar.bz2; - for standard output\n"
    "  --rows N    rows in each member (10000); of CIFAR-100's train: five times N\n"
    "  --seed N    draw other pictures (1)\n"
    "  --python    pickles, as of the python archive\n"
    "  --cifar100  100 classes: 10 shapes in 10 hues, in 20 coarse classes\n";

struct options {
    unsigned rows, seed;
    int python, cifar100;
};

/* One half of the data: what training sees, or what tests it. */
struct half {
    bool test;
    size_t count;
    uint8_t *labels;  /* fine ones, of CIFAR-100 */
    unsigned *serial; /* how many of the same class came before */
};

/* Rows first ... first+count-1 of a half: one member. */
struct part {
    const struct options *options;
    const struct half *half;
    size_t first, count;
    const char *title;
};

/* The text or pickle being written, in memory because tar wants its size first. */
struct memory {
    FILE *file;
    char *data;
    size_t size;
};

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        fprintf(stderr, "mkshapes: out of memory\n");
        exit(1);
    }
    return p;
}

static void memory_open(struct memory *m)
{
    *m = (struct memory){0};
    m->file = open_memstream(&m->data, &m->size);
    if (!m->file) {
        perror("mkshapes");
        exit(1);
    }
}

static void memory_put(struct memory *m, struct tar *tar, const char *folder, const char *name)
{
    char path[128];
    if (fclose(m->file)) {
        perror("mkshapes");
        exit(1);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    tar_put(tar, path, m->data, m->size);
    free(m->data);
}

static unsigned classes(const struct options *o)
{
    return o->cifar100 ? SHAPES * HUES : SHAPES;
}

/* "circle"; of CIFAR-100 "red_circle", five of which make the coarse class "warm_circle" or "cool_circle". */
static const char *class_name(const struct options *o, unsigned label, char name[32])
{
    if (o->cifar100)
        snprintf(name, 32, "%s_%s", hue_names[label % HUES], shape_names[label / HUES]);
    else
        snprintf(name, 32, "%s", shape_names[label]);
    return name;
}

static const char *coarse_name(unsigned label, char name[32])
{
    snprintf(name, 32, "%s_%s", label % 2 ? "cool" : "warm", shape_names[label / 2]);
    return name;
}

/* Equally many of every class, in random order. */
static struct half half_of(const struct options *o, bool test, size_t count)
{
    struct half h = {test, count, allocate(count, 1), allocate(count, sizeof *h.serial)};
    uint64_t random = 2 * (uint64_t)o->seed + test;
    unsigned seen[SHAPES * HUES] = {0};
    for (size_t i = 0; i < count; i++)
        h.labels[i] = (uint8_t)(i % classes(o));
    for (size_t i = count; i > 1; i--) {
        size_t other = draw_below(&random, (unsigned)i);
        uint8_t label = h.labels[i - 1];
        h.labels[i - 1] = h.labels[other];
        h.labels[other] = label;
    }
    for (size_t i = 0; i < count; i++)
        h.serial[i] = seen[h.labels[i]]++;
    return h;
}

static void half_free(struct half *h)
{
    free(h->labels);
    free(h->serial);
}

static void draw_row(const struct part *part, size_t i, uint8_t *pixels)
{
    const struct options *o = part->options;
    unsigned label = part->half->labels[part->first + i];
    uint64_t number = (uint64_t)part->half->test << 32 | (part->first + i);
    if (o->cifar100)
        draw_picture(o->seed + 0x100000000u, number, label / HUES, (int)(label % HUES), pixels);
    else
        draw_picture(o->seed, number, label, -1, pixels);
}

static void write_binary(FILE *out, const struct part *part)
{
    uint8_t row[2 + PICTURE_BYTES];
    for (size_t i = 0; i < part->count; i++) {
        row[1] = part->half->labels[part->first + i];
        row[0] = row[1] / 5;
        draw_row(part, i, row + 2);
        unsigned skip = part->options->cifar100 ? 0 : 1;
        fwrite(row + skip, sizeof row - skip, 1, out);
    }
}

static void fine_label(struct pickle *p, size_t i, const void *part_)
{
    const struct part *part = part_;
    pickle_int(p, part->half->labels[part->first + i]);
}

static void coarse_label(struct pickle *p, size_t i, const void *part_)
{
    const struct part *part = part_;
    pickle_int(p, part->half->labels[part->first + i] / 5);
}

static void file_name(struct pickle *p, size_t i, const void *part_)
{
    const struct part *part = part_;
    char name[32], text[64];
    class_name(part->options, part->half->labels[part->first + i], name);
    snprintf(text, sizeof text, "%s_s_%06u.png", name, part->half->serial[part->first + i]);
    pickle_text(p, text);
}

static void pickle_pictures(struct pickle *p, const struct part *part)
{
    uint8_t *pixels = allocate(part->count, PICTURE_BYTES);
    for (size_t i = 0; i < part->count; i++)
        draw_row(part, i, pixels + i * PICTURE_BYTES);
    pickle_text(p, "data");
    pickle_array(p, pixels, part->count, PICTURE_BYTES);
    free(pixels);
}

static void pickle_part(FILE *out, const struct part *part)
{
    struct pickle p;
    pickle_begin(&p, out);
    if (part->options->cifar100) {
        pickle_text(&p, "filenames");
        pickle_list(&p, part->count, file_name, part);
    }
    pickle_text(&p, "batch_label");
    pickle_text(&p, part->title);
    pickle_text(&p, part->options->cifar100 ? "fine_labels" : "labels");
    pickle_list(&p, part->count, fine_label, part);
    if (part->options->cifar100) {
        pickle_text(&p, "coarse_labels");
        pickle_list(&p, part->count, coarse_label, part);
    }
    pickle_pictures(&p, part);
    if (!part->options->cifar100) {
        pickle_text(&p, "filenames");
        pickle_list(&p, part->count, file_name, part);
    }
    pickle_end(&p);
}

static void put_part(struct tar *tar, const char *folder, const char *name, const struct part *part)
{
    struct memory m;
    memory_open(&m);
    (part->options->python ? pickle_part : write_binary)(m.file, part);
    memory_put(&m, tar, folder, name);
}

static void put_text(struct tar *tar, const char *folder, const char *name, const char *text)
{
    struct memory m;
    memory_open(&m);
    fputs(text, m.file);
    memory_put(&m, tar, folder, name);
}

/* The names of all classes, one a line; the published file of CIFAR-10 ends with an empty line. */
static void put_names(struct tar *tar, const char *folder, const char *name, const struct options *o,
                      bool coarse)
{
    struct memory m;
    char class[32];
    memory_open(&m);
    for (unsigned i = 0; i < (coarse ? 20 : classes(o)); i++)
        fprintf(m.file, "%s\n", coarse ? coarse_name(i, class) : class_name(o, i, class));
    if (!o->cifar100)
        fputs("\n", m.file);
    memory_put(&m, tar, folder, name);
}

static void fine_item(struct pickle *p, size_t i, const void *options)
{
    char name[32];
    pickle_text(p, class_name(options, (unsigned)i, name));
}

static void coarse_item(struct pickle *p, size_t i, const void *options)
{
    char name[32];
    (void)options;
    pickle_text(p, coarse_name((unsigned)i, name));
}

static void put_meta(struct tar *tar, const char *folder, const char *name, const struct options *o)
{
    struct memory m;
    struct pickle p;
    memory_open(&m);
    pickle_begin(&p, m.file);
    if (!o->cifar100) {
        pickle_text(&p, "num_cases_per_batch");
        pickle_int(&p, o->rows);
    }
    pickle_text(&p, o->cifar100 ? "fine_label_names" : "label_names");
    pickle_list(&p, classes(o), fine_item, o);
    pickle_text(&p, o->cifar100 ? "coarse_label_names" : "num_vis");
    if (o->cifar100)
        pickle_list(&p, 20, coarse_item, o);
    else
        pickle_int(&p, PICTURE_BYTES);
    pickle_end(&p);
    memory_put(&m, tar, folder, name);
}

static void put_cifar10(struct tar *tar, const struct options *o, const struct half *train,
                        const struct half *test)
{
    /* As in the published archives, members are not sorted. 0 is the test's, 6 the names', 7 the readme. */
    static const char orders[2][9] = {"16340752", "47036251"};
    const char *folder = o->python ? "cifar-10-batches-py" : "cifar-10-batches-bin";
    for (const char *at = orders[o->python ? 1 : 0]; *at; at++) {
        unsigned n = (unsigned)(*at - '0');
        char name[32] = "test_batch", title[32] = "testing batch 1 of 1";
        struct part part = {o, n ? train : test, n ? (n - 1) * (size_t)o->rows : 0, o->rows, title};
        if (n == 6 && o->python) {
            put_meta(tar, folder, "batches.meta", o);
        } else if (n == 6) {
            put_names(tar, folder, "batches.meta.txt", o, false);
        } else if (n == 7) {
            put_text(tar, folder, "readme.html", "<html></html>\n");
        } else {
            if (n) {
                snprintf(name, sizeof name, "data_batch_%u", n);
                snprintf(title, sizeof title, "training batch %u of 5", n);
            }
            put_part(tar, folder, o->python ? name : strcat(name, ".bin"), &part);
        }
    }
}

static void put_cifar100(struct tar *tar, const struct options *o, const struct half *train,
                         const struct half *test)
{
    const char *folder = o->python ? "cifar-100-python" : "cifar-100-binary";
    struct part parts[2] = {{o, train, 0, train->count, "training batch 1 of 1"},
                            {o, test, 0, test->count, "testing batch 1 of 1"}};
    put_text(tar, folder, "file.txt~", "");
    if (!o->python) {
        put_names(tar, folder, "fine_label_names.txt", o, false);
        put_names(tar, folder, "coarse_label_names.txt", o, true);
    }
    put_part(tar, folder, o->python ? "train" : "train.bin", &parts[0]);
    put_part(tar, folder, o->python ? "test" : "test.bin", &parts[1]);
    if (o->python)
        put_meta(tar, folder, "meta", o);
}

static int make(const struct options *o, const char *path)
{
    struct tar tar;
    if (tar_open(&tar, path)) {
        perror(path);
        return 1;
    }
    struct half train = half_of(o, false, 5 * (size_t)o->rows), test = half_of(o, true, o->rows);
    if (o->cifar100) {
        tar_put(&tar, o->python ? "cifar-100-python/" : "cifar-100-binary/", NULL, 0);
        put_cifar100(&tar, o, &train, &test);
    } else {
        tar_put(&tar, o->python ? "cifar-10-batches-py/" : "cifar-10-batches-bin/", NULL, 0);
        put_cifar10(&tar, o, &train, &test);
    }
    half_free(&train);
    half_free(&test);
    if (tar_close(&tar)) {
        fprintf(stderr, "mkshapes: %s: could not be written\n", path);
        remove(path);
        return 1;
    }
    return 0;
}

/* A number from 1 ... 10000000; 0 for anything else. */
static unsigned number(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    return *end || n > 10000000 ? 0 : (unsigned)n;
}

int main(int argc, char **argv)
{
    struct options o = {.rows = 10000, .seed = 1};
    const struct option longs[] = {{"rows", required_argument, NULL, 'r'},
                                   {"seed", required_argument, NULL, 's'},
                                   {"python", no_argument, &o.python, 1},
                                   {"cifar100", no_argument, &o.cifar100, 1},
                                   {0}};
    bool wrong = false;
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (c == 'r')
            o.rows = number(optarg);
        else if (c == 's')
            o.seed = number(optarg);
        else
            wrong |= c == '?';
    }
    if (wrong || !o.rows || !o.seed || optind != argc - 1) {
        fputs(usage, stderr);
        return 2;
    }
    return make(&o, argv[optind]);
}
