#include "describe.h"

#include "image_sizes.h"

#include "json.h"
#include "report.h"
#include "splits.h"
#include "table.h"
#include "wrapped.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More classes than this are summed up in one line. */
#define CLASSES_LISTED 20
/* More splits than this do not fit in a line; the JSON has all. */
#define COLUMNS_LISTED 12

const char *type_text(const apl_field *field)
{
    char text[APL_MAX_DIMS * 24 + 16];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", apl_dtype_name(field->dtype));
    unsigned dims = field->ndim - (field->dtype == APL_UTF8); /* its last are the bytes of a text */
    for (unsigned d = 0; d < dims; d++) {
        const char *before = d ? "," : "[";
        if (field->shape[d] < 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s*", before);
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", before,
                                     (long long)field->shape[d]);
    }
    if (dims)
        snprintf(text + used, sizeof text - used, "]");
    return shown(text);
}

const char *role_text(apl_role role)
{
    switch (role) {
    case APL_INPUT:
        return "input";
    case APL_TARGET:
        return "target";
    case APL_NAME:
        return "name";
    case APL_POSITION:
        return "position";
    }
    return "?";
}

#define KIND_SHOWN 120 /* bytes: of many points, flip= is longer */

const char *kind_text(const apl_kind *kind)
{
    char text[APL_KIND_BYTES];
    if (!kind)
        return "-";
    apl_kind_print(NULL, kind, text, sizeof text);
    if (strlen(text) > KIND_SHOWN)
        snprintf(text + KIND_SHOWN, 4, "...");
    return shown(text);
}

const char *origin_text(apl_origin origin)
{
    static const char *const names[] = {"?", "declared", "source", "guessed", "default"};
    return (unsigned)origin < sizeof names / sizeof *names ? names[origin] : "?";
}

static const char *codec_text(const apl_field *field)
{
    char text[APL_MAX_NAME + 64];
    if (field->media && field->indexed)
        snprintf(text, sizeof text, "%s, %" PRIu64 " indexed (%s)", field->codec, field->indexed,
                 field->media);
    else if (field->media)
        snprintf(text, sizeof text, "%s (%s)", field->codec, field->media);
    else if (field->level)
        snprintf(text, sizeof text, "%s %d", field->codec, field->level);
    else
        snprintf(text, sizeof text, "%s", field->codec);
    return shown(text);
}

static void add_row(struct table *table, const char *const *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table_add(table, cells[i]);
}
#define ADD_ROW(table, ...)                              \
    add_row((table), (const char *const[]){__VA_ARGS__}, \
            sizeof(const char *const[]){__VA_ARGS__} / sizeof(const char *))

static bool has_kinds(const apl_store *store)
{
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++)
        if (apl_store_field(store, i)->kind)
            return true;
    return false;
}

/* "boxes,xywh", "mask (guessed)" */
static const char *kind_cell(const apl_kind *kind)
{
    char text[KIND_SHOWN + 64];
    if (!kind || kind->origin == APL_DECLARED)
        return kind_text(kind);
    snprintf(text, sizeof text, "%s (%s)", kind_text(kind), origin_text(kind->origin));
    return shown(text);
}

int describe_fields(const apl_store *store)
{
    bool kinds = has_kinds(store);
    struct table with_kinds = TABLE("lllllrrr"), without = TABLE("llllrrr"),
                 table = kinds ? with_kinds : without;
    ADD_ROW(&table, "field", "type", "role");
    if (kinds)
        ADD_ROW(&table, "kind");
    ADD_ROW(&table, "codec", "raw", "stored", "ratio");
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        const apl_field *f = apl_store_field(store, i);
        ADD_ROW(&table, shown(f->name), type_text(f), role_text(f->role));
        if (kinds)
            ADD_ROW(&table, kind_cell(f->kind));
        ADD_ROW(&table, codec_text(f), size_text(f->raw_bytes), size_text(f->stored_bytes),
                ratio_text(f->stored_bytes, f->raw_bytes));
    }
    return table_print(&table);
}

static void describe_head(const char *path, const apl_store *store)
{
    const apl_info *info = apl_store_info(store);
    print_line(0, "%s: %s in %s of %s, %s -> %s (%s)\n", shown_db(path), counted(info->records, "record"),
               counted(info->blocks, "block"), count_text(info->block_records), size_text(info->raw_bytes),
               size_text(info->file_bytes), ratio_text(info->file_bytes, info->raw_bytes));
    printf("source   %s\n", *info->source_format ? shown(info->source_format) : "unknown");
    if (info->has_source_digest)
        printf("sha256   %s\n", digest_text(info->source_digest));
    printf("content  %s\n", digest_text(info->content_digest));
    if (info->has_digest)
        printf("digest   %s\n", digest_text(info->digest));
    if (info->skipped)
        printf("skipped  %s of the source\n", counted(info->skipped, "bad file"));
    if (info->shuffled && info->shards)
        printf("order    shuffled, each shard by itself\n");
    else if (info->shuffled)
        printf("order    shuffled with seed %llu\n", (unsigned long long)info->shuffle_seed);
    else
        printf("order    as in the source\n");
    if (info->shards)
        printf("set      %s shards, list %u.%u\n\n", count_text(info->shards), info->format_major,
               info->format_minor);
    else
        printf("written  by %s, format %u.%u\n\n", shown(info->tool), info->format_major, info->format_minor);
}

static int describe_splits(const apl_store *store)
{
    struct table table = TABLE("lrr");
    ADD_ROW(&table, "split", "records", "ids");
    for (unsigned i = 0; i < apl_store_info(store)->splits; i++) {
        const apl_split *s = apl_store_split(store, i);
        char ids[64] = "-";
        if (s->count)
            snprintf(ids, sizeof ids, "%llu-%llu", (unsigned long long)s->first,
                     (unsigned long long)(s->first + s->count - 1));
        ADD_ROW(&table, shown(s->name), count_text(s->count), ids);
    }
    return table_print(&table);
}

/* Of a set with many, only this many are shown unless all are asked for. */
#define SHARDS_LISTED 32u

static int describe_shards(const apl_store *store, bool verbose)
{
    struct table table = TABLE("lrrl");
    unsigned shards = apl_store_info(store)->shards,
             n = verbose || shards <= SHARDS_LISTED ? shards : SHARDS_LISTED;
    ADD_ROW(&table, "shard", "records", "size", "content");
    for (unsigned i = 0; i < n; i++) {
        const apl_shard *s = apl_store_shard(store, i);
        ADD_ROW(&table, shown(s->name), count_text(s->records), size_text(s->file_bytes),
                digest_text(s->content_digest));
    }
    int status = table_print(&table);
    if (!status && n < shards)
        printf("... and %s more: --verbose lists all\n", count_text(shards - n));
    return status;
}

static int describe_members(const apl_store *store)
{
    struct table table = TABLE("llrr");
    ADD_ROW(&table, "member", "split", "records", "first");
    for (unsigned i = 0; i < apl_store_info(store)->members; i++) {
        const apl_member *m = apl_store_member(store, i);
        ADD_ROW(&table, shown(m->name), shown(m->split), count_text(m->count), count_text(m->first));
    }
    return table_print(&table);
}

/* A row per class, a column per split. */
static int list_classes(apl_store *store, unsigned field, const struct split_names *splits)
{
    const apl_field *f = apl_store_field(store, field);
    size_t n = splits->count < COLUMNS_LISTED ? splits->count : COLUMNS_LISTED;
    uint64_t *counts[COLUMNS_LISTED];
    char columns[COLUMNS_LISTED + 2] = "l";
    memset(columns + 1, 'r', n);
    struct table table = TABLE(columns);
    table_add(&table, shown(f->name));
    for (size_t s = 0; s < n; s++) {
        counts[s] = split_counts(store, splits->names[s], field);
        table_add(&table, shown(splits->names[s]));
    }
    for (uint64_t c = 0; c < f->class_count; c++) {
        table_add(&table, shown(f->classes[c]));
        for (size_t s = 0; s < n; s++)
            table_add(&table, counts[s] ? count_text(counts[s][c]) : "?");
    }
    for (size_t s = 0; s < n; s++)
        free(counts[s]);
    return table_print(&table);
}

/* "; 500 records each in train" or ", 90 to 110 in test" */
static void sum_up_split(apl_store *store, unsigned field, const char *name, const char *before)
{
    const apl_field *f = apl_store_field(store, field);
    uint64_t least = UINT64_MAX, most = 0, *counts = split_counts(store, name, field);
    for (uint64_t c = 0; counts && c < f->class_count; c++) {
        least = counts[c] < least ? counts[c] : least;
        most = counts[c] > most ? counts[c] : most;
    }
    if (!counts)
        printf("%s ? in %s", before, shown(name));
    else if (least == most)
        printf("%s %s records each in %s", before, count_text(most), shown(name));
    else
        printf("%s %s to %s in %s", before, count_text(least), count_text(most), shown(name));
    free(counts);
}

/* "fine_label: 100 classes; 500 records each in train, 90 to 110 in test" */
static void sum_up_classes(apl_store *store, unsigned field, const struct split_names *splits)
{
    const apl_field *f = apl_store_field(store, field);
    size_t n = splits->count < COLUMNS_LISTED ? splits->count : COLUMNS_LISTED;
    printf("%s: %s classes", shown(f->name), count_text(f->class_count));
    for (size_t s = 0; s < n; s++)
        sum_up_split(store, field, splits->names[s], s ? "," : ";");
    puts(n < splits->count ? ", ..." : "");
}

static int describe_classes(apl_store *store, const struct split_names *splits, bool verbose)
{
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        const apl_field *f = apl_store_field(store, i);
        if (!f->class_count)
            continue;
        putchar('\n');
        if (verbose || f->class_count <= CLASSES_LISTED) {
            int status = list_classes(store, i, splits);
            if (status)
                return status;
        } else {
            sum_up_classes(store, i, splits);
        }
    }
    return 0;
}

/* Only inputs: nobody normalises a label. */
static void add_figures(struct table *table, const char *field, const char *split, unsigned channel,
                        double mean, double std)
{
    char text[16];
    if (!table->count)
        ADD_ROW(table, "field", "split", "channel", "mean", "deviation");
    snprintf(text, sizeof text, "%u", channel);
    ADD_ROW(table, shown(field), shown(split), text, number_text("%.3f", mean), number_text("%.3f", std));
}

static void add_moments(struct table *table, const apl_store *store, unsigned field, unsigned split)
{
    const char *name = apl_store_field(store, field)->name;
    double mean, std;
    for (unsigned c = 0; apl_store_moments(store, split, field, c, &mean, &std) == APL_OK; c++)
        add_figures(table, name, apl_store_split(store, split)->name, c, mean, std);
}

/* Those of the training split of the store that the records were extracted from. */
static void add_kept_moments(struct table *table, const apl_store *store, unsigned field)
{
    const char *name = apl_store_field(store, field)->name;
    double mean, std;
    for (unsigned c = 0; apl_store_training_moments(store, field, c, &mean, &std) == APL_OK; c++)
        add_figures(table, name, "train (kept)", c, mean, std);
}

static int describe_moments(const apl_store *store)
{
    const apl_info *info = apl_store_info(store);
    struct table table = TABLE("llrrr");
    for (unsigned i = 0; i < info->fields; i++)
        for (unsigned s = 0; s < info->splits && apl_store_field(store, i)->role == APL_INPUT; s++)
            add_moments(&table, store, i, s);
    for (unsigned i = 0; i < info->fields && apl_store_find_split(store, "train") < 0; i++)
        add_kept_moments(&table, store, i);
    if (table.count)
        putchar('\n');
    return table_print(&table);
}

static int describe_digests(const apl_store *store)
{
    struct table table = TABLE("ll");
    ADD_ROW(&table, "field", "sha256 of its values");
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++)
        ADD_ROW(&table, shown(apl_store_field(store, i)->name),
                digest_text(apl_store_field(store, i)->digest));
    putchar('\n');
    return table_print(&table);
}

/* Files of the source that were left out. */
static int describe_skipped(const apl_store *store)
{
    struct table table = TABLE("ll");
    const char *path, *why;
    for (uint64_t i = 0; (path = apl_store_skipped(store, i, &why)); i++) {
        if (i == 0)
            ADD_ROW(&table, "skipped", "why");
        ADD_ROW(&table, shown(path), shown(why));
    }
    if (table.count)
        putchar('\n');
    return table_print(&table);
}

int describe_store(const char *path, apl_store *store, bool verbose)
{
    struct split_names splits;
    int status = split_names_open(store, &splits);
    if (status)
        return status;
    describe_head(path, store);
    status = describe_fields(store);
    putchar('\n');
    status |= describe_splits(store);
    status |= split_describe(splits.list);
    status |= describe_classes(store, &splits, verbose);
    if (verbose || image_sizes_are_near(store, path))
        status |= image_sizes_describe(store);
    status |= describe_moments(store);
    putchar('\n');
    if (apl_store_info(store)->shards)
        status |= describe_shards(store, verbose);
    else
        status |= describe_members(store);
    if (verbose)
        status |= describe_skipped(store) | describe_digests(store);
    split_names_close(&splits);
    return report_complete(status);
}
