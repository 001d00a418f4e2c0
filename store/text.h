/* Texts among bytes: their length in bytes (2, little-endian), then the bytes, without an end. */
#ifndef TEXT_H
#define TEXT_H

#include "bytes.h"
#include "schema.h"

/* NULL stands for an empty text. It must be shorter than 2^16 bytes. */
void text_put(struct buffer *b, const char *text);

/* A text in place, not a string; NULL if the bytes end before it does. */
const char *text_get(struct cursor *c, size_t *length);

/* A copy of a text, as a string, into *name, which it frees first. APL_E_CORRUPT unless it is a name, or empty where that is
 * allowed. */
apl_status text_get_name(struct cursor *c, bool may_be_empty, char **name, apl_error *err);

#endif
