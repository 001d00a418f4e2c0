/* A reader as a Python object. */
#include "reader.h"

#include "batch.h"
#include "store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void close_reader(void *it)
{
    apl_reader_close(it);
}

static int open_reader(struct py_reader *self, struct py_store *store, struct reader_call *call)
{
    apl_store *opened = store_use(store);
    apl_reader *reader = NULL;
    apl_error err;
    apl_status status;
    if (!opened)
        return -1;
    Py_BEGIN_ALLOW_THREADS
    status = apl_reader_open(opened, &call->options, &reader, &err);
    Py_END_ALLOW_THREADS
    store_done(store);
    if (status != APL_OK) {
        core_raise(core_state_of(self), &err);
        return -1;
    }
    handle_init(&self->handle, reader, close_reader);
    self->store = Py_NewRef((PyObject *)store);
    self->pin = call->pin;
    call->pin = NULL;
    self->parts = call->parts;
    call->parts = NULL;
    return 0;
}

static int connect_reader(struct py_reader *self, struct py_store *store, struct reader_call *call,
                          PyObject *given)
{
    struct connect_call to;
    apl_reader *reader = NULL;
    apl_error err;
    apl_status status = APL_OK;
    int done = connect_call_from(&to, given);
    to.options.monitor = call->options.monitor;
    if (done == 0) {
        Py_BEGIN_ALLOW_THREADS
        status = apl_reader_connect(to.path, to.rank, &to.options, &reader, &err);
        Py_END_ALLOW_THREADS
    }
    connect_call_free(&to);
    if (done < 0)
        return -1;
    if (status != APL_OK) {
        core_raise(core_state_of(self), &err);
        return -1;
    }
    handle_init(&self->handle, reader, close_reader);
    self->store = Py_NewRef((PyObject *)store);
    self->connected = true;
    self->parts = call->parts;
    call->parts = NULL;
    return 0;
}

static int init(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"store", "options", "connect", NULL};
    struct reader_call call;
    PyObject *store, *options, *connect = Py_None;
    if (((struct py_reader *)self)->store) {
        PyErr_SetString(PyExc_TypeError, "the reader is open already");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!O!|O:Reader", names, core_state_of(self)->store,
                                     &store, &PyDict_Type, &options, &connect))
        return -1;
    struct py_reader *r = (struct py_reader *)self;
    int done = reader_call_from(&call, core_state_of(self)->store, options);
    if (done == 0)
        done = connect == Py_None ? open_reader(r, (struct py_store *)store, &call)
                                  : connect_reader(r, (struct py_store *)store, &call, connect);
    reader_call_free(&call);
    return done;
}

apl_reader *reader_use(struct py_reader *r)
{
    apl_reader *reader = handle_use(&r->handle);
    if (!reader)
        core_refuse(r, "the loader is closed");
    return reader;
}

void reader_done(struct py_reader *r)
{
    Py_BEGIN_ALLOW_THREADS
    handle_done(&r->handle);
    Py_END_ALLOW_THREADS
}

static void close_it(struct py_reader *r)
{
    /* Whoever waits in next() comes back, so that the last of them can close. */
    apl_reader *reader = handle_use(&r->handle);
    if (!reader)
        return;
    Py_BEGIN_ALLOW_THREADS
    apl_reader_cancel(reader);
    handle_close(&r->handle);
    handle_done(&r->handle);
    Py_END_ALLOW_THREADS
}

static PyObject *close_method(PyObject *self, PyObject *unused)
{
    (void)unused;
    close_it((struct py_reader *)self);
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    struct py_reader *r = (struct py_reader *)self;
    PyObject_GC_UnTrack(self);
    close_it(r);
    pin_free(r->pin);
    Py_CLEAR(r->store);
    Py_CLEAR(r->parts);
    release(self);
    Py_DECREF(type);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct py_reader *)self)->store);
    Py_VISIT(((struct py_reader *)self)->parts);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

/* -------------------------------------------------------------------------------------------- batches */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Has a slice of waiting passed, and no more? Where a server has lost its patience, the wait is over, too. */
static bool is_slice(const struct py_reader *r, apl_status status, const apl_error *err)
{
    return status == APL_E_TIMEOUT && (!r->connected || err->sys_errno == ETIMEDOUT);
}

/* Waits in slices, between which signals are looked at; then the reader is no longer in use. The GIL is let go once, where the batch is
 * there in time. -1: a signal's handler has raised. */
static int wait_next(struct py_reader *r, apl_reader *reader, double timeout, apl_batch **batch,
                     apl_status *status, apl_error *err)
{
    double until = timeout > 0 ? seconds() + timeout : INFINITY;
    for (;;) {
        bool again;
        Py_BEGIN_ALLOW_THREADS
        *status = apl_reader_next(reader, batch, err);
        again = is_slice(r, *status, err);
        if (!again)
            handle_done(&r->handle);
        Py_END_ALLOW_THREADS
        if (!again)
            return 0;
        int raised = PyErr_CheckSignals();
        if (raised < 0 || seconds() >= until) {
            reader_done(r);
            return raised;
        }
    }
}

/* The library waits in slices, and does not know how long all of them took. */
static void tell_whole_wait(apl_error *err, double timeout)
{
    char text[2 * sizeof err->message], *seconds = PyOS_double_to_string(timeout, 'g', 6, 0, NULL);
    snprintf(text, sizeof text, "waited %s s: %s", seconds ? seconds : "?", err->message);
    snprintf(err->message, sizeof err->message, "%.*s", (int)sizeof err->message - 1, text);
    PyMem_Free(seconds);
}

PyObject *reader_next(struct core_state *state, PyObject *self, double timeout)
{
    struct py_reader *r = (struct py_reader *)self;
    apl_batch *batch = NULL;
    apl_status status;
    apl_error err;
    apl_reader *reader = reader_use(r);
    if (!reader || wait_next(r, reader, timeout, &batch, &status, &err) < 0)
        return NULL;
    if (status == APL_END)
        Py_RETURN_NONE;
    if (status == APL_E_TIMEOUT && timeout > 0)
        tell_whole_wait(&err, timeout);
    return status == APL_OK ? batch_object(state, batch, r->store, r->parts) : core_raise(state, &err);
}

static PyObject *next(PyObject *self, PyObject *args)
{
    double timeout = 0;
    if (!PyArg_ParseTuple(args, "|d:next", &timeout))
        return NULL;
    return reader_next(core_state_of(self), self, timeout);
}

static PyObject *next_epoch(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct py_reader *r = (struct py_reader *)self;
    apl_reader *reader = reader_use(r);
    apl_status status;
    apl_error err;
    if (!reader)
        return NULL;
    int interrupted = 0;
    do {
        Py_BEGIN_ALLOW_THREADS
        status = apl_reader_next_epoch(reader, &err);
        Py_END_ALLOW_THREADS
    } while (status == APL_E_TIMEOUT && (interrupted = PyErr_CheckSignals()) == 0);
    reader_done(r);
    if (interrupted < 0)
        return NULL;
    if (status != APL_OK)
        return core_raise(core_state_of(self), &err);
    Py_RETURN_NONE;
}

static PyObject *cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct py_reader *r = (struct py_reader *)self;
    apl_reader *reader = handle_use(&r->handle);
    if (!reader)
        Py_RETURN_NONE;
    Py_BEGIN_ALLOW_THREADS
    apl_reader_cancel(reader);
    Py_END_ALLOW_THREADS
    reader_done(r);
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------------------------------ attributes */

typedef uint64_t number_fn(apl_reader *reader);

static PyObject *number(PyObject *self, number_fn *of)
{
    struct py_reader *r = (struct py_reader *)self;
    apl_reader *reader = reader_use(r);
    if (!reader)
        return NULL;
    uint64_t n;
    Py_BEGIN_ALLOW_THREADS
    n = of(reader);
    Py_END_ALLOW_THREADS
    reader_done(r);
    return PyLong_FromUnsignedLongLong(n);
}

static PyObject *get_epoch(PyObject *self, void *unused)
{
    (void)unused;
    return number(self, apl_reader_epoch);
}

static PyObject *get_batches(PyObject *self, void *unused)
{
    (void)unused;
    return number(self, apl_reader_batches);
}

static uint64_t batch_size_of(apl_reader *reader)
{
    return apl_reader_batch_size(reader);
}

static PyObject *get_batch_size(PyObject *self, void *unused)
{
    (void)unused;
    return number(self, batch_size_of);
}

static PyGetSetDef attributes[] = {
    {"epoch", get_epoch, NULL, "The epoch that is being handed out.", NULL},
    {"batch_size", get_batch_size, NULL, "Rows of a batch, but for the last of an epoch.", NULL},
    {"batches", get_batches, NULL, "How many batches all of it has.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"next", next, METH_VARARGS,
     "next(timeout=0) -> the next Batch, or None at the end of the epoch. Seconds; 0: for ever."},
    {"next_epoch", next_epoch, METH_NOARGS, "Goes to the next epoch, giving up what is left of this one."},
    {"state", reader_state, METH_NOARGS, "Where it stands after the last batch that was handed out: bytes."},
    {"receipt", reader_receipt, METH_NOARGS, "What became of the epoch's deliveries up to now: a dict."},
    {"stats", reader_stats, METH_NOARGS, "Where the time went: JSON."},
    {"explain", reader_explain, METH_VARARGS,
     "explain(recent) -> (apl_bottleneck, what keeps training from going faster). recent: since the last "
     "call."},
    {"cancel", cancel, METH_NOARGS, "Makes next() raise CancelledError in every thread, from now on."},
    {"close", close_method, METH_NOARGS, "Ends the threads. Batches stay valid."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A reader of the library; apldata.Loader is made of it."},
    {Py_tp_init, init},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec reader_spec = {
    .name = "apldata._core.Reader",
    .basicsize = sizeof(struct py_reader),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
