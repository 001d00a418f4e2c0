/* Reads schema.json: see declared.h. What the writer checks, such as shapes, is not checked here. */
#include "declared.h"

#include "jsontext.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 1

void declared_free(struct declared *d)
{
    for (unsigned i = 0; i < d->count; i++)
        free(d->fields[i].classes);
    free(d->splits);
    json_decref(d->json);
    *d = (struct declared){0};
}

static apl_status bad_field(size_t i, const char *what, apl_error *err)
{
    return fail(err, APL_E_SOURCE, "field %zu has no %s that is known", i, what);
}

static bool take_dtype(const char *name, apl_dtype *dtype)
{
    for (unsigned d = APL_U8; name && d <= APL_UTF8; d++) {
        *dtype = (apl_dtype)d;
        if (strcmp(apl_dtype_name(*dtype), name) == 0)
            return true;
    }
    return false;
}

bool declared_role(const char *name, apl_role *role)
{
    static const char *const names[] = {[APL_INPUT] = "input", [APL_TARGET] = "target", [APL_NAME] = "name"};
    for (unsigned r = 0; name && r < sizeof names / sizeof *names; r++) {
        *role = (apl_role)r;
        if (names[r] && strcmp(names[r], name) == 0)
            return true;
    }
    return false;
}

static bool take_dims(const json_t *shape, struct declared_field *f)
{
    if (!json_is_array(shape) || json_array_size(shape) > APL_MAX_DIMS)
        return false;
    f->ndim = (unsigned)json_array_size(shape);
    for (unsigned d = 0; d < f->ndim; d++) {
        const json_t *length = json_array_get(shape, d);
        if (!json_is_integer(length))
            return false;
        f->shape[d] = json_integer_value(length);
    }
    return true;
}

static apl_status take_class_names(const json_t *classes, size_t i, struct declared_field *f, apl_error *err)
{
    if (!classes)
        return APL_OK;
    size_t count = json_array_size(classes);
    f->classes = calloc(count + 1, sizeof *f->classes);
    if (!f->classes)
        return fail_nomem(err);
    for (f->class_count = 0; f->class_count < count; f->class_count++) {
        const char *name = json_string_value(json_array_get(classes, f->class_count));
        if (!name)
            return bad_field(i, "names of classes", err);
        f->classes[f->class_count] = name;
    }
    return APL_OK;
}

static apl_status take_declared(const json_t *object, const char *how, size_t i, struct declared_field *f,
                                apl_error *err)
{
    f->name = json_string_value(json_object_get(object, "name"));
    f->ending = json_string_value(json_object_get(object, how));
    f->media = json_string_value(json_object_get(object, "media"));
    f->kind = json_string_value(json_object_get(object, "kind"));
    if (!f->name || !*f->name)
        return bad_field(i, "name", err);
    if (!f->ending || !*f->ending)
        return bad_field(i, how, err);
    if (!take_dtype(json_string_value(json_object_get(object, "dtype")), &f->dtype))
        return bad_field(i, "dtype", err);
    if (!declared_role(json_string_value(json_object_get(object, "role")), &f->role))
        return bad_field(i, "role", err);
    if (!take_dims(json_object_get(object, "shape"), f))
        return bad_field(i, "shape", err);
    return take_class_names(json_object_get(object, "classes"), i, f, err);
}

static apl_status take_splits(const json_t *splits, bool files, struct declared *d, apl_error *err)
{
    size_t count = json_array_size(splits);
    d->splits = calloc(count + 1, sizeof *d->splits);
    if (!d->splits)
        return fail_nomem(err);
    for (; d->split_count < count; d->split_count++) {
        const json_t *object = json_array_get(splits, d->split_count);
        json_int_t records = json_integer_value(json_object_get(object, "records"));
        struct declared_split *s = &d->splits[d->split_count];
        s->name = json_string_value(json_object_get(object, "name"));
        s->file = json_string_value(json_object_get(object, "file"));
        s->records = (uint64_t)records;
        if (!s->name || !*s->name || strlen(s->name) > APL_MAX_NAME || (files && !s->file) || records < 0)
            return fail(err, APL_E_SOURCE, "split %zu has no name%s or number of records", d->split_count,
                        files ? ", file" : "");
    }
    return APL_OK;
}

/* Of a file that is one of several, where it stands among them, and what all of them are. */
static apl_status take_place(struct declared *d, apl_error *err)
{
    const json_t *number = json_object_get(d->json, "shard"), *first = json_object_get(d->json, "first");
    const json_t *splits = json_object_get(d->json, "export");
    d->numbered = number && first && splits;
    if (!d->numbered)
        return take_splits(json_object_get(d->json, "splits"), true, d, err);
    if (json_integer_value(number) < 0 || json_integer_value(first) < 0)
        return fail(err, APL_E_SOURCE, "has no number that a shard can have");
    d->number = (uint64_t)json_integer_value(number);
    d->first = (uint64_t)json_integer_value(first);
    return take_splits(splits, false, d, err);
}

apl_status declared_read(const void *text, size_t size, const char *how, struct declared *d, apl_error *err)
{
    json_error_t why;
    *d = (struct declared){0};
    d->json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    if (!d->json)
        return fail(err, APL_E_SOURCE, "is not JSON: line %d, column %d", why.line, why.column);
    const json_t *fields = json_object_get(d->json, "fields");
    json_int_t place = json_integer_value(json_object_get(d->json, "place"));
    d->split = json_string_value(json_object_get(d->json, "split"));
    d->place = place < 0 || place > UINT32_MAX ? UINT32_MAX : (uint32_t)place;
    const json_t *records = json_object_get(d->json, "records");
    d->empty = json_is_integer(records) && json_integer_value(records) == 0;
    if (json_integer_value(json_object_get(d->json, "version")) != VERSION)
        return fail(err, APL_E_UNSUPPORTED, "is not of version %d", VERSION);
    if (!json_is_array(fields) || json_array_size(fields) == 0 || json_array_size(fields) > APL_MAX_FIELDS)
        return fail(err, APL_E_SOURCE, "has no list of 1 to %d fields", APL_MAX_FIELDS);
    TRY(take_place(d, err));
    for (size_t i = 0; i < json_array_size(fields); i++) {
        d->count++;
        TRY(take_declared(json_array_get(fields, i), how, i, &d->fields[i], err));
    }
    return APL_OK;
}

apl_status declared_kind_set(const struct declared_field *f, apl_writer *writer, apl_error *err)
{
    apl_kind kind;
    if (!f->kind)
        return APL_OK;
    TRY(apl_kind_parse(f->kind, NULL, &kind, err));
    kind.origin = APL_FROM_SOURCE;
    return apl_writer_set_kind(writer, f->name, &kind, err);
}

bool declared_same_export(const struct declared *a, const struct declared *b)
{
    return json_equal(json_object_get(a->json, "export"), json_object_get(b->json, "export"));
}

bool declared_same(const struct declared *a, const struct declared *b)
{
    return json_equal(json_object_get(a->json, "fields"), json_object_get(b->json, "fields"));
}
