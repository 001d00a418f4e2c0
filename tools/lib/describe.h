/* A store in words: the tables that `apldata info` prints. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "apl.h"

#include <stdbool.h>

/* "u8[3,32,32]"; a scalar has no brackets, nor has a text; a list of texts is "utf8[*]"; -1 is written as "*". */
const char *type_text(const apl_field *field);

const char *role_text(apl_role role);

/* What a field is, as apl_kind_print() writes it without the name, long ones cut off: "boxes,xywh". "-": nobody has said. */
const char *kind_text(const apl_kind *kind);

/* Who has said it: "declared", "source", "guessed" or "default". */
const char *origin_text(apl_origin origin);

/* Type, role, kind (if any field has one), codec and sizes by field. */
int describe_fields(const apl_store *store);

/* The whole store; `verbose`: with every class and every field's digest. */
int describe_store(const char *path, apl_store *store, bool verbose);

#endif
