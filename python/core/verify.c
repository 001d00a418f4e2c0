/* Verifying a store, with progress and Ctrl-C. */
#include "store.h"

struct verification {
    PyObject *progress; /* called with (records, of), or None */
    PyObject *bad;      /* list of (member, block, first, count, bad ids, message) */
    PyObject *raised;   /* the exception that ended it, to be raised in the thread that called */
};

static PyObject *bad_ids(const apl_bad_block *block)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < block->bad_count; i++) {
        PyObject *id = PyLong_FromUnsignedLongLong(block->bad[i]);
        if (!id || PyList_Append(list, id) < 0)
            Py_CLEAR(list);
        Py_XDECREF(id);
    }
    return list;
}

/* Called by any of the library's threads, one at a time. */
static void on_bad_block(void *user, const apl_bad_block *block)
{
    struct verification *v = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *item = Py_BuildValue("NKKKNN", text_or_none(block->member), (unsigned long long)block->block,
                                   (unsigned long long)block->first, (unsigned long long)block->count,
                                   bad_ids(block), text_or_none(block->message));
    if (!item || PyList_Append(v->bad, item) < 0)
        PyErr_Clear(); /* no memory for telling; the verdict stays */
    Py_XDECREF(item);
    PyGILState_Release(gil);
}

/* Takes the exception that is set. */
static PyObject *take_exception(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace)
        PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

/* Likewise. The calling thread is one of them, and so signals are seen. */
static int on_progress(void *user, uint64_t records, uint64_t of)
{
    struct verification *v = user;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *result = NULL;
    if (PyErr_CheckSignals() == 0)
        result = v->progress == Py_None
                     ? Py_NewRef(Py_None)
                     : PyObject_CallFunction(v->progress, "KK", (unsigned long long)records,
                                             (unsigned long long)of);
    int stop = result == NULL;
    Py_XDECREF(result);
    if (stop && !v->raised)
        v->raised = take_exception();
    PyErr_Clear();
    PyGILState_Release(gil);
    return stop;
}

PyObject *store_verify(PyObject *self, PyObject *args)
{
    struct py_store *s = (struct py_store *)self;
    apl_verify_options options = APL_VERIFY_OPTIONS_INIT;
    struct verification v = {.progress = Py_None};
    apl_error err;
    if (!PyArg_ParseTuple(args, "|O&O:verify", unsigned_from, &options.threads, &v.progress))
        return NULL;
    apl_store *store = store_use(s);
    v.bad = store ? PyList_New(0) : NULL;
    if (!v.bad)
        return NULL;
    options.user = &v;
    options.progress = on_progress;
    options.bad_block = on_bad_block;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_store_verify(store, &options, &err);
    Py_END_ALLOW_THREADS
    store_done(s);
    if (v.raised) {
        PyErr_SetObject((PyObject *)Py_TYPE(v.raised), v.raised);
        Py_DECREF(v.raised);
        Py_DECREF(v.bad);
        return NULL;
    }
    if (status != APL_OK && PyList_Size(v.bad) == 0) {
        Py_DECREF(v.bad);
        return core_raise(core_state_of(self), &err);
    }
    return v.bad;
}
