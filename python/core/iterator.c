/* What a loop asks for batches. Where nothing in Python stands between the reader and the loop, no Python is run for one. */
#include "reader.h"

struct iterator {
    PyObject_HEAD PyObject *reader; /* NULL: batches come from _step() */
    PyObject *convert;              /* what makes of a Batch what is handed out; NULL: it is */
    double timeout;
};

static void drop(struct iterator *it)
{
    PyObject *reader, *convert;
    BEGIN_GUARD(it)
    reader = it->reader;
    convert = it->convert;
    it->reader = it->convert = NULL;
    END_GUARD()
    Py_XDECREF(reader);
    Py_XDECREF(convert);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct iterator *)self)->reader);
    Py_VISIT(((struct iterator *)self)->convert);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int clear(PyObject *self)
{
    drop((struct iterator *)self);
    return 0;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    PyObject_GC_UnTrack(self);
    drop((struct iterator *)self);
    release(self);
    Py_DECREF(type);
}

/* -------------------------------------------------------------------------------------------- batches */

/* _failed() may raise another error instead of the one that is set. */
static void tell_failure(PyObject *self)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *told = PyObject_CallMethod(self, "_failed", "O", error);
    if (told) {
        Py_DECREF(told);
        PyErr_Restore(type, error, trace);
        return;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

static PyObject *from_reader(PyObject *self, PyObject *reader, PyObject *convert, double timeout)
{
    PyObject *batch = reader_next(core_state_of(reader), reader, timeout);
    if (!batch)
        tell_failure(self);
    if (batch == Py_None) {
        Py_DECREF(batch);
        return PyObject_CallMethod(self, "_end", NULL);
    }
    if (!batch || !convert)
        return batch;
    PyObject *made = PyObject_CallFunctionObjArgs(convert, batch, NULL);
    Py_DECREF(batch);
    return made;
}

/* Several threads may be here: each holds what it uses, also when another ends the epoch. */
static PyObject *next(PyObject *self)
{
    struct iterator *it = (struct iterator *)self;
    PyObject *reader, *convert;
    double timeout;
    BEGIN_GUARD(it)
    reader = Py_XNewRef(it->reader);
    convert = Py_XNewRef(it->convert);
    timeout = it->timeout;
    END_GUARD()
    PyObject *item =
        reader ? from_reader(self, reader, convert, timeout) : PyObject_CallMethod(self, "_step", NULL);
    Py_XDECREF(reader);
    Py_XDECREF(convert);
    return item;
}

static PyObject *read_from(PyObject *self, PyObject *args)
{
    struct iterator *it = (struct iterator *)self;
    PyObject *reader, *convert;
    double timeout;
    if (!PyArg_ParseTuple(args, "O!dO:_read_from", core_state_of(self)->reader, &reader, &timeout, &convert))
        return NULL;
    drop(it);
    BEGIN_GUARD(it)
    it->timeout = timeout;
    it->convert = convert == Py_None ? NULL : Py_NewRef(convert);
    it->reader = Py_NewRef(reader);
    END_GUARD()
    Py_RETURN_NONE;
}

static PyObject *stop(PyObject *self, PyObject *unused)
{
    (void)unused;
    drop((struct iterator *)self);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_read_from", read_from, METH_VARARGS,
     "_read_from(reader, timeout, convert): from now on batches are those of the reader, converted if that "
     "is not None."},
    {"_stop", stop, METH_NOARGS, "_stop(): from now on _step() gives the batches again."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "An iterator over batches, for a subclass that has _step(), which gives a batch or raises, _end(), "
     "called at the end of the reader's epoch, which raises StopIteration, and _failed(error), which may "
     "raise another error instead of the reader's."},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec iterator_spec = {
    .name = "apldata._core.Iterator",
    .basicsize = sizeof(struct iterator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
