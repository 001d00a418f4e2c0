/*
 * A file of values for every field, FIELD.bin, in the order of the ids; where the shape varies also the
 * offsets, FIELD.offsets.bin, and the shapes, FIELD.shapes.bin; and schema.json, which describes them.
 */
#include "cmd_export_schema.h"

#include "args.h"
#include "describe.h"
#include "json.h"
#include "npy.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct column_file {
    struct export *x;
    unsigned field;
    int values, offsets, shapes; /* files; -1: none */
    uint64_t elements;           /* written so far */
};

static int write_offsets(struct column_file *c, const apl_column *column, size_t rows)
{
    int status = 0;
    for (size_t r = 1; r <= rows && !status; r++) {
        uint64_t end = c->elements + column->offsets[r];
        status = outset_write(&c->x->out, c->offsets, &end, sizeof end);
    }
    c->elements += column->offsets[rows];
    return status;
}

static int write_values(void *user, const apl_batch *batch)
{
    struct column_file *c = user;
    size_t rows = apl_batch_rows(batch);
    const apl_column *column = apl_batch_column(batch, c->field);
    int status = outset_write(&c->x->out, c->values, column->data, column->bytes);
    if (!status && c->offsets >= 0)
        status = write_offsets(c, column, rows);
    if (!status && c->shapes >= 0)
        status = outset_write(&c->x->out, c->shapes, column->shapes, rows * column->ndim * sizeof(int64_t));
    return status;
}

/* Adds a file named after the field, and its name to the description. */
static int add_file(struct export *x, const apl_field *field, const char *what, json_t *description)
{
    char name[APL_MAX_NAME + 32], key[32];
    snprintf(name, sizeof name, "%s%s.bin", field->name, what);
    snprintf(key, sizeof key, "%s", *what ? what + 1 : "file");
    json_object_set_new(description, key, json_text(name));
    return outset_add(&x->out, name);
}

static json_t *describe(const struct export *x, const apl_field *field)
{
    json_t *shape = json_array(), *classes = json_array();
    for (unsigned d = 0; d < field->ndim; d++)
        json_array_append_new(shape, json_integer(field->shape[d]));
    for (uint64_t c = 0; c < field->class_count; c++)
        json_array_append_new(classes, json_text(field->classes[c]));
    return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "name", json_text(field->name), "dtype",
                     apl_dtype_name(field->dtype), "mark", role_text(field->role), "shape", shape, "kind",
                     schema_kind(x, field), "classes", classes, "bytes", json_count(field->raw_bytes));
}

static int write_field(struct export *x, unsigned i, json_t *description)
{
    const apl_field *f = apl_store_field(x->store, i);
    struct column_file c = {.x = x, .field = i, .offsets = -1, .shapes = -1};
    const uint64_t zero = 0;
    c.values = add_file(x, f, "", description);
    bool bad = c.values < 0;
    if (!bad && !f->value_bytes) {
        c.offsets = add_file(x, f, ".offsets", description);
        bad = c.offsets < 0 || outset_write(&x->out, c.offsets, &zero, sizeof zero);
    }
    if (!bad && !f->value_bytes && f->ndim > 1) {
        c.shapes = add_file(x, f, ".shapes", description);
        bad = c.shapes < 0;
    }
    return bad ? EXIT_FAILURE : export_each(x, 0, x->info->records, &i, 1, write_values, &c);
}

static json_t *splits_json(const struct export *x)
{
    json_t *splits = json_array();
    for (unsigned i = 0; i < x->info->splits; i++) {
        const apl_split *s = apl_store_split(x->store, i);
        json_array_append_new(splits, json_pack("{s:o, s:o, s:o}", "name", json_text(s->name), "first",
                                                json_count(s->first), "count", json_count(s->count)));
    }
    return splits;
}

static int write_schema(struct export *x, json_t *fields)
{
    json_t *schema =
        json_pack("{s:o, s:s, s:o, s:o, s:O}", "records", json_count(x->info->records), "byte_order",
                  npy_byte_order() == '<' ? "little" : "big", "content_sha256",
                  json_digest(x->info->content_digest), "splits", splits_json(x), "fields", fields);
    char *text = schema ? json_dumps(schema, JSON_INDENT(2)) : NULL;
    json_decref(schema);
    int file = outset_add(&x->out, "schema.json");
    int status = file < 0 ? EXIT_FAILURE : text ? 0 : failed("out of memory");
    if (!status && text)
        status = outset_write(&x->out, file, text, strlen(text));
    if (!status)
        status = outset_write(&x->out, file, "\n", 1);
    free(text);
    return status;
}

int export_raw(struct export *x)
{
    json_t *fields = json_array();
    unsigned numbers[APL_MAX_FIELDS], count;
    int status = fields ? export_fields(x, true, numbers, &count) : failed("out of memory");
    x->total = status ? 0 : x->info->records * count;
    for (unsigned i = 0; !status && i < count; i++) {
        json_t *description = describe(x, apl_store_field(x->store, numbers[i]));
        status = description ? write_field(x, numbers[i], description) : failed("out of memory");
        json_array_append_new(fields, description);
    }
    if (!status)
        status = write_schema(x, fields);
    json_decref(fields);
    return status;
}
