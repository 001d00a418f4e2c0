/* Fields as the schema.json of an export has them that is read back as it was. */
#ifndef CMD_EXPORT_SCHEMA_H
#define CMD_EXPORT_SCHEMA_H

#include "cmd_export.h"
#include "json.h"

/* What the field is, as text that apldata set-kind takes, without its name; null: nobody has said. Fields that are not exported are not
 * named in it. */
json_t *schema_kind(const struct export *x, const apl_field *field);

/* All that makes the field; under `key` stands `how` the format writes its values. NULL: out of memory. */
json_t *schema_field(const struct export *x, const apl_field *field, const char *key, const char *how);

#endif
