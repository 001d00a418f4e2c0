/* UTF-8, well-formed: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes the character at text[0 ... size-1] takes, and which it is; 0 if they begin with no well-formed character. */
size_t utf8_decode(const uint8_t *text, size_t size, uint32_t *character);

bool utf8_valid(const void *text, size_t size);

#endif
