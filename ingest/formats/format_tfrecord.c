/* TFRecord files of tf.train.Example: each feature is a field. The files are read twice, first to learn what the features are: which
 * are always of one length, which bytes are images or text. Of an export, the schema.json beside them says it. */
#include "file_name.h"
#include "split_note.h"
#include "tf_reading.h"

#include <inttypes.h>
#include <stdio.h>

/* Does it end as train-00000-of-00010 does, which needs no other ending? */
static bool ends_as_shard(const char *name)
{
    static const char digits[] = "0123456789", of[] = "-of-";
    size_t size = strlen(name), last = size;
    while (last > 0 && strchr(digits, name[last - 1]))
        last--;
    return last < size && last > strlen(of) && strncmp(name + last - strlen(of), of, strlen(of)) == 0 &&
           strchr(digits, name[last - strlen(of) - 1]);
}

static bool wants_tfrecord(const void *state, const char *name)
{
    struct file_name n;
    static const char *const words[] = {"tfrecord", "tfrecords", "tfrec", NULL};
    (void)state;
    if (name_ends(name, ".tfrecord") || name_ends(name, ".record") || ends_as_shard(name))
        return true;
    if (!file_name_read(&n, name))
        return false;
    for (unsigned i = 0; i < n.count; i++)
        if (word_in(n.words[i], words))
            return true;
    return false;
}

/* An empty file that is called so is an empty shard. */
static bool sniff_tfrecord(const struct format_file *file)
{
    return tf_frame_is(file->head, file->head_size) ||
           (file->head_size == 0 && wants_tfrecord(NULL, file->name));
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
        TRY(tf_each_record(t, i, NULL, pass_record, true, err));
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

/* What was learnt no longer holds; of a record that is bad, nothing was. */
static apl_status has_changed_since(const struct tfrecord *t, apl_error *why)
{
    for (unsigned i = 0; i < t->fields.count; i++) {
        const struct tf_feature *f = feature_of(&t->example, t->fields.field[i]);
        if (f)
            TRY(check_feature(t->fields.field[i], f, why));
    }
    return fail(why, APL_E_SOURCE, "the file changed while it was read");
}

/* The value of a field; what the record lacks is empty. */
static apl_status take_value(struct tfrecord *t, struct tf_field *field, const struct tf_feature *f,
                             apl_error *why)
{
    field->values.size = 0;
    field->made.warnings.count = 0;
    if (!f)
        return tf_is_fixed(&t->fields, field) ? has_changed_since(t, why) : APL_OK;
    TRY(check_feature(field, f, why));
    if (tf_is_fixed(&t->fields, field) && (f->kind == TF_BYTES ? f->bytes_size : f->count) != field->least)
        return has_changed_since(t, why);
    if (tf_is_jpeg(&t->fields, field)) {
        TRY(check_jpeg_feature(t, field, f, why));
        buffer_put(&field->values, field->made.bytes.data, field->made.bytes.size);
        return APL_OK;
    }
    if (f->kind == TF_BYTES) {
        buffer_put(&field->values, f->bytes, f->bytes_size);
        return APL_OK;
    }
    if (tf_is_boxes(field) && f->count % 4 != 0)
        return fail(why, APL_E_SOURCE,
                    "feature %s has %" PRIu64 " numbers, and features.json says boxes of 4", field->name,
                    f->count);
    size_t size = (size_t)f->count * (f->kind == TF_INTS ? 8 : 4);
    if (!buffer_reserve(&field->values, size + 1))
        return fail_nomem(why);
    tf_feature_values(f, field->values.data);
    field->values.size = size;
    return APL_OK;
}

static apl_status append_values(struct tfrecord *t, size_t file, apl_error *err)
{
    apl_value values[2 * TF_MAX_FEATURES] = {{0}};
    int64_t lengths[TF_MAX_FEATURES][2];
    for (unsigned i = 0; i < t->fields.count; i++) {
        const struct tf_field *f = t->fields.field[i];
        size_t item = f->kind == TF_INTS ? 8 : f->kind == TF_FLOATS ? 4 : 1;
        lengths[i][0] = (int64_t)(f->values.size / item) / (tf_is_boxes(f) ? 4 : 1);
        lengths[i][1] = 4;
        values[i].data = f->values.data ? f->values.data : (const uint8_t *)"";
        values[i].shape =
            tf_is_fixed(&t->fields, f) && !tf_is_text(f) && !tf_is_image(&t->fields, f) ? NULL : lengths[i];
        if (f->shape_column)
            values[f->shape_column].data = f->made.shape;
        if (tf_is_jpeg(&t->fields, f))
            tf_tally(t, file, f->name, &f->made);
    }
    t->written++;
    return t->host->append(t->host->user, values, err);
}

static apl_status write_record(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err)
{
    for (unsigned i = 0; i < t->fields.count; i++) {
        apl_status status =
            take_value(t, t->fields.field[i], feature_of(&t->example, t->fields.field[i]), why);
        if (status == APL_E_NOMEM || t->fields.field[i]->values.failed)
            return fail_nomem(err);
        *bad = status != APL_OK;
        if (*bad)
            return APL_OK;
    }
    return append_values(t, file, err);
}

/* ------------------------------------------------------------------------------------------------------- files */

static apl_status split_of_file(const struct tfrecord *t, size_t file, const char **split, uint32_t *rank,
                                apl_error *err)
{
    const struct format_file *f = &t->host->files[file];
    struct file_name n;
    if (!file_name_read(&n, f->name))
        return fail(err, APL_E_SOURCE, "%s: has a name of more than 255 bytes or 16 words", f->path);
    const struct path_split is = split_of_path(f->below);
    *split = is.split;
    *rank = is.rank;
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
    return tf_each_record(t, file, split, write_record, true, err);
}

static void tell_of_tf_splits(const struct format_host *host)
{
    struct split_note note = {0};
    for (size_t i = 0; i < host->file_count; i++) {
        const struct path_split is = split_of_path(host->files[i].below);
        split_note_take(&note, host->files[i].path, &is);
    }
    split_note_tell(&note, host);
}

static apl_status read_shown(struct tfrecord *t, apl_error *err)
{
    t->records = calloc(t->host->file_count, sizeof *t->records);
    if (!t->records)
        return fail_nomem(err);
    for (size_t i = 0; i < t->host->file_count; i++) {
        TRY(tf_each_record(t, i, NULL, learn_record, false, err));
        t->records[i] = t->frame.record;
        if (t->records[i] == 0 && !t->host->partial)
            return fail(err, APL_E_INCOMPLETE, "%s: is an empty shard: it has no records",
                        t->host->files[i].path);
        TRY(count_tf_file(t, i, err));
    }
    if (t->fields.count == 0)
        return no_features(t, err);
    tf_fields_sort(&t->fields, &t->features);
    tell_of_tf_splits(t->host);
    for (size_t i = 0; i < t->host->file_count; i++)
        TRY(read_tf_file(t, i, err));
    return tf_any_written(t, err);
}

static apl_status read_tfrecord(void *state, apl_error *err)
{
    struct tfrecord *t = state;
    TRY(tf_find_export(t, err));
    if (!t->is_export)
        TRY(tf_find_features(t, err));
    return t->is_export ? tf_read_export(t, err) : read_shown(t, err);
}

static apl_status finish_tfrecord(void *state, char format[32], apl_error *err)
{
    const struct tfrecord *t = state;
    (void)err;
    image_tally_tell(&t->tally, t->host);
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
    tf_features_free(&t->features);
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
    t->maker = image_maker_new(host->allow_warnings);
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
    .where = tf_where,
    .finish = finish_tfrecord,
};
