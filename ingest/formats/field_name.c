#include "field_name.h"

#include "status.h"

#include <string.h>

bool is_name(const char *text, size_t size)
{
    char shown[APL_MAX_NAME * 4 + 8];
    if (size == 0 || size > APL_MAX_NAME || memchr(text, 0, size))
        return false;
    printable(shown, sizeof shown, text, size);
    return strlen(shown) == size && memcmp(shown, text, size) == 0;
}
