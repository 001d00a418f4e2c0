/* What the columns of a list's files are: found out by reading all of them once. */
#ifndef LIST_COLUMNS_H
#define LIST_COLUMNS_H

#include "column.h"

#define LIST_SPLITS 64u
#define LIST_IMAGES 16u /* columns of images and masks, of which each becomes two to four fields */

/* A column of paths of images, or of masks. */
struct list_image {
    unsigned column;
    bool mask;
};

/* What is odd about how rows and cells are parted. */
struct list_odd {
    uint64_t returns, first_return; /* as struct csv_odd has them, of a file whose lines end otherwise; */
    const char *return_file;        /* the first such */
    const char *trimmed_file;       /* the first whose blanks around cells are left out; NULL: none */
};

struct list_columns {
    const struct format_host *host;
    struct column columns[ROWS_COLUMNS];
    unsigned count;
    uint64_t rows;      /* that can be read, */
    uint64_t first_row; /* the first of them, */
    const char *first_file;
    uint64_t *file_rows; /* and of each file with those that cannot */
    struct list_odd odd;
    apl_error unreadable;                  /* the first of these; status APL_OK: none */
    struct list_image images[LIST_IMAGES]; /* images, the one called image first; then masks */
    unsigned image_count;
    int label, split; /* columns; -1: none */
    bool indexed;     /* the column index came without a name: it numbers the rows */
};

/* Does a column hold paths of images or masks? */
static inline bool list_has_images(const struct list_columns *l)
{
    return l->image_count > 0;
}

/* Which of the images a column is; -1: none. */
static inline int list_image_of(const struct list_columns *l, unsigned i)
{
    for (unsigned k = 0; k < l->image_count; k++)
        if (l->images[k].column == i)
            return (int)k;
    return -1;
}

/* Columns that become fields of their own. */
static inline bool list_is_value(const struct list_columns *l, unsigned i)
{
    return list_image_of(l, i) < 0 && (int)i != l->split;
}

/* The column of that name, or -1. */
int list_find_column(const struct list_columns *l, const char *name);

/* The error that a column which an option names is not there. */
apl_status list_lacks_column(const struct list_columns *l, const char *name, const char *option,
                             apl_error *err);

/* How the file's rows are written, by its name: .csv, .tsv, .tab, .jsonl, .ndjson. false: it is no list. */
bool list_kind(const char *name, enum rows_kind *kind);

/* Opens a file of the host's. Closed by list_end(), which is told what came of reading it, such as APL_END, and says what came of all: a row
 * may seem to lack what the file lacks, or what was not read as the caller has cancelled. */
struct list_file {
    struct format_stream *stream;
    struct rows *rows;
    int columns[ROWS_COLUMNS]; /* of each of list_columns: the number in the rows; -1: not known yet */
};
apl_status list_begin(const struct list_columns *l, size_t file, struct list_file *f, apl_error *err);
apl_status list_end(const struct list_columns *l, struct list_file *f, apl_status status, apl_error *err);

/* Goes to the next row. One that cannot be read (rows_fault()) is an error, unless bad rows are to be left out. */
apl_status list_next(const struct list_columns *l, struct list_file *f, apl_error *err);

/* A cell of the current row, by the number of the list's column. */
apl_status list_cell(const struct list_columns *l, struct list_file *f, unsigned column, struct cell *cell,
                     apl_error *err);

/* Reads all files; and, once it is known which columns are of images (list_images_find()), decides what the others are. */
apl_status list_columns_read(struct list_columns *l, apl_error *err);
apl_status list_columns_decide(struct list_columns *l, apl_error *err);
void list_columns_free(struct list_columns *l);

#endif
