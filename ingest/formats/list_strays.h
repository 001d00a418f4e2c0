/* Images in folders that are called as another split than the rows which name them: val/1.jpg in a row of train. */
#ifndef LIST_STRAYS_H
#define LIST_STRAYS_H

#include "list_columns.h"

/* From {0}. */
struct list_strays {
    uint64_t count;
    uint64_t row; /* of the first */
    size_t file;
    const char *split; /* of the row */
    char path[128];    /* safe to print */
    uint32_t told;     /* which splits folders of any image tell: a bit for each rank */
    bool whole;        /* a path begins at the root, where a folder of all data may be called so */
};

/* Takes what a row of the split, as list_split_word() has it, names as an image or a mask. */
void list_strays_take(struct list_strays *strays, const char *split, const char *path, size_t file,
                      uint64_t row);

/* After the last. */
void list_strays_tell(const struct list_strays *strays, const struct list_columns *l);

#endif
