/* A parser of one dict literal: see npy_header.h. */
#include "npy_header.h"

#include <stdio.h>

#define HEADER_MAX (64u << 10)

/* What is left of the dict's text. */
struct text {
    const char *begin, *at, *end;
    apl_error *err;
};

static apl_status bad_header(const struct text *t, const char *what)
{
    return fail(t->err, APL_E_SOURCE, "byte %zu of the header's dict: %s", (size_t)(t->at - t->begin), what);
}

static void skip_space(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n'))
        t->at++;
}

/* Takes the character, if it is the next. */
static bool took(struct text *t, char c)
{
    skip_space(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static apl_status expect_char(struct text *t, char c)
{
    char what[32];
    snprintf(what, sizeof what, "'%c' is missing", c);
    return took(t, c) ? APL_OK : bad_header(t, what);
}

/* A string in quotes of either kind, without escapes. */
static apl_status take_string(struct text *t, char *out, size_t size)
{
    size_t n = 0;
    skip_space(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return bad_header(t, "a string is missing");
    char quote = *t->at++;
    for (; t->at < t->end && *t->at != quote; t->at++) {
        if (*t->at == '\\' || (unsigned char)*t->at < 32 || n + 1 == size)
            return bad_header(t, "a string has escapes or is too long");
        out[n++] = *t->at;
    }
    out[n] = 0;
    return expect_char(t, quote);
}

static apl_status take_size(struct text *t, int64_t *value)
{
    uint64_t v = 0;
    skip_space(t);
    if (t->at == t->end || *t->at < '0' || *t->at > '9')
        return bad_header(t, "a number is missing");
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        if (v > (INT64_MAX - 9) / 10)
            return bad_header(t, "a number is too large");
        v = v * 10 + (uint64_t)(*t->at - '0');
    }
    *value = (int64_t)v;
    if (t->at < t->end && *t->at == 'L') /* as Python 2 wrote it */
        t->at++;
    return APL_OK;
}

/* (), (3,), (3, 4): at most `most` of them. */
static apl_status take_dimensions(struct text *t, int64_t *shape, unsigned most, unsigned *ndim)
{
    *ndim = 0;
    TRY(expect_char(t, '('));
    while (!took(t, ')')) {
        if (*ndim == most)
            return bad_header(t, "more dimensions than a store's fields have");
        TRY(take_size(t, &shape[(*ndim)++]));
        if (!took(t, ',')) {
            TRY(expect_char(t, ')'));
            return *ndim == 1 ? bad_header(t, "a shape of one number lacks its comma") : APL_OK;
        }
    }
    return APL_OK;
}

/* --------------------------------------------------------------------------------------------------- types */

/* Why elements of such a type cannot be kept. */
static apl_status refuse_type(const struct text *t, const char *type)
{
    static const struct {
        char kind;
        const char *why;
    } reasons[] = {{'O', "its elements are Python objects, which lie there as pickles: they are never run"},
                   {'U', "its elements are texts"},
                   {'S', "its elements are texts"},
                   {'a', "its elements are texts"},
                   {'c', "its elements are complex numbers"},
                   {'M', "its elements are points in time"},
                   {'m', "its elements are spans of time"},
                   {'V', "its elements are bytes of no known type"}};
    char kind = type[0] && strchr("<>|=", type[0]) ? type[1] : type[0];
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (kind == reasons[i].kind)
            return fail(t->err, APL_E_UNSUPPORTED, "has the type '%s': %s; save it as numbers", type,
                        reasons[i].why);
    return fail(t->err, APL_E_UNSUPPORTED, "has the type '%s', which no field of a store can have", type);
}

/* '<f4' and its like. Bytes of padding ('|V4') have no dtype. */
static apl_status parse_type(const struct text *t, const char *type, bool padding, struct npy_field *field,
                             uint64_t *size)
{
    static const struct {
        const char *name;
        apl_dtype dtype;
    } types[] = {{"b1", APL_BOOL}, {"u1", APL_U8},  {"i1", APL_I8},  {"u2", APL_U16},
                 {"i2", APL_I16},  {"u4", APL_U32}, {"i4", APL_I32}, {"u8", APL_U64},
                 {"i8", APL_I64},  {"f2", APL_F16}, {"f4", APL_F32}, {"f8", APL_F64}};
    bool order = type[0] && strchr("<>|=", type[0]);
    const char *name = order ? type + 1 : type;
    field->dtype = (apl_dtype)0;
    field->swap = type[0] == '>';
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0) {
            field->dtype = types[i].dtype;
            *size = apl_dtype_size(field->dtype);
            return APL_OK;
        }
    unsigned bytes;
    char rest;
    if (padding && name[0] == 'V' && sscanf(name + 1, "%6u%c", &bytes, &rest) == 1 && bytes > 0) {
        *size = bytes;
        return APL_OK;
    }
    return refuse_type(t, type);
}

/* ('name', '<f4') or ('name', '<f4', (2, 3)), of a structured type. */
static apl_status take_field(struct text *t, struct npy_header *h)
{
    struct npy_field f = {.offset = h->item};
    char type[32];
    uint64_t size;
    TRY(expect_char(t, '('));
    if (took(t, '('))
        return fail(t->err, APL_E_UNSUPPORTED, "has a structured type whose fields have titles");
    TRY(take_string(t, f.name, sizeof f.name));
    TRY(expect_char(t, ','));
    if (took(t, '['))
        return fail(t->err, APL_E_UNSUPPORTED, "has a structured type within another, in the field %s",
                    f.name);
    TRY(take_string(t, type, sizeof type));
    TRY(parse_type(t, type, !f.name[0], &f, &size));
    if (took(t, ','))
        TRY(take_dimensions(t, f.shape, APL_MAX_DIMS, &f.ndim));
    TRY(expect_char(t, ')'));
    for (unsigned d = 0; d < f.ndim; d++) {
        if (f.shape[d] < 1 || (uint64_t)f.shape[d] > APL_MAX_VALUE / size)
            return bad_header(t, "a field is empty or has too many bytes");
        size *= (uint64_t)f.shape[d];
    }
    h->item += size;
    if ((int)f.dtype == 0)
        return APL_OK;
    if (h->field_count == NPY_MAX_FIELDS)
        return fail(t->err, APL_E_UNSUPPORTED, "has a structured type of more than %u fields",
                    NPY_MAX_FIELDS);
    h->fields[h->field_count++] = f;
    return APL_OK;
}

static apl_status take_descr(struct text *t, struct npy_header *h)
{
    char type[32];
    h->item = 0;
    h->field_count = 0;
    if (!took(t, '[')) {
        h->field_count = 1;
        h->fields[0] = (struct npy_field){.offset = 0};
        TRY(take_string(t, type, sizeof type));
        return parse_type(t, type, false, &h->fields[0], &h->item);
    }
    h->structured = true;
    while (!took(t, ']')) {
        TRY(take_field(t, h));
        if (h->item > APL_MAX_VALUE)
            return bad_header(t, "its elements have too many bytes");
        if (!took(t, ',')) {
            TRY(expect_char(t, ']'));
            break;
        }
    }
    return h->field_count ? APL_OK : bad_header(t, "its type has no fields");
}

/* ------------------------------------------------------------------------------------------------- the dict */

static apl_status take_bool(struct text *t, bool *value)
{
    skip_space(t);
    size_t left = (size_t)(t->end - t->at);
    *value = left >= 4 && memcmp(t->at, "True", 4) == 0;
    if (!*value && (left < 5 || memcmp(t->at, "False", 5) != 0))
        return bad_header(t, "True or False is missing");
    t->at += *value ? 4 : 5;
    return APL_OK;
}

static apl_status take_entry(struct text *t, struct npy_header *h, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    char key[32];
    TRY(take_string(t, key, sizeof key));
    TRY(expect_char(t, ':'));
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(key, keys[i]) != 0)
            continue;
        if (*seen & 1u << i)
            return bad_header(t, "a key comes twice");
        *seen |= 1u << i;
        return i == 0   ? take_descr(t, h)
               : i == 1 ? take_bool(t, &h->fortran)
                        : take_dimensions(t, h->shape, NPY_MAX_DIMS, &h->ndim);
    }
    return bad_header(t, "an unknown key");
}

static apl_status take_dict(struct text *t, struct npy_header *h)
{
    unsigned seen = 0;
    TRY(expect_char(t, '{'));
    while (!took(t, '}')) {
        TRY(take_entry(t, h, &seen));
        if (!took(t, ',')) {
            TRY(expect_char(t, '}'));
            break;
        }
    }
    skip_space(t);
    if (t->at != t->end)
        return bad_header(t, "something follows the dict");
    return seen == 7 ? APL_OK : bad_header(t, "descr, fortran_order or shape is missing");
}

apl_status npy_header_read(struct cursor *c, struct npy_header *header, apl_error *err)
{
    *header = (struct npy_header){0};
    const uint8_t *magic = cursor_take(c, 8);
    if (!magic)
        return fail(err, APL_E_INCOMPLETE, "ends within its header");
    unsigned major = magic[6];
    if (memcmp(magic, "\x93NUMPY", 6) != 0 || major < 1 || major > 3 || magic[7] != 0)
        return fail(err, APL_E_SOURCE, "does not begin as a .npy file of version 1.0 to 3.0 does");
    uint32_t length = major == 1 ? cursor_u16(c) : cursor_u32(c);
    if (length > HEADER_MAX)
        return fail(err, APL_E_SOURCE, "has a header of %u bytes, more than %u", length, HEADER_MAX);
    const char *dict = (const char *)cursor_take(c, length);
    if (!dict)
        return fail(err, APL_E_INCOMPLETE, "ends within its header");
    struct text t = {.begin = dict, .at = dict, .end = dict + length, .err = err};
    header->size = 8 + (major == 1 ? 2 : 4) + length;
    return take_dict(&t, header);
}
