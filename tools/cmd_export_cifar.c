/*
 * The way back to the binary CIFAR archives: a file a member, of rows that are the labels and then the
 * image. A row goes straight to the offset of its source position, so that nothing need be held,
 * in whatever order the store has its records.
 */
#include "cmd_export.h"

#include "args.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The files of an archive as published, for readers take no others. */
static const struct published {
    const char *name, *split;
    uint64_t rows;
} cifar_10[] = {{"data_batch_1", "train", 10000}, {"data_batch_2", "train", 10000},
                {"data_batch_3", "train", 10000}, {"data_batch_4", "train", 10000},
                {"data_batch_5", "train", 10000}, {"test_batch", "test", 10000}},
  cifar_100[] = {{"train", "train", 50000}, {"test", "test", 10000}};

struct member_file {
    uint64_t first, count;
    int file;
};

struct writer {
    struct export *x;
    unsigned fields[4]; /* the fields of a row, in order; then the position, if any */
    unsigned row_fields, all_fields;
    size_t row_bytes;
    const struct published *published;
    unsigned published_count;
    bool by_split; /* the store's members are no files of the archive: its splits are laid out anew */
    struct member_file *members;
    unsigned member_count;
    uint8_t *seen; /* a bit per source position */
    uint64_t rows;
    uint8_t *run; /* rows that follow each other in their file */
    size_t run_capacity;
};

/* Adds field `name` to the row, if it is as such archives have it. */
static bool add_field(struct writer *w, const char *name, size_t bytes)
{
    int i = apl_store_find_field(w->x->store, name);
    const apl_field *f = i < 0 ? NULL : apl_store_field(w->x->store, (unsigned)i);
    if (!f || f->dtype != APL_U8 || f->value_bytes != bytes)
        return false;
    w->fields[w->row_fields++] = (unsigned)i;
    w->row_bytes += bytes;
    return true;
}

static bool find_position(struct writer *w)
{
    w->all_fields = w->row_fields;
    for (unsigned i = 0; i < w->x->info->fields; i++) {
        const apl_field *f = apl_store_field(w->x->store, i);
        if (f->role == APL_POSITION && f->ndim == 0 && dtype_is_unsigned(f->dtype)) {
            w->fields[w->all_fields++] = i;
            return true;
        }
    }
    return false;
}

/* Is the member such a file, called with .bin or without, and of its split? */
static bool is_published(const struct writer *w, const apl_member *m)
{
    for (unsigned i = 0; i < w->published_count; i++) {
        const struct published *p = &w->published[i];
        size_t length = strlen(p->name);
        if (strncmp(m->name, p->name, length) == 0 &&
            (!m->name[length] || strcmp(m->name + length, ".bin") == 0))
            return m->count <= p->rows && strcmp(m->split, p->split) == 0;
    }
    return false;
}

/* Stores that were extracted or merged have a member for each split. */
static void find_layout(struct writer *w)
{
    bool is_100 = w->row_fields == 3;
    w->published = is_100 ? cifar_100 : cifar_10;
    w->published_count = is_100 ? sizeof cifar_100 / sizeof *cifar_100 : sizeof cifar_10 / sizeof *cifar_10;
    for (unsigned i = 0; i < w->x->info->members; i++)
        w->by_split |= !is_published(w, apl_store_member(w->x->store, i));
}

static int find_fields(struct writer *w)
{
    bool coarse = add_field(w, "coarse_label", 1);
    bool fit = coarse ? add_field(w, "fine_label", 1) : add_field(w, "label", 1);
    if (!fit || !add_field(w, "image", 3072))
        return failed("%s: holds no CIFAR records; --format npy or raw takes any store",
                      shown_db(w->x->path));
    find_layout(w);
    if (w->x->info->shuffled && !w->by_split && !find_position(w))
        return failed("%s: is shuffled, and no field has the original order", shown_db(w->x->path));
    w->all_fields = w->all_fields ? w->all_fields : w->row_fields;
    return 0;
}

/* "data_batch_1" of the python layout is data_batch_1.bin in the binary one. */
static int add_file(struct writer *w, const char *member, uint64_t first, uint64_t count)
{
    char name[APL_MAX_NAME + 8];
    size_t length = strlen(member);
    bool has_suffix = length > 4 && strcmp(member + length - 4, ".bin") == 0;
    snprintf(name, sizeof name, "%s%s", member, has_suffix ? "" : ".bin");
    struct member_file *to = &w->members[w->member_count];
    *to = (struct member_file){first, count, outset_add(&w->x->out, name)};
    w->member_count += to->file >= 0;
    return to->file < 0 ? EXIT_FAILURE : 0;
}

static int add_member(struct writer *w, const apl_member *m)
{
    if (m->first > w->x->info->records || m->count > w->x->info->records - m->first)
        return failed("%s: member '%s' has records that the store lacks", shown_db(w->x->path),
                      shown(m->name));
    return add_file(w, m->name, m->first, m->count);
}

/* Fills the files of the split, one after another. */
static int add_split(struct writer *w, const apl_split *split)
{
    uint64_t done = 0, room = 0;
    int status = 0;
    for (unsigned i = 0; i < w->published_count && !status; i++) {
        const struct published *p = &w->published[i];
        if (strcmp(p->split, split->name) != 0)
            continue;
        uint64_t left = split->count - done, rows = left < p->rows ? left : p->rows;
        room += p->rows;
        if (rows > 0)
            status = add_file(w, p->name, split->first + done, rows);
        done += rows;
    }
    if (!status && room == 0)
        return failed(
            "%s: CIFAR's archives have the splits train and test, not %s; --format npy or webdataset "
            "takes any",
            shown_db(w->x->path), shown(split->name));
    if (!status && done < split->count)
        return failed("%s: split %s has %llu records, more than the %llu of CIFAR's archive; --format npy or "
                      "webdataset takes any number",
                      shown_db(w->x->path), shown(split->name), (unsigned long long)split->count,
                      (unsigned long long)room);
    return status;
}

static int add_members(struct writer *w)
{
    const apl_info *info = w->x->info;
    int status = 0;
    w->members = calloc(info->members + w->published_count + 1, sizeof *w->members);
    if (!w->members)
        return failed("out of memory");
    for (unsigned i = 0; i < info->members && !w->by_split && !status; i++)
        status = add_member(w, apl_store_member(w->x->store, i));
    for (unsigned i = 0; i < info->splits && w->by_split && !status; i++)
        status = add_split(w, apl_store_split(w->x->store, i));
    return status;
}

/* The class names of one field, a line each, so that the result can be ingested again. */
static int write_names(struct writer *w, unsigned field, const char *name, const char *end)
{
    const apl_field *f = apl_store_field(w->x->store, field);
    if (!f->class_count)
        return 0;
    int file = outset_add(&w->x->out, name);
    int status = file < 0 ? EXIT_FAILURE : 0;
    for (uint64_t c = 0; c < f->class_count && !status; c++) {
        if (strchr(f->classes[c], '\n'))
            return failed("%s: class name '%s' has more than one line", shown_db(w->x->path),
                          shown(f->classes[c]));
        status = outset_write(&w->x->out, file, f->classes[c], strlen(f->classes[c]));
        if (!status)
            status = outset_write(&w->x->out, file, "\n", 1);
    }
    return status ? status : outset_write(&w->x->out, file, end, strlen(end));
}

static int write_all_names(struct writer *w)
{
    if (w->row_fields == 2) /* the published file ends in an empty line */
        return write_names(w, w->fields[0], "batches.meta.txt", "\n");
    int status = write_names(w, w->fields[0], "coarse_label_names.txt", "");
    return status ? status : write_names(w, w->fields[1], "fine_label_names.txt", "");
}

static const struct member_file *member_of(const struct writer *w, uint64_t position)
{
    for (unsigned i = 0; i < w->member_count; i++)
        if (position >= w->members[i].first && position - w->members[i].first < w->members[i].count)
            return &w->members[i];
    return NULL;
}

/* Marks a position as written; false if it was already, or does not exist. */
static bool mark_seen(struct writer *w, uint64_t position)
{
    if (position >= w->x->info->records || (w->seen[position / 8] >> position % 8 & 1))
        return false;
    w->seen[position / 8] |= (uint8_t)(1u << position % 8);
    w->rows++;
    return true;
}

static uint64_t position_of(const struct writer *w, const apl_batch *batch, size_t row)
{
    if (w->all_fields == w->row_fields)
        return apl_batch_ids(batch)[row];
    const apl_column *column = apl_batch_column(batch, w->fields[w->row_fields]);
    struct value v = value_of(column, row, apl_batch_rows(batch));
    return value_unsigned(&v, 0);
}

static void fill_row(const struct writer *w, const apl_batch *batch, size_t row, uint8_t *to)
{
    for (unsigned i = 0; i < w->row_fields; i++) {
        struct value v = value_of(apl_batch_column(batch, w->fields[i]), row, apl_batch_rows(batch));
        memcpy(to, v.data, v.bytes);
        to += v.bytes;
    }
}

/* Writes the rows from `row` on that follow each other in one file; *row moves behind them. */
static int write_run(struct writer *w, const apl_batch *batch, size_t *row)
{
    uint64_t position = position_of(w, batch, *row);
    const struct member_file *m = member_of(w, position);
    if (!m)
        return failed("%s: record %llu belongs to no member", shown_db(w->x->path),
                      (unsigned long long)apl_batch_ids(batch)[*row]);
    size_t n = 0;
    while (*row < apl_batch_rows(batch) && n < w->run_capacity && position + n - m->first < m->count &&
           position_of(w, batch, *row) == position + n) {
        if (!mark_seen(w, position + n))
            return failed("%s: two records have the source position %llu", shown_db(w->x->path),
                          (unsigned long long)(position + n));
        fill_row(w, batch, (*row)++, w->run + n++ * w->row_bytes);
    }
    return outset_write_at(&w->x->out, m->file, w->run, n * w->row_bytes,
                           (position - m->first) * w->row_bytes);
}

static int write_rows(void *user, const apl_batch *batch)
{
    int status = 0;
    for (size_t row = 0; row < apl_batch_rows(batch) && !status;)
        status = write_run(user, batch, &row);
    return status;
}

static int write_members(struct writer *w)
{
    w->run_capacity = 256;
    w->run = malloc(w->run_capacity * w->row_bytes);
    w->seen = calloc((size_t)(w->x->info->records / 8 + 1), 1);
    if (!w->run || !w->seen)
        return failed("out of memory");
    int status = export_each(w->x, 0, w->x->info->records, w->fields, w->all_fields, write_rows, w);
    if (!status && w->rows != w->x->info->records)
        return failed("%s: some source positions have no record", shown_db(w->x->path));
    return status;
}

int export_cifar(struct export *x)
{
    struct writer w = {.x = x};
    int status = find_fields(&w);
    if (!status)
        status = add_members(&w);
    if (!status)
        status = write_all_names(&w);
    if (!status)
        status = write_members(&w);
    free(w.members);
    free(w.run);
    free(w.seen);
    return status;
}
