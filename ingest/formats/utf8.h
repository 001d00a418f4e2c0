/* Is text what it says it is? */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Are the bytes well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF? */
bool utf8_valid(const void *text, size_t size);

/* Is it a name as fields and classes of a store have: 1 to APL_MAX_NAME bytes that may go to a terminal? */
bool is_name(const char *text, size_t size);

#endif
