/* Base64, as data: URIs and terminals take it. */
#ifndef BASE64_H
#define BASE64_H

#include <stddef.h>

#define BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4) /* characters */

/* Writes BASE64_SIZE(bytes) characters and no NUL. */
void base64_encode(char *to, const void *data, size_t bytes);

#endif
