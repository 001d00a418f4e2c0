#include "reader_args.h"

#include "args.h"
#include "json.h"
#include "report.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, NUMBER, SIZE, REAL, TEXT, WORD, THREADS, CROP, FIELDS, REPEATED };

struct word {
    const char *name;
    unsigned value;
};

struct reader_option {
    const char *name;
    enum kind kind;
    unsigned who;
    size_t offset, bytes; /* of what it sets in a choice */
    uint64_t min, max;
    const struct word *words; /* the last one has no name */
    const char *value, *help; /* as --help has them; help NULL: that of the option that it is told with */
};

static const struct word orders[] = {{"strict", APL_STRICT}, {"free", APL_FREE}, {NULL, 0}};
static const struct word pads[] = {{"zero", APL_PAD_ZERO}, {"reflect", APL_PAD_REFLECT}, {NULL, 0}};
static const struct word flips[] = {
    {"none", APL_FLIP_NONE}, {"random", APL_FLIP_RANDOM}, {"alternating", APL_FLIP_ALTERNATING}, {NULL, 0}};
static const struct word scales[] = {
    {"unit", APL_SCALE_UNIT}, {"normalise", APL_SCALE_NORMALISE}, {"none", APL_SCALE_NONE}, {NULL, 0}};
static const struct word dtypes[] = {
    {"u8", APL_U8}, {"f32", APL_F32}, {"f16", APL_F16}, {"bf16", APL_BF16}, {NULL, 0}};
static const struct word layouts[] = {{"nchw", APL_NCHW}, {"nhwc", APL_NHWC}, {NULL, 0}};

#define BOTH          (FOR_BENCH | FOR_STREAM)
#define ALL           (BOTH | FOR_AUDIT)
#define PLACE(member) offsetof(struct reader_choice, member), sizeof(((struct reader_choice *)NULL)->member)
#define UP_TO(max)    0, (max), NULL
#define ANY           0, 0, NULL
#define NOWHERE       0, 0 /* it sets nothing in a choice */
#define ONE_OF(words) 0, 0, (words)

static const struct reader_option table[] = {
    {"epochs", NUMBER, FOR_BENCH, PLACE(epochs), 1, UINT32_MAX, NULL, "N", "epochs to read (default: 3)"},
    {"epochs", NUMBER, FOR_AUDIT, PLACE(epochs), 1, UINT32_MAX, NULL, "N", "epochs to test (default: 100)"},
    {"epochs", NUMBER, FOR_STREAM, PLACE(epochs), UP_TO(UINT32_MAX), "N",
     "epochs to read (default: 1; 0: forever)"},
    {"seconds", REAL, FOR_BENCH, PLACE(seconds), ANY, "S", "read for S seconds instead"},
    {"demand", REAL, FOR_BENCH, PLACE(demand), ANY, "RATE",
     "take at most RATE records per second, as training would, and report\nthe share of time spent waiting"},
    {"callers", NUMBER, FOR_BENCH, PLACE(callers), 1, 256, NULL, "N", "threads that take batches (1)"},
    {"split", TEXT, ALL, PLACE(options.split), ANY, "NAME", "default: the first split of the store"},
    {"where", REPEATED, ALL, NOWHERE, ANY, "CONDITION",
     "only records such as label=cat,dog or year>=2020; if repeated, all hold"},
    {"with", REPEATED, ALL, NOWHERE, ANY, "DB[:SPLIT][=WEIGHT]",
     "read another store too, in one order; may be repeated"},
    {"own-weight", REAL, ALL, PLACE(options.weight), ANY, "W", "weight of DB, where stores have weights (1)"},
    {"fields", FIELDS, BOTH, PLACE(options.fields), ANY, "NAME,...", "only these fields"},
    {"batch-size", NUMBER, ALL, PLACE(options.batch_size), 1, 1u << 24, NULL, "N", "records per batch (256)"},
    {"drop-last", FLAG, BOTH, PLACE(options.drop_last), ANY, NULL, "drop the last batch unless it is full"},
    {"sequential", FLAG, BOTH, PLACE(options.sequential), ANY, NULL, "read in id order"},
    {"order", WORD, ALL, PLACE(options.order), ONE_OF(orders), "ORDER", "strict (default) or free"},
    {"fill", FLAG, ALL, PLACE(options.fill), ANY, NULL, "in free order: draw once the whole split is loaded"},
    {"seed", NUMBER, ALL, PLACE(options.seed), UP_TO(UINT64_MAX), "N", NULL},
    {"first-epoch", NUMBER, ALL, PLACE(options.first_epoch), UP_TO(UINT64_MAX), "N", "default: 0"},
    {"window", NUMBER, ALL, PLACE(options.window), 1, UINT64_MAX, NULL, "N",
     "records to shuffle among (default: the whole split, if it fits in 4 GiB)"},
    {"bins", NUMBER, ALL, PLACE(options.bins), 1, 4096, NULL, "N", "1 to 4096 (64)"},
    {"reuse", NUMBER, BOTH, PLACE(options.reuse), 1, UINT16_MAX, NULL, "N",
     "how often each record comes per epoch (1)"},
    {"balance", TEXT, ALL, PLACE(sampled.balance), ANY, "FIELD", "classes of this field balanced"},
    {"weights", TEXT, ALL, PLACE(sampled.weights), ANY, "FIELD=CLASS:WEIGHT,...",
     "classes by weight; all others by *:WEIGHT"},
    {"replacement", FLAG, ALL, PLACE(sampled.replacement), ANY, NULL,
     "draw independently (default: as evenly as possible)"},
    {"epoch-records", NUMBER, ALL, PLACE(sampled.records), 1, UINT32_MAX - 1, NULL, "N",
     "records per epoch (default: as many as the split has)"},
    {"memory-budget", SIZE, BOTH, PLACE(options.memory_budget), 1, UINT64_MAX, NULL, "SIZE",
     "in bytes, or with K, M or G (default: what the window needs)"},
    {"threads", THREADS, ALL, PLACE(options.threads), 1, 256, NULL, "N",
     "threads that load and assemble (default: one less than cores);\nnone: the caller does all the work"},
    {"loaders", NUMBER, ALL, PLACE(options.loaders), 1, 256, NULL, "N", NULL},
    {"consumers", NUMBER, ALL, PLACE(options.consumers), 1, 256, NULL, "N",
     "instead: threads that only load, and only assemble"},
    {"queue-depth", NUMBER, ALL, PLACE(options.queue_depth), 1, 1u << 16, NULL, "N",
     "finished batches that may wait (4)"},
    {"rank", NUMBER, BOTH, PLACE(options.rank), UP_TO(1u << 20), "R", NULL},
    {"world", NUMBER, BOTH, PLACE(options.world), 1, 1u << 20, NULL, "W", "as process R of W"},
    {"world", NUMBER, FOR_AUDIT, PLACE(options.world), 1, 1u << 20, NULL, "W",
     "combine the batches of W processes that share an epoch"},
    {"lanes", NUMBER, ALL, PLACE(options.lanes), 1, UINT16_MAX, NULL, "N",
     "deal blocks to N lanes, a multiple of W; a rank decodes only its own"},
    {"timeout", NUMBER, BOTH, PLACE(options.timeout_ms), UP_TO(UINT32_MAX), "MS",
     "longest wait for a batch (default: no limit)"},
    {"skip-corrupt", NUMBER, BOTH, PLACE(options.skip_corrupt), UP_TO(UINT64_MAX), "N",
     "leave out up to N records of bad blocks"},
    {"pad", NUMBER, BOTH, PLACE(transform.pad), UP_TO(1u << 15), "N", NULL},
    {"pad-mode", WORD, BOTH, PLACE(transform.pad_mode), ONE_OF(pads), "zero|reflect",
     "pixels to add on all sides"},
    {"crop", CROP, BOTH, PLACE(transform.crop_height), 1, 1u << 17, NULL, "HxW", NULL},
    {"centre", FLAG, BOTH, PLACE(transform.crop_centre), ANY, NULL,
     "then crop at a random place, or in the centre"},
    {"flip", WORD, BOTH, PLACE(transform.flip), ONE_OF(flips), "KIND", "none, random or alternating"},
    {"cutout", NUMBER, BOTH, PLACE(transform.cutout), UP_TO(1u << 15), "N",
     "set a square of this side, at a random place, to 0"},
    {"scale", WORD, BOTH, PLACE(transform.scale), ONE_OF(scales), "KIND", "unit, normalise or none"},
    {"dtype", WORD, BOTH, PLACE(transform.dtype), ONE_OF(dtypes), "TYPE", "u8 (default), f32, f16 or bf16"},
    {"layout", WORD, BOTH, PLACE(transform.layout), ONE_OF(layouts), "LAYOUT", "nchw (default) or nhwc"},
};
#define COUNT (sizeof table / sizeof *table)
_Static_assert(COUNT <= READER_ARGS_MAX, "there is room for all options");

/* In which order --help tells them: by name, those with one help joined by '+'. */
static const struct {
    const char *title, *names;
} sections[] = {
    {"Records:", "split where with own-weight fields batch-size drop-last rank+world lanes skip-corrupt"},
    {"Order:", "sequential order fill seed+first-epoch window bins reuse"},
    {"An epoch as a sample, drawn anew each time:", "balance weights replacement epoch-records"},
    {"Threads and memory:", "threads loaders+consumers queue-depth memory-budget timeout"},
    {"Image transforms:", "pad+pad-mode crop+centre flip cutout scale dtype layout"},
};

static const struct reader_option *find_option(unsigned who, const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].who & who && strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

void reader_args_help(unsigned who, const char *name, const char **value, const char **help)
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

void reader_args_print_help(unsigned who, unsigned column)
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

void reader_args_getopt(unsigned who, struct option *out)
{
    while (out->name)
        out++;
    for (size_t i = 0; i < COUNT; i++)
        if (table[i].who & who)
            *out++ = (struct option){table[i].name, table[i].kind == FLAG ? no_argument : required_argument,
                                     NULL, READER_ARGS_OPT + (int)i};
    *out = (struct option){0};
}

/* ---------------------------------------------------------------------------------------------- values */

static void put_number(void *to, size_t bytes, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (bytes == sizeof value)
        memcpy(to, &value, sizeof value);
    else
        memcpy(to, &narrow, sizeof narrow);
}

/* Digits, and K, M or G for so many times 1024. */
static bool parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    static const char units[] = "KMG";
    char digits[32];
    size_t n = strspn(text, "0123456789");
    const char *unit = *text && text[n] ? strchr(units, text[n]) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (n == 0 || n >= sizeof digits || (text[n] && (!unit || text[n + 1])))
        return false;
    memcpy(digits, text, n);
    digits[n] = 0;
    if (!parse_number(digits, 0, max >> shift, value))
        return false;
    *value <<= shift;
    return *value >= min;
}

/* A decimal number above zero. */
static bool parse_real(const char *text, double *value)
{
    char *end;
    if (!*text || strspn(text, "0123456789.") != strlen(text))
        return false;
    double v = strtod(text, &end);
    if (*end || !(v > 0) || v > 1e15)
        return false;
    *value = v;
    return true;
}

static bool parse_crop(const char *text, const struct reader_option *o, unsigned *out)
{
    char height[16];
    const char *by = strchr(text, 'x');
    uint64_t h, w;
    if (!by || (size_t)(by - text) >= sizeof height)
        return false;
    memcpy(height, text, (size_t)(by - text));
    height[by - text] = 0;
    if (!parse_number(height, o->min, o->max, &h) || !parse_number(by + 1, o->min, o->max, &w))
        return false;
    out[0] = (unsigned)h; /* crop_height, */
    out[1] = (unsigned)w; /* and crop_width beside it */
    return true;
}
_Static_assert(offsetof(apl_transform, crop_width) == offsetof(apl_transform, crop_height) + sizeof(unsigned),
               "the crop's width comes after its height");

static bool parse_word(const char *text, const struct word *words, uint64_t *value)
{
    for (; words->name; words++) {
        if (strcmp(words->name, text) == 0) {
            *value = words->value;
            return true;
        }
    }
    return false;
}

static bool set(const struct reader_option *o, const char *text, struct reader_choice *choice)
{
    void *to = (char *)choice + o->offset;
    uint64_t value = 1;
    bool ok = true;
    switch (o->kind) {
    case THREADS:
        value = APL_NO_THREADS;
        ok = strcmp(text, "none") == 0 || parse_number(text, o->min, o->max, &value);
        break;
    case NUMBER:
        ok = parse_number(text, o->min, o->max, &value);
        break;
    case SIZE:
        ok = parse_size(text, o->min, o->max, &value);
        break;
    case WORD:
        ok = parse_word(text, o->words, &value);
        break;
    case REAL:
        return parse_real(text, to);
    case CROP:
        return parse_crop(text, o, to);
    case TEXT:
        memcpy(to, &text, sizeof text);
        return *text != 0;
    case FIELDS:   /* put together from all items */
    case REPEATED: /* see reader_args_items() */
        return *text != 0;
    case FLAG:
        break;
    }
    if (ok)
        put_number(to, o->bytes, value);
    return ok;
}

/* ---------------------------------------------------------------------------------------- what to tell */

static const char *words_text(const struct word *words)
{
    char text[128] = "";
    for (size_t used = 0; words->name; words++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 !used           ? ""
                                 : words[1].name ? ", "
                                                 : " or ",
                                 words->name);
    return shown(text);
}

static int complain(const struct reader_option *o, const char *item)
{
    const char *name = o->name;
    unsigned long long min = o->min, max = o->max;
    switch (o->kind) {
    case WORD:
        return misuse("--%s is %s, not '%s'", name, words_text(o->words), shown(item));
    case THREADS:
        return misuse("--%s is 'none' or a number from %llu to %llu, not '%s'", name, min, max, shown(item));
    case SIZE:
        return misuse("--%s is a number of bytes, perhaps with K, M or G behind it, not '%s'", name,
                      shown(item));
    case REAL:
        return misuse("--%s is a number above 0, not '%s'", name, shown(item));
    case CROP:
        return misuse("--%s is HEIGHTxWIDTH, such as 32x32, not '%s'", name, shown(item));
    case TEXT:
    case FIELDS:
        return misuse("--%s needs a name", name);
    case REPEATED:
        return misuse("--%s is empty", name);
    default:
        break;
    }
    if (max == UINT64_MAX)
        return misuse("--%s is a number from %llu, not '%s'", name, min, shown(item));
    return misuse("--%s is a number from %llu to %llu, not '%s'", name, min, max, shown(item));
}

/* ---------------------------------------------------------------------------------------------- taking */

static void forget(struct reader_args *args, size_t i)
{
    for (size_t k = 0; table[i].kind == REPEATED && k < args->given[i].count; k++)
        free(args->given[i].items[k]);
    free(args->given[i].text);
    free(args->given[i].items);
    memset(&args->given[i], 0, sizeof args->given[i]);
}

/* Cuts the value at commas. Names may have some in them, so those of splits stay whole. */
static bool keep(struct reader_args *args, size_t i, const char *value)
{
    size_t most = 1;
    for (const char *c = value; *c; c++)
        most += *c == ',';
    forget(args, i);
    args->given[i].text = strdup(value);
    args->given[i].items = calloc(most, sizeof(char *));
    if (!args->given[i].text || !args->given[i].items)
        return false;
    for (char *at = args->given[i].text; at;) {
        char *comma = table[i].kind == TEXT ? NULL : strchr(at, ',');
        args->given[i].items[args->given[i].count++] = at;
        if (comma)
            *comma++ = 0;
        at = comma;
    }
    return true;
}

/* One more value of an option that is repeated, whole. */
static bool append(struct reader_args *args, size_t i, const char *value)
{
    size_t n = args->given[i].count;
    char **grown = realloc(args->given[i].items, (n + 1) * sizeof *grown);
    if (grown)
        args->given[i].items = grown;
    if (!grown || !(grown[n] = strdup(value)))
        return false;
    args->given[i].count++;
    return args->given[i].text || (args->given[i].text = strdup(value));
}

/* Is each of its values to be tried? */
static bool is_list(size_t i)
{
    return table[i].kind != FIELDS && table[i].kind != REPEATED;
}

int reader_args_take(struct reader_args *args, int opt, const char *value)
{
    size_t i = (size_t)(opt - READER_ARGS_OPT);
    struct reader_choice scratch;
    if (!(table[i].kind == REPEATED ? append(args, i, value) : keep(args, i, value ? value : "yes")))
        return failed("out of memory");
    for (size_t k = 0; k < args->given[i].count; k++)
        if (!set(&table[i], args->given[i].items[k], &scratch))
            return complain(&table[i], args->given[i].items[k]);
    if (args->given[i].count > 1 && is_list(i) && !(args->who & FOR_BENCH))
        return misuse("--%s takes one value", table[i].name);
    return 0;
}

bool reader_args_given(const struct reader_args *args, const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(table[i].name, name) == 0 && args->given[i].text)
            return true;
    return false;
}

char *const *reader_args_items(const struct reader_args *args, const char *name, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(table[i].name, name) == 0) {
            *count = args->given[i].count;
            return args->given[i].items;
        }
    return NULL;
}

/* --------------------------------------------------------------------------------------------- choices */

/* How many values of the option are to be tried. */
static size_t tries(const struct reader_args *args, size_t i)
{
    return args->given[i].text && is_list(i) ? args->given[i].count : 1;
}

/* The item of option `i` in a choice: what comes last varies fastest. */
static const char *item_of(const struct reader_args *args, size_t i, size_t choice)
{
    for (size_t later = i + 1; later < COUNT; later++)
        choice /= tries(args, later);
    return args->given[i].items[choice % tries(args, i)];
}

size_t reader_args_choices(const struct reader_args *args)
{
    size_t n = 1;
    for (size_t i = 0; i < COUNT; i++)
        n = n > SIZE_MAX / tries(args, i) ? SIZE_MAX : n * tries(args, i);
    return n;
}

void reader_args_choose(const struct reader_args *args, size_t choice, struct reader_choice *out)
{
    bool transformed = false;
    *out = (struct reader_choice){.options = APL_READER_OPTIONS_INIT, .callers = 1};
    out->transform = (apl_transform)APL_TRANSFORM_INIT;
    for (size_t i = 0; i < COUNT; i++) {
        if (!args->given[i].text || table[i].kind == REPEATED)
            continue;
        transformed |= table[i].offset >= offsetof(struct reader_choice, transform) &&
                       table[i].offset < offsetof(struct reader_choice, epochs);
        if (table[i].kind == FIELDS) {
            out->options.fields = (const char *const *)args->given[i].items;
            out->options.field_count = args->given[i].count;
        } else {
            set(&table[i], item_of(args, i, choice), out);
        }
    }
    out->options.transforms = transformed ? &out->transform : NULL;
    out->options.transform_count = transformed;
}

const char *reader_args_label(const struct reader_args *args, size_t choice)
{
    char text[500] = "";
    size_t used = 0;
    for (size_t i = 0; i < COUNT && used < sizeof text; i++)
        if (tries(args, i) > 1)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s--%s %s", used ? " " : "",
                                     table[i].name, item_of(args, i, choice));
    return shown(text);
}

json_t *reader_args_json(const struct reader_args *args, size_t choice)
{
    json_t *object = json_object();
    for (size_t i = 0; i < COUNT; i++) {
        if (!args->given[i].text)
            continue;
        if (is_list(i)) {
            json_object_set_new(object, table[i].name,
                                table[i].kind == FLAG ? json_true() : json_text(item_of(args, i, choice)));
            continue;
        }
        json_t *names = json_array();
        for (size_t k = 0; k < args->given[i].count; k++)
            json_array_append_new(names, json_text(args->given[i].items[k]));
        json_object_set_new(object, table[i].name, names);
    }
    return object;
}

void reader_args_free(struct reader_args *args)
{
    for (size_t i = 0; i < COUNT; i++)
        forget(args, i);
}
