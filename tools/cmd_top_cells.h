/* The cells of apldata top's table. */
#ifndef CMD_TOP_CELLS_H
#define CMD_TOP_CELLS_H

#include "cmd_top.h"

#define TOP_CELL 160u

enum top_column {
    READER,
    STORE,
    RANK,
    EPOCH,
    DONE,
    RECORDS,
    STALL,
    WORK,
    MEMORY,
    QUEUE,
    CPU,
    BATCHES,
    READS,
    RSS,
    TOP_COLUMNS
};

/* `keep`: the lower, the narrower a screen may be that still has it. */
struct top_column_form {
    const char *title;
    unsigned width, keep;
    bool left;
};
extern const struct top_column_form top_columns[TOP_COLUMNS];

/* What work is called in the bar, in the order of enum top_work. */
extern const char top_letters[TOP_WORKS + 1];

/* What a reader has in a column, of which `width` is how wide it is; texts may be longer, but for those that are made to measure. */
void top_cell(char out[TOP_CELL], enum top_column c, const struct top_reader *r, unsigned width);

#endif
