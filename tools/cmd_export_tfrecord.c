/*
 * TFRecord files of tf.train.Example, one for each split: SPLIT.tfrecord; and schema.json, which says what the fields and splits are, so that
 * nothing is lost on the way back. Where several dimensions of a field vary, a feature NAME/shape has them.
 */
#include "cmd_export_splits.h"

#include "args.h"
#include "cmd_export_schema.h"
#include "report.h"
#include "tfrecord.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE "/shape"

struct tf_part {
    const apl_field *field;
    unsigned number; /* of the field in the store */
    enum tfrecord_list list;
    char shape[APL_MAX_NAME + sizeof SHAPE]; /* the feature that has the shape; "": none */
};

struct tf_export {
    struct export *x;
    struct tf_part parts[APL_MAX_FIELDS];
    unsigned fields[APL_MAX_FIELDS], count;
    int file; /* of the current split */
    struct tfrecord record;
};

/* ------------------------------------------------------------------------------------------------ fields */

static int describe_tf_part(struct tf_export *t, unsigned i)
{
    struct tf_part *p = &t->parts[i];
    unsigned varying = 0;
    p->number = t->fields[i];
    p->field = apl_store_field(t->x->store, p->number);
    p->list = tfrecord_list_of(p->field);
    for (unsigned d = 0; d < p->field->ndim; d++)
        varying += p->field->shape[d] < 0;
    if (varying < 2)
        return 0;
    snprintf(p->shape, sizeof p->shape, "%s" SHAPE, p->field->name);
    if (strlen(p->shape) > APL_MAX_NAME || apl_store_find_field(t->x->store, p->shape) >= 0)
        return failed("%s: field '%s' needs a feature '%s' for its shape, %s", shown_db(t->x->path),
                      shown(p->field->name), shown(p->shape),
                      strlen(p->shape) > APL_MAX_NAME ? "whose name is too long"
                                                      : "but another field has that name");
    return 0;
}

static int describe_parts(struct tf_export *t)
{
    unsigned features = t->count;
    int status = 0;
    for (unsigned i = 0; i < t->count && !status; i++) {
        status = describe_tf_part(t, i);
        features += t->parts[i].shape[0] != 0;
    }
    if (!status && features > APL_MAX_FIELDS)
        status = failed(
            "%s: with those for shapes there would be %u features, more than %d; --fields leaves some out",
            shown_db(t->x->path), features, APL_MAX_FIELDS);
    return status;
}

/* ----------------------------------------------------------------------------------------------- records */

static int add_features(struct tf_export *t, const struct tf_part *p, const apl_batch *batch, size_t row)
{
    struct value v = value_of(apl_batch_column(batch, p->number), row, apl_batch_rows(batch));
    struct value shape = {.data = (const uint8_t *)v.shape,
                          .bytes = v.ndim * sizeof *v.shape,
                          .elements = v.ndim,
                          .dtype = APL_I64};
    if (p->list == TFRECORD_INTS && !tfrecord_fits(&v))
        return failed("%s: record %llu: field '%s' has a number above 9223372036854775807, the most that "
                      "TFRecord can hold",
                      shown_db(t->x->path), (unsigned long long)apl_batch_ids(batch)[row],
                      shown(p->field->name));
    tfrecord_add(&t->record, p->field->name, p->list, &v);
    if (p->shape[0])
        tfrecord_add(&t->record, p->shape, TFRECORD_INTS, &shape);
    return 0;
}

static int write_example(struct tf_export *t, uint64_t id)
{
    uint8_t head[TFRECORD_HEAD], tail[4];
    if (t->record.failed)
        return failed("out of memory");
    size_t size = tfrecord_frame(&t->record, head, tail);
    if (size - 12 + t->record.size > TFRECORD_MAX)
        return failed("%s: record %llu has more than the %u MiB of a TFRecord", shown_db(t->x->path),
                      (unsigned long long)id, TFRECORD_MAX >> 20);
    int status = outset_write(&t->x->out, t->file, head, size);
    if (!status)
        status = outset_write(&t->x->out, t->file, t->record.data, t->record.size);
    return status ? status : outset_write(&t->x->out, t->file, tail, sizeof tail);
}

static int write_examples(void *user, const apl_batch *batch)
{
    struct tf_export *t = user;
    int status = 0;
    for (size_t r = 0; r < apl_batch_rows(batch) && !status; r++) {
        t->record.size = 0;
        for (unsigned i = 0; i < t->count && !status; i++)
            status = add_features(t, &t->parts[i], batch, r);
        if (!status)
            status = write_example(t, apl_batch_ids(batch)[r]);
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------- files */

/* A split without records has no file, as an empty one has no format. */
static int write_tf_split(struct tf_export *t, const apl_split *split, json_t *splits)
{
    char name[APL_MAX_NAME + 16];
    snprintf(name, sizeof name, "%s.tfrecord", split->name);
    json_array_append_new(splits, json_pack("{s:o, s:o, s:o}", "name", json_text(split->name), "file",
                                            json_text(name), "records", json_count(split->count)));
    if (split->count == 0)
        return 0;
    int status = export_check_split(t->x, split);
    if (status)
        return status;
    t->file = outset_add(&t->x->out, name);
    if (t->file < 0)
        return EXIT_FAILURE;
    status = export_each(t->x, split->first, split->count, t->fields, t->count, write_examples, t);
    return status ? status : outset_finish(&t->x->out, t->file);
}

static int write_tf_schema(struct tf_export *t, json_t *splits)
{
    json_t *fields = json_array();
    static const char *const lists[] = {
        [TFRECORD_BYTES] = "bytes_list", [TFRECORD_FLOATS] = "float_list", [TFRECORD_INTS] = "int64_list"};
    for (unsigned i = 0; i < t->count; i++)
        json_array_append_new(fields, schema_field(t->x, t->parts[i].field, "list", lists[t->parts[i].list]));
    json_t *schema = json_pack("{s:s, s:i, s:O, s:o}", "format", "apldata-tfrecord", "version", 1, "splits",
                               splits, "fields", fields);
    char *text = schema ? json_dumps(schema, JSON_INDENT(1)) : NULL;
    json_decref(schema);
    if (!text)
        return failed("out of memory");
    int file = outset_add(&t->x->out, "schema.json");
    int status = file < 0 ? EXIT_FAILURE : outset_write(&t->x->out, file, text, strlen(text));
    if (!status)
        status = outset_write(&t->x->out, file, "\n", 1);
    free(text);
    return status;
}

int export_tfrecord(struct export *x)
{
    struct tf_export *t = calloc(1, sizeof *t);
    json_t *splits = json_array();
    if (!t || !splits) {
        free(t);
        json_decref(splits);
        return failed("out of memory");
    }
    t->x = x;
    int status = export_fields(x, false, t->fields, &t->count);
    if (!status)
        status = describe_parts(t);
    for (unsigned s = 0; s < x->info->splits && !status; s++)
        status = write_tf_split(t, apl_store_split(x->store, s), splits);
    if (!status)
        status = write_tf_schema(t, splits);
    json_decref(splits);
    free(t->record.data);
    free(t);
    return status;
}
