/* Reads a whole number: see wds_number.h. */
#include "wds_number.h"

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool wds_whole(const uint8_t *text, size_t size, bool *negative, uint64_t *magnitude)
{
    while (size > 0 && is_space(text[size - 1]))
        size--;
    size_t at = 0;
    while (at < size && is_space(text[at]))
        at++;
    *negative = at < size && text[at] == '-';
    at += at < size && (text[at] == '-' || text[at] == '+');
    *magnitude = 0;
    if (at == size)
        return false;
    for (; at < size; at++) {
        uint64_t digit = (uint64_t)text[at] - '0';
        if (text[at] < '0' || text[at] > '9' || *magnitude > (UINT64_MAX - digit) / 10)
            return false;
        *magnitude = 10 * *magnitude + digit;
    }
    return true;
}

bool wds_number(const uint8_t *text, size_t size, int64_t *value)
{
    bool negative;
    uint64_t magnitude;
    if (!wds_whole(text, size, &negative, &magnitude) || magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

bool wds_number_fits(apl_dtype dtype, bool negative, uint64_t magnitude)
{
    unsigned bits = 8 * (unsigned)apl_dtype_size(dtype);
    bool is_signed = dtype == APL_I8 || dtype == APL_I16 || dtype == APL_I32 || dtype == APL_I64;
    uint64_t most = UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0));
    return negative ? magnitude == 0 || (is_signed && magnitude <= most + 1) : magnitude <= most;
}
