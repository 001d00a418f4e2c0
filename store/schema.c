/* Fields and the sizes of their values. */
#include "schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [APL_U8] = {"u8", 1},     [APL_I8] = {"i8", 1},     [APL_U16] = {"u16", 2}, [APL_I16] = {"i16", 2},
    [APL_U32] = {"u32", 4},   [APL_I32] = {"i32", 4},   [APL_U64] = {"u64", 8}, [APL_I64] = {"i64", 8},
    [APL_F16] = {"f16", 2},   [APL_BF16] = {"bf16", 2}, [APL_F32] = {"f32", 4}, [APL_F64] = {"f64", 8},
    [APL_BOOL] = {"bool", 1}, [APL_UTF8] = {"utf8", 1},
};

static bool is_dtype(apl_dtype dtype)
{
    return (unsigned)dtype >= APL_U8 && (unsigned)dtype <= APL_UTF8;
}

size_t apl_dtype_size(apl_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].size : 0;
}

const char *apl_dtype_name(apl_dtype dtype)
{
    return is_dtype(dtype) ? dtypes[dtype].name : "?";
}

static void free_classes(apl_field *field)
{
    for (uint64_t i = 0; i < field->class_count; i++)
        free((char *)field->classes[i]);
    free((void *)field->classes);
    field->classes = NULL;
    field->class_count = 0;
}

void schema_free(struct schema *schema)
{
    for (unsigned i = 0; i < schema->count; i++) {
        free_classes(&schema->fields[i]);
        free((char *)schema->fields[i].media);
        free((apl_kind *)schema->fields[i].kind);
        free((char *)schema->fields[i].name);
    }
    schema->count = 0;
}

int schema_find(const struct schema *schema, const char *name)
{
    for (unsigned i = 0; name && i < schema->count; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return (int)i;
    return -1;
}

bool name_ok(const char *name, size_t length)
{
    char shown[APL_MAX_NAME * 4 + 8];
    if (!name || length == 0 || length > APL_MAX_NAME || memchr(name, 0, length))
        return false;
    printable(shown, sizeof shown, name, length);
    return strlen(shown) == length && memcmp(shown, name, length) == 0;
}

unsigned field_varying(const apl_field *field)
{
    unsigned n = 0;
    for (unsigned i = 0; i < field->ndim; i++)
        n += field->shape[i] < 0;
    return n;
}

unsigned field_channels(const apl_field *field)
{
    if (field->dtype != APL_U8 || field->role != APL_INPUT || field->media)
        return 0;
    return field->ndim == 3 && field->shape[0] > 0 && field->shape[0] <= 64 ? (unsigned)field->shape[0] : 1;
}

bool field_lists_texts(const apl_field *field)
{
    return field->dtype == APL_UTF8 && field->ndim > 1;
}

unsigned schema_text_lists(const struct schema *schema)
{
    unsigned n = 0;
    for (unsigned f = 0; f < schema->count; f++)
        n += field_lists_texts(&schema->fields[f]);
    return n;
}

bool schema_has_colours(const struct schema *schema, unsigned f)
{
    const apl_field *field = &schema->fields[f];
    bool pixels = !field->media && field->ndim == 3 && field->shape[0] < 0;
    return field->dtype == APL_U8 && field->role == APL_INPUT && (schema->indexed[f] || pixels);
}

enum colours_kind schema_colours(const struct schema *schema, unsigned f)
{
    return schema->indexed[f] ? COLOURS_YCC : COLOURS_RGB;
}

const char *field_type_text(const apl_field *f, char text[FIELD_TYPE_TEXT])
{
    int n = snprintf(text, FIELD_TYPE_TEXT, "%s", apl_dtype_name(f->dtype));
    unsigned shown = f->ndim - (f->dtype == APL_UTF8); /* not the bytes of a text */
    for (unsigned d = 0; d < shown && n < 100; d++)
        n += f->shape[d] < 0 ? snprintf(text + n, FIELD_TYPE_TEXT - (size_t)n, "%s*", d ? "," : "[")
                             : snprintf(text + n, FIELD_TYPE_TEXT - (size_t)n, "%s%lld", d ? "," : "[",
                                        (long long)f->shape[d]);
    if (shown)
        snprintf(text + n, FIELD_TYPE_TEXT - (size_t)n, "]");
    return text;
}

bool field_value_bytes(const apl_field *field, const uint32_t *dims, size_t *bytes)
{
    uint64_t n = apl_dtype_size(field->dtype);
    bool fits = true, empty = false;
    for (unsigned i = 0; i < field->ndim; i++) {
        uint64_t d = field->shape[i] < 0 ? *dims++ : (uint64_t)field->shape[i];
        /* A zero makes the value empty whatever the others are, before it or behind it. */
        if (d == 0)
            empty = true;
        else if (n > APL_MAX_VALUE / d)
            fits = false;
        else
            n *= d;
    }
    *bytes = empty || !fits ? 0 : (size_t)n;
    return empty || fits;
}

static apl_status check_field(const struct schema *schema, const apl_field *f, apl_error *err)
{
    char shown[64];
    printable(shown, sizeof shown, f->name, strlen(f->name));
    if (!name_ok(f->name, strlen(f->name)))
        return fail(err, APL_E_INVALID, "field name \"%s\" is not 1 to %d bytes of printable UTF-8", shown,
                    APL_MAX_NAME);
    if (schema_find(schema, f->name) >= 0)
        return fail(err, APL_E_INVALID, "field %s: the name is taken already", shown);
    if (!is_dtype(f->dtype))
        return fail(err, APL_E_INVALID, "field %s: %u is not a dtype", shown, (unsigned)f->dtype);
    if ((unsigned)f->role < APL_INPUT || (unsigned)f->role > APL_POSITION)
        return fail(err, APL_E_INVALID, "field %s: %u is not a role", shown, (unsigned)f->role);
    for (unsigned i = 0; i < f->ndim; i++)
        if (f->shape[i] != -1 && (f->shape[i] < 1 || f->shape[i] > APL_MAX_VALUE))
            return fail(err, APL_E_INVALID, "field %s: dimension %u is %lld, not -1 or 1 to %u", shown, i,
                        (long long)f->shape[i], APL_MAX_VALUE);
    if (f->dtype == APL_UTF8 && (f->ndim == 0 || f->shape[f->ndim - 1] != -1))
        return fail(
            err, APL_E_INVALID,
            "field %s: the last dimension of utf8 is -1, the bytes of a text: {-1}, or {-1, -1} for a list",
            shown);
    if (f->role == APL_POSITION && (f->dtype != APL_U64 || f->ndim != 0))
        return fail(err, APL_E_INVALID, "field %s: a position is a scalar u64", shown);
    return APL_OK;
}

apl_status schema_add(struct schema *schema, const char *name, size_t name_length, apl_dtype dtype,
                      apl_role role, unsigned ndim, const int64_t *shape, apl_error *err)
{
    if (!name || (ndim && !shape))
        return fail(err, APL_E_INVALID, "a field needs a name and a shape");
    if (schema->count == APL_MAX_FIELDS)
        return fail(err, APL_E_INVALID, "more than %d fields", APL_MAX_FIELDS);
    if (ndim > APL_MAX_DIMS)
        return fail(err, APL_E_INVALID, "a field of %u dimensions: at most %d", ndim, APL_MAX_DIMS);
    apl_field field = {.dtype = dtype, .role = role, .ndim = ndim, .codec = codec_name(CODEC_RAW)};
    for (unsigned i = 0; i < ndim; i++)
        field.shape[i] = shape[i];
    field.name = strndup(name, name_length);
    if (!field.name)
        return fail_nomem(err);
    apl_status status = check_field(schema, &field, err);
    if (status == APL_OK && field_varying(&field) == 0 &&
        !field_value_bytes(&field, NULL, &field.value_bytes))
        status = fail(err, APL_E_INVALID, "field %s: a value would have more than %u bytes", field.name,
                      APL_MAX_VALUE);
    if (status != APL_OK) {
        free((char *)field.name);
        return status;
    }
    schema->fields[schema->count++] = field;
    return APL_OK;
}

/* The bytes of a type or a subtype, as RFC 6838 allows them, in lower case. */
static size_t media_part(const char *text, size_t length)
{
    static const char alphanumeric[] = "abcdefghijklmnopqrstuvwxyz0123456789", more[] = "!#$&-^_.+";
    size_t n = 0;
    while (n < length && text[n] && (strchr(alphanumeric, text[n]) || (n > 0 && strchr(more, text[n]))))
        n++;
    return n;
}

static bool media_ok(const char *media, size_t length)
{
    size_t type = media_part(media, length);
    return length <= APL_MAX_NAME && type > 0 && type + 1 < length && media[type] == '/' &&
           media_part(media + type + 1, length - type - 1) == length - type - 1;
}

apl_status schema_set_media(struct schema *schema, unsigned field, const char *media, size_t length,
                            apl_error *err)
{
    apl_field *f = &schema->fields[field];
    char shown[128];
    if (f->dtype != APL_U8 || f->ndim != 1 || f->shape[0] != -1)
        return fail(err, APL_E_INVALID, "field %s: only fields of type u8 and shape {-1} are kept", f->name);
    if (!media || !media_ok(media, length))
        return fail(err, APL_E_INVALID,
                    "field %s: \"%s\" is not a media type such as image/jpeg, in lower case", f->name,
                    printable(shown, sizeof shown, media ? media : "", media ? length : 0));
    char *copy = strndup(media, length);
    if (!copy)
        return fail_nomem(err);
    free((char *)f->media);
    f->media = copy;
    f->codec = CODEC_KEPT_NAME;
    return APL_OK;
}

unsigned schema_kept_codec(const struct schema *schema, unsigned field)
{
    return schema->indexed[field] ? CODEC_INDEXED : CODEC_KEPT;
}

bool schema_keeps(const struct schema *schema)
{
    for (unsigned f = 0; f < schema->count; f++)
        if (schema->fields[f].media)
            return true;
    return false;
}

/* Copies class names into `f`, which has none; those that were copied before a failure are left in it. */
static apl_status copy_classes(apl_field *f, const char *const *names, const size_t *lengths, uint64_t count,
                               apl_error *err)
{
    char **classes = calloc((size_t)count, sizeof *classes);
    if (!classes)
        return fail_nomem(err);
    f->classes = (const char *const *)classes;
    for (; f->class_count < count; f->class_count++) {
        const char *name = names[f->class_count];
        size_t length = lengths ? lengths[f->class_count] : name ? strlen(name) : 0;
        if (!name_ok(name, length))
            return fail(err, APL_E_INVALID,
                        "field %s: the name of class %llu is not 1 to %d bytes of printable UTF-8", f->name,
                        (unsigned long long)f->class_count, APL_MAX_NAME);
        classes[f->class_count] = strndup(name, length);
        if (!classes[f->class_count])
            return fail_nomem(err);
    }
    return APL_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* No two classes have the same name: the second could not be asked for. */
static apl_status check_distinct(const apl_field *f, apl_error *err)
{
    const char **sorted = malloc((size_t)f->class_count * sizeof *sorted);
    if (!sorted)
        return fail_nomem(err);
    memcpy(sorted, f->classes, (size_t)f->class_count * sizeof *sorted);
    qsort(sorted, (size_t)f->class_count, sizeof *sorted, by_text);
    const char *twice = NULL;
    for (uint64_t i = 1; i < f->class_count && !twice; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            twice = sorted[i];
    free(sorted);
    return twice ? fail(err, APL_E_INVALID, "field %s: two classes are called %s", f->name, twice) : APL_OK;
}

static apl_status name_classes(struct schema *schema, unsigned field, const char *const *names,
                               const size_t *lengths, uint64_t count, bool distinct, apl_error *err)
{
    apl_field *f = &schema->fields[field];
    size_t element = apl_dtype_size(f->dtype);
    if (f->role != APL_TARGET || f->ndim != 0 ||
        (f->dtype != APL_U8 && f->dtype != APL_U16 && f->dtype != APL_U32))
        return fail(err, APL_E_INVALID, "field %s: only scalar targets of type u8, u16 or u32 have classes",
                    f->name);
    if (count == 0 || count > 1u << 20 || count > (uint64_t)1 << (8 * element))
        return fail(err, APL_E_INVALID, "field %s: %llu classes", f->name, (unsigned long long)count);
    apl_field fresh = {.name = f->name}; /* so that a failure leaves the field as it was */
    apl_status status = copy_classes(&fresh, names, lengths, count, err);
    if (status == APL_OK && distinct)
        status = check_distinct(&fresh, err);
    if (status != APL_OK) {
        free_classes(&fresh);
        return status;
    }
    free_classes(f);
    f->classes = fresh.classes;
    f->class_count = count;
    return APL_OK;
}

apl_status schema_set_classes(struct schema *schema, unsigned field, const char *const *names,
                              const size_t *lengths, uint64_t count, apl_error *err)
{
    return name_classes(schema, field, names, lengths, count, false, err);
}

apl_status schema_set_new_classes(struct schema *schema, unsigned field, const char *const *names,
                                  uint64_t count, apl_error *err)
{
    return name_classes(schema, field, names, NULL, count, true, err);
}
