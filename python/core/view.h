/* An array that lies in a batch: exported to NumPy, and to others by DLPack, without a copy. */
#ifndef VIEW_H
#define VIEW_H

#include "core.h"
#include "lease.h"

struct view {
    PyObject_HEAD struct lease *lease;
    void *data;
    apl_dtype dtype;
    bool writable;
    int ndim;
    Py_ssize_t shape[APL_MAX_DIMS + 1], strides[APL_MAX_DIMS + 1]; /* in elements, and in bytes */
    size_t rows;
    const apl_column *column; /* of a column in a batch, for its offsets and shapes; NULL otherwise */
};

/* New views, of the shape of the column's data as one array: of a varying shape, one long row of elements. */
PyObject *view_of_column(struct core_state *state, struct lease *lease, const apl_column *column,
                         size_t rows);
/* Of a copy of a column whose values have one shape, which does not keep the batch; NULL: an error is set. */
PyObject *view_of_copy(struct core_state *state, const apl_column *column, size_t rows);
PyObject *view_of_array(struct core_state *state, struct lease *lease, const void *data, apl_dtype dtype,
                        int ndim, const Py_ssize_t *shape);

/* What the user sees of a view: apldata._arrays.as_array(view). */
PyObject *view_as_array(struct core_state *state, PyObject *view);

/* view.__dlpack__() and __dlpack_device__(). */
PyObject *view_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *view_dlpack_device(PyObject *self, PyObject *unused);

#endif
