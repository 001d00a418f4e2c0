/* Conditions on the values of a field: see where.h. */
#include "where.h"

#include "report.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum relation { EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, MORE, MORE_OR_EQUAL };

static const struct {
    const char *text;
    enum relation relation;
} relations[] = {{"!=", NOT_EQUAL}, {"<=", LESS_OR_EQUAL}, {">=", MORE_OR_EQUAL},
                 {"=", EQUAL},      {"<", LESS},           {">", MORE}};

/* A whole number from -2^63 to 2^64 - 1. */
struct whole {
    bool negative;
    uint64_t bits; /* of a negative one, plus 2^64 */
};

struct condition {
    const apl_field *field;
    enum relation relation;
    char *text;            /* the condition as given, cut into */
    const char **values;   /* of a text, */
    struct whole *numbers; /* or a number */
    size_t count;
    const uint64_t *ids; /* kept by earlier conditions, ascending */
    uint64_t left;
};

static apl_status refuse(apl_error *err, const char *what, const char *shown_text)
{
    snprintf(err->message, sizeof err->message, "--where: %s: '%s'", what, shown_text);
    err->status = APL_E_INVALID;
    return err->status;
}

/* --------------------------------------------------------------------------------------------- parsing */

static bool is_whole(const apl_field *f)
{
    return f->ndim == 0 && ((f->dtype >= APL_U8 && f->dtype <= APL_I64) || f->dtype == APL_BOOL);
}

static bool is_signed_type(apl_dtype type)
{
    return type == APL_I8 || type == APL_I16 || type == APL_I32 || type == APL_I64;
}

static bool parse_whole(const char *text, struct whole *number)
{
    char *end;
    const char *digits = text + (*text == '-');
    if (!*digits || strspn(digits, "0123456789") != strlen(digits))
        return false;
    errno = 0;
    number->bits = *text == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    number->negative = *text == '-' && number->bits != 0;
    return errno == 0;
}

/* Whether classes are called by numbers that are not their own, such as 0, 1, 10, 11, 2: a number is then a name only, as
 * whoever gives one is likely to mean that. */
static bool are_numbers_names(const apl_field *field)
{
    struct whole number;
    for (uint64_t c = 0; c < field->class_count; c++)
        if (parse_whole(field->classes[c], &number) && (number.negative || number.bits != c))
            return true;
    return false;
}

/* A class by its name, or a number. */
static bool parse_value(const apl_field *field, const char *text, struct whole *number)
{
    for (uint64_t c = 0; c < field->class_count; c++)
        if (strcmp(field->classes[c], text) == 0) {
            *number = (struct whole){false, c};
            return true;
        }
    return !are_numbers_names(field) && parse_whole(text, number);
}

/* Cuts the text at its first relation; returns the rest, or NULL. */
static char *cut_relation(struct condition *c)
{
    size_t at = strcspn(c->text, "!=<>");
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        size_t length = strlen(relations[i].text);
        if (at == 0 || strncmp(c->text + at, relations[i].text, length) != 0)
            continue;
        c->relation = relations[i].relation;
        c->text[at] = 0;
        return c->text + at + length;
    }
    return NULL;
}

/* Cuts the text behind its first value, in which a backslash makes a comma or a backslash part of it; returns the rest, or NULL. */
static char *cut_value(char *text)
{
    char *to = text;
    for (; *text && *text != ','; *to++ = *text++)
        text += text[0] == '\\' && (text[1] == ',' || text[1] == '\\');
    char *rest = *text ? text + 1 : NULL;
    *to = 0;
    return rest;
}

/* Makes a number of a value of classes or whole numbers; returns NULL, or what is wrong with it. */
static const char *make_number(struct condition *c, const char *value, bool one_of_several)
{
    struct whole *number = &c->numbers[c->count];
    bool ordered = c->relation > NOT_EQUAL;
    if (ordered ? parse_whole(value, number) : parse_value(c->field, value, number))
        return NULL;
    if (!c->field->class_count)
        return "no whole number";
    if (ordered)
        return "classes are compared by number, not by name";
    if (are_numbers_names(c->field))
        return "no class has that name, and numbers are names of classes here";
    return one_of_several ? "no class, and no number; a comma in a name is written \\,"
                          : "no class, and no number";
}

/* Can the field hold the number? A class can be none that has no name. */
static bool fits(const apl_field *field, const struct whole *number)
{
    unsigned bits = 8 * (unsigned)apl_dtype_size(field->dtype);
    bool is_signed = is_signed_type(field->dtype);
    uint64_t most = is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
    if (field->dtype == APL_BOOL)
        most = 1;
    if (field->class_count)
        most = field->class_count - 1;
    return number->negative ? is_signed && !field->class_count && ~number->bits <= most
                            : number->bits <= most;
}

/* What is equal to no value there can be was meant otherwise; among others, it does no harm. */
static bool none_fits(const struct condition *c)
{
    bool any = c->relation > NOT_EQUAL || !is_whole(c->field);
    for (size_t i = 0; i < c->count; i++)
        any |= fits(c->field, &c->numbers[i]);
    return !any;
}

static apl_status take_values(struct condition *c, char *values, apl_error *err)
{
    size_t most = 1;
    for (const char *at = values; *at; at++)
        most += *at == ',';
    c->values = calloc(most, sizeof *c->values);
    c->numbers = calloc(most, sizeof *c->numbers);
    if (!c->values || !c->numbers)
        return refuse(err, "out of memory", c->text);
    for (char *rest; values; values = rest) {
        rest = cut_value(values);
        const char *wrong = is_whole(c->field) ? make_number(c, values, c->count > 0 || rest) : NULL;
        if (wrong)
            return refuse(err, wrong, shown(values));
        c->values[c->count++] = values;
    }
    if (c->count > 1 && c->relation > NOT_EQUAL)
        return refuse(err, "one value is to be compared with", c->text);
    if (none_fits(c))
        return refuse(
            err, c->field->class_count ? "no class has that number" : "the field cannot hold that number",
            shown(c->values[0]));
    return APL_OK;
}

static apl_status parse(struct condition *c, const apl_store *store, const char *text, apl_error *err)
{
    c->text = strdup(text);
    char *values = c->text ? cut_relation(c) : NULL;
    if (!values)
        return refuse(err, "FIELD=VALUE,... is needed, or !=, <, <=, > or >=", shown(text));
    int f = apl_store_find_field(store, c->text);
    if (f < 0)
        return refuse(err, "the store has no such field", shown(c->text));
    c->field = apl_store_field(store, (unsigned)f);
    if (!is_whole(c->field) && (c->field->dtype != APL_UTF8 || c->field->ndim > 1))
        return refuse(err, "neither a whole number a record nor text", shown(c->text));
    if (c->field->dtype == APL_UTF8 && c->relation > NOT_EQUAL)
        return refuse(err, "text is compared by = and != alone", shown(c->text));
    if (c->relation > NOT_EQUAL && are_numbers_names(c->field))
        return refuse(err, "numbers are names of its classes, which only = and != compare", shown(c->text));
    return take_values(c, values, err);
}

/* ------------------------------------------------------------------------------------------- comparing */

static struct whole value_of(const apl_field *field, const void *value)
{
    struct whole w = {false, 0};
    bool is_signed = is_signed_type(field->dtype);
    const uint8_t *bytes = value;
    for (size_t i = field->value_bytes; i-- > 0;) /* as stored: little-endian */
        w.bits = w.bits << 8 | bytes[i];
    unsigned sign = 8 * (unsigned)field->value_bytes - 1;
    w.negative = is_signed && field->value_bytes > 0 && w.bits >> sign & 1;
    if (w.negative && sign < 63)
        w.bits |= UINT64_MAX << (sign + 1);
    return w;
}

static int compare(struct whole a, struct whole b)
{
    if (a.negative != b.negative)
        return a.negative ? -1 : 1;
    return (a.bits > b.bits) - (a.bits < b.bits);
}

static bool holds_for(const struct condition *c, const void *value, size_t bytes)
{
    bool text = c->field->dtype == APL_UTF8, equal = false;
    struct whole number = text ? (struct whole){false, 0} : value_of(c->field, value);
    for (size_t i = 0; i < c->count; i++)
        equal |= text ? strlen(c->values[i]) == bytes && memcmp(c->values[i], value, bytes) == 0
                      : compare(number, c->numbers[i]) == 0;
    int order = text ? 0 : compare(number, c->numbers[0]);
    switch (c->relation) {
    case EQUAL:
        return equal;
    case NOT_EQUAL:
        return !equal;
    case LESS:
        return order < 0;
    case LESS_OR_EQUAL:
        return order <= 0;
    case MORE:
        return order > 0;
    case MORE_OR_EQUAL:
        break;
    }
    return order >= 0;
}

/* Ids come in ascending order, like those kept by earlier conditions. */
static int keep(void *user, uint64_t id, const void *value, size_t bytes)
{
    struct condition *c = user;
    while (c->left > 0 && *c->ids < id) {
        c->ids++;
        c->left--;
    }
    return c->left > 0 && *c->ids == id && holds_for(c, value, bytes);
}

apl_status where_sift(apl_store *store, const char *split, const char *condition, uint64_t *ids,
                      uint64_t *count, apl_error *err)
{
    struct condition c = {.ids = ids, .left = *count};
    apl_status status = parse(&c, store, condition, err);
    /* Kept ids overwrite earlier ones in place, never ahead of the read position. */
    if (status == APL_OK)
        status = apl_store_where(store, split, c.text, keep, &c, ids, count, err);
    free(c.text);
    free(c.values);
    free(c.numbers);
    return status;
}
