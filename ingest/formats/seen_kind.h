/* What a file seems to be, for messages: by its first bytes alone. */
#ifndef SEEN_KIND_H
#define SEEN_KIND_H

#include <stddef.h>
#include <stdint.h>

/* "a PDF", "a zip archive", "text", ...; NULL: nothing that is known. Static. */
const char *seen_kind(const uint8_t *head, size_t size);

#endif
