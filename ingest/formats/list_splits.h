/* The splits of a list: by a column, or by the names of its files. */
#ifndef LIST_SPLITS_H
#define LIST_SPLITS_H

#include "list_columns.h"

struct list_splits {
    struct list_split {
        char name[APL_MAX_NAME + 1];
        uint32_t rank;
        uint64_t rows; /* see list_splits_count() */
    } split[LIST_SPLITS];
    unsigned count;
};

/* All of them, in their order. */
apl_status list_splits_find(struct list_splits *s, const struct list_columns *l, apl_error *err);

/* Counts the rows of each split; those that a column names by reading the files once more. */
apl_status list_splits_count(struct list_splits *s, const struct list_columns *l, apl_error *err);

/* By the file's name, where no column names them. */
const char *list_split_of_file(const struct list_columns *l, size_t file, uint32_t *rank);

/* The split that the word for the current row's tells: "val", if the row is of the split valid. NULL: it is no such word. */
apl_status list_split_word(const struct list_columns *l, struct list_file *f, size_t file, const char **split,
                           apl_error *err);

/* Is the current row of this split? Where no column says so, all are; a bad one, whose cell names none, is of the first. */
apl_status list_split_has(const struct list_splits *s, const struct list_columns *l, struct list_file *f,
                          const char *split, bool *is, apl_error *err);

#endif
