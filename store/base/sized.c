/* Sized structs of callers: see sized.h. */
#include "sized.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* Sizes beyond this are bytes that nobody has set. */
#define MOST_BYTES ((size_t)1 << 16)

static apl_status not_set(const char *name, apl_error *err)
{
    char macro[64];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof macro; n++)
        macro[n] = (char)toupper((unsigned char)name[n]);
    macro[n] = 0;
    return fail(err, APL_E_INVALID, "%s: size is not set: start from %s_INIT", name, macro);
}

/* Every such struct begins with a size_t, so that its size is a multiple of one. */
static bool is_size(size_t size)
{
    return size >= sizeof size && size % sizeof size == 0 && size <= MOST_BYTES;
}

static bool all_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

apl_status options_take(void *into, size_t known, const void *asked, const char *name, apl_error *err)
{
    size_t size = 0;
    if (!asked)
        return APL_OK;
    memcpy(&size, asked, sizeof size);
    if (!is_size(size))
        return not_set(name, err);
    if (size > known && !all_zero((const uint8_t *)asked + known, size - known))
        return fail(err, APL_E_INVALID,
                    "%s: of a newer version (%zu bytes, where this library has %zu), and asks for what this "
                    "library does not know",
                    name, size, known);
    memcpy(into, asked, size < known ? size : known);
    memcpy(into, &known, sizeof known);
    return APL_OK;
}

apl_status options_take_from(void *into, size_t known, const void *array, size_t i, const char *name,
                             apl_error *err)
{
    size_t first = 0, size = 0;
    memcpy(&first, array, sizeof first);
    if (!is_size(first))
        return not_set(name, err);
    const uint8_t *asked = (const uint8_t *)array + i * first;
    memcpy(&size, asked, sizeof size);
    return size == first ? options_take(into, known, asked, name, err) : not_set(name, err);
}

bool room_ok(size_t size)
{
    return size > 0 && size <= MOST_BYTES;
}

void options_give(void *to, size_t size, const void *from, size_t known)
{
    memcpy(to, from, size < known ? size : known);
    if (size > known)
        memset((uint8_t *)to + known, 0, size - known);
}
