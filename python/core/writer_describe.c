/* What a writer writes: fields and their properties, the source, members. */
#include "writer.h"

#include <string.h>

static apl_dtype dtype_called(const char *name)
{
    for (int d = APL_U8; d <= APL_UTF8; d++)
        if (strcmp(apl_dtype_name((apl_dtype)d), name) == 0)
            return (apl_dtype)d;
    PyErr_Format(PyExc_ValueError, "%s is not a dtype", name);
    return (apl_dtype)0;
}

static void remember_field(struct py_writer *w, apl_dtype dtype, unsigned ndim, const int64_t *shape)
{
    size_t bytes = apl_dtype_size(dtype);
    for (unsigned d = 0; d < ndim; d++)
        bytes = shape[d] < 0 ? 0 : bytes * (size_t)shape[d];
    w->dtypes[w->fields] = dtype;
    w->dims[w->fields] = ndim;
    w->value_bytes[w->fields++] = bytes;
}

PyObject *writer_add_field(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *name, *dtype_name;
    int role;
    PyObject *tuple;
    int64_t shape[APL_MAX_DIMS];
    unsigned ndim;
    apl_error err;
    if (!PyArg_ParseTuple(args, "ssiO:add_field", &name, &dtype_name, &role, &tuple) ||
        shape_from(tuple, shape, &ndim) < 0)
        return NULL;
    apl_dtype dtype = dtype_called(dtype_name);
    apl_writer *writer = dtype ? writer_use(w) : NULL;
    if (!writer)
        return NULL;
    apl_status status = apl_writer_add_field(writer, name, dtype, (apl_role)role, ndim, shape, &err);
    if (status == APL_OK)
        remember_field(w, dtype, ndim, shape);
    return writer_finish(w, status, &err);
}

PyObject *writer_set_media(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *field, *media;
    apl_error err;
    if (!PyArg_ParseTuple(args, "ss:set_media", &field, &media))
        return NULL;
    apl_writer *writer = writer_use(w);
    return writer ? writer_finish(w, apl_writer_set_media(writer, field, media, &err), &err) : NULL;
}

PyObject *writer_set_indexed(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *field;
    apl_error err;
    if (!PyArg_ParseTuple(args, "s:set_indexed", &field))
        return NULL;
    apl_writer *writer = writer_use(w);
    return writer ? writer_finish(w, apl_writer_set_indexed(writer, field, &err), &err) : NULL;
}

PyObject *writer_set_classes(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *field;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "sO:set_classes", &field, &list))
        return NULL;
    Py_ssize_t n = PySequence_Size(list);
    const char **names = n < 0 ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *names);
    PyObject *owners = names ? PyList_New(0) : NULL;
    for (Py_ssize_t i = 0; owners && i < n; i++) {
        PyObject *item = PySequence_GetItem(list, i), *owner = NULL;
        if (!item || text_from(item, &names[i], &owner) < 0 || !owner || PyList_Append(owners, owner) < 0)
            Py_CLEAR(owners);
        Py_XDECREF(item);
        Py_XDECREF(owner);
    }
    PyObject *result = NULL;
    apl_error err;
    apl_writer *writer = owners ? writer_use(w) : NULL;
    if (writer)
        result = writer_finish(w, apl_writer_set_classes(writer, field, names, (uint64_t)n, &err), &err);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "classes have names");
    Py_XDECREF(owners);
    PyMem_Free(names);
    return result;
}

PyObject *writer_set_source(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *format, *digest = NULL;
    Py_ssize_t bytes = 0;
    apl_error err;
    if (!PyArg_ParseTuple(args, "s|z#:set_source", &format, &digest, &bytes))
        return NULL;
    if (digest && bytes != 32) {
        PyErr_SetString(PyExc_ValueError, "a SHA-256 has 32 bytes");
        return NULL;
    }
    apl_writer *writer = writer_use(w);
    return writer
               ? writer_finish(w, apl_writer_set_source(writer, format, (const uint8_t *)digest, &err), &err)
               : NULL;
}

PyObject *writer_skipped(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *path, *why;
    apl_error err;
    if (!PyArg_ParseTuple(args, "ss:skipped", &path, &why))
        return NULL;
    apl_writer *writer = writer_use(w);
    return writer ? writer_finish(w, apl_writer_skipped(writer, path, why, &err), &err) : NULL;
}

PyObject *writer_begin_member(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *name, *split;
    unsigned number;
    apl_error err;
    apl_status status;
    if (!PyArg_ParseTuple(args, "ssO&:begin_member", &name, &split, unsigned_from, &number))
        return NULL;
    apl_writer *writer = writer_use(w);
    if (!writer)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = apl_writer_begin_member(writer, name, split, number, &err);
    Py_END_ALLOW_THREADS
    return writer_finish(w, status, &err);
}
