/* One value of a batch. */
#ifndef VALUE_H
#define VALUE_H

#include "apl.h"

#include <stdbool.h>

struct value {
    const uint8_t *data;
    size_t bytes, elements;
    apl_dtype dtype;
    unsigned ndim;
    int64_t shape[APL_MAX_DIMS];
};

/* The value of row `row` of `rows`. */
struct value value_of(const apl_column *column, size_t row, size_t rows);

/* Element i of a value of an unsigned type, at most 64 bits wide. */
uint64_t value_unsigned(const struct value *value, size_t i);

/* Element i of a value of a signed type of whole numbers. */
int64_t value_signed(const struct value *value, size_t i);

/* Element i of a value of f16, bf16 or f32: the bits of the f32 that is equal to it. */
uint32_t value_float_bits(const struct value *value, size_t i);

/* Element i of any type as a double, the nearest there is. */
double value_number(const struct value *value, size_t i);

/* Of a list of texts: how many there are (0: it is none, but perhaps one text), and text i, without the NULs behind it. */
size_t value_texts(const struct value *value);
const uint8_t *value_text(const struct value *value, size_t i, size_t *length);

bool dtype_is_unsigned(apl_dtype dtype);

/* Element i in decimal; for text, the byte as a number. */
const char *element_text(const struct value *value, size_t i);

#endif
