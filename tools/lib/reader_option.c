/* The table of a reader's options: see reader_option.h. An option is a row here, and nothing else: its place is that in --help. */
#include "reader_option.h"

#include "args.h"

#include <stdio.h>
#include <string.h>

static const struct word orders[] = {{"strict", APL_STRICT}, {"free", APL_FREE}, {NULL, 0}};
static const struct word pads[] = {{"zero", APL_PAD_ZERO}, {"reflect", APL_PAD_REFLECT}, {NULL, 0}};
static const struct word sizings[] = {{"none", APL_SIZING_NONE}, {"random", APL_SIZING_RANDOM}, {NULL, 0}};
static const struct word flips[] = {
    {"none", APL_FLIP_NONE}, {"random", APL_FLIP_RANDOM}, {"alternating", APL_FLIP_ALTERNATING}, {NULL, 0}};
static const struct word scales[] = {
    {"unit", APL_SCALE_UNIT}, {"normalise", APL_SCALE_NORMALISE}, {"none", APL_SCALE_NONE}, {NULL, 0}};
static const struct word dtypes[] = {
    {"u8", APL_U8}, {"f32", APL_F32}, {"f16", APL_F16}, {"bf16", APL_BF16}, {NULL, 0}};
static const struct word layouts[] = {{"nchw", APL_NCHW}, {"nhwc", APL_NHWC}, {NULL, 0}};

#define OWN                  (FOR_BENCH | FOR_STREAM) /* of who takes the batches as well */
#define BOTH                 (OWN | FOR_SERVE)
#define ALL                  (BOTH | FOR_AUDIT)
#define READ                 (BOTH | FOR_STAGE) /* which say what is read, */
#define ORDERED              (ALL | FOR_STAGE)  /* and when */
#define FREE                 (OWN | FOR_AUDIT)  /* free order has no ranks */
#define PLACE(member)        offsetof(struct reader_choice, member), sizeof(((struct reader_choice *)NULL)->member)
#define NAMES(member, count) offsetof(struct reader_choice, member), offsetof(struct reader_choice, count)
#define UP_TO(max)           0, (max), NULL
#define ANY                  0, 0, NULL
#define NOWHERE              0, 0 /* it sets nothing in a choice */
#define ONE_OF(words)        0, 0, (words)

const struct reader_option reader_options[] = {
    {"ranks", IN_RUN, READER_RANKS, FOR_SERVE, PLACE(ranks), ANY, "LIST", "the ranks to serve, such as 0-7"},
    {"epochs", IN_RUN, READER_NUMBER, FOR_BENCH, PLACE(epochs), 1, UINT32_MAX, NULL, "N",
     "epochs to read (default: 3)"},
    {"epochs", IN_RUN, READER_NUMBER, FOR_AUDIT, PLACE(epochs), 1, UINT32_MAX, NULL, "N",
     "epochs to test (default: 100)"},
    {"epochs", IN_RUN, READER_NUMBER, FOR_STREAM, PLACE(epochs), UP_TO(UINT32_MAX), "N",
     "epochs to read (default: 1; 0: forever)"},
    {"epochs", IN_RUN, READER_NUMBER, FOR_SERVE, PLACE(epochs), 1, UINT32_MAX, NULL, "N",
     "exit once every rank has had N epochs and all clients have left"},
    {"epochs", IN_RUN, READER_NUMBER, FOR_STAGE, PLACE(epochs), 1, UINT32_MAX, NULL, "N",
     "epochs to copy (default: 1)"},
    {"ranks", IN_RUN, READER_RANKS, FOR_STAGE, PLACE(ranks), ANY, "LIST",
     "only what these ranks of training need, such as 0-7"},
    {"seconds", IN_RUN, READER_REAL, FOR_BENCH, PLACE(seconds), ANY, "S", "read for S seconds instead"},
    {"callers", IN_RUN, READER_NUMBER, FOR_BENCH, PLACE(callers), 1, 256, NULL, "N",
     "threads that take batches (1)"},
    {"demand", IN_RUN, READER_REAL, FOR_BENCH, PLACE(demand), ANY, "RATE",
     "take at most RATE records per second, as training would, and report\nthe share of time spent waiting"},

    {"split", IN_RECORDS, READER_TEXT, ORDERED, PLACE(options.split), ANY, "NAME",
     "default: the first split of the store"},
    {"where", IN_RECORDS, READER_REPEATED, ORDERED, NOWHERE, ANY, "CONDITION",
     "only records such as label=cat,dog, year>=2020 or, of a bool, x=1;\na comma in a name is \\,; if "
     "repeated, all hold"},
    {"with", IN_RECORDS, READER_REPEATED, ORDERED, NOWHERE, ANY, "DB[:SPLIT][=WEIGHT]",
     "read another store too, in one order; may be repeated"},
    {"own-weight", IN_RECORDS, READER_REAL, ORDERED, PLACE(options.mix.weight), ANY, "W",
     "weight of DB, where stores have weights (1)"},
    {"fields", IN_RECORDS, READER_FIELDS, ORDERED, NAMES(options.fields, options.field_count), ANY,
     "NAME,...", "only these fields"},
    {"field", IN_RECORDS, READER_KINDS, ORDERED, NAMES(options.kinds, options.kind_count), ANY,
     "NAME=KIND[,WORD]...",
     "what a field is, where DB does not say or is wrong: boxes=boxes,xywh\nlabels=label,per=boxes seg=mask "
     "P2=pinned age=plain ...; may be repeated"},
    {"batch-size", IN_RECORDS, READER_NUMBER, ORDERED, PLACE(options.batch_size), 1, 1u << 24, NULL, "N",
     "records per batch (256)"},
    {"drop-last", IN_RECORDS, READER_FLAG, READ, PLACE(options.drop_last), ANY, NULL,
     "drop the last batch unless it is full"},
    {"rank", IN_RECORDS, READER_NUMBER, OWN, PLACE(options.ranks.rank), UP_TO(1u << 20), "R", NULL},
    {"world", IN_RECORDS, READER_NUMBER, OWN, PLACE(options.ranks.world), 1, 1u << 20, NULL, "W",
     "as process R of W"},
    {"world", IN_RECORDS, READER_NUMBER, FOR_SERVE | FOR_STAGE, PLACE(options.ranks.world), 1, 1u << 20, NULL,
     "W", "ranks that share an epoch (default: one more than the highest of --ranks)"},
    {"world", IN_RECORDS, READER_NUMBER, FOR_AUDIT, PLACE(options.ranks.world), 1, 1u << 20, NULL, "W",
     "combine the batches of W processes that share an epoch"},
    {"lanes", IN_RECORDS, READER_NUMBER, ORDERED, PLACE(options.ranks.lanes), 1, UINT16_MAX, NULL, "N",
     "deal blocks to N lanes, best a multiple of W; a rank decodes its own"},
    {"skip-corrupt", IN_RECORDS, READER_NUMBER, READ, PLACE(options.faults.skip_corrupt), UP_TO(UINT64_MAX),
     "N", "leave out up to N records of bad blocks"},

    {"sequential", IN_ORDER, READER_FLAG, READ, PLACE(options.sequential), ANY, NULL, "read in id order"},
    {"order", IN_ORDER, READER_WORD, FREE, PLACE(options.order), ONE_OF(orders), "ORDER",
     "strict (default) or free"},
    {"fill", IN_ORDER, READER_FLAG, FREE, PLACE(options.fill), ANY, NULL,
     "in free order: begin once the whole split is loaded"},
    {"late", IN_ORDER, READER_NUMBER, FREE, PLACE(options.late), 1, UINT32_MAX, NULL, "N",
     "in free order: leave at most N slow blocks behind (default: any number)"},
    {"seed", IN_ORDER, READER_NUMBER, ORDERED, PLACE(options.seed), UP_TO(UINT64_MAX), "N", NULL},
    {"first-epoch", IN_ORDER, READER_NUMBER, ORDERED, PLACE(options.first_epoch), UP_TO(UINT64_MAX), "N",
     "default: 0"},
    {"window", IN_ORDER, READER_NUMBER, ORDERED, PLACE(options.window), 1, UINT64_MAX, NULL, "N",
     "records to shuffle among (default: the whole split, if it fits in 4 GiB)"},
    {"bins", IN_ORDER, READER_NUMBER, ORDERED, PLACE(options.bins), 1, 4096, NULL, "N",
     "records are scattered over, 1 to 4096 (default: as many as suit)"},
    {"reuse", IN_ORDER, READER_NUMBER, READ, PLACE(options.reuse), 1, UINT16_MAX, NULL, "N",
     "how often each record comes per epoch (1)"},

    {"balance", IN_SAMPLING, READER_TEXT, ORDERED, PLACE(sampled.balance), ANY, "FIELD",
     "classes of this field balanced"},
    {"weights", IN_SAMPLING, READER_TEXT, ORDERED, PLACE(sampled.weights), ANY, "FIELD=CLASS:WEIGHT,...",
     "classes by weight; all others by *:WEIGHT"},
    {"record-weights", IN_SAMPLING, READER_TEXT, ORDERED, PLACE(sampled.record_weights), ANY, "FILE",
     "instead: records by weight, a number on each line, by id;\nor field:NAME, a field that has the "
     "weights"},
    {"replacement", IN_SAMPLING, READER_FLAG, ORDERED, PLACE(sampled.replacement), ANY, NULL,
     "draw independently (default: as evenly as possible)"},
    {"epoch-records", IN_SAMPLING, READER_NUMBER, ORDERED, PLACE(sampled.records), 1, UINT32_MAX - 1, NULL,
     "N", "records per epoch (default: as many as the split has)"},

    {"threads", IN_MEMORY, READER_THREADS, FREE, PLACE(options.threads), 1, 256, NULL, "N",
     "threads that load and assemble (default: one less than cores);\nnone: the caller does all the work"},
    {"threads", IN_MEMORY, READER_NUMBER, FOR_SERVE, PLACE(options.threads), 1, 256, NULL, "N",
     "threads that load and assemble (default: one less than cores)"},
    {"loaders", IN_MEMORY, READER_NUMBER, ALL, PLACE(options.loaders), 1, 256, NULL, "N", NULL},
    {"consumers", IN_MEMORY, READER_NUMBER, ALL, PLACE(options.consumers), 1, 256, NULL, "N",
     "instead: threads that only load, and only assemble"},
    {"queue-depth", IN_MEMORY, READER_NUMBER, ALL, PLACE(options.queue_depth), 1, 1u << 16, NULL, "N",
     "finished batches that may wait (4)"},
    {"memory-budget", IN_MEMORY, READER_SIZE, BOTH, PLACE(options.memory_budget), 1, UINT64_MAX, NULL, "SIZE",
     "in bytes, or with K, M, G or T (default: what the window needs)"},
    {"timeout", IN_MEMORY, READER_NUMBER, BOTH, PLACE(options.faults.timeout_ms), UP_TO(UINT32_MAX), "MS",
     "longest wait for a batch (default: no limit)"},

    {"pad", IN_IMAGES, READER_NUMBER, ALL, PLACE(transform.pad), UP_TO(1u << 15), "N", NULL},
    {"pad-mode", IN_IMAGES, READER_WORD, ALL, PLACE(transform.pad_mode), ONE_OF(pads), "zero|reflect",
     "pixels to add on all sides"},
    {"crop", IN_IMAGES, READER_CROP, ALL, PLACE(transform.crop_height), 1, 1u << 17, NULL, "HxW", NULL},
    {"centre", IN_IMAGES, READER_FLAG, ALL, PLACE(transform.crop_centre), ANY, NULL,
     "then crop at a random place, or in the centre"},
    {"sizing", IN_IMAGES, READER_WORD, ALL, PLACE(transform.sizing), ONE_OF(sizings), "none|random",
     "random: crop a random box, and resize it to --crop"},
    {"area", IN_IMAGES, READER_RANGE, ALL, PLACE(transform.area), ANY, "MIN:MAX", NULL},
    {"ratio", IN_IMAGES, READER_RANGE, ALL, PLACE(transform.ratio), ANY, "MIN:MAX",
     "its share of the area (0.08:1), and width / height (3/4 to 4/3)"},
    {"flip", IN_IMAGES, READER_WORD, ALL, PLACE(transform.flip), ONE_OF(flips), "KIND",
     "none, random or alternating"},
    {"brightness", IN_IMAGES, READER_RANGE, ALL, PLACE(transform.brightness), ANY, "MIN:MAX", NULL},
    {"contrast", IN_IMAGES, READER_RANGE, ALL, PLACE(transform.contrast), ANY, "MIN:MAX",
     "change colours by random factors,"},
    {"saturation", IN_IMAGES, READER_RANGE, ALL, PLACE(transform.saturation), ANY, "MIN:MAX", NULL},
    {"hue", IN_IMAGES, READER_RANGE, ALL, PLACE(transform.hue), ANY, "MIN:MAX",
     "in random order; the hue turns by -0.5 to 0.5"},
    {"erase", IN_IMAGES, READER_REAL, ALL, PLACE(transform.erase_p), ANY, "P",
     "erase a random rectangle, with this probability"},
    {"cutout", IN_IMAGES, READER_NUMBER, ALL, PLACE(transform.cutout), UP_TO(1u << 15), "N",
     "set a square of this side, at a random place, to 0"},
    {"scale", IN_IMAGES, READER_WORD, BOTH, PLACE(transform.scale), ONE_OF(scales), "KIND",
     "unit, normalise or none"},
    {"dtype", IN_IMAGES, READER_WORD, BOTH, PLACE(transform.dtype), ONE_OF(dtypes), "TYPE",
     "u8 (default), f32, f16 or bf16"},
    {"layout", IN_IMAGES, READER_WORD, BOTH, PLACE(transform.layout), ONE_OF(layouts), "LAYOUT",
     "nchw (default) or nhwc"},
};
#define COUNT (sizeof reader_options / sizeof *reader_options)
const size_t reader_option_count = COUNT;
_Static_assert(COUNT <= READER_OPTIONS_MAX, "there is room for all options");

static const char *const titles[] = {
    [IN_RUN] = NULL,
    [IN_RECORDS] = "Records:",
    [IN_ORDER] = "Order:",
    [IN_SAMPLING] = "Sampling, instead of each record once per epoch:",
    [IN_MEMORY] = "Threads and memory:",
    [IN_IMAGES] = "Image transforms:",
};
#define SECTIONS (sizeof titles / sizeof *titles)

/* Appends the option to a label, which already has `used` characters: four of indentation, and the options that share its line. */
static size_t append_option(char *label, size_t size, size_t used, const struct reader_option *o)
{
    used += (size_t)snprintf(label + used, size - used, "%s--%s%s%s", used > 4 ? ", " : "", o->name,
                             o->value ? " " : "", o->value ? o->value : "");
    return used < size ? used : size - 1;
}

/* Lines such as "--rank R, --world W   as process R of W", below the title of the section if `who` takes any. */
static void print_section(unsigned who, enum reader_section section, unsigned column)
{
    char label[128] = "    ";
    size_t used = 4;
    bool begun = !titles[section];
    for (const struct reader_option *o = reader_options; o < reader_options + COUNT; o++) {
        if (o->section != section || !(o->who & who))
            continue;
        if (!begun)
            printf("\n%s\n", titles[section]);
        begun = true;
        used = append_option(label, sizeof label, used, o);
        if (!o->help)
            continue;
        option_help_print(column, label, o->help);
        used = 4;
    }
}

void reader_options_print_run(unsigned who, unsigned column)
{
    print_section(who, IN_RUN, column);
}

void reader_options_print_help(unsigned who, unsigned column)
{
    for (enum reader_section i = IN_RUN + 1; i < SECTIONS; i++)
        print_section(who, i, column);
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
