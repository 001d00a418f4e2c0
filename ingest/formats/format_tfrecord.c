/* TFRecord files of tf.train.Example: each feature is a field. The files are read twice, first to learn what the features are: which
 * are always of one length, which bytes are images or text. Of an export, the schema.json beside them says it. */
#include "file_name.h"
#include "format.h"
#include "tf_declared.h"
#include "tf_fields.h"
#include "tf_frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define SCHEMA_NAME "schema.json"

struct tfrecord {
    const struct format_host *host;
    apl_writer *writer;
    struct tf_frame frame;
    struct tf_example example;
    struct image_maker *maker;
    struct tf_fields fields;
    bool is_export;
    struct tf_declared declared; /* of an export */
    uint64_t written;
    uint64_t *records; /* of each file: how many it has */
    bool left;         /* the file being read was left, as the rest is other parts' */
    uint32_t members[64];
};

static bool sniff_tfrecord(const struct format_file *file)
{
    return tf_frame_is(file->head, file->head_size);
}

static bool wants_tfrecord(const void *state, const char *name)
{
    struct file_name n;
    static const char *const words[] = {"tfrecord", "tfrecords", "tfrec", NULL};
    (void)state;
    if (name_ends(name, ".tfrecord"))
        return true;
    if (!file_name_read(&n, name))
        return false;
    for (unsigned i = 0; i < n.count; i++)
        if (word_in(n.words[i], words))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------- record by record */

/* A record that is bad in itself: what is wrong with it, by its number. */
static apl_status bad_record(const struct tfrecord *t, size_t file, const apl_error *why, apl_error *err)
{
    char place[1100];
    snprintf(place, sizeof place, "%s: record %" PRIu64, t->host->files[file].path, t->frame.record - 1);
    return t->host->bad(t->host->user, place, why, err);
}

/* Takes a record that is whole. *bad: it is not to be kept, and *why says why. */
typedef apl_status (*tf_take)(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err);

/* The frame's next record, parsed. */
static apl_status next_example(struct tfrecord *t, bool *bad, apl_error *why)
{
    const uint8_t *data;
    size_t size;
    apl_status status = tf_frame_next(&t->frame, &data, &size, why);
    *bad = status == APL_E_CORRUPT;
    if (status != APL_OK)
        return *bad ? APL_OK : status;
    *bad = tf_example_parse(data, size, &t->example, why) != APL_OK;
    return APL_OK;
}

static apl_status end_of_records(struct tfrecord *t, size_t file, struct format_stream *stream,
                                 apl_status status, const apl_error *why, apl_error *err)
{
    const struct format_host *host = t->host;
    if (status == APL_END)
        return host->close_file(host->user, stream, err);
    if (status == APL_E_INCOMPLETE) {
        apl_status broken = host->cut_off(host->user, stream, err);
        if (broken != APL_E_INCOMPLETE)
            return broken;
    }
    return fail(err, status, "%s: record %" PRIu64 ": %s", host->files[file].path, t->frame.record,
                why->message);
}

/* Is the next record another part's? Where nothing but those follows, the file is left. */
static bool is_others(struct tfrecord *t, const char *split)
{
    const struct format_host *host = t->host;
    if (!split || !host->part)
        return false;
    t->left = !host->coming(host->user, split, INT64_MAX);
    return t->left || !host->own(host->user, split, 1);
}

/* `split`: of which the records are, to leave out those of other parts; NULL: all are wanted. */
static apl_status each_record(struct tfrecord *t, size_t file, const char *split, tf_take take, bool tell,
                              apl_error *err)
{
    struct format_stream *stream;
    apl_status status;
    apl_error why;
    bool bad;
    TRY(t->host->open_file(t->host->user, file, &stream, err));
    t->frame.cursor = stream->cursor;
    t->frame.record = 0;
    t->left = false;
    while ((status = next_example(t, &bad, &why)) == APL_OK) {
        if (is_others(t, split)) {
            if (!t->left)
                continue;
            t->host->drop_file(t->host->user, stream);
            return APL_OK;
        }
        if (!bad)
            TRY(take(t, file, &bad, &why, err));
        if (bad && tell)
            TRY(bad_record(t, file, &why, err));
    }
    return end_of_records(t, file, stream, status, &why, err);
}

static apl_status learn_record(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err)
{
    const struct tf_place at = {t->host->files[file].path, t->frame.record - 1};
    (void)bad;
    (void)why;
    return tf_fields_learn(&t->fields, &t->example, &at, err);
}

static apl_status pass_record(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err)
{
    (void)t, (void)file, (void)bad, (void)why, (void)err;
    return APL_OK;
}

/* Records are bad, or say nothing. */
static apl_status no_features(struct tfrecord *t, apl_error *err)
{
    for (size_t i = 0; i < t->host->file_count; i++)
        TRY(each_record(t, i, NULL, pass_record, true, err));
    return fail(err, APL_E_SOURCE, "%s: has no tf.train.Example with a feature", t->host->source);
}

/* ------------------------------------------------------------------------------------------------------ records */

static apl_status check_feature(const struct tf_field *field, const struct tf_feature *f, apl_error *why)
{
    if (field->kind != f->kind)
        return fail(why, APL_E_SOURCE, "feature %s has %s, but %s in record %" PRIu64 " of %s", field->name,
                    tf_kind_name(f->kind), tf_kind_name(field->kind), field->first.record, field->first.path);
    if (f->kind == TF_BYTES && f->count > 1)
        return fail(why, APL_E_UNSUPPORTED,
                    "feature %s has a list of %" PRIu64 " strings of bytes; one can be kept", field->name,
                    f->count);
    uint64_t bytes = f->kind == TF_BYTES ? f->bytes_size : f->kind == TF_INTS ? 8 * f->count : 4 * f->count;
    if (bytes > APL_MAX_VALUE)
        return fail(why, APL_E_SOURCE, "feature %s has more than the %u bytes of a value", field->name,
                    APL_MAX_VALUE);
    return APL_OK;
}

/* An image that is kept must be one that can be decoded. */
static apl_status check_jpeg_feature(struct tfrecord *t, struct tf_field *field, const struct tf_feature *f,
                                     apl_error *why)
{
    const struct image_plan plan = {.keep = true};
    field->made.bytes.size = 0;
    buffer_put(&field->made.bytes, f->bytes, f->bytes_size);
    if (field->made.bytes.failed)
        return fail_nomem(why);
    apl_error wrong;
    apl_status status = image_make(t->maker, &plan, t->host->unchecked, &field->made, &wrong);
    return status == APL_OK ? status : fail(why, status, "feature %s: %s", field->name, wrong.message);
}

/* What was learnt does not hold any more. */
static apl_status has_changed_since(apl_error *why)
{
    return fail(why, APL_E_SOURCE, "the file changed while it was read");
}

/* The value of a field; what the record lacks is empty. */
static apl_status take_value(struct tfrecord *t, struct tf_field *field, const struct tf_feature *f,
                             apl_error *why)
{
    field->values.size = 0;
    if (!f)
        return tf_is_fixed(&t->fields, field) ? has_changed_since(why) : APL_OK;
    TRY(check_feature(field, f, why));
    if (tf_is_fixed(&t->fields, field) && (f->kind == TF_BYTES ? f->bytes_size : f->count) != field->least)
        return has_changed_since(why);
    if (f->kind == TF_BYTES) {
        buffer_put(&field->values, f->bytes, f->bytes_size);
        return tf_is_jpeg(&t->fields, field) ? check_jpeg_feature(t, field, f, why) : APL_OK;
    }
    size_t size = (size_t)f->count * (f->kind == TF_INTS ? 8 : 4);
    if (!buffer_reserve(&field->values, size + 1))
        return fail_nomem(why);
    tf_feature_values(f, field->values.data);
    field->values.size = size;
    return APL_OK;
}

static const struct tf_feature *feature_of(const struct tf_example *example, const struct tf_field *field)
{
    size_t size = strlen(field->name);
    for (unsigned i = 0; i < example->count; i++) {
        const struct tf_feature *f = &example->features[i];
        if (f->name_size == size && memcmp(f->name, field->name, size) == 0)
            return tf_has_value(f) ? f : NULL;
    }
    return NULL;
}

static apl_status append_values(struct tfrecord *t, apl_error *err)
{
    apl_value values[2 * TF_MAX_FEATURES] = {{0}};
    int64_t lengths[TF_MAX_FEATURES];
    for (unsigned i = 0; i < t->fields.count; i++) {
        const struct tf_field *f = t->fields.field[i];
        size_t item = f->kind == TF_INTS ? 8 : f->kind == TF_FLOATS ? 4 : 1;
        lengths[i] = (int64_t)(f->values.size / item);
        values[i].data = f->values.data ? f->values.data : (const uint8_t *)"";
        values[i].shape =
            tf_is_fixed(&t->fields, f) && !tf_is_text(f) && !tf_is_image(&t->fields, f) ? NULL : &lengths[i];
        if (tf_is_jpeg(&t->fields, f))
            values[f->shape_column].data = f->made.shape;
    }
    t->written++;
    return t->host->append(t->host->user, values, err);
}

static apl_status write_record(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err)
{
    (void)file;
    for (unsigned i = 0; i < t->fields.count; i++) {
        apl_status status =
            take_value(t, t->fields.field[i], feature_of(&t->example, t->fields.field[i]), why);
        if (status == APL_E_NOMEM || t->fields.field[i]->values.failed)
            return fail_nomem(err);
        *bad = status != APL_OK;
        if (*bad)
            return APL_OK;
    }
    return append_values(t, err);
}

/* ------------------------------------------------------------------------------------------------------- files */

static apl_status split_of_file(const struct tfrecord *t, size_t file, const char **split, uint32_t *rank,
                                apl_error *err)
{
    const struct format_file *f = &t->host->files[file];
    struct file_name n;
    if (!file_name_read(&n, f->name))
        return fail(err, APL_E_SOURCE, "%s: has a name of more than 255 bytes or 16 words", f->path);
    *split = n.split ? n.split : "train";
    *rank = n.split_rank;
    return APL_OK;
}

static apl_status count_tf_file(const struct tfrecord *t, size_t file, apl_error *err)
{
    const char *split;
    uint32_t rank;
    TRY(split_of_file(t, file, &split, &rank, err));
    return t->host->count(t->host->user, split, rank << 16, t->records[file], err);
}

static apl_status begin_tf_file(struct tfrecord *t, const char *split, uint32_t rank, uint32_t number,
                                apl_error *err)
{
    char name[32];
    snprintf(name, sizeof name, "%s-%u", split, number);
    if (!t->writer) {
        TRY(t->host->writer(t->host->user, &t->writer, err));
        TRY(t->host->made_fields(t->host->user, tf_fields_add(&t->fields, t->writer, err), err));
    }
    return t->host->not_the_source(t->host->user,
                                   apl_writer_begin_member(t->writer, name, split, rank << 16 | number, err));
}

static apl_status read_tf_file(struct tfrecord *t, size_t file, apl_error *err)
{
    const struct format_host *host = t->host;
    const char *split;
    uint32_t rank;
    TRY(split_of_file(t, file, &split, &rank, err));
    uint32_t number = t->members[rank]++;
    if (number > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: is beyond the 65,536 files of a split", host->files[file].path);
    if (host->part && !host->coming(host->user, split, t->records[file])) {
        host->own(host->user, split, t->records[file]);
        return APL_OK;
    }
    TRY(begin_tf_file(t, split, rank, number, err));
    return each_record(t, file, split, write_record, true, err);
}

static apl_status read_shown(struct tfrecord *t, apl_error *err)
{
    t->records = calloc(t->host->file_count, sizeof *t->records);
    if (!t->records)
        return fail_nomem(err);
    for (size_t i = 0; i < t->host->file_count; i++) {
        TRY(each_record(t, i, NULL, learn_record, false, err));
        t->records[i] = t->frame.record;
        TRY(count_tf_file(t, i, err));
    }
    if (t->fields.count == 0)
        return no_features(t, err);
    tf_fields_sort(&t->fields);
    for (size_t i = 0; i < t->host->file_count; i++)
        TRY(read_tf_file(t, i, err));
    return t->written > 0 ? APL_OK
                          : fail(err, APL_E_SOURCE, "%s: all of its records are bad", t->host->source);
}

/* ---------------------------------------------------------------------------------------------------- exports */

static bool same_folder(const char *a, const char *b)
{
    const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');
    size_t size_a = end_a ? (size_t)(end_a - a) : 0, size_b = end_b ? (size_t)(end_b - b) : 0;
    return size_a == size_b && memcmp(a, b, size_a) == 0;
}

static apl_status bad_schema(const struct tfrecord *t, size_t file, apl_status status, const apl_error *why,
                             apl_error *err)
{
    const char *path = t->host->files[file].path, *slash = strrchr(path, '/');
    return fail(err, status, "%.*s" SCHEMA_NAME ": %s", slash ? (int)(slash - path) + 1 : 0, path,
                why->message);
}

/* Reads what lies beside the file, if it is the schema of an export. */
static apl_status look_for_schema(struct tfrecord *t, size_t file, apl_error *err)
{
    struct buffer text = {0};
    apl_error why;
    apl_status status = t->host->read_beside(t->host->user, file, SCHEMA_NAME, &text, &why);
    bool absent = status != APL_OK && why.sys_errno == ENOENT;
    if (status == APL_OK && tf_declared_is(text.data, text.size)) {
        t->is_export = true;
        status = tf_declared_read(&t->declared, text.data, text.size, &why);
    }
    buffer_free(&text);
    return status == APL_OK || absent ? APL_OK : bad_schema(t, file, status, &why, err);
}

/* An export is a folder of its own, which is read alone. */
static apl_status find_export(struct tfrecord *t, apl_error *err)
{
    const struct format_file *files = t->host->files;
    for (size_t i = 0; i < t->host->file_count; i++) {
        bool same = i > 0 && same_folder(files[i].path, files[i - 1].path);
        if (!same && !t->is_export)
            TRY(look_for_schema(t, i, err));
        if (t->is_export && i > 0 && !same_folder(files[i].path, files[0].path))
            return fail(
                err, APL_E_INVALID,
                "%s: an export, which its schema.json describes, is read alone: %s is in another folder",
                files[i].path, files[0].path);
    }
    return APL_OK;
}

static apl_status write_declared(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err)
{
    apl_value values[APL_MAX_FIELDS];
    (void)file;
    apl_status status =
        tf_declared_take(&t->declared, &t->example, t->host->unchecked, t->maker, values, why);
    if (status == APL_E_NOMEM)
        return fail_nomem(err);
    *bad = status != APL_OK;
    if (*bad)
        return APL_OK;
    t->written++;
    return t->host->append(t->host->user, values, err);
}

static apl_status begin_export_split(struct tfrecord *t, size_t split, apl_error *err)
{
    const char *name = t->declared.schema.splits[split].name;
    if (!t->writer) {
        TRY(t->host->writer(t->host->user, &t->writer, err));
        TRY(t->host->made_fields(t->host->user, tf_declared_add(&t->declared, t->host, t->writer, err), err));
    }
    return t->host->not_the_source(
        t->host->user, apl_writer_begin_member(t->writer, name, name, (uint32_t)split << 16, err));
}

static apl_status read_export_split(struct tfrecord *t, size_t file, size_t split, apl_error *err)
{
    const struct declared_split *is = &t->declared.schema.splits[split];
    uint64_t records = is->records;
    if (t->host->part && !t->host->coming(t->host->user, is->name, records))
        return APL_OK;
    TRY(begin_export_split(t, split, err));
    TRY(each_record(t, file, is->name, write_declared, true, err));
    if (t->left || t->frame.record == records || t->host->partial)
        return APL_OK;
    return fail(err, APL_E_INCOMPLETE, "%s: has %" PRIu64 " records, and " SCHEMA_NAME " says %" PRIu64,
                t->host->files[file].path, t->frame.record, records);
}

/* The split that is the file; the number of splits: none is. */
static size_t split_of(const struct declared *schema, const char *file)
{
    size_t s = 0;
    while (s < schema->split_count && strcmp(schema->splits[s].file, file) != 0)
        s++;
    return s;
}

/* Splits without records have no files: they belong to what is given as a whole. */
static bool is_whole_export(const struct tfrecord *t)
{
    const struct declared *schema = &t->declared.schema;
    size_t filled = 0;
    for (size_t s = 0; s < schema->split_count; s++)
        filled += schema->splits[s].records > 0;
    return filled == t->host->file_count;
}

static apl_status add_empty_splits(struct tfrecord *t, apl_error *err)
{
    const struct declared *schema = &t->declared.schema;
    for (size_t s = 0; s < schema->split_count && is_whole_export(t) && !t->host->part; s++)
        if (schema->splits[s].records == 0)
            TRY(begin_export_split(t, s, err));
    return APL_OK;
}

/* Of the files that are given, and of what has no file. */
static apl_status count_export(const struct tfrecord *t, apl_error *err)
{
    const struct declared *schema = &t->declared.schema;
    for (size_t s = 0; s < schema->split_count; s++) {
        const struct declared_split *is = &schema->splits[s];
        bool given = is->records == 0 && is_whole_export(t);
        for (size_t i = 0; i < t->host->file_count; i++)
            given |= split_of(schema, t->host->files[i].name) == s;
        if (given)
            TRY(t->host->count(t->host->user, is->name, (uint32_t)s << 16, is->records, err));
    }
    return APL_OK;
}

static apl_status read_export(struct tfrecord *t, apl_error *err)
{
    const struct declared *schema = &t->declared.schema;
    if (schema->split_count > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: " SCHEMA_NAME " has more than %d splits", t->host->source,
                    UINT16_MAX);
    TRY(count_export(t, err));
    for (size_t i = 0; i < t->host->file_count; i++) {
        size_t split = split_of(schema, t->host->files[i].name);
        if (split == schema->split_count)
            return fail(err, APL_E_SOURCE, "%s: the " SCHEMA_NAME " beside it does not have it",
                        t->host->files[i].path);
        TRY(read_export_split(t, i, split, err));
    }
    TRY(add_empty_splits(t, err));
    return t->written > 0 ? APL_OK
                          : fail(err, APL_E_SOURCE, "%s: all of its records are bad", t->host->source);
}

static apl_status read_tfrecord(void *state, apl_error *err)
{
    struct tfrecord *t = state;
    TRY(find_export(t, err));
    return t->is_export ? read_export(t, err) : read_shown(t, err);
}

static apl_status finish_tfrecord(void *state, char format[32], apl_error *err)
{
    (void)state;
    (void)err;
    snprintf(format, 32, "tfrecord");
    return APL_OK;
}

static void close_tfrecord(void *state)
{
    struct tfrecord *t = state;
    if (!t)
        return;
    tf_fields_free(&t->fields);
    tf_declared_free(&t->declared);
    buffer_free(&t->frame.bytes);
    free(t->records);
    image_maker_free(t->maker);
    free(t);
}

static apl_status open_tfrecord(const struct format_host *host, void **state, apl_error *err)
{
    struct tfrecord *t = calloc(1, sizeof *t);
    if (!t)
        return fail_nomem(err);
    t->host = host;
    t->maker = image_maker_new();
    if (!t->maker) {
        free(t);
        return fail_nomem(err);
    }
    *state = t;
    return APL_OK;
}

const struct format format_tfrecord = {
    .name = "tfrecord",
    .title = "TFRecord files of tf.train.Example",
    .open = open_tfrecord,
    .close = close_tfrecord,
    .sniff = sniff_tfrecord,
    .wants = wants_tfrecord,
    .parts = true,
    .read = read_tfrecord,
    .finish = finish_tfrecord,
};
