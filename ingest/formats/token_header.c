/* See token_header.h. */
#include "token_header.h"

#include "bytes.h"

#define NUMBERS 3u /* that mean something: the mark, the version, how many tokens there are */

/* Versions of two marks, for tokens of GPT-2 and of Llama 3. */
static const struct {
    uint32_t mark, version;
    apl_dtype dtype;
} known[] = {{20240520, 1, APL_U16}, {20240801, 7, APL_U32}};

bool token_header_read(const uint8_t *head, size_t size, struct token_header *h)
{
    if (size < 4 * NUMBERS)
        return false;
    for (size_t i = 4 * NUMBERS; i < size && i < TOKEN_HEADER_BYTES; i++)
        if (head[i])
            return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (load_le(head, 4) != known[i].mark)
            continue;
        h->version = (uint32_t)load_le(head + 4, 4);
        h->dtype = h->version == known[i].version ? known[i].dtype : (apl_dtype)0;
        h->count = load_le(head + 8, 4);
        return true;
    }
    return false;
}
