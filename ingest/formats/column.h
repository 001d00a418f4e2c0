/* A column of a table: what its cells are, found out over all of them, and the values that they become. */
#ifndef COLUMN_H
#define COLUMN_H

#include "name_set.h"
#include "split_cells.h"

struct column {
    char name[APL_MAX_NAME + 1];
    uint64_t kinds[CELL_KINDS];     /* cells of each kind, */
    uint64_t first_row[CELL_KINDS]; /* and the first of them: its row, */
    const char *first_file;         /* and file, of the first text */
    uint64_t empty_row;             /* the first whose text is empty, or that lacks the column; 0: none */
    const char *empty_file;
    char first_text[40];
    int64_t least, most; /* of whole numbers */
    bool inexact;        /* some of them are no f64 */
    uint64_t images;     /* cells that are called as images are */
    uint64_t length;     /* of all lists */
    uint32_t inner;      /* of these */
    bool lengths_vary, inner_varies, all_whole, any_list, any_filled;
    bool single;            /* lists become f32, whether whole or not */
    bool texts;             /* text is lists of texts */
    struct name_set *names; /* of the texts that are names, where they are counted; NULL: not, or too many */
    uint64_t unnamed_row;   /* the first whose text is no name, and not empty; 0: none */
    uint64_t nested_row;    /* the first that is a list or an object */
    const char *unnamed_file, *nested_file;
    struct split_cells splits;

    /* What becomes of it. */
    apl_dtype dtype;
    unsigned ndim;
    int64_t shape[2];
    bool given;   /* that was said by the caller */
    bool classes; /* values are the numbers of names */
};

/* Takes a cell into account. APL_E_NOMEM. */
apl_status column_take(struct column *c, const struct cell *cell, const char *file, uint64_t row,
                       apl_error *err);

/* Takes a type as the caller gives it: "f32", "utf8", "f32[-1,4]". false: there is no such type. */
bool column_give(struct column *c, const char *type);

/* Decides, once all cells have been taken. */
void column_decide(struct column *c);

/* The same for a column of labels: names become classes, in their order; whole numbers from 0 as narrow as they fit. `skip`: rows whose
 * labels are empty or no names are left out, and no error. An error in a row sets *file to the row's. */
apl_status column_decide_label(struct column *c, bool skip, const char **file, apl_error *err);

/* Appends the value to `out`; its shape to shape[2] where it varies. The message of an error says what is wrong with the cell. */
apl_status column_value(const struct column *c, const struct cell *cell, struct buffer *out, int64_t shape[2],
                        apl_error *err);

#endif
