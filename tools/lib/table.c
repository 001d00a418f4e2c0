#include "table.h"

#include "args.h"
#include "terminal.h"
#include "wrapped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS 24u
#define LEAST_NAME   12u /* columns that a window must have for names beside the rest of their rows */
#define LEAST_TEXT   16u /* and for a text at the end of a row, which goes on below */

struct layout {
    size_t columns;
    unsigned widths[MOST_COLUMNS], gap;
};

void table_add(struct table *table, const char *text)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 64;
        char **cells = realloc(table->cells, capacity * sizeof *cells);
        if (!cells) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    char *copy = strdup(text);
    table->failed |= !copy;
    if (copy)
        table->cells[table->count++] = copy;
}

static unsigned column_width(const struct table *table, size_t column, size_t columns)
{
    unsigned widest = 0;
    for (size_t i = column; table->cells && i < table->count; i += columns) {
        unsigned width = text_width(table->cells[i]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* They are two blanks apart, or one where a window has no more room. */
static struct layout lay_out(const struct table *table, size_t columns)
{
    struct layout l = {.columns = columns};
    unsigned sum = 0, room = terminal_room();
    for (size_t c = 0; c < columns; c++)
        sum += l.widths[c] = column_width(table, c, columns);
    l.gap = room && sum + 2 * (columns - 1) > room ? 1 : 2;
    return l;
}

/* No blanks at the end of a line; a text at the end of a line that a window has no room for goes on below. */
static void print_row(const struct table *table, char *const *cells, const struct layout *l)
{
    unsigned at = 0, start = 0;
    for (size_t c = 0; c < l->columns; start += l->widths[c++] + l->gap) {
        bool right = table->columns[c] == 'r', last = c == l->columns - 1;
        unsigned width = text_width(cells[c]);
        if (c == 0 && width > l->widths[c]) { /* a long name: the rest of its row is below */
            puts(cells[c]);
            continue;
        }
        unsigned from = right ? start + l->widths[c] - width : start;
        if (!width)
            continue;
        printf("%*s", (int)(from - at), "");
        if (last && !right)
            print_wrapped(cells[c], from, from);
        else
            fputs(cells[c], stdout);
        at = from + width;
    }
    putchar('\n');
}

/* How many columns of a window all but the names of the rows take. */
static unsigned rest_width(const struct table *table, const struct layout *l)
{
    unsigned sum = l->gap * (unsigned)(l->columns - 1);
    for (size_t c = 1; c < l->columns; c++) {
        bool text = c == l->columns - 1 && table->columns[c] == 'l';
        sum += text && l->widths[c] > LEAST_TEXT ? LEAST_TEXT : l->widths[c];
    }
    return sum;
}

static bool fits(const struct table *table, const struct layout *l)
{
    unsigned room = terminal_room();
    return !room || l->widths[0] + rest_width(table, l) <= room;
}

static void print_rows(const struct table *table, const struct layout *l)
{
    for (size_t i = 0; i + l->columns <= table->count; i += l->columns)
        print_row(table, table->cells + i, l);
}

/* With long names on lines of their own; false if the rest has no room either. */
static bool print_below_names(const struct table *table, struct layout l)
{
    unsigned rest = rest_width(table, &l), room = terminal_room(), widest = 0;
    if (rest + LEAST_NAME > room || table->columns[0] != 'l')
        return false;
    for (size_t i = 0; i < table->count; i += l.columns) {
        unsigned width = text_width(table->cells[i]);
        widest = width > widest && width + rest <= room ? width : widest;
    }
    l.widths[0] = widest;
    print_rows(table, &l);
    return true;
}

/* A line for each cell, beside the name of its column, below what the row begins with. */
static void print_lines(const struct table *table, size_t columns)
{
    unsigned names = 0;
    for (size_t c = 1; c < columns; c++) {
        unsigned width = text_width(table->cells[c]);
        names = width > names ? width : names;
    }
    for (size_t i = columns; i < table->count - table->count % columns; i++) {
        const char *name = table->cells[i % columns];
        if (i % columns == 0)
            printf("%s %s\n", name, table->cells[i]);
        else if (*table->cells[i]) {
            printf("  %s%*s  ", name, (int)(names - text_width(name)), "");
            print_wrapped(table->cells[i], names + 4, names + 4);
            putchar('\n');
        }
    }
}

/* With rows for columns; false if that fits no better. */
static bool print_turned(const struct table *table)
{
    size_t columns = strlen(table->columns), rows = table->count / columns;
    char letters[MOST_COLUMNS + 1] = "l", **cells = calloc(table->count + 1, sizeof *cells);
    bool good = cells && rows > 1 && rows <= MOST_COLUMNS;
    if (good)
        memset(letters + 1, 'r', rows - 1);
    for (size_t i = 0; good && i < rows * columns; i++)
        cells[i % columns * rows + i / columns] = table->cells[i];
    struct table turned = {.columns = letters, .cells = cells, .count = rows * columns};
    if (good) {
        struct layout l = lay_out(&turned, rows);
        good = fits(&turned, &l);
        if (good)
            print_rows(&turned, &l);
    }
    free(cells);
    return good;
}

static void print_best(const struct table *table)
{
    size_t columns = strlen(table->columns);
    if (columns == 0 || columns > MOST_COLUMNS)
        return;
    struct layout l = lay_out(table, columns);
    if (fits(table, &l))
        print_rows(table, &l);
    else if (!(table->turns && print_turned(table)) && !print_below_names(table, l))
        print_lines(table, columns);
}

int table_print(struct table *table)
{
    bool bad = table->failed;
    if (!bad)
        print_best(table);
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct table){.columns = table->columns};
    return bad ? failed("out of memory") : 0;
}
