/* A writer as a Python object: fields, members and records one to one; conversions are made in Python. */
#include "writer.h"

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
    return writer_finish(w, status, &err);
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
    {"add_field", writer_add_field, METH_VARARGS, "add_field(name, dtype, role, shape)"},
    {"set_media", writer_set_media, METH_VARARGS, "set_media(field, media): its values are files"},
    {"set_indexed", writer_set_indexed, METH_VARARGS, "set_indexed(field): its JPEGs are indexed"},
    {"set_classes", writer_set_classes, METH_VARARGS, "set_classes(field, names)"},
    {"set_kind", writer_set_kind, METH_VARARGS, "set_kind(field, words, origin): what it is"},
    {"set_source", writer_set_source, METH_VARARGS, "set_source(format, sha256=None)"},
    {"skipped", writer_skipped, METH_VARARGS, "skipped(path, why): a file of the source was left out"},
    {"begin_member", writer_begin_member, METH_VARARGS, "begin_member(name, split, number)"},
    {"append", writer_append, METH_VARARGS, "append([(buffer, shape or None), ...], rows=1)"},
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
