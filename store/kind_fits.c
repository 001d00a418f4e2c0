/* Which kinds the fields of a schema can have: by their types and shapes, and by the fields that these name. */
#include "kind_text.h"
#include "schema.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------- types and shapes */

static bool of_whole_numbers(const apl_field *f)
{
    return !f->media && f->dtype >= APL_U8 && f->dtype <= APL_I64;
}

static bool of_fractions(const apl_field *f)
{
    return f->dtype >= APL_F16 && f->dtype <= APL_F64;
}

static bool of_numbers(const apl_field *f)
{
    return of_whole_numbers(f) || of_fractions(f);
}

static bool of_media(const apl_field *f, const char *type)
{
    return f->media && strncmp(f->media, type, strlen(type)) == 0;
}

static bool is_form_of_parts(apl_form form)
{
    return (form >= APL_FORM_XYXY_REL && form <= APL_FORM_YXYX_REL) ||
           (form >= APL_FORM_XY_REL && form <= APL_FORM_XYZ_REL);
}

static bool ends_in(const apl_field *f, int64_t size)
{
    return f->ndim > 0 && f->shape[f->ndim - 1] == size;
}

static bool image_fits(const apl_field *f, const apl_kind *kind)
{
    unsigned least = kind->form == APL_FORM_CHW || kind->form == APL_FORM_HWC ? 3 : 2;
    return of_media(f, "image/") || (of_numbers(f) && f->ndim >= least);
}

static bool mask_fits(const apl_field *f, const apl_kind *kind)
{
    (void)kind;
    return of_media(f, "image/") || ((of_whole_numbers(f) || f->dtype == APL_BOOL) && f->ndim >= 2);
}

static bool map_fits(const apl_field *f, const apl_kind *kind)
{
    (void)kind;
    return of_media(f, "image/") || (of_numbers(f) && f->ndim >= 2);
}

static bool boxes_fit(const apl_field *f, const apl_kind *kind)
{
    return (is_form_of_parts(kind->form) ? of_fractions(f) : of_numbers(f)) && ends_in(f, 4) && f->ndim <= 2;
}

static bool keypoints_fit(const apl_field *f, const apl_kind *kind)
{
    int64_t each = kind->form == APL_FORM_XY || kind->form == APL_FORM_XY_REL ? 2 : 3;
    return (is_form_of_parts(kind->form) ? of_fractions(f) : of_numbers(f)) && ends_in(f, each) &&
           (f->ndim == 2 || f->ndim == 3);
}

static bool vectors_fit(const apl_field *f, const apl_kind *kind)
{
    (void)kind;
    return of_numbers(f) && f->ndim >= 3 && (ends_in(f, 2) || f->shape[f->ndim - 3] == 2);
}

static bool label_fits(const apl_field *f, const apl_kind *kind)
{
    (void)kind;
    return of_whole_numbers(f) || f->dtype == APL_BOOL || f->dtype == APL_UTF8;
}

static bool text_fits(const apl_field *f, const apl_kind *kind)
{
    (void)kind;
    return f->dtype == APL_UTF8 || (f->dtype == APL_U8 && f->ndim == 1);
}

static bool tokens_fit(const apl_field *f, const apl_kind *kind)
{
    (void)kind;
    return of_whole_numbers(f) && f->ndim >= 1;
}

static bool audio_fits(const apl_field *f, const apl_kind *kind)
{
    (void)kind;
    return of_media(f, "audio/") || (of_numbers(f) && f->ndim >= 1);
}

/* What a field must be to have a kind; kinds that every field can have are not here. */
static const struct need {
    bool (*fits)(const apl_field *f, const apl_kind *kind);
    const char *takes;
} needs[] = {
    [APL_KIND_IMAGE] = {image_fits, "numbers in two dimensions or more (chw, hwc: three), or image files"},
    [APL_KIND_MASK] = {mask_fits, "whole numbers in two dimensions or more, or image files"},
    [APL_KIND_MAP] = {map_fits, "numbers in two dimensions or more, or image files"},
    [APL_KIND_BOXES] = {boxes_fit, "numbers (-rel: fractions) of shape [n,4] or [4]"},
    [APL_KIND_KEYPOINTS] = {keypoints_fit,
                            "numbers (-rel: fractions) of shape [k,2] or [n,k,2] (xyv, xyz: 3)"},
    [APL_KIND_VECTORS] = {vectors_fit, "numbers of shape [2,h,w] or [h,w,2]"},
    [APL_KIND_LABEL] = {label_fits, "whole numbers, bools or text"},
    [APL_KIND_TEXT] = {text_fits, "utf8, or u8 in one dimension"},
    [APL_KIND_TOKENS] = {tokens_fit, "whole numbers in one dimension or more"},
    [APL_KIND_AUDIO] = {audio_fits, "numbers in one dimension or more, or audio files"},
    [APL_KIND_PLAIN] = {NULL, NULL},
};

/* Does a number lie in the range of a whole type, or 0 and 1 for a bool? */
static bool in_range(const char *number, apl_dtype dtype)
{
    bool is_signed = dtype == APL_I8 || dtype == APL_I16 || dtype == APL_I32 || dtype == APL_I64;
    unsigned bits = dtype == APL_BOOL ? 1 : 8 * (unsigned)apl_dtype_size(dtype) - is_signed;
    long long n = strtoll(number, NULL, 10); /* of at most 15 digits */
    return n < 0 ? is_signed && (bits > 62 || n >= -(1LL << bits)) : bits > 62 || n < 1LL << bits;
}

static apl_status check_suits(const apl_field *f, const apl_kind *kind, apl_error *err)
{
    char type[FIELD_TYPE_TEXT];
    const struct need *need = &needs[kind->id];
    const char *ignore = kind_parameter(kind, "ignore=");
    field_type_text(f, type);
    if (need->fits && !need->fits(f, kind))
        return fail(err, APL_E_INVALID, "field %s is %s%s%s, and %s takes %s", f->name, type,
                    f->media ? " of " : "", f->media ? f->media : "", kind_word(kind->id), need->takes);
    if (ignore && !f->media && !in_range(ignore, f->dtype))
        return fail(err, APL_E_INVALID, "field %s is %s, which has no value %.*s to ignore", f->name, type,
                    (int)strcspn(ignore, ","), ignore);
    return APL_OK;
}

/* The numbers of points must be among those that there are. */
static apl_status check_flip(const apl_field *f, const apl_kind *kind, apl_error *err)
{
    const char *at = kind_parameter(kind, "flip=");
    int64_t points = f->ndim >= 2 ? f->shape[f->ndim - 2] : -1;
    for (; at && points >= 0 && *at && *at != ','; at++)
        if (at[-1] < '0' || at[-1] > '9') {
            long n = strtol(at, NULL, 10);
            if (n >= points)
                return fail(err, APL_E_INVALID, "field %s: flip= has a point %ld, and there are 0 to %lld",
                            f->name, n, (long long)points - 1);
        }
    return APL_OK;
}

apl_status schema_set_kind(struct schema *schema, unsigned field, const apl_kind *kind, apl_error *err)
{
    apl_field *f = &schema->fields[field];
    apl_kind *copy = NULL;
    if (kind->id != APL_KIND_NONE) {
        copy = malloc(sizeof *copy);
        if (!copy)
            return fail_nomem(err);
        apl_status status = kind_check(kind, copy, err);
        if (status != APL_OK)
            fail_in(err, status, "field %s", f->name);
        if (status == APL_OK)
            status = check_suits(f, copy, err);
        if (status == APL_OK)
            status = check_flip(f, copy, err);
        if (status != APL_OK) {
            free(copy);
            return status;
        }
    }
    free((apl_kind *)f->kind);
    f->kind = copy;
    return APL_OK;
}

bool schema_has_kinds(const struct schema *schema)
{
    for (unsigned f = 0; f < schema->count; f++)
        if (schema->fields[f].kind)
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------ other fields */

/* The field that another one names, which is not itself. */
static apl_status field_named(const struct schema *schema, const apl_field *f, const char *word,
                              const char *name, const apl_field **named, apl_error *err)
{
    int found = schema_find(schema, name);
    if (found < 0)
        return fail(err, APL_E_INVALID, "field %s: %s=%s, and there is no such field", f->name, word, name);
    *named = &schema->fields[found];
    if (*named == f)
        return fail(err, APL_E_INVALID, "field %s: %s=%s is the field itself", f->name, word, name);
    return APL_OK;
}

/* Its image, if a kind has been said of it, must be one. */
static apl_status check_of(const struct schema *schema, const apl_field *f, apl_error *err)
{
    const apl_field *image;
    if (!*f->kind->of)
        return APL_OK;
    TRY(field_named(schema, f, "of", f->kind->of, &image, err));
    if (image->kind && image->kind->id != APL_KIND_IMAGE)
        return fail(err, APL_E_INVALID, "field %s: of=%s, which is no image but %s", f->name, image->name,
                    kind_word(image->kind->id));
    return APL_OK;
}

/* Has it a list of elements in each record? A text, a file and a single box are one. */
static bool has_elements_in_each(const apl_field *f)
{
    bool one_box = f->kind && f->kind->id == APL_KIND_BOXES && f->ndim == 1;
    return f->ndim > (f->dtype == APL_UTF8) && !f->media && !one_box;
}

/* A field with one element for each of another's has as many of them: their first dimensions are alike. */
static apl_status check_per(const struct schema *schema, const apl_field *f, apl_error *err)
{
    const apl_field *other;
    if (!*f->kind->per)
        return APL_OK;
    TRY(field_named(schema, f, "per", f->kind->per, &other, err));
    if (other->kind && *other->kind->per)
        return fail(err, APL_E_INVALID, "field %s: per=%s, which is per=%s itself (per=%s)", f->name,
                    other->name, other->kind->per, other->kind->per);
    if (!has_elements_in_each(f) || !has_elements_in_each(other))
        return fail(err, APL_E_INVALID, "field %s: per=%s, and %s has one value in a record, not several",
                    f->name, other->name, has_elements_in_each(f) ? other->name : f->name);
    if (f->shape[0] != other->shape[0])
        return fail(err, APL_E_INVALID,
                    "field %s: per=%s, and their first dimensions are %lld and %lld (-1: it varies)", f->name,
                    other->name, (long long)f->shape[0], (long long)other->shape[0]);
    return APL_OK;
}

apl_status schema_check_kinds(const struct schema *schema, apl_error *err)
{
    for (unsigned i = 0; i < schema->count; i++) {
        const apl_field *f = &schema->fields[i];
        if (!f->kind)
            continue;
        TRY(check_suits(f, f->kind, err)); /* it may have become one of files since */
        TRY(check_of(schema, f, err));
        TRY(check_per(schema, f, err));
    }
    return APL_OK;
}
