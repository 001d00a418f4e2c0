/* NumPy's arrays: .npy files of equal length, each a field, and .npz archives of them. A structured type has a field for each of its
 * own. Rows are read one after another; of arrays in Fortran order, where a row is spread over the file, many at a time. */
#include "array_series.h"
#include "array_splits.h"
#include "file_name.h"
#include "npy_rows.h"
#include "split_note.h"
#include "zip_list.h"

#include <inttypes.h>
#include <stdio.h>

struct npy_format {
    const struct format_host *host;
    struct arrays *arrays;
    struct array_splits splits; /* of an export that needs them */
    struct split_note note;     /* of others */
    struct array_series series; /* of files, whose names these are */
    struct npy **all;
    size_t count, room;
};

/* --------------------------------------------------------------------------------------------- what is an array */

static bool is_npy(const struct format_file *file)
{
    return file->head_size >= 10 && memcmp(file->head, "\x93NUMPY", 6) == 0;
}

/* A zip archive whose first member is an array. */
static bool is_npz(const struct format_file *file)
{
    const uint8_t *h = file->head;
    if (file->head_size < 30 || memcmp(h, "PK\3\4", 4) != 0 || file->packed)
        return false;
    size_t name = load_le(h + 26, 2);
    return name > 4 && 30 + name <= file->head_size && memcmp(h + 30 + name - 4, ".npy", 4) == 0;
}

static bool sniff_npy(const struct format_file *file)
{
    return is_npy(file) || is_npz(file);
}

static bool wants_npy(const void *state, const char *name)
{
    static const char *const endings[] = {".npy", ".npz", ".npy.gz", ".npy.zst", ".npy.xz", ".npy.bz2"};
    (void)state;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (name_ends(name, endings[i]))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------------------------- arrays of a file */

/* All of it must be there, and nothing else: rows × bytes, without overflow. */
static apl_status check_npy_size(const struct npy *npy, uint64_t *bytes, apl_error *err)
{
    const struct npy_header *h = &npy->header;
    uint64_t most = INT64_MAX;
    *bytes = h->item;
    for (unsigned d = 0; d < h->ndim; d++) {
        if (h->shape[d] > 0 && *bytes > most / (uint64_t)h->shape[d])
            return fail(err, APL_E_SOURCE, "%s: its shape has more bytes than any file", npy->path);
        *bytes *= (uint64_t)h->shape[d];
    }
    uint64_t size = npy->part.size;
    if (size == FORMAT_UNKNOWN || size == h->size + *bytes)
        return APL_OK;
    return fail(err, size < h->size + *bytes ? APL_E_INCOMPLETE : APL_E_SOURCE,
                "%s: has %" PRIu64 " bytes, but its shape and type say %" PRIu64 "%s", npy->path, size,
                h->size + *bytes, size < h->size + *bytes ? ": it is truncated" : "");
}

/* The field's name and the split: of the array's own name, else the split is that of the .npz, or of the folder. */
static apl_status name_npy(struct split_note *note, const char *name, const struct npy *npy,
                           struct array *array, apl_error *err)
{
    const char *below = npy->host->files[npy->file].below;
    struct path_split is = npy->in_zip ? split_of_path(below) : split_of_folders(below);
    struct file_name own;
    char bare[256];
    size_t length = strlen(name) - (name_ends(name, ".npy") ? 4 : 0);
    snprintf(bare, sizeof bare, "%.*s", length < sizeof bare ? (int)length : 255, name);
    if (!file_name_read(&own, bare))
        return fail(err, APL_E_SOURCE, "%s: has a name of more than 255 bytes or 16 words", array->path);
    if (own.split)
        is = (struct path_split){
            .split = own.split, .rank = own.split_rank, .other = file_name_other_split(bare), .told = true};
    array->split = is.split;
    array->split_rank = is.rank;
    split_note_take(note, array->path, &is);
    if (!own.split)
        snprintf(array->field, sizeof array->field, "%s", bare);
    else
        file_name_join(&own, array->field, sizeof array->field);
    if (!array->field[0])
        snprintf(array->field, sizeof array->field, "data");
    return APL_OK;
}

/* A file of an export may be named by its list. */
static apl_status name_of_npy(struct npy_format *f, const struct npy *npy, const char *name,
                              struct array *array, apl_error *err)
{
    const struct format_file *file = &npy->host->files[npy->file];
    bool named = false;
    if (!npy->in_zip)
        TRY(array_splits_name(&f->splits, file, array, &named, err));
    return named ? APL_OK : name_npy(&f->note, name, npy, array, err);
}

static apl_status add_npy_fields(struct npy *npy, const struct array *common, apl_error *err)
{
    const struct npy_header *h = &npy->header;
    for (unsigned i = 0; i < h->field_count; i++) {
        struct array array = *common;
        array.dtype = h->fields[i].dtype;
        array.swap = h->fields[i].swap;
        if (h->structured) {
            memcpy(array.field, h->fields[i].name, sizeof array.field);
            array.ndim = h->fields[i].ndim;
            memcpy(array.shape, h->fields[i].shape, array.ndim * sizeof *array.shape);
            array.stride = h->item;
            array.offset = h->fields[i].offset;
            array.shares = npy;
        }
        TRY(arrays_add(npy->arrays, &array, err));
    }
    return APL_OK;
}

static apl_status add_npy(struct npy_format *f, struct npy *npy, const char *name, apl_error *err)
{
    const struct npy_header *h = &npy->header;
    const struct format_file *file = &npy->host->files[npy->file];
    struct array array = {.path = npy->path, .open = npy_open, .user = npy};
    uint64_t bytes;
    if (!npy->in_zip && !file->packed)
        array.open_rows = npy_open_rows;
    TRY(npy_read_header(npy, err));
    if (h->ndim == 0)
        return fail(err, APL_E_SOURCE, "%s: is a single number, not an array of rows", npy->path);
    if (h->structured && h->ndim > 1)
        return fail(err, APL_E_UNSUPPORTED, "%s: has a structured type and more than one dimension",
                    npy->path);
    TRY(check_npy_size(npy, &bytes, err));
    TRY(name_of_npy(f, npy, name, &array, err));
    array.rows = (uint64_t)h->shape[0];
    array.ndim = h->ndim - 1;
    memcpy(array.shape, h->shape + 1, array.ndim * sizeof *array.shape);
    array.dtype = h->fields[0].dtype;
    if (!npy->in_zip && !f->splits.json)
        TRY(array_series_take(&f->series, &array, file->below, err));
    if (h->fortran && h->ndim > 1 && bytes > 0) {
        array.rows_at = npy_fortran_rows;
        TRY(file->packed || npy->part.deflated ? npy_hold(npy, bytes, err) : npy_check_crc(npy, err));
    }
    return add_npy_fields(npy, &array, err);
}

/* ------------------------------------------------------------------------------------------------------- files */

static struct npy *npy_new(struct npy_format *f, size_t file, const char *member)
{
    if (f->count == f->room) {
        size_t room = f->room ? 2 * f->room : 16;
        struct npy **all = realloc(f->all, room * sizeof *all);
        if (!all)
            return NULL;
        f->all = all;
        f->room = room;
    }
    const char *path = f->host->files[file].path;
    size_t size = strlen(path) + (member ? strlen(member) : 0) + 3;
    struct npy *npy = calloc(1, sizeof *npy);
    char *shown = malloc(size);
    if (!npy || !shown) {
        free(npy);
        free(shown);
        return NULL;
    }
    snprintf(shown, size, "%s%s%s", path, member ? ": " : "", member ? member : "");
    npy->host = f->host;
    npy->arrays = f->arrays;
    npy->file = file;
    npy->path = shown;
    f->all[f->count++] = npy;
    return npy;
}

static apl_status add_npy_file(struct npy_format *f, size_t file, apl_error *err)
{
    struct npy *npy = npy_new(f, file, NULL);
    if (!npy)
        return fail_nomem(err);
    npy->part = (struct format_part){.size = f->host->files[file].size};
    return add_npy(f, npy, f->host->files[file].name, err);
}

static apl_status add_npz_member(struct npy_format *f, size_t file, const struct zip_member *m,
                                 apl_error *err)
{
    if (!name_ends(m->name, ".npy"))
        return fail(err, APL_E_SOURCE, "%s: %s: is not an array (.npy)", f->host->files[file].path, m->name);
    struct npy *npy = npy_new(f, file, m->name);
    if (!npy)
        return fail_nomem(err);
    npy->in_zip = true;
    npy->part = (struct format_part){.name = strrchr(npy->path, ':') + 2,
                                     .offset = m->offset,
                                     .packed = m->packed,
                                     .size = m->size,
                                     .deflated = m->deflated,
                                     .checked = true,
                                     .crc = m->crc};
    return add_npy(f, npy, m->name, err);
}

struct zip_source {
    const struct format_host *host;
    size_t file;
};

static apl_status read_zip(void *user, uint64_t offset, void *out, size_t size, apl_error *err)
{
    const struct zip_source *z = user;
    return z->host->read_at(z->host->user, z->file, offset, out, size, err);
}

static apl_status add_npz(struct npy_format *f, size_t file, apl_error *err)
{
    const struct format_file *zip = &f->host->files[file];
    struct zip_source from = {f->host, file};
    struct zip_list list;
    apl_error why;
    apl_status status = zip_list_read(read_zip, &from, zip->size, &list, &why);
    if (status != APL_OK)
        status = fail(err, status, "%s: %s", zip->path, why.message);
    for (size_t i = 0; i < list.count && status == APL_OK; i++)
        status = add_npz_member(f, file, &list.members[i], err);
    zip_list_free(&list);
    return status;
}

/* ------------------------------------------------------------------------------------------------- the format */

static apl_status read_npy(void *state, apl_error *err)
{
    struct npy_format *f = state;
    TRY(array_splits_find(&f->splits, f->host, err));
    for (size_t i = 0; i < f->host->file_count; i++)
        TRY(is_npz(&f->host->files[i]) ? add_npz(f, i, err) : add_npy_file(f, i, err));
    TRY(array_splits_check(&f->splits, f->host, err));
    split_note_tell(&f->note, f->host);
    array_series_tell(&f->series, f->host);
    return arrays_read(f->arrays, err);
}

static apl_status finish_npy(void *state, char format[32], apl_error *err)
{
    (void)state;
    (void)err;
    snprintf(format, 32, "npy");
    return APL_OK;
}

static void close_npy(void *state)
{
    struct npy_format *f = state;
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++) {
        buffer_free(&f->all[i]->whole);
        free(f->all[i]->path);
        free(f->all[i]);
    }
    free(f->all);
    arrays_free(f->arrays);
    array_splits_free(&f->splits);
    array_series_free(&f->series);
    free(f);
}

static apl_status open_npy(const struct format_host *host, void **state, apl_error *err)
{
    struct npy_format *f = calloc(1, sizeof *f);
    if (!f)
        return fail_nomem(err);
    f->host = host;
    f->arrays = arrays_new(host);
    if (!f->arrays) {
        close_npy(f);
        return fail_nomem(err);
    }
    *state = f;
    return APL_OK;
}

static const char *where_in_npy(const void *state, char *out, size_t size)
{
    const struct npy_format *f = state;
    return arrays_where(f->arrays, out, size);
}

const struct format format_npy = {
    .name = "npy",
    .title = "NumPy arrays: .npy and .npz",
    .uses = FORMAT_CLASSES,
    .open = open_npy,
    .close = close_npy,
    .sniff = sniff_npy,
    .wants = wants_npy,
    .parts = true,
    .read = read_npy,
    .where = where_in_npy,
    .finish = finish_npy,
};
