/* A NumPy array for every split and field: SPLIT_FIELD.npy; and splits.json, where these names do not tell splits and fields. */
#include "cmd_export_splits.h"

#include "args.h"
#include "characters.h"
#include "npy.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LONGEST_TOLD 28 /* bytes of a name that has at most 14 words */

struct array {
    struct export *x;
    const apl_split *split;
    unsigned field;
    int file;
    size_t widest;  /* text: characters of the longest value */
    uint32_t *wide; /* text: room for one value */
};

/* The character at text[0 ... length-1] and how many bytes it takes; invalid bytes count as characters. */
static size_t decode_char(const uint8_t *text, size_t length, uint32_t *character)
{
    static const uint8_t first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint8_t c = text[0];
    size_t n = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
    *character = c;
    if (n < 2 || n > length)
        return 1;
    uint32_t value = c & first_bits[n];
    for (size_t i = 1; i < n; i++) {
        if (!continues_character((char)text[i]))
            return 1;
        value = value << 6 | (text[i] & 0x3f);
    }
    *character = value;
    return n;
}

static size_t decode_text(const struct value *v, uint32_t *out)
{
    size_t count = 0;
    for (size_t i = 0; i < v->bytes;) {
        uint32_t c;
        i += decode_char(v->data + i, v->bytes - i, &c);
        if (out)
            out[count] = c;
        count++;
    }
    return count;
}

/* NumPy fills its text with NULs, and cannot tell these from a text's own. */
static int check_end(const struct array *a, const struct value *v, uint64_t id)
{
    if (v->bytes == 0 || v->data[v->bytes - 1] != 0)
        return 0;
    return failed("%s: record %llu: the text of field '%s' ends with a NUL, which npy cannot hold; "
                  "--format raw can, and --fields leaves it out",
                  shown(a->x->path), (unsigned long long)id,
                  shown(apl_store_field(a->x->store, a->field)->name));
}

static int measure_text(void *user, const apl_batch *batch)
{
    struct array *a = user;
    size_t rows = apl_batch_rows(batch);
    int status = 0;
    for (size_t r = 0; r < rows && !status; r++) {
        struct value v = value_of(apl_batch_column(batch, a->field), r, rows);
        size_t length = decode_text(&v, NULL);
        a->widest = length > a->widest ? length : a->widest;
        status = check_end(a, &v, apl_batch_ids(batch)[r]);
    }
    return status;
}

static int write_text(void *user, const apl_batch *batch)
{
    struct array *a = user;
    size_t rows = apl_batch_rows(batch);
    int status = 0;
    for (size_t r = 0; r < rows && !status; r++) {
        struct value v = value_of(apl_batch_column(batch, a->field), r, rows);
        memset(a->wide, 0, a->widest * sizeof *a->wide);
        decode_text(&v, a->wide);
        status = outset_write(&a->x->out, a->file, a->wide, a->widest * sizeof *a->wide);
    }
    return status;
}

static int write_numbers(void *user, const apl_batch *batch)
{
    struct array *a = user;
    const apl_column *column = apl_batch_column(batch, a->field);
    return outset_write(&a->x->out, a->file, column->data, column->bytes);
}

static int write_header(struct array *a, const char *type, unsigned ndim, const int64_t *shape)
{
    char header[NPY_HEADER_MAX];
    size_t size = npy_header(header, type, a->split->count, ndim, shape);
    return outset_write(&a->x->out, a->file, header, size);
}

static int each(struct array *a, int (*take)(void *user, const apl_batch *batch))
{
    return export_each(a->x, a->split->first, a->split->count, &a->field, 1, take, a);
}

/* NumPy's text has one width, so the values are read twice. */
static int write_text_array(struct array *a)
{
    char type[32];
    int status = each(a, measure_text);
    a->widest = a->widest ? a->widest : 1;
    snprintf(type, sizeof type, "%cU%zu", npy_byte_order(), a->widest);
    a->wide = malloc(a->widest * sizeof *a->wide);
    if (!status && !a->wide)
        status = failed("out of memory");
    if (!status)
        status = write_header(a, type, 0, NULL);
    if (!status)
        status = each(a, write_text);
    free(a->wide);
    return status;
}

/* Does ingest make this field of an array of its name? It knows words between single '_', and these names of targets. */
static bool name_tells(const apl_field *f)
{
    static const char *const targets[] = {"label", "labels", "target", "targets", "class", "classes", "y"};
    const char *name = f->name;
    size_t length = strlen(name);
    bool is_target = false;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        is_target |= strcasecmp(name, targets[i]) == 0;
    return f->role == (is_target ? APL_TARGET : APL_INPUT) && !strpbrk(name, "-.") && !strstr(name, "__") &&
           name[0] != '_' && name[length - 1] != '_' && length < LONGEST_TOLD;
}

static int write_array(struct export *x, struct export_list *list, const apl_split *split, unsigned field)
{
    const apl_field *f = apl_store_field(x->store, field);
    struct array a = {.x = x, .split = split, .field = field};
    char name[2 * APL_MAX_NAME + 8];
    if (!f->value_bytes && (f->dtype != APL_UTF8 || f->ndim > 1))
        return failed("%s: the shape of field '%s' varies, which npy cannot hold; --format raw can, "
                      "and --fields leaves it out",
                      shown_db(x->path), shown(f->name));
    snprintf(name, sizeof name, "%s_%s.npy", split->name, f->name);
    a.file = outset_add(&x->out, name);
    if (a.file < 0)
        return EXIT_FAILURE;
    export_list_add(list, name, split->name, f, name_tells(f));
    if (f->dtype == APL_UTF8)
        return write_text_array(&a);
    int status = write_header(&a, npy_type(f->dtype), f->ndim, f->shape);
    return status ? status : each(&a, write_numbers);
}

static int write_arrays(struct export *x, struct export_list *list, const unsigned *fields, unsigned count)
{
    int status = 0;
    for (unsigned s = 0; s < x->info->splits && !status; s++) {
        const apl_split *split = apl_store_split(x->store, s);
        status = export_check_split(x, split);
        for (unsigned i = 0; i < count && !status; i++)
            status = write_array(x, list, split, fields[i]);
    }
    return status ? status : export_list_write(list, x);
}

int export_npy(struct export *x)
{
    unsigned fields[APL_MAX_FIELDS], count;
    struct export_list list;
    int status = export_fields(x, true, fields, &count);
    x->total = 0;
    for (unsigned i = 0; i < count && !status; i++)
        x->total += x->info->records * (apl_store_field(x->store, fields[i])->dtype == APL_UTF8 ? 2 : 1);
    if (!export_list_begin(&list))
        return failed("out of memory");
    if (!status)
        status = write_arrays(x, &list, fields, count);
    json_decref(list.files);
    return status;
}
