/* The header of NumPy's file format, version 1.0. */
#ifndef NPY_H
#define NPY_H

#include "apl.h"

#include <stdbool.h>

/* The type as NumPy writes it, such as "<f4"; bf16, which NumPy does not have, as its bits. NULL for utf8,
 * which has no fixed width of its own. */
const char *npy_type(apl_dtype dtype);

/* '<' or '>': the byte order of this machine. */
char npy_byte_order(void);

#define NPY_HEADER_MAX 512

/* Writes the header of an array of `rows` values of `type` and shape into out[NPY_HEADER_MAX]; returns its
 * size. */
size_t npy_header(char *out, const char *type, uint64_t rows, unsigned ndim, const int64_t *shape);

/* The same of one value alone. */
size_t npy_header_of_value(char *out, const char *type, unsigned ndim, const int64_t *shape);

#endif
