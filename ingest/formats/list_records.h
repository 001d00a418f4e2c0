/* Rows of a list on their way to the writer: gathered, their images made on all cores, and appended in the order of rows. */
#ifndef LIST_RECORDS_H
#define LIST_RECORDS_H

#include "image_fields.h"
#include "image_tally.h"
#include "list_columns.h"
#include "mask_maker.h"

#define GATHER_ROWS 64u

/* How a column of images or masks is stored. */
struct list_plan {
    struct image_plan plan;
    struct image_names names;
};

/* A row on its way. */
struct list_record {
    struct list_made {
        struct made_image made;
        struct buffer path;
    } images[LIST_IMAGES];
    struct buffer values; /* of all columns, one after another */
    size_t begins[ROWS_COLUMNS];
    int64_t shapes[ROWS_COLUMNS][2];
    size_t file;
    uint64_t row;
    apl_status status; /* what came of the row, or of making its images */
    apl_error error;
    unsigned column; /* where the error is */
};

struct list_records {
    const struct format_host *host;
    const struct list_columns *columns;
    const struct list_plan *plans; /* of each column of images */
    apl_writer *writer;
    unsigned threads;
    struct image_maker **makers; /* of each thread; the first is there from the beginning */
    struct list_record records[GATHER_ROWS];
    unsigned gathered;
    size_t gathered_bytes;
    uint64_t appended;
    const struct list_record *appending; /* the last that was given to the host */
    struct image_tally tally;
};

/* The host is set; columns, plans and writer are by the first row. Freed also where it fails. */
apl_status list_records_open(struct list_records *l, apl_error *err);
void list_records_free(struct list_records *l);

/* Takes the current row of a file. Bad rows are given to the host. */
apl_status list_records_gather(struct list_records *l, size_t file, struct list_file *f, apl_error *err);

/* Where the row that is being appended is; returns `out`. */
const char *list_records_where(const struct list_records *l, char *out, size_t size);

/* Appends what has been gathered. */
apl_status list_records_flush(struct list_records *l, apl_error *err);

#endif
