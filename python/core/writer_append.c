/* Records for a writer, from buffers. */
#include "writer.h"

/* The values of `rows` records: a buffer for each field, and a shape where it varies. */
struct values {
    Py_buffer buffers[APL_MAX_FIELDS];
    int64_t shapes[APL_MAX_FIELDS][APL_MAX_DIMS];
    unsigned held; /* buffers to release */
};

static void values_free(struct values *v)
{
    while (v->held > 0)
        PyBuffer_Release(&v->buffers[--v->held]);
}

/* Bytes of a value of that shape; more than APL_MAX_VALUE: no value has that many. */
static uint64_t value_size(apl_dtype dtype, const int64_t *shape, unsigned ndim)
{
    uint64_t bytes = apl_dtype_size(dtype);
    for (unsigned d = 0; d < ndim; d++)
        if (shape[d] < 0 || shape[d] > (int64_t)APL_MAX_VALUE ||
            (bytes *= (uint64_t)shape[d]) > APL_MAX_VALUE)
            return UINT64_MAX;
    return bytes;
}

/* Is the buffer as large as the shape says? */
static int check_size(const struct py_writer *w, unsigned f, const Py_buffer *buffer, const int64_t *shape,
                      Py_ssize_t rows)
{
    uint64_t bytes = w->value_bytes[f] ? (uint64_t)w->value_bytes[f] * (uint64_t)rows
                                       : value_size(w->dtypes[f], shape, w->dims[f]);
    if (bytes == (uint64_t)buffer->len)
        return 0;
    if (bytes == UINT64_MAX) {
        PyErr_Format(PyExc_ValueError, "field %u: a value of more than %u bytes", f, APL_MAX_VALUE);
        return -1;
    }
    PyErr_Format(PyExc_ValueError, "field %u: %zd bytes where %llu are needed", f, buffer->len,
                 (unsigned long long)bytes);
    return -1;
}

/* `list`: for each field a pair (buffer, shape or None). */
static int values_from(const struct py_writer *w, PyObject *list, Py_ssize_t rows, struct values *v)
{
    v->held = 0;
    if (PySequence_Size(list) != (Py_ssize_t)w->fields) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "a value for each of the %u fields is needed", w->fields);
        return -1;
    }
    for (unsigned f = 0; f < w->fields; f++) {
        PyObject *pair = PySequence_GetItem(list, (Py_ssize_t)f), *object, *shape;
        unsigned ndim = w->dims[f];
        int done = pair && PyArg_ParseTuple(pair, "OO", &object, &shape) ? 0 : -1;
        if (done == 0 && w->value_bytes[f] == 0)
            done = shape_from(shape, v->shapes[f], &ndim);
        if (done == 0 && ndim != w->dims[f]) {
            PyErr_Format(PyExc_ValueError, "field %u: %u dimensions where %u are needed", f, ndim,
                         w->dims[f]);
            done = -1;
        }
        if (done == 0)
            done = PyObject_GetBuffer(object, &v->buffers[f], PyBUF_C_CONTIGUOUS);
        v->held += done == 0;
        Py_XDECREF(pair);
        if (done < 0 || check_size(w, f, &v->buffers[f], v->shapes[f], rows) < 0)
            return -1;
    }
    return 0;
}

static apl_status append_rows(apl_writer *writer, const struct py_writer *w, const struct values *v,
                              Py_ssize_t rows, apl_error *err)
{
    apl_value values[APL_MAX_FIELDS];
    apl_status status = APL_OK;
    for (Py_ssize_t row = 0; row < rows && status == APL_OK; row++) {
        for (unsigned f = 0; f < w->fields; f++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): set for all fields */
            values[f].data = (const char *)v->buffers[f].buf + (size_t)row * w->value_bytes[f];
            values[f].shape = w->value_bytes[f] ? NULL : v->shapes[f];
        }
        status = apl_writer_append(writer, values, err);
    }
    return status;
}

PyObject *writer_append(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    struct values v;
    PyObject *list, *result = NULL;
    Py_ssize_t rows = 1;
    apl_error err;
    apl_status status;
    if (!PyArg_ParseTuple(args, "O|n:append", &list, &rows))
        return NULL;
    for (unsigned f = 0; rows != 1 && f < w->fields; f++)
        if (w->value_bytes[f] == 0) {
            PyErr_SetString(PyExc_ValueError,
                            "records with a field of varying shape are appended one by one");
            return NULL;
        }
    apl_writer *writer = values_from(w, list, rows, &v) == 0 ? writer_use(w) : NULL;
    if (writer) {
        Py_BEGIN_ALLOW_THREADS
        status = append_rows(writer, w, &v, rows, &err);
        Py_END_ALLOW_THREADS
        result = writer_finish(w, status, &err);
    }
    values_free(&v);
    return result;
}
