#define _GNU_SOURCE /* memmem */
#include "cell.h"

#include "plain_number.h"

#include <errno.h>
#include <math.h>
#include <strings.h>

#define BLANKS " \t\n\v\f\r"

void cell_room_free(struct cell_room *room)
{
    buffer_free(&room->reals);
    buffer_free(&room->wholes);
}

/* 2^63 is no int64_t: it is what the largest are rounded to. */
static bool is_exact(int64_t whole)
{
    double real = (double)whole;
    return real < 0x1p63 && (int64_t)real == whole;
}

/* As a float, -0 has its sign. */
static void set_whole(struct cell *cell, int64_t whole)
{
    cell->kind = CELL_WHOLE;
    cell->whole = whole;
    cell->real = whole == 0 && cell->text[0] == '-' ? -0.0 : (double)whole;
    cell->exact = is_exact(whole);
}

/* ------------------------------------------------------------------------------------------------- lists */

static void put_number(struct cell *cell, struct cell_room *room, const json_t *number)
{
    double real = json_number_value(number);
    int64_t whole = json_is_integer(number) ? json_integer_value(number) : 0;
    cell->exact &= is_exact(whole);
    buffer_put(&room->reals, &real, sizeof real);
    buffer_put(&room->wholes, &whole, sizeof whole);
}

/* Takes a list of numbers; false: it holds something else. */
static bool take_numbers(struct cell *cell, const json_t *list, struct cell_room *room)
{
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_number(item))
            return false;
        cell->all_whole &= json_is_integer(item);
        put_number(cell, room, item);
    }
    return true;
}

/* The lists in a list must have equally many numbers, at least one. */
static bool take_lists(struct cell *cell, const json_t *list, struct cell_room *room)
{
    size_t n = json_array_size(list);
    size_t inner = json_array_size(json_array_get(list, 0));
    if (inner == 0 || inner > UINT32_MAX)
        return false;
    cell->inner = (uint32_t)inner;
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        if (json_array_size(item) != inner || !take_numbers(cell, item, room))
            return false;
    }
    return true;
}

/* Parsed integers have lost the sign of -0: parses the list once more, as reals. false: out of memory. */
static bool sign_zeros(const struct cell *cell, struct cell_room *room)
{
    size_t at = 0, outer, inner;
    const json_t *row, *item;
    if (!memmem(cell->text, cell->length, "-0", 2))
        return true;
    json_t *list = json_loadb(cell->text, cell->length, JSON_DECODE_INT_AS_REAL, NULL);
    double *reals = (double *)(void *)room->reals.data;
    json_array_foreach(list, outer, row)
    {
        if (json_is_number(row))
            reals[at++] = json_real_value(row);
        json_array_foreach(row, inner, item)
        {
            reals[at++] = json_real_value(item);
        }
    }
    json_decref(list);
    return list != NULL;
}

/* false: out of memory. A list of anything else stays text. */
static bool take_list(struct cell *cell, const json_t *list, struct cell_room *room)
{
    room->reals.size = room->wholes.size = 0;
    cell->all_whole = cell->exact = true;
    cell->inner = 0;
    bool nested = json_is_array(json_array_get(list, 0));
    if (!(nested ? take_lists : take_numbers)(cell, list, room)) {
        cell->kind = CELL_TEXT;
        cell->nested = true;
        return !room->reals.failed && !room->wholes.failed;
    }
    cell->kind = CELL_LIST;
    cell->count = json_array_size(list);
    cell->reals = (const double *)(void *)room->reals.data;
    cell->wholes = (const int64_t *)(void *)room->wholes.data;
    return !room->reals.failed && !room->wholes.failed && sign_zeros(cell, room);
}

/* --------------------------------------------------------------------------------------------------- text */

/* Digits without a leading zero, after a sign. */
static bool is_whole_text(const char *text, size_t length)
{
    size_t at = length > 0 && (text[0] == '-' || text[0] == '+');
    if (at == length || (text[at] == '0' && length > at + 1))
        return false;
    for (; at < length; at++)
        if (text[at] < '0' || text[at] > '9')
            return false;
    return true;
}

/* Does it have the characters of a decimal fraction, or name what is no number? */
static bool is_real_text(const char *text, size_t length)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    bool point = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length - sign && strncasecmp(text + sign, words[i], length - sign) == 0)
            return true;
    if (length > sign + 1 && text[sign] == '0' && text[sign + 1] >= '0' && text[sign + 1] <= '9')
        return false;
    for (size_t i = sign; i < length; i++) {
        point |= text[i] == '.' || text[i] == 'e' || text[i] == 'E';
        if (!strchr("0123456789.eE+-", text[i]))
            return false;
    }
    return point; /* a whole number beyond i64 is text */
}

/* Whatever the locale of the program; blanks around it are passed over. What exceeds f64 is no number: infinity must be spelled out. */
static bool real_of(const char *text, double *real)
{
    char *end;
    *real = plain_read(text, &end);
    bool beyond = isinf(*real) && !strpbrk(text, "iI");
    return end != text && !end[strspn(end, BLANKS)] && !beyond;
}

bool cell_decimal(const char *text, size_t length, double *real)
{
    return strspn(text, BLANKS "0123456789.eE+-") == length && real_of(text, real);
}

static bool number_from_text(struct cell *cell)
{
    if (is_whole_text(cell->text, cell->length)) {
        char *end;
        errno = 0;
        long long whole = strtoll(cell->text, &end, 10);
        if (errno == 0 && !*end) {
            set_whole(cell, whole);
            return true;
        }
    }
    if (!is_real_text(cell->text, cell->length) || !real_of(cell->text, &cell->real))
        return false;
    cell->kind = CELL_REAL;
    return true;
}

static bool list_from_text(struct cell *cell, struct cell_room *room)
{
    json_t *list = json_loadb(cell->text, cell->length, JSON_REJECT_DUPLICATES, NULL);
    bool done = json_is_array(list) ? take_list(cell, list, room) : true;
    json_decref(list);
    return done;
}

bool cell_from_text(struct cell *cell, struct cell_room *room)
{
    cell->kind = CELL_TEXT;
    if (cell->length == 0)
        cell->kind = CELL_NONE;
    else if (strcasecmp(cell->text, "true") == 0 || strcasecmp(cell->text, "false") == 0) {
        cell->kind = CELL_BOOL;
        cell->whole = cell->text[0] == 't' || cell->text[0] == 'T';
    } else if (cell->text[0] == '[')
        return list_from_text(cell, room);
    else
        number_from_text(cell);
    return true;
}

/* -------------------------------------------------------------------------------------------------- JSON */

static bool json_list(struct cell *cell, const json_t *value, bool whole_as_real, struct cell_room *room)
{
    cell->kind = CELL_TEXT;
    cell->nested = true;
    return whole_as_real ? list_from_text(cell, room) : take_list(cell, value, room);
}

bool cell_from_json(struct cell *cell, const json_t *value, bool whole_as_real, struct cell_room *room)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_NULL:
        cell->kind = CELL_NONE;
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        cell->kind = CELL_BOOL;
        cell->whole = json_is_true(value);
        return true;
    case JSON_INTEGER:
        set_whole(cell, json_integer_value(value));
        return true;
    case JSON_REAL:
        cell->kind = CELL_REAL;
        cell->real = json_real_value(value);
        if (is_whole_text(cell->text, cell->length) && !number_from_text(cell))
            cell->kind = CELL_TEXT;
        return true;
    case JSON_ARRAY:
        return json_list(cell, value, whole_as_real, room);
    default:
        cell->kind = CELL_TEXT;
        cell->nested = json_is_object(value);
        return true;
    }
}
