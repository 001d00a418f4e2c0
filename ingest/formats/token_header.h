/* The header of the files of tokens that llm.c and its kin write: 256 numbers before the tokens. */
#ifndef TOKEN_HEADER_H
#define TOKEN_HEADER_H

#include "apl.h"

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_HEADER_BYTES 1024u

struct token_header {
    apl_dtype dtype; /* of the tokens; 0: of a version that is not known */
    uint32_t version;
    uint64_t count;
};

/* Do the first bytes of a file, as far as they are known, begin such a header? */
bool token_header_read(const uint8_t *head, size_t size, struct token_header *h);

#endif
