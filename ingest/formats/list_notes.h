/* What is worth a line about a list's columns, though it is no error. */
#ifndef LIST_NOTES_H
#define LIST_NOTES_H

#include "list_columns.h"

/* Once the files have been read: is the first row one of names, and parted as it should be? */
void list_tell_of_names(const struct list_columns *l);

/* Once types have been decided: which columns are text for the sake of a few cells, or for want of a common type? */
void list_tell_of_types(const struct list_columns *l);

#endif
