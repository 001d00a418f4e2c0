/* What the cells of a column tell of splits. */
#ifndef SPLIT_CELLS_H
#define SPLIT_CELLS_H

#include "rows.h"

/* From {0}. */
struct split_cells {
    bool
        called; /* the column is called split: of others, the rest is left out after the first cell that is no word */
    uint64_t filled;  /* cells that are not empty, of which */
    uint64_t words;   /* those are words for splits, as names of files have them; */
    uint32_t tells;   /* which splits they tell: a bit for each rank */
    uint64_t odd_row; /* the first that can be no split's name, and is not empty; 0: none */
    const char *odd_file;
    char odd_text[40]; /* safe to print */
};

/* Could a split be called so? Numbers, lists and what stands for a missing value are no names. */
bool split_cells_is_name(const char *text, size_t length);

/* Takes a cell into account. */
void split_cells_take(struct split_cells *cells, const struct cell *cell, const char *file, uint64_t row);

/* Once all have been taken: of which split the row of a cell is, it does not tell. Names of any kind do where no cell is a word for a split. */
bool split_cells_lacks(const struct split_cells *cells, const struct cell *cell);

/* Fails with that. */
apl_status split_cells_refuse(const struct cell *cell, apl_error *err);

#endif
