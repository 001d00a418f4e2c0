/* A field as JSON: see cmd_export_schema.h. */
#include "cmd_export_schema.h"

#include "describe.h"
#include "kind_left.h"

#include <string.h>

static bool is_exported(const void *user, const char *name)
{
    const struct export *x = user;
    bool found = x->fields.count == 0;
    for (unsigned i = 0; i < x->fields.count; i++)
        found |= strcmp(x->fields.name[i], name) == 0;
    return found;
}

json_t *schema_kind(const struct export *x, const apl_field *field)
{
    char text[APL_KIND_BYTES];
    if (!field->kind)
        return json_null();
    const apl_kind kind = kind_left(field->kind, is_exported, x);
    return json_text(apl_kind_print(NULL, &kind, text, sizeof text));
}

json_t *schema_field(const struct export *x, const apl_field *field, const char *key, const char *how)
{
    json_t *shape = json_array(), *classes = json_array();
    for (unsigned d = 0; d < field->ndim; d++)
        json_array_append_new(shape, json_integer(field->shape[d]));
    for (uint64_t c = 0; c < field->class_count; c++)
        json_array_append_new(classes, json_text(field->classes[c]));
    apl_role role = field->role == APL_POSITION ? APL_NAME : field->role; /* what reads it is not shuffled */
    json_t *object = json_pack("{s:o, s:s, s:s, s:s, s:o}", "name", json_text(field->name), key, how, "dtype",
                               apl_dtype_name(field->dtype), "role", role_text(role), "shape", shape);
    if (field->media)
        json_object_set_new(object, "media", json_string(field->media));
    if (field->class_count)
        json_object_set(object, "classes", classes);
    if (field->kind)
        json_object_set_new(object, "kind", schema_kind(x, field));
    json_decref(classes);
    return object;
}
