/* The records of a list: see list_records.h. */
#include "list_records.h"

#include "parallel.h"

#include <inttypes.h>
#include <stdio.h>

#define GATHER_BYTES ((size_t)16 << 20) /* of files and samples, unless one image has more */

static apl_status make_record(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct list_records *l = context;
    struct list_record *r = &l->records[task];
    if (r->status != APL_OK || !list_has_images(l->columns))
        return APL_OK;
    if (!l->makers[worker] && !(l->makers[worker] = image_maker_new()))
        return fail_nomem(err);
    r->status = image_make(l->makers[worker], l->plan, l->host->unchecked, &r->made, &r->error);
    if (r->status == APL_E_NOMEM)
        *err = r->error;
    return r->status == APL_E_NOMEM ? APL_E_NOMEM : APL_OK;
}

static apl_status append_record_of(struct list_records *l, const struct list_record *r, apl_error *err)
{
    apl_value values[APL_MAX_FIELDS];
    unsigned n = 0;
    struct image_values v = {.count = 0};
    if (list_has_images(l->columns)) {
        image_values_of(&v, l->names, l->plan, &r->made, &r->path);
        values[n++] = v.image;
    }
    for (unsigned i = 0; i < l->columns->count; i++) {
        const struct column *c = &l->columns->columns[i];
        bool varies = c->ndim > 0 && (c->shape[0] < 0 || (c->ndim == 2 && c->shape[1] < 0));
        if (list_is_value(l->columns, i))
            values[n++] = (apl_value){r->values.size ? r->values.data + r->begins[i] : NULL,
                                      varies ? r->shapes[i] : NULL};
    }
    for (unsigned i = 0; i < v.count; i++)
        values[n++] = v.beside[i];
    for (unsigned i = 0; i < REMARKS; i++)
        l->remarks[i] += r->made.remarks[i];
    l->appended++;
    return l->host->append(l->host->user, values, err);
}

/* A row that is bad in itself. */
static apl_status leave_row_out(struct list_records *l, const struct list_record *r, apl_error *err)
{
    char where[1600], path[600] = "", file[300];
    const char *name = l->host->files[r->file].name;
    if (r->column < 0 && r->path.size > 0)
        printable(path, sizeof path, (const char *)r->path.data, r->path.size);
    printable(file, sizeof file, name, strlen(name));
    snprintf(where, sizeof where, "%s: row %" PRIu64 "%s%s", file, r->row,
             r->column >= 0 ? ", column "
             : *path        ? ": "
                            : "",
             r->column >= 0 ? l->columns->columns[r->column].name : path);
    return l->host->bad(l->host->user, where, &r->error, err);
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

static apl_status take_image(struct list_records *l, struct list_record *r, const struct cell *cell)
{
    r->path.size = 0;
    if (cell->length > 0)
        buffer_put(&r->path, cell->text, cell->length);
    if (r->path.failed)
        return fail_nomem(&r->error);
    apl_status status = l->host->read_beside(l->host->user, r->file, cell->text, &r->made.bytes, &r->error);
    if (status == APL_OK)
        l->gathered_bytes += r->made.bytes.size + image_maker_need(l->makers[0], l->plan, &r->made);
    return status;
}

/* What is wrong with the row is kept in it; an error is of the table, or memory. */
static apl_status take_cell_of(struct list_records *l, struct list_record *r, struct list_file *f, unsigned i,
                               apl_error *err)
{
    struct cell cell;
    TRY(list_cell(l->columns, f, i, &cell, err));
    if ((int)i == l->columns->image) {
        r->status = take_image(l, r, &cell);
    } else if (list_is_value(l->columns, i)) {
        r->begins[i] = r->values.size;
        r->status = column_value(&l->columns->columns[i], &cell, &r->values, r->shapes[i], &r->error);
        if (r->status != APL_OK)
            r->column = (int)i;
    }
    if (r->status == APL_E_NOMEM)
        return fail_nomem(err);
    return APL_OK;
}

apl_status list_records_gather(struct list_records *l, size_t file, struct list_file *f, apl_error *err)
{
    struct list_record *r = &l->records[l->gathered];
    r->file = file;
    r->row = rows_number(f->rows);
    r->status = APL_OK;
    r->column = -1;
    r->values.size = r->path.size = 0;
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
    return l->makers && (l->makers[0] = image_maker_new()) ? APL_OK : fail_nomem(err);
}

void list_records_free(struct list_records *l)
{
    for (unsigned i = 0; i < GATHER_ROWS; i++) {
        image_free(&l->records[i].made);
        buffer_free(&l->records[i].path);
        buffer_free(&l->records[i].values);
    }
    for (unsigned i = 0; l->makers && i < l->threads; i++)
        image_maker_free(l->makers[i]);
    free(l->makers);
}
