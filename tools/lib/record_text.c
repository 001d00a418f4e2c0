/* Records as text: see record_text.h. */
#include "record_text.h"

#include "describe.h"
#include "json.h"
#include "report.h"
#include "terminal.h"
#include "value.h"
#include "wrapped.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much of a value is printed. */
struct extent {
    size_t numbers;
    bool whole_text; /* over several lines if it has them; otherwise a line, cut */
};

static const struct extent listing = {8, false}, showing = {256, true};

static void print_how_many(size_t values, unsigned at, unsigned column)
{
    char text[64];
    snprintf(text, sizeof text, " ... (%s values)", count_text(values));
    print_wrapped(text, at, column);
}

/* From column `at` on. A number that a window has no room for goes to the next line, at `column`. */
static void print_numbers(const struct value *v, size_t limit, unsigned at, unsigned column)
{
    unsigned room = terminal_room();
    for (size_t i = 0; i < v->elements && i < limit; i++) {
        const char *text = element_text(v, i);
        unsigned width = (unsigned)strlen(text) + 1;
        bool below = i && at + width > room && column + width <= room;
        if (below)
            printf("\n%*s", (int)column, "");
        printf("%s%s", i && !below ? " " : "", text);
        at = (below ? column : at) + width;
    }
    if (v->elements > limit)
        print_how_many(v->elements, at, column);
}

/* "image/jpeg, 110.2 kB" */
static void print_file(const apl_field *field, const struct value *v)
{
    printf("%s, %s", shown(field->media), size_text(v->bytes));
}

/* Text of any length with control bytes escaped; false: out of memory. */
static bool print_escaped(const uint8_t *text, size_t bytes, FILE *to)
{
    char *escaped = bytes < SIZE_MAX / 4 ? malloc(4 * bytes + 1) : NULL;
    if (escaped)
        fputs(apl_printable(escaped, 4 * bytes + 1, (const char *)text, bytes), to);
    free(escaped);
    return escaped != NULL;
}

/* Lines after the first begin at `column`. */
static void print_lines(const struct value *v, int column)
{
    const uint8_t *text = v->data, *end = v->data + v->bytes, *newline;
    while (text < end && (newline = memchr(text, '\n', (size_t)(end - text)))) {
        if (!print_escaped(text, (size_t)(newline - text), stdout))
            report_starved();
        printf("\n%*s", column, "");
        text = newline + 1;
    }
    if (!print_escaped(text, (size_t)(end - text), stdout))
        report_starved();
}

/* "dog", "cat" */
static void print_texts(const struct value *v, size_t limit, unsigned at, unsigned column)
{
    size_t texts = value_texts(v), length;
    for (size_t i = 0; i < texts && i < limit; i++) {
        const uint8_t *text = value_text(v, i, &length);
        printf("%s\"%s\"", i ? ", " : "", shown_bytes(text, length));
    }
    if (texts > limit)
        print_how_many(texts, at, column);
}

/* A value in a listing: short, and with the name of its class. */
static void print_value(const apl_field *field, const struct value *v, const struct extent *extent,
                        unsigned at, unsigned column)
{
    if (v->dtype == APL_UTF8 && v->ndim > 1) {
        print_texts(v, extent->numbers, at, column);
        return;
    }
    if (v->dtype == APL_UTF8 && extent->whole_text) {
        print_lines(v, (int)column);
        return;
    }
    if (v->dtype == APL_UTF8) {
        fputs(shown_bytes(v->data, v->bytes), stdout);
        return;
    }
    print_numbers(v, extent->numbers, at, column);
    if (v->elements == 1 && field->class_count && dtype_is_unsigned(v->dtype)) {
        uint64_t cls = value_unsigned(v, 0);
        if (cls < field->class_count)
            printf(" (%s)", shown(field->classes[cls]));
    }
}

/* The column where values begin: after the longest name, and two blanks. In a window, very long names stand above their values. */
static unsigned value_column(const apl_store *store)
{
    unsigned widest = 6; /* of "record" */
    unsigned room = terminal_room(), most = room ? room / 3 : UINT_MAX;
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++) {
        unsigned width = text_width(shown(apl_store_field(store, i)->name));
        widest = width > widest && width <= most ? width : widest;
    }
    return widest + 2;
}

static void print_name(const char *name, unsigned column)
{
    unsigned width = text_width(name);
    if (width + 2 > column) {
        puts(name);
        width = 0;
        name = "";
    }
    printf("%s%*s", name, (int)(column - width), "");
}

static void print_field(const apl_store *store, const apl_batch *batch, size_t row, unsigned field,
                        const struct extent *extent)
{
    const apl_field *f = apl_store_field(store, field);
    struct value v = value_of(apl_batch_column(batch, field), row, apl_batch_rows(batch));
    unsigned column = value_column(store), at = column;
    print_name(shown(f->name), column);
    if (f->media)
        print_file(f, &v);
    else {
        if (f->ndim > (f->dtype == APL_UTF8))
            at += (unsigned)printf("%s  ", type_text(f));
        print_value(f, &v, extent, at, column);
    }
    putchar('\n');
}

void record_head(const apl_store *store, const apl_batch *batch, size_t row)
{
    printf("%-*s%llu\n", (int)value_column(store), "record", (unsigned long long)apl_batch_ids(batch)[row]);
}

void record_field(const apl_store *store, const apl_batch *batch, size_t row, unsigned field)
{
    bool pixels = field_is_image(apl_store_field(store, field));
    print_field(store, batch, row, field, pixels ? &listing : &showing);
}

void record_list(const apl_store *store, const apl_batch *batch, size_t row, int only)
{
    if (row)
        putchar('\n');
    record_head(store, batch, row);
    for (unsigned i = 0; i < apl_store_info(store)->fields; i++)
        if (apl_batch_column(batch, i) && (only < 0 || (unsigned)only == i))
            print_field(store, batch, row, i, &listing);
}

/* The texts of a list, apart by tabs. */
static bool print_list(const struct value *v, FILE *to)
{
    size_t texts = value_texts(v), length;
    bool ok = true;
    for (size_t i = 0; i < texts && ok; i++) {
        const uint8_t *text = value_text(v, i, &length);
        fputs(i ? "\t" : "", to);
        ok = print_escaped(text, length, to);
    }
    return ok;
}

/* A line per record: text with control bytes escaped, or all numbers. false: out of memory. */
static bool print_text(const apl_column *column, size_t rows, FILE *to)
{
    for (size_t r = 0; r < rows; r++) {
        struct value v = value_of(column, r, rows);
        if (v.dtype == APL_UTF8 && !(v.ndim > 1 ? print_list(&v, to) : print_escaped(v.data, v.bytes, to)))
            return false;
        for (size_t i = 0; i < v.elements && v.dtype != APL_UTF8; i++)
            fprintf(to, "%s%s", i ? " " : "", element_text(&v, i));
        fputc('\n', to);
    }
    return true;
}

struct bytes records_text(const apl_column *column, size_t rows)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return (struct bytes){0};
    bool bad = !print_text(column, rows, memory);
    bad |= ferror(memory) != 0;
    bad |= fclose(memory) != 0;
    if (bad) {
        free(text);
        return (struct bytes){0};
    }
    return (struct bytes){(uint8_t *)text, size};
}
