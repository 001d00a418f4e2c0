/*
 * The files of MNIST: for every split and field one of the IDX format, with big-endian numbers. They are called as MNIST's are, such as
 * train-images-idx3-ubyte and t10k-labels-idx1-ubyte. Where such names do not tell splits and fields, splits.json does.
 */
#include "cmd_export_splits.h"

#include "args.h"
#include "describe.h"
#include "npy.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct type {
    apl_dtype dtype;
    uint8_t code;
    const char *name;
} types[] = {{APL_U8, 0x08, "ubyte"}, {APL_I8, 0x09, "byte"},   {APL_I16, 0x0b, "short"},
             {APL_I32, 0x0c, "int"},  {APL_F32, 0x0d, "float"}, {APL_F64, 0x0e, "double"}};

struct idx {
    struct export *x;
    unsigned field;
    int file;
    uint8_t *swapped; /* a part of a column */
    struct export_list list;
};

#define SWAPPED_BYTES ((size_t)1 << 16)

static const struct type *type_of(apl_dtype dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype)
            return &types[i];
    return NULL;
}

static bool fits(const apl_field *f)
{
    return type_of(f->dtype) && f->value_bytes > 0;
}

static void swap(uint8_t *to, const uint8_t *from, size_t bytes, size_t size)
{
    for (size_t i = 0; i < bytes; i += size)
        for (size_t b = 0; b < size; b++)
            to[i + b] = from[i + size - 1 - b];
}

static int write_values(void *user, const apl_batch *batch)
{
    struct idx *idx = user;
    const apl_column *column = apl_batch_column(batch, idx->field);
    size_t size = apl_dtype_size(column->dtype);
    if (size == 1 || npy_byte_order() == '>')
        return outset_write(&idx->x->out, idx->file, column->data, column->bytes);
    const uint8_t *data = column->data;
    int status = 0;
    for (size_t at = 0; at < column->bytes && !status; at += SWAPPED_BYTES) {
        size_t n = column->bytes - at < SWAPPED_BYTES ? column->bytes - at : SWAPPED_BYTES;
        swap(idx->swapped, data + at, n, size);
        status = outset_write(&idx->x->out, idx->file, idx->swapped, n);
    }
    return status;
}

static void put_number(uint8_t *to, uint64_t n)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(n >> (24 - 8 * i));
}

static int write_header(struct idx *idx, const apl_field *f, uint64_t records)
{
    uint8_t header[4 + 4 * (1 + APL_MAX_DIMS)] = {0, 0, type_of(f->dtype)->code, (uint8_t)(1 + f->ndim)};
    if (records > UINT32_MAX)
        return failed("%s: has more records than IDX can count", shown_db(idx->x->path));
    put_number(header + 4, records);
    for (unsigned d = 0; d < f->ndim; d++)
        put_number(header + 8 + (size_t)4 * d, (uint64_t)f->shape[d]); /* of at most APL_MAX_VALUE bytes */
    return outset_write(&idx->x->out, idx->file, header, 8 + (size_t)4 * f->ndim);
}

static int write_file(struct idx *idx, const apl_split *split)
{
    const apl_field *f = apl_store_field(idx->x->store, idx->field);
    char name[2 * APL_MAX_NAME + 32];
    snprintf(name, sizeof name, "%s-%s-idx%u-%s", strcmp(split->name, "test") == 0 ? "t10k" : split->name,
             strcmp(f->name, "image") == 0   ? "images"
             : strcmp(f->name, "label") == 0 ? "labels"
                                             : f->name,
             1 + f->ndim, type_of(f->dtype)->name);
    idx->file = outset_add(&idx->x->out, name);
    export_list_add(&idx->list, name, split->name, f,
                    (strcmp(f->name, "image") == 0 && f->role == APL_INPUT) ||
                        (strcmp(f->name, "label") == 0 && f->role == APL_TARGET));
    int status = idx->file < 0 ? EXIT_FAILURE : write_header(idx, f, split->count);
    if (!status)
        status = export_each(idx->x, split->first, split->count, &idx->field, 1, write_values, idx);
    return status ? status : outset_finish(&idx->x->out, idx->file);
}

/* Names that IDX cannot hold are left out, unless they were asked for; nothing else is. */
static int choose(struct export *x, unsigned *fields, unsigned *count)
{
    unsigned n = 0;
    int status = export_fields(x, false, fields, count);
    for (unsigned i = 0; i < *count && !status; i++) {
        const apl_field *f = apl_store_field(x->store, fields[i]);
        if (fits(f))
            fields[n++] = fields[i];
        else if (f->role != APL_NAME || x->fields.count)
            return failed("%s: IDX cannot hold field %s, of type %s; --fields says what to write",
                          shown_db(x->path), shown(f->name), type_text(f));
        else if (!x->quiet)
            note("%s: IDX cannot hold field %s, of type %s", shown_db(x->path), shown(f->name), type_text(f));
    }
    *count = n;
    return status;
}

static int write_idx_files(struct idx *idx, const unsigned *fields, unsigned count)
{
    struct export *x = idx->x;
    int status = 0;
    for (unsigned s = 0; s < x->info->splits && !status; s++) {
        const apl_split *split = apl_store_split(x->store, s);
        status = export_check_split(x, split);
        for (unsigned i = 0; i < count && !status; i++) {
            idx->field = fields[i];
            status = write_file(idx, split);
        }
    }
    return status ? status : export_list_write(&idx->list, x);
}

int export_idx(struct export *x)
{
    unsigned fields[APL_MAX_FIELDS], count = 0;
    int status = choose(x, fields, &count);
    struct idx idx = {.x = x, .swapped = malloc(SWAPPED_BYTES)};
    if (!export_list_begin(&idx.list) || !idx.swapped)
        status = failed("out of memory");
    x->total = x->info->records * count;
    if (!status)
        status = write_idx_files(&idx, fields, count);
    json_decref(idx.list.files);
    free(idx.swapped);
    return status;
}
