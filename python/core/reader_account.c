/* What a reader says of itself: where it stands, what it has delivered, and where the time went. */
#include "reader.h"

static PyObject *state_bytes(apl_reader *reader, struct core_state *state)
{
    apl_error err;
    size_t size = 0;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_reader_state(reader, NULL, &size, &err);
    Py_END_ALLOW_THREADS
    PyObject *bytes =
        status == APL_OK ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size) : core_raise(state, &err);
    if (!bytes)
        return NULL;
    char *to = PyBytes_AsString(bytes);
    Py_BEGIN_ALLOW_THREADS
    status = apl_reader_state(reader, to, &size, &err);
    Py_END_ALLOW_THREADS
    if (status == APL_OK)
        return bytes;
    Py_DECREF(bytes);
    return core_raise(state, &err);
}

PyObject *reader_state(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct py_reader *r = (struct py_reader *)self;
    apl_reader *reader = reader_use(r);
    if (!reader)
        return NULL;
    PyObject *bytes = state_bytes(reader, core_state_of(self));
    reader_done(r);
    return bytes;
}

PyObject *reader_receipt(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct py_reader *r = (struct py_reader *)self;
    apl_receipt t;
    apl_error err;
    apl_reader *reader = reader_use(r);
    if (!reader)
        return NULL;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_reader_receipt(reader, &t, sizeof t, &err);
    Py_END_ALLOW_THREADS
    reader_done(r);
    if (status != APL_OK)
        return core_raise(core_state_of(self), &err);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:(KK)}", "epoch", t.epoch, "first", t.first,
                         "last", t.last, "delivered", t.delivered, "skipped", t.skipped, "dropped", t.dropped,
                         "missing", t.missing, "repeated", t.repeated, "sum", t.sum[0], t.sum[1]);
}

static PyObject *no_stats(void)
{
    PyErr_SetString(PyExc_RuntimeError, "this reader has no statistics here");
    return NULL;
}

bool reader_take_stats(PyObject *self, apl_stats *s)
{
    struct py_reader *r = (struct py_reader *)self;
    apl_reader *reader = reader_use(r);
    if (!reader)
        return false;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_reader_stats(reader, s, sizeof *s);
    Py_END_ALLOW_THREADS
    reader_done(r);
    return status == APL_OK || no_stats();
}

/* As the library's own JSON, so that there is one list of what is told. */
PyObject *reader_stats(PyObject *self, PyObject *unused)
{
    (void)unused;
    apl_stats s;
    char text[4096];
    if (!reader_take_stats(self, &s))
        return NULL;
    size_t length = apl_stats_json_all(&s, sizeof s, text, sizeof text);
    return length < sizeof text ? PyUnicode_FromStringAndSize(text, (Py_ssize_t)length) : no_stats();
}

PyObject *reader_explain(PyObject *self, PyObject *args)
{
    struct py_reader *r = (struct py_reader *)self;
    apl_stats now, before;
    apl_bottleneck what = APL_BOTTLENECK_UNKNOWN;
    char text[4096];
    int recent;
    if (!PyArg_ParseTuple(args, "p:explain", &recent) || !reader_take_stats(self, &now))
        return NULL;
    before = r->explained;
    r->explained = now;
    apl_stats_explain(&now, recent ? &before : NULL, sizeof now, &what, text, sizeof text);
    return Py_BuildValue("(is)", (int)what, text);
}
