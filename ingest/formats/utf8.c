#include "utf8.h"

#include "status.h"

#include <stdint.h>
#include <string.h>

/* The lowest character that needs 2, 3 or 4 bytes. */
static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};

/* Bytes in the character whose first byte this is; 0 if no character begins so. */
static size_t char_size(uint8_t first)
{
    if (first < 0x80)
        return 1;
    if ((first & 0xe0) == 0xc0)
        return 2;
    if ((first & 0xf0) == 0xe0)
        return 3;
    return (first & 0xf8) == 0xf0 ? 4 : 0;
}

bool utf8_valid(const void *text, size_t size)
{
    const uint8_t *at = text;
    while (size) {
        size_t n = char_size(*at);
        if (n == 0 || n > size)
            return false;
        uint32_t c = n == 1 ? *at : *at & (0x7fu >> n);
        for (size_t i = 1; i < n; i++) {
            if ((at[i] & 0xc0) != 0x80)
                return false;
            c = c << 6 | (at[i] & 0x3f);
        }
        if (c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
            return false;
        at += n;
        size -= n;
    }
    return true;
}

bool is_name(const char *text, size_t size)
{
    char shown[APL_MAX_NAME * 4 + 8];
    if (size == 0 || size > APL_MAX_NAME || memchr(text, 0, size))
        return false;
    printable(shown, sizeof shown, text, size);
    return strlen(shown) == size && memcmp(shown, text, size) == 0;
}
