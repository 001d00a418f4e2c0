/* The header of a .npy file: a Python dict in text, of which exactly what NumPy writes is accepted. Nothing is evaluated. */
#ifndef NPY_HEADER_H
#define NPY_HEADER_H

#include "bytes.h"
#include "status.h"

#define NPY_MAX_FIELDS 64
#define NPY_MAX_DIMS   (APL_MAX_DIMS + 1) /* rows, and what a field may have */

/* One number of each element, or one field of a structured type. */
struct npy_field {
    char name[APL_MAX_NAME + 1]; /* "" where the type is not structured */
    apl_dtype dtype;
    bool swap; /* big-endian */
    unsigned ndim;
    int64_t shape[APL_MAX_DIMS]; /* of a field that is an array itself */
    uint64_t offset;             /* in the element */
};

struct npy_header {
    bool structured, fortran;
    uint64_t item; /* bytes of an element */
    unsigned field_count;
    struct npy_field fields[NPY_MAX_FIELDS];
    unsigned ndim;
    int64_t shape[NPY_MAX_DIMS];
    uint64_t size; /* of the header in bytes: the data begin there */
};

/* Reads it; the cursor is then at the first element. Messages name neither file nor array. Likely errors: APL_E_SOURCE,
 * APL_E_INCOMPLETE if the cursor ends, APL_E_UNSUPPORTED for types that no store has, such as objects. */
apl_status npy_header_read(struct cursor *c, struct npy_header *header, apl_error *err);

#endif
