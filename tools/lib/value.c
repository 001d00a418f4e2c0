#include "value.h"

#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value value_of(const apl_column *column, size_t row, size_t rows)
{
    struct value v = {.data = column->data, .dtype = column->dtype, .ndim = column->ndim};
    size_t size = apl_dtype_size(column->dtype);
    if (column->offsets) {
        v.data += column->offsets[row] * size;
        v.elements = column->offsets[row + 1] - column->offsets[row];
        v.bytes = v.elements * size;
        memcpy(v.shape, column->shapes + row * v.ndim, v.ndim * sizeof *v.shape);
    } else {
        v.bytes = rows ? column->bytes / rows : 0;
        v.data += row * v.bytes;
        v.elements = size ? v.bytes / size : 0;
        memcpy(v.shape, column->shape, sizeof v.shape);
    }
    return v;
}

bool dtype_is_unsigned(apl_dtype dtype)
{
    return dtype == APL_U8 || dtype == APL_U16 || dtype == APL_U32 || dtype == APL_U64 || dtype == APL_BOOL;
}

#define ELEMENT(type, value, i) \
    (((type *)memcpy(&(type){0}, (value)->data + (i) * sizeof(type), sizeof(type)))[0])

uint64_t value_unsigned(const struct value *value, size_t i)
{
    switch (apl_dtype_size(value->dtype)) {
    case 1:
        return ELEMENT(uint8_t, value, i);
    case 2:
        return ELEMENT(uint16_t, value, i);
    case 4:
        return ELEMENT(uint32_t, value, i);
    default:
        return ELEMENT(uint64_t, value, i);
    }
}

int64_t value_signed(const struct value *value, size_t i)
{
    switch (apl_dtype_size(value->dtype)) {
    case 1:
        return ELEMENT(int8_t, value, i);
    case 2:
        return ELEMENT(int16_t, value, i);
    case 4:
        return ELEMENT(int32_t, value, i);
    default:
        return ELEMENT(int64_t, value, i);
    }
}

static float float_of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint32_t bits_of_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half >> 15) << 31, exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 0) /* a multiple of 2^-24 */
        return sign | bits_of_float((float)mantissa / 16777216.0f);
    if (exponent == 31) /* infinite, or not a number */
        return sign | 0x7f800000u | mantissa << 13;
    return sign | (exponent + 112) << 23 | mantissa << 13;
}

uint32_t value_float_bits(const struct value *value, size_t i)
{
    switch (value->dtype) {
    case APL_F16:
        return bits_of_half(ELEMENT(uint16_t, value, i));
    case APL_BF16:
        return (uint32_t)ELEMENT(uint16_t, value, i) << 16;
    default:
        return ELEMENT(uint32_t, value, i);
    }
}

static double value_real(const struct value *value, size_t i)
{
    return value->dtype == APL_F64 ? ELEMENT(double, value, i) : float_of_bits(value_float_bits(value, i));
}

static bool dtype_is_real(apl_dtype dtype)
{
    return dtype == APL_F16 || dtype == APL_BF16 || dtype == APL_F32 || dtype == APL_F64;
}

double value_number(const struct value *value, size_t i)
{
    if (dtype_is_real(value->dtype))
        return value_real(value, i);
    return dtype_is_unsigned(value->dtype) || value->dtype == APL_UTF8 ? (double)value_unsigned(value, i)
                                                                       : (double)value_signed(value, i);
}

/* The fewest digits that are read as the same number: 0.48, not 0.47999999999999998. */
static const char *shortest_text(double v, bool single)
{
    static const char *const formats[] = {"%.6g", "%.7g", "%.8g", "%.9g", "%.15g", "%.16g", "%.17g"};
    unsigned most = single ? 3 : 6, i = single ? 0 : 4;
    const char *text = number_text(formats[i], v);
    while (i < most && (single ? (double)strtof(text, NULL) : strtod(text, NULL)) != v)
        text = number_text(formats[++i], v);
    return text;
}

const char *element_text(const struct value *value, size_t i)
{
    char text[32];
    switch (value->dtype) {
    case APL_F16:
    case APL_BF16:
        return number_text("%.5g", value_real(value, i));
    case APL_F32:
        return shortest_text(value_real(value, i), true);
    case APL_F64:
        return shortest_text(value_real(value, i), false);
    case APL_I8:
    case APL_I16:
    case APL_I32:
    case APL_I64:
        snprintf(text, sizeof text, "%lld", (long long)value_signed(value, i));
        return shown(text);
    default:
        snprintf(text, sizeof text, "%llu", (unsigned long long)value_unsigned(value, i));
        return shown(text);
    }
}

size_t value_texts(const struct value *v)
{
    size_t texts = v->dtype == APL_UTF8 && v->ndim > 1;
    for (unsigned d = 0; texts && d + 1 < v->ndim; d++)
        texts *= (size_t)v->shape[d];
    return texts;
}

const uint8_t *value_text(const struct value *v, size_t i, size_t *length)
{
    size_t width = (size_t)v->shape[v->ndim - 1];
    const uint8_t *text = v->data + i * width;
    *length = width ? strnlen((const char *)text, width) : 0;
    return text;
}
