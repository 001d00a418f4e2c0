/* Names of fields and classes. */
#ifndef FIELD_NAME_H
#define FIELD_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Is it a name as fields and classes of a store have: 1 to APL_MAX_NAME bytes that may go to a terminal? */
bool is_name(const char *text, size_t size);

#endif
