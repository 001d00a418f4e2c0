/* Beginning and ending a call of a writer: see writer.h. */
#include "writer.h"

apl_writer *writer_use(struct py_writer *w)
{
    apl_writer *writer = handle_use(&w->handle);
    if (writer && w->handle.users > 1) {
        handle_done(&w->handle);
        core_refuse(w, "the writer is in use by another thread");
        return NULL;
    }
    if (!writer)
        core_refuse(w, "the writer is closed");
    return writer;
}

PyObject *writer_finish(struct py_writer *w, apl_status status, const apl_error *err)
{
    Py_BEGIN_ALLOW_THREADS
    handle_done(&w->handle);
    Py_END_ALLOW_THREADS
    if (status != APL_OK)
        return PyErr_Occurred() ? NULL : core_raise(core_state_of(w), err);
    Py_RETURN_NONE;
}

int shape_from(PyObject *tuple, int64_t *shape, unsigned *ndim)
{
    Py_ssize_t n = PySequence_Size(tuple);
    if (n > APL_MAX_DIMS)
        PyErr_Format(PyExc_ValueError, "%zd dimensions: at most %d", n, APL_MAX_DIMS);
    for (Py_ssize_t d = 0; d < n && !PyErr_Occurred(); d++) {
        PyObject *size = PySequence_GetItem(tuple, d);
        shape[d] = size ? PyLong_AsLongLong(size) : 0;
        Py_XDECREF(size);
    }
    *ndim = (unsigned)n;
    return PyErr_Occurred() ? -1 : 0;
}
