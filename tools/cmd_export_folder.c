/*
 * Images as torchvision's ImageFolder and most tools read them: SPLIT/CLASS/NAME. What the store keeps comes out byte for byte, decoded
 * images as PNG. NAME is the path that the store has, without the folders that say the split and the class, or the id.
 */
#include "cmd_export_classes.h"

#include "args.h"
#include "describe.h"
#include "file_kind.h"
#include "image.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LONG 4096

struct tree {
    struct export *x;
    const apl_split *split;
    unsigned fields[3], count; /* those that are read: */
    int image, label, path;    /* their numbers in the store; -1: none */
    unsigned id_digits;
    struct export_classes classes; /* that have no names */
    char name[NAME_LONG];          /* of the current record's file */
};

static const apl_field *field_of(const struct tree *t, int field)
{
    return apl_store_field(t->x->store, (unsigned)field);
}

/* ------------------------------------------------------------------------------------- which fields */

/* Is it the field wanted: better than `best`? Kept images come before decoded ones, and these before other kept files. */
static int rank_of(const apl_field *field)
{
    bool image_media = field->media && strncmp(field->media, "image/", 6) == 0;
    return image_media ? 3 : field_is_image(field) ? 2 : field->media ? 1 : 0;
}

static int find_image(struct tree *t)
{
    int best = 0;
    t->image = -1;
    if (t->x->fields.count) {
        t->image = apl_store_find_field(t->x->store, t->x->fields.name[0]);
        if (t->image < 0)
            return failed("%s: no field '%s'", shown_db(t->x->path), shown(t->x->fields.name[0]));
        best = rank_of(field_of(t, t->image));
    }
    for (unsigned i = 0; i < t->x->info->fields && !t->x->fields.count; i++) {
        int rank = rank_of(field_of(t, (int)i));
        if (rank > best) {
            best = rank;
            t->image = (int)i;
        }
    }
    if (best > 0)
        return 0;
    if (t->image < 0)
        return failed("%s: has neither images nor files, which folders are made of", shown_db(t->x->path));
    return failed("%s: field %s holds neither images nor files, which folders are made of",
                  shown_db(t->x->path), shown(field_of(t, t->image)->name));
}

static bool is_whole_scalar(const apl_field *field)
{
    return field->ndim == 0 && field->dtype >= APL_U8 && field->dtype <= APL_I64 &&
           field->role != APL_POSITION;
}

static int use_label(struct tree *t, const char *name)
{
    t->label = apl_store_find_field(t->x->store, name);
    if (t->label < 0)
        return failed("%s: no field '%s'", shown_db(t->x->path), shown(name));
    if (!is_whole_scalar(field_of(t, t->label)))
        return failed("%s: the values of field %s are not classes: one whole number a record is needed",
                      shown_db(t->x->path), shown(name));
    return 0;
}

/* The field asked for, else "label", else the only target that has classes. */
static int find_label(struct tree *t)
{
    t->label = -1;
    if (t->x->label)
        return use_label(t, t->x->label);
    int label = apl_store_find_field(t->x->store, "label");
    if (label >= 0 && is_whole_scalar(field_of(t, label))) {
        t->label = label;
        return 0;
    }
    for (unsigned i = 0; i < t->x->info->fields; i++) {
        if (!is_whole_scalar(field_of(t, (int)i)) || !field_of(t, (int)i)->class_count)
            continue;
        if (t->label >= 0)
            return failed("%s: fields %s and %s both have classes: --label says which are folders",
                          shown_db(t->x->path), shown(field_of(t, t->label)->name),
                          shown(field_of(t, (int)i)->name));
        t->label = (int)i;
    }
    return 0;
}

/* As images in folders, and CIFAR in the python layout, have them. */
static bool is_path(const apl_field *field)
{
    return field->dtype == APL_UTF8 && field->ndim == 1 &&
           (strcmp(field->name, "path") == 0 || strcmp(field->name, "filename") == 0);
}

/* Images whose list had a column "path" of its own have theirs in another field. */
static void find_path(struct tree *t)
{
    char own[APL_MAX_NAME + 8];
    snprintf(own, sizeof own, "%s_path", field_of(t, t->image)->name);
    t->path = t->x->by_id ? -1 : apl_store_find_field(t->x->store, own);
    if (t->path >= 0 && (field_of(t, t->path)->dtype != APL_UTF8 || field_of(t, t->path)->ndim != 1))
        t->path = -1;
    for (unsigned i = 0; i < t->x->info->fields && t->path < 0 && !t->x->by_id; i++)
        if (is_path(field_of(t, (int)i)))
            t->path = (int)i;
}

static int find_fields(struct tree *t)
{
    int status = find_image(t);
    if (!status)
        status = find_label(t);
    if (status)
        return status;
    find_path(t);
    const int found[] = {t->image, t->label, t->path};
    for (unsigned i = 0; i < 3; i++)
        if (found[i] >= 0 && (i == 0 || found[i] != t->image))
            t->fields[t->count++] = (unsigned)found[i];
    t->id_digits = (unsigned)snprintf(NULL, 0, "%llu", (unsigned long long)t->x->info->records);
    return 0;
}

/* ---------------------------------------------------------------------------------- what others will see */

/* Where the channels are taken to be, if the shape does not tell. */
static void tell_of_layout(const struct tree *t)
{
    const apl_field *f = field_of(t, t->image);
    if (!f->media && image_layout_unclear(f))
        note("%s: field %s: %s: the first dimension is taken for the channels, not the last",
             shown_db(t->x->path), shown(f->name), type_text(f));
}

/* Fields beside the one that is written. */
static void tell_of_fields(const struct tree *t)
{
    char names[256] = "";
    size_t used = 0;
    for (unsigned i = 0; i < t->x->info->fields && used < sizeof names; i++) {
        const apl_field *f = field_of(t, (int)i);
        size_t image = strlen(field_of(t, t->image)->name);
        bool shape = strncmp(f->name, field_of(t, t->image)->name, image) == 0 &&
                     strcmp(f->name + image, "_shape") == 0 && f->dtype == APL_U32;
        if ((int)i == t->image || (int)i == t->label || f->role == APL_POSITION || shape || is_path(f))
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", shown(f->name));
    }
    if (*names)
        note("%s: folders have no place for other fields: %s%s", shown_db(t->x->path), names,
             used < sizeof names ? "" : "...");
}

/* ------------------------------------------------------------------------------------------------ names */

/* Appends to the name; false: too long. */
static bool add(struct tree *t, size_t *used, const char *text, size_t length)
{
    if (length >= NAME_LONG - *used)
        return false;
    memcpy(t->name + *used, text, length);
    *used += length;
    t->name[*used] = 0;
    return true;
}

static bool add_folder(struct tree *t, size_t *used, const char *name)
{
    return *name && !strchr(name, '/') && add(t, used, name, strlen(name)) && add(t, used, "/", 1);
}

static const char *class_folder(const struct tree *t, const struct value *v)
{
    const apl_field *f = field_of(t, t->label);
    return f->class_count ? f->classes[value_unsigned(v, 0)]
                          : export_class_number(&t->classes, element_text(v, 0));
}

/* What of the path is left once the split's and the class's folders are taken off its beginning. */
static void strip(const char **path, size_t *length, const char *folder)
{
    size_t n = strlen(folder);
    if (*length > n && memcmp(*path, folder, n) == 0 && (*path)[n] == '/') {
        *path += n + 1;
        *length -= n + 1;
    }
}

/* The last part of the name: a decoded image is a PNG now; what had no ending gets one. */
static bool end_name(struct tree *t, size_t *used)
{
    const apl_field *f = field_of(t, t->image);
    const char *ending = f->media ? file_ending(f->media) : "png";
    if (!has_ending(t->name) || !f->media) {
        if (has_ending(t->name))
            *used = (size_t)(strrchr(t->name, '.') - t->name);
        return add(t, used, ".", 1) && add(t, used, ending, strlen(ending));
    }
    return true;
}

static bool make_name(struct tree *t, const char *class, const struct value *path, uint64_t id)
{
    size_t used = 0;
    char number[32];
    const char *rest = number;
    size_t length =
        (size_t)snprintf(number, sizeof number, "%0*llu", (int)t->id_digits, (unsigned long long)id);
    if (path) {
        rest = (const char *)path->data;
        length = path->bytes;
        strip(&rest, &length, t->split->name);
        if (class)
            strip(&rest, &length, class);
    }
    return !memchr(rest, 0, length) && add_folder(t, &used, t->split->name) &&
           (!class || add_folder(t, &used, class)) && add(t, &used, rest, length) && end_name(t, &used) &&
           outtree_path_is_safe(t->name);
}

/* ---------------------------------------------------------------------------------------------- writing */

static int write_png(struct tree *t, const struct value *v, uint64_t id, const char *twice)
{
    struct image image;
    const char *why = image_make(&image, field_of(t, t->image), v, 1, 1);
    if (why)
        return failed("%s: record %llu cannot be written as an image: %s", shown_db(t->x->path),
                      (unsigned long long)id, why);
    struct bytes png = image_png(&image);
    image_free(&image);
    int status =
        png.data ? outset_put(&t->x->out, t->name, png.data, png.size, twice) : failed("out of memory");
    free(png.data);
    return status;
}

static int write_record(struct tree *t, const apl_batch *batch, size_t row)
{
    static const char twice[] = "another record has this name too; --names id numbers the files";
    size_t rows = apl_batch_rows(batch);
    uint64_t id = apl_batch_ids(batch)[row];
    struct value label, path = {0}, v = value_of(apl_batch_column(batch, (unsigned)t->image), row, rows);
    const char *class = NULL;
    if (t->label >= 0) {
        label = value_of(apl_batch_column(batch, (unsigned)t->label), row, rows);
        class = class_folder(t, &label);
    }
    if (t->path >= 0)
        path = value_of(apl_batch_column(batch, (unsigned)t->path), row, rows);
    if (!make_name(t, class, t->path >= 0 ? &path : NULL, id))
        return failed("%s: record %llu: '%s' cannot be the path of a file%s", shown_db(t->x->path),
                      (unsigned long long)id,
                      t->path >= 0 ? shown_bytes(path.data, path.bytes)
                                   : shown(class ? class : t->split->name),
                      t->path >= 0 ? "; --names id numbers the files" : "");
    if (!field_of(t, t->image)->media)
        return write_png(t, &v, id, twice);
    return outset_put(&t->x->out, t->name, v.data, v.bytes, twice);
}

static int write_records(void *user, const apl_batch *batch)
{
    int status = 0;
    for (size_t r = 0; r < apl_batch_rows(batch) && !status; r++)
        status = write_record(user, batch, r);
    return status;
}

/* Classes without names are all there is to know before the first file is written. */
static int take_labels(void *user, const apl_batch *batch)
{
    struct tree *t = user;
    size_t rows = apl_batch_rows(batch);
    int status = 0;
    for (size_t r = 0; r < rows && !status; r++) {
        struct value v = value_of(apl_batch_column(batch, (unsigned)t->label), r, rows);
        status = export_classes_take(&t->classes, &v);
    }
    return status;
}

static int find_classes(struct tree *t)
{
    const unsigned label = (unsigned)t->label;
    int status = 0;
    if (t->label < 0)
        return 0;
    if (!field_of(t, t->label)->class_count) {
        t->x->total *= 2;
        status = export_each(t->x, 0, t->x->info->records, &label, 1, take_labels, t);
        export_classes_settle(&t->classes);
    }
    return status ? status : export_classes_write(&t->classes, t->x, label);
}

int export_folder(struct export *x)
{
    struct tree t = {.x = x};
    int status = find_fields(&t);
    if (!status)
        status = find_classes(&t);
    if (!status && !x->quiet) {
        tell_of_layout(&t);
        tell_of_fields(&t);
    }
    for (unsigned s = 0; s < x->info->splits && !status; s++) {
        t.split = apl_store_split(x->store, s);
        status = export_each(x, t.split->first, t.split->count, t.fields, t.count, write_records, &t);
    }
    export_classes_free(&t.classes);
    return status;
}
