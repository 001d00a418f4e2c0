#include "utf8.h"

#include <string.h>

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

size_t utf8_decode(const uint8_t *text, size_t size, uint32_t *character)
{
    /* The lowest character that needs 2, 3 or 4 bytes. */
    static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = size ? char_size(*text) : 0;
    if (n == 0 || n > size)
        return 0;
    uint32_t c = n == 1 ? *text : *text & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (text[i] & 0x3fu);
    }
    if (c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *character = c;
    return n;
}

/* How many ASCII characters the text, which begins with one, begins with, as far as words of eight show. */
static size_t ascii_run(const uint8_t *text, size_t size)
{
    size_t n = 0;
    for (uint64_t word; n + sizeof word <= size; n += sizeof word) {
        memcpy(&word, text + n, sizeof word);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    return n ? n : 1;
}

bool utf8_valid(const void *text, size_t size)
{
    const uint8_t *at = text;
    uint32_t character;
    while (size) {
        size_t n = *at < 0x80 ? ascii_run(at, size) : utf8_decode(at, size, &character);
        if (n == 0)
            return false;
        at += n;
        size -= n;
    }
    return true;
}
