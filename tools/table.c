#include "table.h"

#include "args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Columns that the text takes on a terminal, if all its characters are of single width. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

static int column_width(const struct table *table, size_t column, size_t columns)
{
    int widest = 0;
    for (size_t i = column; i < table->count; i += columns) {
        int width = width_of(table->cells[i]);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void print_cell(const char *text, char align, int width, bool last)
{
    int pad = width - width_of(text);
    if (align == 'r')
        printf("%*s%s", pad, "", text);
    else
        printf("%s%*s", text, last ? 0 : pad, ""); /* no blanks at the end of a line */
    fputs(last ? "\n" : "  ", stdout);
}

static void print_rows(const struct table *table)
{
    size_t columns = strlen(table->columns);
    int widths[16] = {0};
    for (size_t c = 0; c < columns && c < 16; c++)
        widths[c] = column_width(table, c, columns);
    for (size_t i = 0; columns > 0 && i < table->count; i++) {
        size_t c = i % columns;
        print_cell(table->cells[i], table->columns[c], widths[c < 16 ? c : 15], c == columns - 1);
    }
}

int table_print(struct table *table)
{
    bool bad = table->failed;
    if (!bad)
        print_rows(table);
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (struct table){.columns = table->columns};
    return bad ? failed("out of memory") : 0;
}
