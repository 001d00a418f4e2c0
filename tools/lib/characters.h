/* Characters of UTF-8 text that has been checked before. */
#ifndef CHARACTERS_H
#define CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does this byte continue a character, rather than begin one? */
static inline bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static inline size_t count_characters(const void *text, size_t bytes)
{
    const char *at = text;
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += !continues_character(at[i]);
    return count;
}

#endif
