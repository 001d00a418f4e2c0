/*
 * Tar archives as the WebDataset library reads them: a record is files in a row that share a key, the field __key__ or else the id; a
 * file's ending says its field. The first member of each archive, which that library passes over, says what the fields are, so that nothing is lost on the
 * way back.
 */
#include "cmd_export_splits.h"

#include "args.h"
#include "cmd_export_keys.h"
#include "cmd_export_schema.h"
#include "file_kind.h"
#include "image.h"
#include "npy.h"
#include "report.h"
#include "tar_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_NAME "__apl__/schema.json"
#define NAME_LONG   100u /* of an ending */
#define STEM_LONG   64u  /* of what stands for a field's name in it */
#define KEY_NAME    "__key__"
#define KEY_LONG    2048u

enum form { KEPT, NUMBER, TEXT, ARRAY, PNG, KEY };

/* A field of the records. */
struct part {
    const apl_field *field;
    unsigned number; /* of the field in the store */
    enum form form;
    char ending[NAME_LONG]; /* "jpg", "cls", "boxes.npy" */
    struct bytes bytes;     /* of the current record */
    bool owned;             /* these are to be freed */
};

struct tars {
    struct export *x;
    struct part parts[APL_MAX_FIELDS];
    unsigned fields[APL_MAX_FIELDS], count;
    struct shards shards;
    int keys;           /* the number of the field that has the keys; -1: they are the ids */
    uint32_t place;     /* of the current split */
    uint64_t written;   /* its records so far */
    char *schema;       /* of the current shard */
    char key[KEY_LONG]; /* of the current record */
};

/* ------------------------------------------------------------------------------------------------ fields */

/* The fields that have a short ending of their own in this format. */
static bool is_usual(const char *field, enum form form, const char *ending)
{
    switch (form) {
    case KEPT:
        return strcmp(field, ending) == 0 || (strcmp(field, "image") == 0 && strcmp(ending, "json") != 0);
    case PNG:
        return strcmp(field, "image") == 0;
    case NUMBER:
        return strcmp(field, "label") == 0;
    case TEXT:
        return strcmp(field, "text") == 0;
    default:
        return false;
    }
}

static enum form form_of(const struct tars *t, const apl_field *f)
{
    if (f->media)
        return KEPT;
    if (f->dtype == APL_UTF8)
        return strcmp(f->name, KEY_NAME) == 0 && !t->x->by_id ? KEY : TEXT;
    if (f->ndim == 0 && f->dtype >= APL_U8 && f->dtype <= APL_I64)
        return NUMBER;
    /* Images are ingested with their channels first: a PNG would not come back as an array that has them last. */
    bool image = field_is_image(f) && !image_has_channels_last(f);
    return image && strcmp(f->name, "image") == 0 ? PNG : ARRAY;
}

/* The field's name as files can have it: readers take endings in lower case, and '/' is for folders. What is too long is cut, between
 * characters. */
static void make_stem(const char *name, char stem[STEM_LONG])
{
    size_t n = 0;
    for (; name[n] && n < STEM_LONG - 1; n++)
        stem[n] = (char)(name[n] == '/'                     ? '_'
                         : name[n] >= 'A' && name[n] <= 'Z' ? name[n] - 'A' + 'a'
                                                            : name[n]);
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--;
    stem[n] = 0;
}

static bool is_taken(const struct tars *t, unsigned count, const char *ending)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(t->parts[i].ending, ending) == 0)
            return true;
    return false;
}

/* An ending that no field before has; the schema says whose it is. */
static void choose_ending(struct tars *t, unsigned i, const char *kind)
{
    char stem[STEM_LONG];
    struct part *p = &t->parts[i];
    snprintf(p->ending, sizeof p->ending, "%s", kind);
    if (p->form == KEY || (is_usual(p->field->name, p->form, kind) && !is_taken(t, i, p->ending)))
        return;
    make_stem(p->field->name, stem);
    snprintf(p->ending, sizeof p->ending, "%s.%s", stem, kind);
    for (unsigned n = 2; is_taken(t, i, p->ending); n++)
        snprintf(p->ending, sizeof p->ending, "%s_%u.%s", stem, n, kind);
}

static void describe_part(struct tars *t, unsigned i)
{
    static const char *const endings[] = {
        [NUMBER] = "cls", [TEXT] = "txt", [ARRAY] = "npy", [PNG] = "png", [KEY] = KEY_NAME};
    struct part *p = &t->parts[i];
    p->number = t->fields[i];
    p->field = apl_store_field(t->x->store, p->number);
    p->form = form_of(t, p->field);
    if (p->form == KEY)
        t->keys = (int)p->number;
    choose_ending(t, i, p->form == KEPT ? file_ending(p->field->media) : endings[p->form]);
}

/* All splits of the export, so that it shows if shards are missing. */
static json_t *all_splits(const struct export *x)
{
    json_t *splits = json_array();
    for (unsigned s = 0; s < x->info->splits; s++) {
        const apl_split *split = apl_store_split(x->store, s);
        json_array_append_new(splits, json_pack("{s:o, s:o}", "name", json_text(split->name), "records",
                                                json_count(split->count)));
    }
    return splits;
}

/* That of the next shard. A split without records has a shard all the same, which says that it is to have none. */
static int make_schema(struct tars *t)
{
    json_t *fields = json_array();
    for (unsigned i = 0; i < t->count; i++)
        json_array_append_new(fields, schema_field(t->x, t->parts[i].field, "ending", t->parts[i].ending));
    json_t *schema =
        json_pack("{s:i, s:o, s:i, s:i, s:o, s:o, s:o}", "version", 1, "split", json_text(t->shards.split),
                  "place", (int)t->place, "shard", (int)t->shards.number, "first", json_count(t->written),
                  "export", all_splits(t->x), "fields", fields);
    if (schema && apl_store_split(t->x->store, t->place)->count == 0)
        json_object_set_new(schema, "records", json_integer(0));
    free(t->schema);
    t->schema = schema ? json_dumps(schema, JSON_INDENT(1)) : NULL;
    json_decref(schema);
    return t->schema ? 0 : failed("out of memory");
}

/* ------------------------------------------------------------------------------------------------- values */

/* A header of NumPy and the elements. */
static struct bytes array_bytes(const struct value *v)
{
    char header[NPY_HEADER_MAX];
    size_t size = npy_header_of_value(header, npy_type(v->dtype), v->ndim, v->shape);
    struct bytes out = {malloc(size + v->bytes), size + v->bytes};
    if (out.data) {
        memcpy(out.data, header, size);
        if (v->bytes)
            memcpy(out.data + size, v->data, v->bytes);
    }
    return out;
}

static struct bytes number_bytes(const struct value *v)
{
    const char *text = element_text(v, 0);
    return (struct bytes){(uint8_t *)strdup(text), strlen(text)};
}

static int png_bytes(const struct tars *t, struct part *p, const struct value *v, uint64_t id)
{
    struct image image;
    const char *why = image_make(&image, p->field, v, 1, 1);
    if (why)
        return failed("%s: record %llu cannot be written as an image: %s", shown_db(t->x->path),
                      (unsigned long long)id, why);
    p->bytes = image_png(&image);
    image_free(&image);
    return 0;
}

static int make_part(struct tars *t, struct part *p, const apl_batch *batch, size_t row)
{
    struct value v = value_of(apl_batch_column(batch, p->number), row, apl_batch_rows(batch));
    int status = 0;
    p->owned = p->form != KEPT && p->form != TEXT && p->form != KEY;
    if (!p->owned)
        p->bytes = (struct bytes){(uint8_t *)v.data, v.bytes};
    else if (p->form == PNG)
        status = png_bytes(t, p, &v, apl_batch_ids(batch)[row]);
    else
        p->bytes = p->form == NUMBER ? number_bytes(&v) : array_bytes(&v);
    return status || p->bytes.data || !p->owned ? status : failed("out of memory");
}

static void free_parts(struct tars *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        if (t->parts[i].owned)
            free(t->parts[i].bytes.data);
        t->parts[i].bytes.data = NULL;
    }
}

/* --------------------------------------------------------------------------------------------------- tar */

static int end_tar(struct tars *t)
{
    int status = t->shards.file < 0 ? 0 : tar_end(&t->shards);
    return status ? status : shards_end(&t->shards);
}

static int begin_tar(struct tars *t)
{
    int status = end_tar(t);
    if (!status)
        status = make_schema(t);
    if (!status)
        status = shards_begin(&t->shards);
    return status ? status : tar_add(&t->shards, SCHEMA_NAME, t->schema, strlen(t->schema));
}

/* ------------------------------------------------------------------------------------------------------ records */

/* Can the whole of it be a key: a relative path whose last part has no dot? */
static bool is_key(const char *key, size_t length)
{
    const char *slash = strrchr(key, '/');
    return length > 0 && length < KEY_LONG && strlen(key) == length && strncmp(key, "__", 2) != 0 &&
           !strchr(slash ? slash : key, '.') && outtree_path_is_safe(key);
}

static int take_key(struct tars *t, const struct part *p, uint64_t id)
{
    if (!p) {
        snprintf(t->key, sizeof t->key, "%09llu", (unsigned long long)id);
        return 0;
    }
    size_t length = p->bytes.size < KEY_LONG ? p->bytes.size : KEY_LONG - 1;
    memcpy(t->key, p->bytes.data, length);
    t->key[length] = 0;
    if (!is_key(t->key, p->bytes.size))
        return failed("%s: record %llu: '%s' cannot be its key: --names id numbers the records, and keeps "
                      "their keys as a field",
                      shown_db(t->x->path), (unsigned long long)id, shown(t->key));
    return 0;
}

static int write_parts(struct tars *t, uint64_t id)
{
    uint64_t size = 0;
    const struct part *key = NULL;
    for (unsigned i = 0; i < t->count; i++)
        if (t->parts[i].form == KEY)
            key = &t->parts[i];
        else
            size += tar_member_size(t->parts[i].bytes.size);
    int status = take_key(t, key, id);
    if (!status && !shards_have_room(&t->shards, size + TAR_END))
        status = begin_tar(t);
    for (unsigned i = 0; i < t->count && !status; i++) {
        char name[TAR_NAME_LONG];
        snprintf(name, sizeof name, "%s.%s", t->key, t->parts[i].ending);
        if (t->parts[i].form != KEY)
            status = tar_add(&t->shards, name, t->parts[i].bytes.data, t->parts[i].bytes.size);
    }
    t->shards.records++;
    t->written++;
    return status;
}

static int write_records(void *user, const apl_batch *batch)
{
    struct tars *t = user;
    int status = 0;
    for (size_t r = 0; r < apl_batch_rows(batch) && !status; r++) {
        for (unsigned i = 0; i < t->count && !status; i++)
            status = make_part(t, &t->parts[i], batch, r);
        if (!status)
            status = write_parts(t, apl_batch_ids(batch)[r]);
        free_parts(t);
    }
    return status;
}

static int write_split(struct tars *t, const apl_split *split)
{
    t->shards.split = split->name;
    t->shards.number = 0;
    t->written = 0;
    int status = export_check_split(t->x, split);
    if (!status && t->keys >= 0)
        status = export_check_keys(t->x, split, (unsigned)t->keys);
    if (!status && split->count == 0)
        status = begin_tar(t);
    if (!status)
        status = export_each(t->x, split->first, split->count, t->fields, t->count, write_records, t);
    return status ? status : end_tar(t);
}

static int describe_fields(struct tars *t)
{
    int status = export_fields(t->x, false, t->fields, &t->count);
    for (unsigned i = 0; i < t->count && !status; i++) {
        const apl_field *f = apl_store_field(t->x->store, t->fields[i]);
        if (f->dtype == APL_UTF8 && f->ndim > 1)
            return failed(
                "%s: field '%s' has lists of texts, which WebDataset has no form for; --format raw and "
                "tfrecord have, and --fields leaves it out",
                shown_db(t->x->path), shown(f->name));
        describe_part(t, i);
    }
    if (!status && t->count == (t->keys >= 0))
        return failed("%s: there is nothing to write but keys", shown_db(t->x->path));
    return status;
}

int export_webdataset(struct export *x)
{
    struct tars *t = calloc(1, sizeof *t);
    if (!t)
        return failed("out of memory");
    t->x = x;
    t->keys = -1;
    t->shards = (struct shards){.out = &x->out,
                                .ending = "tar",
                                .most_bytes = x->shard_bytes,
                                .most_records = x->shard_records,
                                .file = -1};
    int status = describe_fields(t);
    for (; t->place < x->info->splits && !status; t->place++)
        status = write_split(t, apl_store_split(x->store, t->place));
    free(t->schema);
    free(t);
    return status;
}
