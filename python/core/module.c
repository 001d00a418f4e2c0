/* The module: its types, its state. */
#include "core.h"

#include <stdio.h>

struct core_state *core_state_of(void *object)
{
    /* Subclasses made in Python have no module state of their own: theirs is that of a base. */
    for (PyTypeObject *t = Py_TYPE((PyObject *)object); t; t = PyType_GetSlot(t, Py_tp_base)) {
        PyObject *module = PyType_GetFlags(t) & Py_TPFLAGS_HEAPTYPE ? PyType_GetModule(t) : NULL;
        if (module && PyModule_GetDef(module) == &core_module)
            return PyModule_GetState(module);
        PyErr_Clear();
    }
    Py_FatalError("apldata._core: a type without its module");
}

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(apl_version());
}

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    return *type ? PyModule_AddType(module, *type) : -1;
}

static PyObject *import_name(const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *found = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return found;
}

/* Without the interpreter: threads of the library, which it does not know, may call. */
static void tell_of_retry(void *unused, const char *line)
{
    (void)unused;
    fprintf(stderr, "apldata: note: %s\n", line);
}

static int exec_module(PyObject *module)
{
    struct core_state *s = PyModule_GetState(module);
    if (add_type(module, &store_spec, &s->store) < 0 || add_type(module, &batch_spec, &s->batch) < 0 ||
        add_type(module, &view_spec, &s->view) < 0 || add_type(module, &reader_spec, &s->reader) < 0 ||
        add_type(module, &iterator_spec, &s->iterator) < 0 ||
        add_type(module, &writer_spec, &s->writer) < 0 || add_constants(module) < 0)
        return -1;
    apl_on_retry(tell_of_retry, NULL);
    s->make_error = import_name("apldata._errors", "make");
    s->no_field = s->make_error ? import_name("apldata._errors", "NoFieldError") : NULL;
    s->as_array = s->no_field ? import_name("apldata._arrays", "as_array") : NULL;
    s->asarray = s->as_array ? import_name("numpy", "asarray") : NULL;
    return s->asarray ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct core_state *s = PyModule_GetState(module);
    Py_VISIT(s->store);
    Py_VISIT(s->batch);
    Py_VISIT(s->view);
    Py_VISIT(s->reader);
    Py_VISIT(s->iterator);
    Py_VISIT(s->writer);
    Py_VISIT(s->make_error);
    Py_VISIT(s->no_field);
    Py_VISIT(s->as_array);
    Py_VISIT(s->asarray);
    return 0;
}

static int clear(PyObject *module)
{
    struct core_state *s = PyModule_GetState(module);
    Py_CLEAR(s->store);
    Py_CLEAR(s->batch);
    Py_CLEAR(s->view);
    Py_CLEAR(s->reader);
    Py_CLEAR(s->iterator);
    Py_CLEAR(s->writer);
    Py_CLEAR(s->make_error);
    Py_CLEAR(s->no_field);
    Py_CLEAR(s->as_array);
    Py_CLEAR(s->asarray);
    return 0;
}

static PyObject *state_position(PyObject *self, PyObject *state)
{
    apl_error err;
    uint64_t epoch, position;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(state, &bytes, &size) < 0)
        return NULL;
    if (apl_state_position(bytes, (size_t)size, &epoch, &position, &err) != APL_OK)
        return core_raise(PyModule_GetState(self), &err);
    return Py_BuildValue("(KK)", (unsigned long long)epoch, (unsigned long long)position);
}

static PyObject *core_cores(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyLong_FromUnsignedLong(apl_cores());
}

static PyMethodDef functions[] = {
    {"cores", core_cores, METH_NOARGS, "How many cores this process may use."},
    {"join", core_join, METH_VARARGS, "join(set, shards, replace, append): seals the list of a set."},
    {"jpeg_check", core_jpeg_check, METH_VARARGS,
     "jpeg_check(file, decode=True) -> its channels, height and width; CorruptError if it does not decode."},
    {"channels_last", core_channels_last, METH_O,
     "channels_last(shape) -> do the channels of such images come last?"},
    {"kind_words", core_kind_words, METH_O,
     "kind_words(words) -> the words of a kind, read and written again."},
    {"metrics", core_metrics, METH_VARARGS,
     "metrics([(reader, loader, store, split), ...]) -> what they have done, in Prometheus's text format."},
    {"dismiss", core_dismiss, METH_VARARGS,
     "dismiss(path, timeout_ms): stops the server there; BusyError if a rank has a client."},
    {"serve", core_serve, METH_VARARGS,
     "serve(store, options, path, ranks, idle_ms, ready): serves until SIGTERM, or until nobody has been "
     "connected "
     "for so long; calls ready() once it listens."},
    {"version", version, METH_NOARGS, "The version of libapldata that is linked in."},
    {"state_position", state_position, METH_O, "state_position(state) -> its epoch, its position."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, exec_module},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

struct PyModuleDef core_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "apldata._core",
    .m_doc = "The C library libapldata. Use the package apldata instead.",
    .m_size = sizeof(struct core_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&core_module);
}
