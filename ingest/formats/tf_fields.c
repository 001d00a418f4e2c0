/* The fields that features become: see tf_fields.h. */
#include "tf_fields.h"

#include "arrays.h"
#include "file_name.h"
#include "image_fields.h"
#include "image_kind.h"
#include "said_kinds.h"
#include "utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct tf_field *find_feature(const struct tf_fields *t, const struct tf_feature *f, unsigned guess)
{
    for (unsigned i = 0; i < t->count; i++) {
        struct tf_field *field = t->field[(guess + i) % t->count];
        if (strlen(field->name) == f->name_size && memcmp(field->name, f->name, f->name_size) == 0)
            return field;
    }
    return NULL;
}

static apl_status add_feature(struct tf_fields *t, const struct tf_feature *f, const struct tf_place *at,
                              struct tf_field **out, apl_error *err)
{
    if (t->count == TF_MAX_FEATURES)
        return fail(err, APL_E_SOURCE, "%s: record %" PRIu64 ": with it there are more than %u features",
                    at->path, at->record, TF_MAX_FEATURES);
    struct tf_field *field = calloc(1, sizeof *field);
    if (!field)
        return fail_nomem(err);
    memcpy(field->name, f->name, f->name_size);
    field->kind = f->kind;
    field->first = *at;
    field->least = UINT64_MAX;
    field->text = true;
    t->field[t->count++] = field;
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
bool tf_has_value(const struct tf_feature *f)
{
    return f->kind != TF_NONE && f->count > 0;
}

/* Has it a feature of another type than in the records before? Then it is left out or refused, and says nothing of the fields. */
static bool is_other_type(const struct tf_fields *t, const struct tf_example *example)
{
    for (unsigned i = 0; i < example->count; i++) {
        const struct tf_feature *f = &example->features[i];
        const struct tf_field *field = tf_has_value(f) ? find_feature(t, f, i) : NULL;
        if (field && field->kind != f->kind)
            return true;
    }
    return false;
}

apl_status tf_fields_learn(struct tf_fields *t, const struct tf_example *example, const struct tf_place *at,
                           apl_error *err)
{
    if (is_other_type(t, example))
        return APL_OK;
    for (unsigned i = 0; i < example->count; i++) {
        const struct tf_feature *f = &example->features[i];
        struct tf_field *field = find_feature(t, f, i);
        if (!tf_has_value(f))
            continue;
        if (!field)
            TRY(add_feature(t, f, at, &field, err));
        if (field->kind == f->kind) /* it may come twice */
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
bool tf_is_fixed(const struct tf_fields *t, const struct tf_field *f)
{
    bool listed = f->told && f->told->listed && (f->kind == TF_FLOATS || f->kind == TF_INTS);
    return f->seen == t->records && f->least == f->most && f->least > 0 && !listed;
}

/* Files of one kind in every record. */
bool tf_is_image(const struct tf_fields *t, const struct tf_field *f)
{
    static const char *const kinds[] = {"JPEG", "PNG", "GIF", "WebP", "BMP", "TIFF", NULL};
    return f->kind == TF_BYTES && f->image && f->seen == t->records && word_in(f->image, kinds);
}

bool tf_is_jpeg(const struct tf_fields *t, const struct tf_field *f)
{
    return tf_is_image(t, f) && strcmp(f->image, "JPEG") == 0;
}

bool tf_is_text(const struct tf_field *f)
{
    return f->kind == TF_BYTES && f->text;
}

static void name_shape(const struct tf_field *image, char name[APL_MAX_NAME + 8])
{
    snprintf(name, APL_MAX_NAME + 8, "%s_shape", image->name);
}

/* The feature of that name; NULL: none. */
static const struct tf_field *feature_named(const struct tf_fields *t, const char *name)
{
    for (unsigned i = 0; i < t->count; i++)
        if (strcmp(t->field[i]->name, name) == 0)
            return t->field[i];
    return NULL;
}

/* Is it called as the shapes of JPEG images are that come with it? */
static bool is_shape_of_images(const struct tf_fields *t, const struct tf_field *f)
{
    char name[APL_MAX_NAME + 8];
    for (unsigned i = 0; i < t->count; i++) {
        name_shape(t->field[i], name);
        if (tf_is_jpeg(t, t->field[i]) && strcmp(name, f->name) == 0)
            return true;
    }
    return false;
}

/* A name such as image/class/label is that of a label. */
static bool is_called_label(const struct tf_field *f)
{
    const char *slash = strrchr(f->name, '/');
    return is_label_name(slash ? slash + 1 : f->name);
}

static apl_role role_of(const struct tf_fields *t, const struct tf_field *f)
{
    return is_called_label(f) ? APL_TARGET : is_shape_of_images(t, f) ? APL_NAME : APL_INPUT;
}

static apl_status add_kept_image(apl_writer *writer, const struct tf_field *f, apl_error *err)
{
    static const int64_t any[1] = {-1};
    char media[32] = "image/";
    for (size_t i = 0; i < strlen(f->image) && i < 16; i++)
        media[6 + i] = (char)(f->image[i] | 0x20);
    TRY(apl_writer_add_field(writer, f->name, APL_U8, APL_INPUT, 1, any, err));
    TRY(apl_writer_set_media(writer, f->name, media, err));
    return said_kinds_set(writer, f->name, APL_KIND_IMAGE, APL_FORM_NONE, NULL, APL_FROM_SOURCE, err);
}

/* As features.json says, or else as names tell. */
static apl_status set_tf_kind(const struct tf_fields *t, apl_writer *writer, const struct tf_field *f,
                              bool scalar, apl_error *err)
{
    if (f->told) {
        apl_kind kind = f->told->kind;
        const struct tf_field *boxes = *kind.per ? feature_named(t, kind.per) : NULL;
        if (!boxes || !tf_is_boxes(boxes))
            kind.per[0] = 0;
        return apl_writer_set_kind(writer, f->name, &kind, err);
    }
    if (f->kind == TF_BYTES)
        return APL_OK;
    if (is_shape_of_images(t, f))
        return said_kinds_set(writer, f->name, APL_KIND_PLAIN, APL_FORM_NONE, NULL, APL_GUESSED, err);
    bool label = scalar && f->kind == TF_INTS && is_called_label(f);
    return label ? said_kinds_set(writer, f->name, APL_KIND_LABEL, APL_FORM_NONE, NULL, APL_GUESSED, err)
                 : APL_OK;
}

static apl_status add_tf_field(const struct tf_fields *t, apl_writer *writer, const struct tf_field *f,
                               apl_error *err)
{
    static const int64_t boxes[2] = {-1, 4};
    const int64_t shape[1] = {tf_is_fixed(t, f) && !tf_is_text(f) ? (int64_t)f->least : -1};
    bool listed = tf_is_boxes(f), scalar = !listed && shape[0] == 1;
    apl_dtype dtype = f->kind == TF_BYTES ? APL_U8 : f->kind == TF_INTS ? APL_I64 : APL_F32;
    if (tf_is_image(t, f)) {
        TRY(add_kept_image(writer, f, err));
        return set_tf_kind(t, writer, f, false, err);
    }
    if (tf_is_text(f))
        return text_field_add(writer, f->name, role_of(t, f), err);
    TRY(apl_writer_add_field(writer, f->name, dtype, role_of(t, f),
                             listed                ? 2
                             : f->kind == TF_BYTES ? 1
                                                   : !scalar,
                             listed ? boxes : shape, err));
    return set_tf_kind(t, writer, f, scalar, err);
}

/* After all features, the shapes of JPEG images, of which the source has none of its own. */
apl_status tf_fields_add(struct tf_fields *t, apl_writer *writer, apl_error *err)
{
    unsigned columns = t->count;
    for (unsigned i = 0; i < t->count; i++)
        TRY(add_tf_field(t, writer, t->field[i], err));
    for (unsigned i = 0; i < t->count; i++) {
        char name[APL_MAX_NAME + 8];
        name_shape(t->field[i], name);
        if (!tf_is_jpeg(t, t->field[i]) || feature_named(t, name))
            continue;
        TRY(image_shape_add(writer, name, err));
        t->field[i]->shape_column = columns++;
    }
    return APL_OK;
}

bool tf_is_boxes(const struct tf_field *f)
{
    return f->told && f->told->listed && f->told->kind.id == APL_KIND_BOXES;
}

/* What records have shown can be that. */
static bool can_be_told(const struct tf_fields *t, const struct tf_field *f, const struct tf_told *told)
{
    switch (told->kind.id) {
    case APL_KIND_IMAGE:
    case APL_KIND_MASK:
        return tf_is_image(t, f);
    case APL_KIND_BOXES:
        return f->kind == TF_FLOATS && (told->listed || (f->least == 4 && f->most == 4));
    case APL_KIND_LABEL:
        return f->kind == TF_INTS;
    case APL_KIND_TEXT:
        return tf_is_text(f);
    default:
        return f->kind == TF_INTS || f->kind == TF_FLOATS;
    }
}

void tf_fields_sort(struct tf_fields *t, const struct tf_features *told)
{
    for (unsigned i = 0; i < t->count; i++) {
        const struct tf_told *is = tf_features_find(told, t->field[i]->name);
        t->field[i]->told = is && can_be_told(t, t->field[i], is) ? is : NULL;
    }
    qsort(t->field, t->count, sizeof *t->field, by_feature_name);
}

void tf_fields_free(struct tf_fields *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        buffer_free(&t->field[i]->values);
        image_free(&t->field[i]->made);
        free(t->field[i]);
    }
}
