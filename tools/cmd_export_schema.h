/* Fields as the schema.json of an export has them that is read back as it was. */
#ifndef CMD_EXPORT_SCHEMA_H
#define CMD_EXPORT_SCHEMA_H

#include "json.h"

/* All that makes the field; under `key` stands `how` the format writes its values. NULL: out of memory. */
json_t *schema_field(const apl_field *field, const char *key, const char *how);

#endif
