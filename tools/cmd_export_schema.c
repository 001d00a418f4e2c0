/* A field as JSON: see cmd_export_schema.h. */
#include "cmd_export_schema.h"

#include "describe.h"

json_t *schema_field(const apl_field *field, const char *key, const char *how)
{
    json_t *shape = json_array(), *classes = json_array();
    char kind[APL_KIND_BYTES];
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
        json_object_set_new(object, "kind", json_text(apl_kind_print(NULL, field->kind, kind, sizeof kind)));
    json_decref(classes);
    return object;
}
