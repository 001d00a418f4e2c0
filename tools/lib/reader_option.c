/* The table of a reader's options: see reader_option.h. */
#include "reader_option.h"

#include "args.h"

#include <stdio.h>
#include <string.h>

static const struct word orders[] = {{"strict", APL_STRICT}, {"free", APL_FREE}, {NULL, 0}};
static const struct word pads[] = {{"zero", APL_PAD_ZERO}, {"reflect", APL_PAD_REFLECT}, {NULL, 0}};
static const struct word flips[] = {
    {"none", APL_FLIP_NONE}, {"random", APL_FLIP_RANDOM}, {"alternating", APL_FLIP_ALTERNATING}, {NULL, 0}};
static const struct word scales[] = {
    {"unit", APL_SCALE_UNIT}, {"normalise", APL_SCALE_NORMALISE}, {"none", APL_SCALE_NONE}, {NULL, 0}};
static const struct word dtypes[] = {
    {"u8", APL_U8}, {"f32", APL_F32}, {"f16", APL_F16}, {"bf16", APL_BF16}, {NULL, 0}};
static const struct word layouts[] = {{"nchw", APL_NCHW}, {"nhwc", APL_NHWC}, {NULL, 0}};
static const struct word box_formats[] = {
    {"xyxy", APL_BOX_XYXY}, {"xywh", APL_BOX_XYWH}, {"cxcywh", APL_BOX_CXCYWH}, {NULL, 0}};

#define OWN           (FOR_BENCH | FOR_STREAM) /* of who takes the batches as well */
#define BOTH          (OWN | FOR_SERVE)
#define ALL           (BOTH | FOR_AUDIT)
#define TAKEN         (FOR_STREAM | FOR_SERVE) /* what others train on */
#define READ          (BOTH | FOR_STAGE)       /* which say what is read, */
#define ORDERED       (ALL | FOR_STAGE)        /* and when */
#define FREE          (OWN | FOR_AUDIT)        /* free order has no ranks */
#define PLACE(member) offsetof(struct reader_choice, member), sizeof(((struct reader_choice *)NULL)->member)
#define UP_TO(max)    0, (max), NULL
#define ANY           0, 0, NULL
#define NOWHERE       0, 0 /* it sets nothing in a choice */
#define ONE_OF(words) 0, 0, (words)

const struct reader_option reader_options[] = {
    {"epochs", READER_NUMBER, FOR_BENCH, PLACE(epochs), 1, UINT32_MAX, NULL, "N",
     "epochs to read (default: 3)"},
    {"epochs", READER_NUMBER, FOR_AUDIT, PLACE(epochs), 1, UINT32_MAX, NULL, "N",
     "epochs to test (default: 100)"},
    {"epochs", READER_NUMBER, FOR_STREAM, PLACE(epochs), UP_TO(UINT32_MAX), "N",
     "epochs to read (default: 1; 0: forever)"},
    {"epochs", READER_NUMBER, FOR_SERVE, PLACE(epochs), 1, UINT32_MAX, NULL, "N",
     "exit once every rank has had N epochs and all clients have left"},
    {"epochs", READER_NUMBER, FOR_STAGE, PLACE(epochs), 1, UINT32_MAX, NULL, "N",
     "epochs to copy (default: 1)"},
    {"seconds", READER_REAL, FOR_BENCH, PLACE(seconds), ANY, "S", "read for S seconds instead"},
    {"demand", READER_REAL, FOR_BENCH, PLACE(demand), ANY, "RATE",
     "take at most RATE records per second, as training would, and report\nthe share of time spent waiting"},
    {"callers", READER_NUMBER, FOR_BENCH, PLACE(callers), 1, 256, NULL, "N", "threads that take batches (1)"},
    {"split", READER_TEXT, ORDERED, PLACE(options.split), ANY, "NAME",
     "default: the first split of the store"},
    {"where", READER_REPEATED, ORDERED, NOWHERE, ANY, "CONDITION",
     "only records such as label=cat,dog, year>=2020 or, of a bool, x=1;\na comma in a name is \\,; if "
     "repeated, all hold"},
    {"with", READER_REPEATED, ORDERED, NOWHERE, ANY, "DB[:SPLIT][=WEIGHT]",
     "read another store too, in one order; may be repeated"},
    {"own-weight", READER_REAL, ORDERED, PLACE(options.mix.weight), ANY, "W",
     "weight of DB, where stores have weights (1)"},
    {"fields", READER_FIELDS, READ, PLACE(options.fields), ANY, "NAME,...", "only these fields"},
    {"batch-size", READER_NUMBER, ORDERED, PLACE(options.batch_size), 1, 1u << 24, NULL, "N",
     "records per batch (256)"},
    {"drop-last", READER_FLAG, READ, PLACE(options.drop_last), ANY, NULL,
     "drop the last batch unless it is full"},
    {"sequential", READER_FLAG, READ, PLACE(options.sequential), ANY, NULL, "read in id order"},
    {"order", READER_WORD, FREE, PLACE(options.order), ONE_OF(orders), "ORDER", "strict (default) or free"},
    {"fill", READER_FLAG, FREE, PLACE(options.fill), ANY, NULL,
     "in free order: draw once the whole split is loaded"},
    {"seed", READER_NUMBER, ORDERED, PLACE(options.seed), UP_TO(UINT64_MAX), "N", NULL},
    {"first-epoch", READER_NUMBER, ORDERED, PLACE(options.first_epoch), UP_TO(UINT64_MAX), "N", "default: 0"},
    {"window", READER_NUMBER, ORDERED, PLACE(options.window), 1, UINT64_MAX, NULL, "N",
     "records to shuffle among (default: the whole split, if it fits in 4 GiB)"},
    {"bins", READER_NUMBER, ORDERED, PLACE(options.bins), 1, 4096, NULL, "N", "1 to 4096 (64)"},
    {"reuse", READER_NUMBER, READ, PLACE(options.reuse), 1, UINT16_MAX, NULL, "N",
     "how often each record comes per epoch (1)"},
    {"balance", READER_TEXT, ORDERED, PLACE(sampled.balance), ANY, "FIELD", "classes of this field balanced"},
    {"weights", READER_TEXT, ORDERED, PLACE(sampled.weights), ANY, "FIELD=CLASS:WEIGHT,...",
     "classes by weight; all others by *:WEIGHT"},
    {"record-weights", READER_TEXT, ORDERED, PLACE(sampled.record_weights), ANY, "FILE",
     "instead: records by weight, a number on each line, by id;\nor field:NAME, a field that has the "
     "weights"},
    {"replacement", READER_FLAG, ORDERED, PLACE(sampled.replacement), ANY, NULL,
     "draw independently (default: as evenly as possible)"},
    {"epoch-records", READER_NUMBER, ORDERED, PLACE(sampled.records), 1, UINT32_MAX - 1, NULL, "N",
     "records per epoch (default: as many as the split has)"},
    {"memory-budget", READER_SIZE, BOTH, PLACE(options.memory_budget), 1, UINT64_MAX, NULL, "SIZE",
     "in bytes, or with K, M, G or T (default: what the window needs)"},
    {"threads", READER_THREADS, FREE, PLACE(options.threads), 1, 256, NULL, "N",
     "threads that load and assemble (default: one less than cores);\nnone: the caller does all the work"},
    {"threads", READER_NUMBER, FOR_SERVE, PLACE(options.threads), 1, 256, NULL, "N",
     "threads that load and assemble (default: one less than cores)"},
    {"loaders", READER_NUMBER, ALL, PLACE(options.loaders), 1, 256, NULL, "N", NULL},
    {"consumers", READER_NUMBER, ALL, PLACE(options.consumers), 1, 256, NULL, "N",
     "instead: threads that only load, and only assemble"},
    {"queue-depth", READER_NUMBER, ALL, PLACE(options.queue_depth), 1, 1u << 16, NULL, "N",
     "finished batches that may wait (4)"},
    {"rank", READER_NUMBER, OWN, PLACE(options.ranks.rank), UP_TO(1u << 20), "R", NULL},
    {"world", READER_NUMBER, OWN, PLACE(options.ranks.world), 1, 1u << 20, NULL, "W", "as process R of W"},
    {"world", READER_NUMBER, FOR_SERVE | FOR_STAGE, PLACE(options.ranks.world), 1, 1u << 20, NULL, "W",
     "ranks that share an epoch (default: one more than the highest of --ranks)"},
    {"world", READER_NUMBER, FOR_AUDIT, PLACE(options.ranks.world), 1, 1u << 20, NULL, "W",
     "combine the batches of W processes that share an epoch"},
    {"lanes", READER_NUMBER, ORDERED, PLACE(options.ranks.lanes), 1, UINT16_MAX, NULL, "N",
     "deal blocks to N lanes, best a multiple of W; a rank decodes its own"},
    {"timeout", READER_NUMBER, BOTH, PLACE(options.faults.timeout_ms), UP_TO(UINT32_MAX), "MS",
     "longest wait for a batch (default: no limit)"},
    {"skip-corrupt", READER_NUMBER, READ, PLACE(options.faults.skip_corrupt), UP_TO(UINT64_MAX), "N",
     "leave out up to N records of bad blocks"},
    {"pad", READER_NUMBER, ALL, PLACE(transform.pad), UP_TO(1u << 15), "N", NULL},
    {"pad-mode", READER_WORD, ALL, PLACE(transform.pad_mode), ONE_OF(pads), "zero|reflect",
     "pixels to add on all sides"},
    {"crop", READER_CROP, ALL, PLACE(transform.crop_height), 1, 1u << 17, NULL, "HxW", NULL},
    {"centre", READER_FLAG, ALL, PLACE(transform.crop_centre), ANY, NULL,
     "then crop at a random place, or in the centre"},
    {"flip", READER_WORD, ALL, PLACE(transform.flip), ONE_OF(flips), "KIND", "none, random or alternating"},
    {"mask", READER_FIELDS, TAKEN, PLACE(transform.masks), ANY, "NAME,...",
     "fields that follow the images through crops and flips"},
    {"boxes", READER_TEXT, FOR_SERVE, PLACE(transform.boxes), ANY, "NAME", NULL},
    {"box-format", READER_WORD, FOR_SERVE, PLACE(transform.box_format), ONE_OF(box_formats), "FORMAT",
     "so do these boxes: xyxy (default), xywh or cxcywh"},
    {"cutout", READER_NUMBER, BOTH, PLACE(transform.cutout), UP_TO(1u << 15), "N",
     "set a square of this side, at a random place, to 0"},
    {"scale", READER_WORD, BOTH, PLACE(transform.scale), ONE_OF(scales), "KIND", "unit, normalise or none"},
    {"dtype", READER_WORD, BOTH, PLACE(transform.dtype), ONE_OF(dtypes), "TYPE",
     "u8 (default), f32, f16 or bf16"},
    {"layout", READER_WORD, BOTH, PLACE(transform.layout), ONE_OF(layouts), "LAYOUT",
     "nchw (default) or nhwc"},
};
#define COUNT (sizeof reader_options / sizeof *reader_options)
const size_t reader_option_count = COUNT;
_Static_assert(COUNT <= READER_OPTIONS_MAX, "there is room for all options");

/* The order of --help: by name; those that share a line are joined by '+'. */
static const struct {
    const char *title, *names;
} sections[] = {
    {"Records:", "split where with own-weight fields batch-size drop-last rank+world lanes skip-corrupt"},
    {"Order:", "sequential order fill seed+first-epoch window bins reuse"},
    {"Sampling, instead of each record once per epoch:",
     "balance weights record-weights replacement epoch-records"},
    {"Threads and memory:", "threads loaders+consumers queue-depth memory-budget timeout"},
    {"Image transforms:", "pad+pad-mode crop+centre flip mask boxes+box-format cutout scale dtype layout"},
};

static const struct reader_option *find_option(unsigned who, const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT; i++)
        if (reader_options[i].who & who && strlen(reader_options[i].name) == length &&
            memcmp(reader_options[i].name, name, length) == 0)
            return &reader_options[i];
    return NULL;
}

void reader_option_help(unsigned who, const char *name, const char **value, const char **help)
{
    const struct reader_option *o = find_option(who, name, strlen(name));
    *value = o ? o->value : NULL;
    *help = o && o->help ? o->help : "";
}

/* A line for "rank+world", such as "--rank R, --world W   as process R of W"; nothing if `who` takes none of them. */
static void print_line(unsigned who, unsigned column, const char *names, size_t length)
{
    char label[128] = "    ";
    const char *help = "";
    size_t used = 4;
    for (size_t at = 0; at < length && used < sizeof label;) {
        size_t n = strcspn(names + at, "+ ");
        const struct reader_option *o = find_option(who, names + at, n);
        if (o)
            used += (size_t)snprintf(label + used, sizeof label - used, "%s--%s%s%s", used > 4 ? ", " : "",
                                     o->name, o->value ? " " : "", o->value ? o->value : "");
        if (o && o->help)
            help = o->help;
        at += n + 1;
    }
    if (used > 4)
        option_help_print(column, label, help);
}

/* Does `who` take any of the names? */
static bool takes_any(unsigned who, const char *names)
{
    for (size_t n; *names; names += n + (names[n] != 0)) {
        n = strcspn(names, "+ ");
        if (find_option(who, names, n))
            return true;
    }
    return false;
}

void reader_options_print_help(unsigned who, unsigned column)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (!takes_any(who, sections[i].names))
            continue;
        printf("\n%s\n", sections[i].title);
        for (const char *at = sections[i].names; *at;) {
            size_t n = strcspn(at, " ");
            print_line(who, column, at, n);
            at += n + (at[n] == ' ');
        }
    }
}

void reader_options_getopt(unsigned who, struct option *out)
{
    while (out->name)
        out++;
    for (size_t i = 0; i < COUNT; i++)
        if (reader_options[i].who & who)
            *out++ = (struct option){reader_options[i].name,
                                     reader_options[i].kind == READER_FLAG ? no_argument : required_argument,
                                     NULL, READER_OPTION_OPT + (int)i};
    *out = (struct option){0};
}
