/* Aligned columns on stdout. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table {
    const char *columns; /* one letter a column: 'l' left, 'r' right */
    char **cells;
    size_t count, capacity;
    bool failed;
    bool turns; /* rows may become columns, where a window has no room for it otherwise */
};

#define TABLE(letters)       \
    {                        \
        .columns = (letters) \
    }

/* Appends a cell; the text is copied. Cells fill row after row. */
void table_add(struct table *table, const char *text);

/* Prints what has been added and frees it; returns 0, or EXIT_FAILURE where memory ran out. */
int table_print(struct table *table);

#endif
