/* A writer as a Python object: fields, members and records one to one; conversions are made in Python. */
#include "core.h"
#include "handle.h"

#include <string.h>

struct py_writer {
    PyObject_HEAD struct handle handle;
    unsigned fields;
    apl_dtype dtypes[APL_MAX_FIELDS];
    unsigned dims[APL_MAX_FIELDS];
    size_t value_bytes[APL_MAX_FIELDS]; /* 0: varies */
};

static void close_writer(void *it)
{
    apl_writer_close(it);
}

static int init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path",    "threads",      "block_records", "codec", "level",
                            "replace", "shuffle_seed", "tool",          NULL};
    struct py_writer *w = (struct py_writer *)self;
    apl_writer_options options = APL_WRITER_OPTIONS_INIT;
    PyObject *path = NULL, *seed = Py_None;
    unsigned block_records = 0;
    if (w->handle.close) {
        PyErr_SetString(PyExc_TypeError, "the writer is open already");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$O&O&zipOz:Writer", names, PyUnicode_FSConverter,
                                     &path, unsigned_from, &options.threads, unsigned_from, &block_records,
                                     &options.codec, &options.level, &options.replace, &seed, &options.tool))
        return -1;
    options.block_records = block_records;
    options.shuffle = seed != Py_None;
    options.shuffle_seed = options.shuffle ? PyLong_AsUnsignedLongLong(seed) : 0;
    apl_writer *writer = NULL;
    apl_error err;
    apl_status status = APL_E_INVALID;
    if (!PyErr_Occurred()) {
        const char *directory = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS
        status = apl_writer_open(directory, &options, &writer, &err);
        Py_END_ALLOW_THREADS
        if (status != APL_OK)
            core_raise(core_state_of(self), &err);
    }
    Py_DECREF(path);
    if (status == APL_OK)
        handle_init(&w->handle, writer, close_writer);
    return status == APL_OK ? 0 : -1;
}

/* The writer, for the one thread that may use it at a time; NULL: an error is set. */
static apl_writer *writer_use(struct py_writer *w)
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

static PyObject *finish(struct py_writer *w, apl_status status, const apl_error *err)
{
    Py_BEGIN_ALLOW_THREADS
    handle_done(&w->handle);
    Py_END_ALLOW_THREADS
    if (status != APL_OK)
        return PyErr_Occurred() ? NULL : core_raise(core_state_of(w), err);
    Py_RETURN_NONE;
}

static PyObject *close_method(PyObject *self, PyObject *unused)
{
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    handle_close(&((struct py_writer *)self)->handle);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    Py_BEGIN_ALLOW_THREADS
    handle_close(&((struct py_writer *)self)->handle);
    Py_END_ALLOW_THREADS
    release(self);
    Py_DECREF(type);
}

/* ------------------------------------------------------------------------------------------ describing */

static apl_dtype dtype_called(const char *name)
{
    for (int d = APL_U8; d <= APL_UTF8; d++)
        if (strcmp(apl_dtype_name((apl_dtype)d), name) == 0)
            return (apl_dtype)d;
    PyErr_Format(PyExc_ValueError, "%s is not a dtype", name);
    return (apl_dtype)0;
}

static int shape_from(PyObject *tuple, int64_t *shape, unsigned *ndim)
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

static void remember_field(struct py_writer *w, apl_dtype dtype, unsigned ndim, const int64_t *shape)
{
    size_t bytes = apl_dtype_size(dtype);
    for (unsigned d = 0; d < ndim; d++)
        bytes = shape[d] < 0 ? 0 : bytes * (size_t)shape[d];
    w->dtypes[w->fields] = dtype;
    w->dims[w->fields] = ndim;
    w->value_bytes[w->fields++] = bytes;
}

static PyObject *add_field(PyObject *self, PyObject *args)
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
    return finish(w, status, &err);
}

static PyObject *set_media(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *field, *media;
    apl_error err;
    if (!PyArg_ParseTuple(args, "ss:set_media", &field, &media))
        return NULL;
    apl_writer *writer = writer_use(w);
    return writer ? finish(w, apl_writer_set_media(writer, field, media, &err), &err) : NULL;
}

static PyObject *set_indexed(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *field;
    apl_error err;
    if (!PyArg_ParseTuple(args, "s:set_indexed", &field))
        return NULL;
    apl_writer *writer = writer_use(w);
    return writer ? finish(w, apl_writer_set_indexed(writer, field, &err), &err) : NULL;
}

static PyObject *set_classes(PyObject *self, PyObject *args)
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
        result = finish(w, apl_writer_set_classes(writer, field, names, (uint64_t)n, &err), &err);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "classes have names");
    Py_XDECREF(owners);
    PyMem_Free(names);
    return result;
}

static PyObject *set_source(PyObject *self, PyObject *args)
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
    return writer ? finish(w, apl_writer_set_source(writer, format, (const uint8_t *)digest, &err), &err)
                  : NULL;
}

static PyObject *skipped(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *path, *why;
    apl_error err;
    if (!PyArg_ParseTuple(args, "ss:skipped", &path, &why))
        return NULL;
    apl_writer *writer = writer_use(w);
    return writer ? finish(w, apl_writer_skipped(writer, path, why, &err), &err) : NULL;
}

static PyObject *begin_member(PyObject *self, PyObject *args)
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
    return finish(w, status, &err);
}

/* ------------------------------------------------------------------------------------------- appending */

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

/* Bytes of a value of that shape; more than APL_MAX_VALUE: none has so many. */
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

static PyObject *append(PyObject *self, PyObject *args)
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
        result = finish(w, status, &err);
    }
    values_free(&v);
    return result;
}

/* ------------------------------------------------------------------------------------------ committing */

static int on_commit(void *user, const apl_progress *p)
{
    PyObject *progress = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *result = NULL;
    if (PyErr_CheckSignals() == 0)
        result = progress == Py_None ? Py_NewRef(Py_None)
                                     : PyObject_CallFunction(progress, "KKK", (unsigned long long)p->records,
                                                             (unsigned long long)p->raw_bytes,
                                                             (unsigned long long)p->stored_bytes);
    int stop = result == NULL; /* the exception stays set, in the thread that called commit */
    Py_XDECREF(result);
    PyGILState_Release(gil);
    return stop;
}

static PyObject *commit(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    PyObject *progress = Py_None;
    apl_error err;
    apl_status status;
    if (!PyArg_ParseTuple(args, "|O:commit", &progress))
        return NULL;
    apl_writer *writer = writer_use(w);
    if (!writer)
        return NULL;
    apl_writer_on_commit(writer, on_commit, progress);
    Py_BEGIN_ALLOW_THREADS
    status = apl_writer_commit(writer, &err);
    Py_END_ALLOW_THREADS
    return finish(w, status, &err);
}

static PyObject *progress(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct py_writer *w = (struct py_writer *)self;
    apl_progress p = {0};
    apl_writer *writer = writer_use(w);
    if (!writer)
        return NULL;
    apl_writer_progress(writer, &p);
    handle_done(&w->handle);
    return Py_BuildValue("KKK", (unsigned long long)p.records, (unsigned long long)p.raw_bytes,
                         (unsigned long long)p.stored_bytes);
}

static PyMethodDef methods[] = {
    {"add_field", add_field, METH_VARARGS, "add_field(name, dtype, role, shape)"},
    {"set_media", set_media, METH_VARARGS, "set_media(field, media): its values are files"},
    {"set_indexed", set_indexed, METH_VARARGS, "set_indexed(field): its JPEGs are indexed"},
    {"set_classes", set_classes, METH_VARARGS, "set_classes(field, names)"},
    {"set_source", set_source, METH_VARARGS, "set_source(format, sha256=None)"},
    {"skipped", skipped, METH_VARARGS, "skipped(path, why): a file of the source was left out"},
    {"begin_member", begin_member, METH_VARARGS, "begin_member(name, split, number)"},
    {"append", append, METH_VARARGS, "append([(buffer, shape or None), ...], rows=1)"},
    {"commit", commit, METH_VARARGS, "commit(progress=None): progress(records, raw_bytes, stored_bytes)"},
    {"progress", progress, METH_NOARGS, "(records, raw_bytes, stored_bytes)"},
    {"close", close_method, METH_NOARGS, "What was not committed vanishes."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A writer of the library; apldata.Writer is made of it."},
    {Py_tp_init, init},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec writer_spec = {
    .name = "apldata._core.Writer",
    .basicsize = sizeof(struct py_writer),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
