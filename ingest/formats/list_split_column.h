/* The column that names the split of each row. */
#ifndef LIST_SPLIT_COLUMN_H
#define LIST_SPLIT_COLUMN_H

#include "list_columns.h"

/* Finds it, once all rows have been read: the one called split, if any cell is a word for a split, or all are names. Where a column
 * seems to be meant, but is a field, a note says so. A cell that names no split is an error, unless bad rows are to be left out; and
 * so are names with blanks at their ends, and two that differ only in case or in these. */
apl_status list_find_split_column(struct list_columns *l, apl_error *err);

#endif
