/* Which fields of a store are images: see images.h. */
#include "images.h"

#include "kind_rule.h"
#include "photo.h"

#include <stdio.h>
#include <string.h>

#define LONGEST   (1 << 15) /* pixels of a side */
#define AN_IMAGE  "u8[C,H,W] with C at most %d, u8[*,*,*], u8[H,W], or kept as image/jpeg"
#define LIST_TEXT 256
#define HINT_TEXT 160

static bool is_usual_count(int64_t channels)
{
    return channels == 1 || channels == 3 || channels == 4;
}

/* {H, W, C}, as many libraries have images: even if H is small enough for a number of channels. Two are likelier than images two
 * pixels wide. */
static bool has_channels_last(const int64_t shape[3])
{
    if (is_usual_count(shape[0]))
        return false;
    return is_usual_count(shape[2]) || (shape[2] == 2 && shape[0] != 2);
}

/* The only place that decides where the channels are. */
static apl_form form_by_shape(const apl_field *f)
{
    if (f->media || (f->dtype != APL_U8 && f->dtype != APL_U16) || f->ndim < 2 || f->ndim > 3)
        return APL_FORM_NONE;
    if (f->ndim == 2)
        return APL_FORM_HW;
    if (has_channels_last(f->shape))
        return APL_FORM_HWC;
    return f->shape[0] <= APL_MAX_CHANNELS ? APL_FORM_CHW : APL_FORM_NONE;
}

apl_form apl_field_form(const apl_field *f)
{
    apl_form form = f ? form_by_shape(f) : APL_FORM_NONE;
    apl_kind_id kind = f ? field_kind(f) : APL_KIND_NONE;
    if (form == APL_FORM_NONE || kind > APL_KIND_MAP)
        return APL_FORM_NONE;
    if (kind != APL_KIND_IMAGE || f->kind->form == APL_FORM_NONE)
        return form;
    return (f->ndim == 2) == (f->kind->form == APL_FORM_HW) ? f->kind->form : APL_FORM_NONE;
}

static bool is_fixed_image(const apl_field *f, apl_form form)
{
    return f->dtype == APL_U8 && field_varying(f) == 0 && (form == APL_FORM_CHW || form == APL_FORM_HW) &&
           f->shape[f->ndim - 2] <= LONGEST && f->shape[f->ndim - 1] <= LONGEST &&
           (f->ndim == 2 || f->shape[0] <= APL_MAX_CHANNELS);
}

static bool varies_as_image(const apl_field *f, apl_form form)
{
    return f->dtype == APL_U8 && f->ndim == 3 && field_varying(f) > 0 && f->shape[0] <= 4 &&
           form == APL_FORM_CHW;
}

static bool is_last(const apl_field *f)
{
    return f->dtype == APL_U8 && apl_field_form(f) == APL_FORM_HWC;
}

bool is_image(const apl_field *f)
{
    return is_fixed_image(f, apl_field_form(f));
}

bool is_photo(const apl_field *f)
{
    return f->media && strcmp(f->media, "image/jpeg") == 0;
}

bool is_varying_image(const apl_field *f)
{
    return varies_as_image(f, apl_field_form(f));
}

bool is_any_size(const apl_field *f)
{
    return is_photo(f) || is_varying_image(f);
}

struct image_shape image_shape(const apl_field *f)
{
    if (is_any_size(f))
        return (struct image_shape){.channels = PHOTO_CHANNELS};
    return (struct image_shape){.channels = f->ndim == 3 ? (unsigned)f->shape[0] : 1,
                                .height = (unsigned)f->shape[f->ndim - 2],
                                .width = (unsigned)f->shape[f->ndim - 1]};
}

/* How many of the fields that `counts` accepts, of those wanted, are images of `ndim` dimensions; *first is the first of them. */
static unsigned count_images(const struct schema *schema, const bool *wanted,
                             bool (*counts)(const apl_field *), unsigned ndim, unsigned *first)
{
    unsigned count = 0;
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_field *field = &schema->fields[f];
        bool is = is_any_size(field) ? ndim == 3 : is_image(field) && field->ndim == ndim;
        if ((!wanted || wanted[f]) && is && counts(field) && count++ == 0)
            *first = f;
    }
    return count;
}

static bool is_said_image(const apl_field *f)
{
    return field_kind(f) == APL_KIND_IMAGE;
}

/* By default, where nobody has said: what is an input, and kept images. */
static bool is_unsaid(const apl_field *f)
{
    return field_kind(f) == APL_KIND_NONE && (f->role == APL_INPUT || f->media);
}

/* By type and shape alone: what is drawn must not hang on what somebody says of the fields. */
unsigned image_stream(const struct schema *schema)
{
    unsigned grey = APL_MAX_FIELDS;
    for (unsigned f = 0; f < schema->count; f++) {
        const apl_field *field = &schema->fields[f];
        apl_form form = form_by_shape(field);
        bool is = is_photo(field) || varies_as_image(field, form) || is_fixed_image(field, form);
        if (is && (field->media || field->ndim == 3))
            return f;
        grey = is && f < grey ? f : grey;
    }
    return grey < APL_MAX_FIELDS ? grey : 0;
}

/* Those that are said to be images, or else those that are by default; with channels, or else without. */
static unsigned count_meant(const struct schema *schema, const bool *wanted, unsigned *first)
{
    unsigned count = count_images(schema, wanted, is_said_image, 3, first);
    count = count ? count : count_images(schema, wanted, is_said_image, 2, first);
    count = count ? count : count_images(schema, wanted, is_unsaid, 3, first);
    return count ? count : count_images(schema, wanted, is_unsaid, 2, first);
}

/* "image: u8[32,32,3], label: u8": as many as there is room for. */
static const char *list_fields(const struct schema *schema, const bool *wanted, char text[LIST_TEXT])
{
    size_t n = 0;
    text[0] = '\0';
    for (unsigned f = 0; f < schema->count; f++) {
        char type[FIELD_TYPE_TEXT];
        if (wanted && !wanted[f])
            continue;
        const apl_field *of = &schema->fields[f];
        const char *comma = n ? ", " : "";
        int more =
            snprintf(text + n, LIST_TEXT - n, "%s%.64s: %s", comma, of->name, field_type_text(of, type));
        if (more < 0 || n + (size_t)more >= LIST_TEXT - 8) { /* "..." must fit behind the next comma */
            snprintf(text + n, LIST_TEXT - n, "%s...", comma);
            break;
        }
        n += (size_t)more;
    }
    return text;
}

/* The end of an error's line: the first field that would be an image if its channels came first. */
static const char *hint_last(const struct schema *schema, const bool *wanted, char text[HINT_TEXT])
{
    text[0] = '\0';
    for (unsigned f = 0; f < schema->count && !*text; f++)
        if ((!wanted || wanted[f]) && is_last(&schema->fields[f]))
            snprintf(text, HINT_TEXT, "; of field %.64s the channels come last, and should come first",
                     schema->fields[f].name);
    return text;
}

static apl_status find_only(const struct schema *schema, const bool *wanted, unsigned *field, apl_error *err)
{
    char list[LIST_TEXT], hint[HINT_TEXT];
    unsigned count = count_meant(schema, wanted, field);
    if (count == 1)
        return APL_OK;
    (void)list_fields(schema, wanted, list);
    if (count)
        return fail(err, APL_E_INVALID,
                    "a transform must name its field, since %u fields are images; the fields are %s", count,
                    list);
    if (wanted && count_meant(schema, NULL, field))
        return fail(err, APL_E_NOTFOUND,
                    "a transform: image field %.64s is not among the requested fields (%s)",
                    schema->fields[*field].name, *list ? list : "none");
    return fail(err, APL_E_NOTFOUND,
                "a transform: no field is an image, which is " AN_IMAGE "; the fields are %s%s",
                APL_MAX_CHANNELS, list, hint_last(schema, wanted, hint));
}

apl_status image_find(const struct schema *schema, const bool *wanted, const char *name, unsigned *field,
                      apl_error *err)
{
    char type[FIELD_TYPE_TEXT], kind[LIST_TEXT];
    if (!name)
        return find_only(schema, wanted, field, err);
    int found = schema_find(schema, name);
    if (found < 0)
        return fail(err, APL_E_NOTFOUND, "a transform: there is no field %.64s", name);
    const apl_field *f = &schema->fields[found];
    if (field_kind(f) != APL_KIND_NONE && field_kind(f) != APL_KIND_IMAGE)
        return fail(err, APL_E_INVALID, "a transform: field %s is of kind %s, not an image", f->name,
                    apl_kind_print(NULL, f->kind, kind, sizeof kind));
    if (!is_image(f) && !is_any_size(f))
        return fail(err, APL_E_INVALID, "a transform: field %s is %s, not an image, which is " AN_IMAGE "%s",
                    f->name, field_type_text(f, type), APL_MAX_CHANNELS,
                    is_last(f) ? "; its channels come last, and should come first" : "");
    if (wanted && !wanted[found])
        return fail(err, APL_E_INVALID, "a transform: field %s is not among the fields wanted", f->name);
    *field = (unsigned)found;
    return APL_OK;
}
