/* The records of a list: see list_records.h. */
#include "list_records.h"

#include "list_kinds.h"
#include "parallel.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#define WHOLE_ROW    UINT_MAX /* for a column */
#define PLACE_BYTES  1600
#define GATHER_BYTES ((size_t)16 << 20) /* of files and samples, unless one image has more */

/* The image or mask of a column; masks come after the image that they belong to. */
static apl_status make_one(const struct list_records *l, struct image_maker *maker, struct list_record *r,
                           unsigned k)
{
    const struct list_made *first = &r->images[0];
    const struct masked_image image = {&first->made, &first->path};
    if (!l->columns->images[k].mask)
        return image_make(maker, &l->plans[k].plan, l->host->unchecked, &r->images[k].made, &r->error);
    return mask_make(maker, &l->plans[k].plan, l->columns->images[0].mask ? NULL : &image, &r->images[k].made,
                     &r->error);
}

static apl_status make_record(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct list_records *l = context;
    struct list_record *r = &l->records[task];
    if (r->status != APL_OK || !list_has_images(l->columns))
        return APL_OK;
    if (!l->makers[worker] && !(l->makers[worker] = image_maker_new(l->host->allow_warnings)))
        return fail_nomem(err);
    for (unsigned k = 0; k < l->columns->image_count && r->status == APL_OK; k++) {
        r->column = l->columns->images[k].column;
        r->status = make_one(l, l->makers[worker], r, k);
    }
    for (unsigned k = 0; k < l->columns->image_count && r->status == APL_OK; k++)
        list_kinds_move(l->columns, k, &r->images[k].made, r->values.data, r->begins, r->shapes);
    if (r->status == APL_E_NOMEM)
        *err = r->error;
    return r->status == APL_E_NOMEM ? APL_E_NOMEM : APL_OK;
}

/* The first image, then a value for each other column, in their order: see add_fields(). */
static unsigned put_values(const struct list_records *l, const struct list_record *r,
                           const struct image_values *images, apl_value *values)
{
    unsigned n = 0;
    if (list_has_images(l->columns))
        values[n++] = images[0].image;
    for (unsigned i = 0; i < l->columns->count; i++) {
        const struct column *c = &l->columns->columns[i];
        bool varies = c->ndim > 0 && (c->shape[0] < 0 || (c->ndim == 2 && c->shape[1] < 0));
        int image = list_image_of(l->columns, i);
        if (image > 0)
            values[n++] = images[image].image;
        if (list_is_value(l->columns, i))
            values[n++] = (apl_value){r->values.size ? r->values.data + r->begins[i] : NULL,
                                      varies ? r->shapes[i] : NULL};
    }
    return n;
}

/* The fields beside an image. */
static unsigned put_beside(const struct image_values *image, apl_value *values)
{
    for (unsigned i = 0; i < image->count; i++)
        values[i] = image->beside[i];
    return image->count;
}

/* Where a row is, and its cell of a column. What an image is, its path says, and of other cells their column. */
static const char *cell_place(const struct list_records *l, const struct list_record *r, unsigned column,
                              char where[PLACE_BYTES])
{
    char path[600] = "", file[300];
    const char *name = l->host->files[r->file].name;
    int image = list_image_of(l->columns, column);
    const struct buffer *is = image < 0 ? NULL : &r->images[image].path;
    if (is && is->size > 0)
        printable(path, sizeof path, (const char *)is->data, is->size);
    printable(file, sizeof file, name, strlen(name));
    if (!*path && column != WHOLE_ROW)
        snprintf(path, sizeof path, "column %s", l->columns->columns[column].name);
    snprintf(where, PLACE_BYTES, "%s: row %" PRIu64 "%s%s", file, r->row,
             !*path               ? ""
             : is && is->size > 0 ? ": "
                                  : ", ",
             path);
    return where;
}

static apl_status append_record_of(struct list_records *l, const struct list_record *r, apl_error *err)
{
    apl_value values[APL_MAX_FIELDS];
    struct image_values images[LIST_IMAGES];
    char where[PLACE_BYTES];
    for (unsigned k = 0; k < l->columns->image_count; k++) {
        const struct list_made *m = &r->images[k];
        image_values_of(&images[k], &l->plans[k].names, &l->plans[k].plan, &m->made, &m->path);
        image_tally_take(&l->tally, l->host, cell_place(l, r, l->columns->images[k].column, where), &m->made);
    }
    unsigned n = put_values(l, r, images, values);
    if (list_has_images(l->columns))
        n += put_beside(&images[0], values + n);
    for (unsigned i = 0; i < l->columns->count; i++)
        if (list_image_of(l->columns, i) > 0)
            n += put_beside(&images[list_image_of(l->columns, i)], values + n);
    l->appended++;
    l->appending = r;
    return l->host->append(l->host->user, values, err);
}

const char *list_records_where(const struct list_records *l, char *out, size_t size)
{
    char where[PLACE_BYTES];
    snprintf(out, size, "%s", cell_place(l, l->appending, WHOLE_ROW, where));
    return out;
}

/* A row that is bad in itself. */
static apl_status leave_row_out(struct list_records *l, const struct list_record *r, apl_error *err)
{
    char where[PLACE_BYTES];
    return l->host->bad(l->host->user, cell_place(l, r, r->column, where), &r->error, err);
}

apl_status list_records_flush(struct list_records *l, apl_error *err)
{
    unsigned n = l->gathered;
    l->gathered = 0;
    l->gathered_bytes = 0;
    apl_status status = parallel_for(l->threads, n, make_record, l, err);
    if (status != APL_OK)
        return l->host->not_the_source(l->host->user, status);
    for (unsigned i = 0; i < n; i++) {
        if (l->records[i].status == APL_OK)
            TRY(append_record_of(l, &l->records[i], err));
        else
            TRY(leave_row_out(l, &l->records[i], err));
    }
    return APL_OK;
}

/* ------------------------------------------------------------ gathering */

static apl_status take_image(struct list_records *l, struct list_record *r, unsigned k,
                             const struct cell *cell)
{
    struct list_made *m = &r->images[k];
    m->path.size = 0;
    if (cell->length > 0)
        buffer_put(&m->path, cell->text, cell->length);
    if (m->path.failed)
        return fail_nomem(&r->error);
    apl_status status = l->host->read_beside(l->host->user, r->file, cell->text, &m->made.bytes, &r->error);
    if (status == APL_OK)
        l->gathered_bytes += m->made.bytes.size + image_maker_need(l->makers[0], &l->plans[k].plan, &m->made);
    return status;
}

/* What is wrong with the row is kept in it; an error is of the table, or memory. */
static apl_status take_cell_of(struct list_records *l, struct list_record *r, struct list_file *f, unsigned i,
                               apl_error *err)
{
    struct cell cell;
    int image = list_image_of(l->columns, i);
    TRY(list_cell(l->columns, f, i, &cell, err));
    r->column = i;
    if (image >= 0) {
        r->status = take_image(l, r, (unsigned)image, &cell);
    } else if ((int)i == l->columns->split && split_cells_lacks(&l->columns->columns[i].splits, &cell)) {
        r->status = split_cells_refuse(&cell, &r->error);
    } else if (list_is_value(l->columns, i)) {
        r->begins[i] = r->values.size;
        r->status = column_value(&l->columns->columns[i], &cell, &r->values, r->shapes[i], &r->error);
    }
    if (r->status == APL_E_NOMEM)
        return fail_nomem(err);
    return APL_OK;
}

/* A row that cannot be read. */
static void take_fault(const struct list_records *l, struct list_record *r, const struct row_fault *fault)
{
    int column = fault->column ? list_find_column(l->columns, fault->column) : -1;
    r->column = column < 0 ? WHOLE_ROW : (unsigned)column;
    r->status = fault->why.status;
    r->error = fault->why;
    for (unsigned k = 0; k < l->columns->image_count; k++)
        r->images[k].path.size = 0;
}

apl_status list_records_gather(struct list_records *l, size_t file, struct list_file *f, apl_error *err)
{
    struct list_record *r = &l->records[l->gathered];
    r->file = file;
    r->row = rows_number(f->rows);
    r->status = APL_OK;
    r->values.size = 0;
    if (rows_fault(f->rows))
        take_fault(l, r, rows_fault(f->rows));
    for (unsigned i = 0; i < l->columns->count && r->status == APL_OK; i++)
        TRY(take_cell_of(l, r, f, i, err));
    l->gathered_bytes += r->values.size;
    l->gathered++;
    return l->gathered == GATHER_ROWS || l->gathered_bytes >= GATHER_BYTES ? list_records_flush(l, err)
                                                                           : APL_OK;
}

apl_status list_records_open(struct list_records *l, apl_error *err)
{
    l->threads = threads_for(l->host->threads);
    l->makers = calloc(l->threads, sizeof *l->makers);
    return l->makers && (l->makers[0] = image_maker_new(l->host->allow_warnings)) ? APL_OK : fail_nomem(err);
}

void list_records_free(struct list_records *l)
{
    for (unsigned i = 0; i < GATHER_ROWS; i++) {
        for (unsigned k = 0; k < LIST_IMAGES; k++) {
            image_free(&l->records[i].images[k].made);
            buffer_free(&l->records[i].images[k].path);
        }
        buffer_free(&l->records[i].values);
    }
    for (unsigned i = 0; l->makers && i < l->threads; i++)
        image_maker_free(l->makers[i]);
    free(l->makers);
}
