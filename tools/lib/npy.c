#include "npy.h"

#include <stdio.h>
#include <string.h>

char npy_byte_order(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first ? '<' : '>';
}

const char *npy_type(apl_dtype dtype)
{
    static const char *const little[] = {
        [APL_U8] = "|u1",  [APL_I8] = "|i1",  [APL_U16] = "<u2", [APL_I16] = "<i2", [APL_U32] = "<u4",
        [APL_I32] = "<i4", [APL_U64] = "<u8", [APL_I64] = "<i8", [APL_F16] = "<f2", [APL_BF16] = "<u2",
        [APL_F32] = "<f4", [APL_F64] = "<f8", [APL_BOOL] = "|b1"};
    static const char *const big[] = {
        [APL_U8] = "|u1",  [APL_I8] = "|i1",  [APL_U16] = ">u2", [APL_I16] = ">i2", [APL_U32] = ">u4",
        [APL_I32] = ">i4", [APL_U64] = ">u8", [APL_I64] = ">i8", [APL_F16] = ">f2", [APL_BF16] = ">u2",
        [APL_F32] = ">f4", [APL_F64] = ">f8", [APL_BOOL] = "|b1"};
    if ((unsigned)dtype >= sizeof little / sizeof *little)
        return NULL;
    return npy_byte_order() == '<' ? little[dtype] : big[dtype];
}

/* Encloses what stands in out from byte 10 on, of which `used` bytes are used. */
static size_t finish_header(char *out, size_t used)
{
    /* Padded with blanks and a newline, so that the data begins at a multiple of 64. */
    size_t total = (10 + used + 1 + 63) / 64 * 64;
    memset(out + 10 + used, ' ', total - 10 - used);
    out[total - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01\x00", 8); /* NOLINT(bugprone-not-null-terminated-result): not a string */
    out[8] = (char)((total - 10) & 0xff);
    out[9] = (char)((total - 10) >> 8);
    return total;
}

/* The dimensions, of which the first is alone with a comma behind it. */
static size_t write_dictionary(char *out, const char *type, unsigned ndim, const int64_t *shape)
{
    char *dict = out + 10; /* after magic, version and length */
    size_t room = NPY_HEADER_MAX - 10;
    size_t used = (size_t)snprintf(dict, room, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (unsigned d = 0; d < ndim; d++)
        used += (size_t)snprintf(dict + used, room - used, "%s%lld%s", d ? " " : "", (long long)shape[d],
                                 d == 0 || d + 1 < ndim ? "," : "");
    return used + (size_t)snprintf(dict + used, room - used, "), }");
}

size_t npy_header(char *out, const char *type, uint64_t rows, unsigned ndim, const int64_t *shape)
{
    int64_t all[1 + APL_MAX_DIMS] = {(int64_t)rows};
    for (unsigned d = 0; d < ndim; d++)
        all[1 + d] = shape[d];
    return finish_header(out, write_dictionary(out, type, ndim + 1, all));
}

size_t npy_header_of_value(char *out, const char *type, unsigned ndim, const int64_t *shape)
{
    return finish_header(out, write_dictionary(out, type, ndim, shape));
}
