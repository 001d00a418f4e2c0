/* The column that names the split of each row. */
#ifndef LIST_SPLIT_COLUMN_H
#define LIST_SPLIT_COLUMN_H

#include "list_columns.h"

/* Finds it, once all rows have been read: the one called split, if its cells are names of splits. Where a column seems to be meant, but is
 * a field, a note says so. An empty cell is an error, unless bad rows are to be left out; and
 * so are two names that differ only in case or in blanks at their ends. */
apl_status list_find_split_column(struct list_columns *l, apl_error *err);

#endif
