/* TFRecord files of tf.train.Example: each feature is a field. The files are read twice, first to learn what the features are: which
 * are always of one length, which bytes are images or text. */
#include "arrays.h"
#include "file_name.h"
#include "format.h"
#include "image_kind.h"
#include "image_maker.h"
#include "tf_example.h"
#include "tf_frame.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>

/* What the records have shown of a feature. */
struct tf_field {
    char name[APL_MAX_NAME + 1];
    enum tf_kind kind; /* of the first record that has it, */
    size_t file;       /* which is this one */
    uint64_t record;
    uint64_t seen;          /* records that have it */
    uint64_t least, most;   /* values, or of bytes their number */
    const char *image;      /* the kind of all so far; NULL: none, or several */
    bool text;              /* all are UTF-8 without NUL */
    struct made_image made; /* of a JPEG */
    struct buffer values;   /* of the current record */
    unsigned shape_column;  /* of a JPEG: where its shape goes */
};

struct tfrecord {
    const struct format_host *host;
    apl_writer *writer;
    struct tf_frame frame;
    struct tf_example example;
    struct image_maker *maker;
    struct tf_field *fields[TF_MAX_FEATURES];
    unsigned count;
    uint64_t records, written;
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

static apl_status each_record(struct tfrecord *t, size_t file, tf_take take, bool tell, apl_error *err)
{
    struct format_stream *stream;
    apl_status status;
    apl_error why;
    bool bad;
    TRY(t->host->open_file(t->host->user, file, &stream, err));
    t->frame.cursor = stream->cursor;
    t->frame.record = 0;
    while ((status = next_example(t, &bad, &why)) == APL_OK) {
        if (!bad)
            TRY(take(t, file, &bad, &why, err));
        if (bad && tell)
            TRY(bad_record(t, file, &why, err));
    }
    return end_of_records(t, file, stream, status, &why, err);
}

/* ----------------------------------------------------------------------------------------------------- learning */

static struct tf_field *find_feature(const struct tfrecord *t, const struct tf_feature *f, unsigned guess)
{
    for (unsigned i = 0; i < t->count; i++) {
        struct tf_field *field = t->fields[(guess + i) % t->count];
        if (strlen(field->name) == f->name_size && memcmp(field->name, f->name, f->name_size) == 0)
            return field;
    }
    return NULL;
}

static apl_status add_feature(struct tfrecord *t, const struct tf_feature *f, size_t file,
                              struct tf_field **out, apl_error *err)
{
    if (t->count == TF_MAX_FEATURES)
        return fail(err, APL_E_SOURCE, "%s: record %" PRIu64 ": with it there are more than %u features",
                    t->host->files[file].path, t->frame.record - 1, TF_MAX_FEATURES);
    struct tf_field *field = calloc(1, sizeof *field);
    if (!field)
        return fail_nomem(err);
    memcpy(field->name, f->name, f->name_size);
    field->kind = f->kind;
    field->file = file;
    field->record = t->frame.record - 1;
    field->least = UINT64_MAX;
    field->text = true;
    t->fields[t->count++] = field;
    *out = field;
    return APL_OK;
}

static void learn_bytes(struct tf_field *field, const struct tf_feature *f)
{
    const char *image = f->bytes_size ? image_kind(f->bytes, f->bytes_size) : NULL;
    bool same = field->image && image && strcmp(field->image, image) == 0;
    field->image = field->seen == 0 || same ? image : NULL;
    field->text = field->text && utf8_valid(f->bytes, f->bytes_size) && !memchr(f->bytes, 0, f->bytes_size);
}

static void learn_feature(struct tf_field *field, const struct tf_feature *f)
{
    uint64_t n = f->kind == TF_BYTES ? f->bytes_size : f->count;
    if (f->kind == TF_BYTES)
        learn_bytes(field, f);
    field->seen++;
    field->least = n < field->least ? n : field->least;
    field->most = n > field->most ? n : field->most;
}

/* Has it a value? A list without any is as good as none. */
static bool has_value(const struct tf_feature *f)
{
    return f->kind != TF_NONE && f->count > 0;
}

static apl_status learn_record(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err)
{
    (void)bad;
    (void)why;
    for (unsigned i = 0; i < t->example.count; i++) {
        const struct tf_feature *f = &t->example.features[i];
        struct tf_field *field = find_feature(t, f, i);
        if (!has_value(f))
            continue;
        if (!field)
            TRY(add_feature(t, f, file, &field, err));
        if (field->kind == f->kind)
            learn_feature(field, f);
    }
    t->records++;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------- fields */

static int by_feature_name(const void *a, const void *b)
{
    return strcmp((*(struct tf_field *const *)a)->name, (*(struct tf_field *const *)b)->name);
}

/* All records have it, and of one length. */
static bool is_fixed(const struct tfrecord *t, const struct tf_field *f)
{
    return f->seen == t->records && f->least == f->most && f->least > 0;
}

/* Files of one kind in every record. */
static bool is_image_feature(const struct tfrecord *t, const struct tf_field *f)
{
    static const char *const kinds[] = {"JPEG", "PNG", "GIF", "WebP", "BMP", "TIFF", NULL};
    return f->kind == TF_BYTES && f->image && f->seen == t->records && word_in(f->image, kinds);
}

static bool is_jpeg_feature(const struct tfrecord *t, const struct tf_field *f)
{
    return is_image_feature(t, f) && strcmp(f->image, "JPEG") == 0;
}

static bool is_text_feature(const struct tf_field *f)
{
    return f->kind == TF_BYTES && f->text;
}

/* A name such as image/class/label is that of a label. */
static apl_role role_of(const struct tf_field *f)
{
    const char *slash = strrchr(f->name, '/');
    return is_label_name(slash ? slash + 1 : f->name) ? APL_TARGET : APL_INPUT;
}

static apl_status add_kept_image(struct tfrecord *t, const struct tf_field *f, apl_error *err)
{
    static const int64_t any[1] = {-1};
    char media[32] = "image/";
    for (size_t i = 0; i < strlen(f->image) && i < 16; i++)
        media[6 + i] = (char)(f->image[i] | 0x20);
    TRY(apl_writer_add_field(t->writer, f->name, APL_U8, APL_INPUT, 1, any, err));
    return apl_writer_set_media(t->writer, f->name, media, err);
}

static apl_status add_tf_field(struct tfrecord *t, const struct tf_field *f, apl_error *err)
{
    const int64_t shape[1] = {is_fixed(t, f) && !is_text_feature(f) ? (int64_t)f->least : -1};
    if (is_image_feature(t, f))
        return add_kept_image(t, f, err);
    if (is_text_feature(f))
        return apl_writer_add_field(t->writer, f->name, APL_UTF8, role_of(f), 1, shape, err);
    if (f->kind == TF_BYTES)
        return apl_writer_add_field(t->writer, f->name, APL_U8, role_of(f), 1, shape, err);
    return apl_writer_add_field(t->writer, f->name, f->kind == TF_INTS ? APL_I64 : APL_F32, role_of(f),
                                shape[0] != 1, shape, err);
}

/* After all features, the shapes of JPEG images. */
static apl_status add_tf_fields(struct tfrecord *t, apl_error *err)
{
    static const int64_t three[1] = {3};
    unsigned columns = t->count;
    for (unsigned i = 0; i < t->count; i++)
        TRY(add_tf_field(t, t->fields[i], err));
    for (unsigned i = 0; i < t->count; i++) {
        char name[APL_MAX_NAME + 8];
        if (!is_jpeg_feature(t, t->fields[i]))
            continue;
        snprintf(name, sizeof name, "%s_shape", t->fields[i]->name);
        TRY(apl_writer_add_field(t->writer, name, APL_U32, APL_NAME, 1, three, err));
        t->fields[i]->shape_column = columns++;
    }
    return APL_OK;
}

/* ------------------------------------------------------------------------------------------------------ records */

static apl_status check_feature(const struct tfrecord *t, const struct tf_field *field,
                                const struct tf_feature *f, apl_error *why)
{
    if (field->kind != f->kind)
        return fail(why, APL_E_SOURCE, "feature %s has %s, but %s in record %" PRIu64 " of %s", field->name,
                    tf_kind_name(f->kind), tf_kind_name(field->kind), field->record,
                    t->host->files[field->file].path);
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
        return is_fixed(t, field) ? has_changed_since(why) : APL_OK;
    TRY(check_feature(t, field, f, why));
    if (is_fixed(t, field) && (f->kind == TF_BYTES ? f->bytes_size : f->count) != field->least)
        return has_changed_since(why);
    if (f->kind == TF_BYTES) {
        buffer_put(&field->values, f->bytes, f->bytes_size);
        return is_jpeg_feature(t, field) ? check_jpeg_feature(t, field, f, why) : APL_OK;
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
            return has_value(f) ? f : NULL;
    }
    return NULL;
}

static apl_status append_values(struct tfrecord *t, apl_error *err)
{
    apl_value values[2 * TF_MAX_FEATURES] = {{0}};
    int64_t lengths[TF_MAX_FEATURES];
    for (unsigned i = 0; i < t->count; i++) {
        const struct tf_field *f = t->fields[i];
        size_t item = f->kind == TF_INTS ? 8 : f->kind == TF_FLOATS ? 4 : 1;
        lengths[i] = (int64_t)(f->values.size / item);
        values[i].data = f->values.data ? f->values.data : (const uint8_t *)"";
        values[i].shape =
            is_fixed(t, f) && !is_text_feature(f) && !is_image_feature(t, f) ? NULL : &lengths[i];
        if (is_jpeg_feature(t, f))
            values[f->shape_column].data = f->made.shape;
    }
    t->written++;
    return t->host->append(t->host->user, values, err);
}

static apl_status write_record(struct tfrecord *t, size_t file, bool *bad, apl_error *why, apl_error *err)
{
    (void)file;
    for (unsigned i = 0; i < t->count; i++) {
        apl_status status = take_value(t, t->fields[i], feature_of(&t->example, t->fields[i]), why);
        if (status == APL_E_NOMEM || t->fields[i]->values.failed)
            return fail_nomem(err);
        *bad = status != APL_OK;
        if (*bad)
            return APL_OK;
    }
    return append_values(t, err);
}

/* ------------------------------------------------------------------------------------------------------- files */

static apl_status begin_tf_file(struct tfrecord *t, size_t file, apl_error *err)
{
    const struct format_file *f = &t->host->files[file];
    struct file_name n;
    char name[32];
    if (!file_name_read(&n, f->name))
        return fail(err, APL_E_SOURCE, "%s: has a name of more than 255 bytes or 16 words", f->path);
    const char *split = n.split ? n.split : "train";
    uint32_t number = t->members[n.split_rank]++;
    if (number > UINT16_MAX)
        return fail(err, APL_E_SOURCE, "%s: is beyond the 65,536 files of a split", f->path);
    snprintf(name, sizeof name, "%s-%u", split, number);
    if (!t->writer) {
        TRY(t->host->writer(t->host->user, &t->writer, err));
        TRY(t->host->not_the_source(t->host->user, add_tf_fields(t, err)));
    }
    return t->host->not_the_source(
        t->host->user, apl_writer_begin_member(t->writer, name, split, n.split_rank << 16 | number, err));
}

static apl_status read_tfrecord(void *state, apl_error *err)
{
    struct tfrecord *t = state;
    for (size_t i = 0; i < t->host->file_count; i++)
        TRY(each_record(t, i, learn_record, false, err));
    if (t->count == 0)
        return fail(err, APL_E_SOURCE, "%s: has no tf.train.Example with a feature", t->host->source);
    qsort(t->fields, t->count, sizeof *t->fields, by_feature_name);
    for (size_t i = 0; i < t->host->file_count; i++) {
        TRY(begin_tf_file(t, i, err));
        TRY(each_record(t, i, write_record, true, err));
    }
    return t->written > 0 ? APL_OK
                          : fail(err, APL_E_SOURCE, "%s: all of its records are bad", t->host->source);
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
    for (unsigned i = 0; i < t->count; i++) {
        buffer_free(&t->fields[i]->values);
        image_free(&t->fields[i]->made);
        free(t->fields[i]);
    }
    buffer_free(&t->frame.bytes);
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
    .read = read_tfrecord,
    .finish = finish_tfrecord,
};
