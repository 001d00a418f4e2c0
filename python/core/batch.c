/* Batches as Python objects: see batch.h. */
#include "batch.h"

#include "store.h"
#include "view.h"

struct batch {
    PyObject_HEAD struct lease *lease; /* NULL: released */
    PyObject *store;                   /* from which its classes are known */
    PyObject *names;                   /* the store's */
    PyObject *values; /* dict: arrays that have been asked for, or put in place of the batch's own */
    uint64_t epoch, position;
    size_t rows;
};

PyObject *batch_object(struct core_state *state, apl_batch *batch, PyObject *store)
{
    allocfunc allocate = PyType_GetSlot(state->batch, Py_tp_alloc);
    struct lease *lease = lease_new(batch);
    if (!lease)
        return PyErr_NoMemory();
    struct batch *b = (struct batch *)allocate(state->batch, 0);
    if (!b) {
        lease_end(lease);
        return NULL;
    }
    b->lease = lease;
    b->store = Py_NewRef(store);
    b->names = Py_NewRef(((struct py_store *)store)->names);
    b->epoch = apl_batch_epoch(batch);
    b->position = apl_batch_position(batch);
    b->rows = apl_batch_rows(batch);
    b->values = PyDict_New();
    if (!b->values)
        Py_CLEAR(b);
    return (PyObject *)b;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct batch *)self)->values);
    Py_VISIT(((struct batch *)self)->names);
    Py_VISIT(((struct batch *)self)->store);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int clear(PyObject *self)
{
    struct batch *b = (struct batch *)self;
    Py_CLEAR(b->values);
    Py_CLEAR(b->names);
    Py_CLEAR(b->store);
    return 0;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    PyObject_GC_UnTrack(self);
    clear(self);
    lease_end(((struct batch *)self)->lease);
    release(self);
    Py_DECREF(type);
}

/* A lease of one's own, which another thread's release() cannot take away; NULL: an error is set. */
static struct lease *hold(struct batch *b)
{
    struct lease *lease;
    BEGIN_GUARD(b)
    lease = b->lease ? lease_share(b->lease) : NULL;
    END_GUARD()
    if (!lease)
        core_refuse(b, "the batch has been released");
    return lease;
}

struct lease *batch_lease(struct core_state *state, PyObject *object)
{
    if (PyObject_TypeCheck(object, state->batch))
        return hold((struct batch *)object);
    PyErr_SetString(PyExc_TypeError, "a Batch is needed");
    return NULL;
}

/* The number of the field called `name`, whose column is in the batch; -1: a NoFieldError is set. */
static Py_ssize_t find(struct batch *b, const struct lease *lease, PyObject *name)
{
    Py_ssize_t n = PyTuple_Size(b->names);
    for (Py_ssize_t i = 0; i < n; i++) {
        int same = PyObject_RichCompareBool(PyTuple_GetItem(b->names, i), name, Py_EQ);
        if (same < 0)
            return -1;
        if (same && apl_batch_column(lease_batch(lease), (unsigned)i))
            return i;
    }
    PyErr_Format(core_state_of(b)->no_field, "the batch has no field %R", name);
    return -1;
}

static PyObject *column(PyObject *self, PyObject *name)
{
    struct batch *b = (struct batch *)self;
    struct lease *lease = hold(b);
    Py_ssize_t i = lease ? find(b, lease, name) : -1;
    PyObject *view = NULL;
    if (i >= 0)
        view = view_of_column(core_state_of(self), lease, apl_batch_column(lease_batch(lease), (unsigned)i),
                              b->rows);
    lease_end(lease);
    return view;
}

/* An array that has been asked for before, as a new reference; NULL without an error: none. */
static PyObject *kept_value(const struct batch *b, PyObject *name)
{
    PyObject *value = NULL;
#ifdef Py_GIL_DISABLED
    return PyDict_GetItemRef(b->values, name, &value) < 0 ? NULL : value;
#else
    value = PyDict_GetItemWithError(b->values, name);
    return Py_XNewRef(value);
#endif
}

/* What the user sees of a view: an array. Made once. */
static PyObject *subscript(PyObject *self, PyObject *name)
{
    struct batch *b = (struct batch *)self;
    PyObject *value = kept_value(b, name);
    if (value || PyErr_Occurred())
        return value;
    PyObject *view = column(self, name);
    if (!view)
        return NULL;
    value = PyObject_CallFunctionObjArgs(core_state_of(self)->as_array, view, NULL);
    Py_DECREF(view);
    if (value && PyDict_SetItem(b->values, name, value) < 0)
        Py_CLEAR(value);
    return value;
}

static int assign(PyObject *self, PyObject *name, PyObject *value)
{
    struct batch *b = (struct batch *)self;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "a batch keeps its fields: they can be replaced, not deleted");
        return -1;
    }
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "fields have names");
        return -1;
    }
    return PyDict_SetItem(b->values, name, value);
}

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)((struct batch *)self)->rows;
}

/* Names of the columns that a batch has. */
static PyObject *column_names(const struct batch *b, const struct lease *lease)
{
    PyObject *list = PyList_New(0);
    Py_ssize_t n = PyTuple_Size(b->names);
    for (Py_ssize_t i = 0; list && i < n; i++)
        if (apl_batch_column(lease_batch(lease), (unsigned)i) &&
            PyList_Append(list, PyTuple_GetItem(b->names, i)) < 0)
            Py_CLEAR(list);
    return list;
}

/* Names of the fields it has, in the order of the schema, then those that were added; of a released batch, none. */
static PyObject *keys(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    struct lease *lease = hold(b);
    PyErr_Clear();
    PyObject *list = lease ? column_names(b, lease) : PyList_New(0), *added = PyDict_Keys(b->values);
    lease_end(lease);
    for (Py_ssize_t i = 0; list && added && i < PyList_Size(added); i++) {
        PyObject *name = PyList_GetItem(added, i); /* of a list that is nobody else's */
        int known = PySequence_Contains(list, name);
        if (known < 0 || (known == 0 && PyList_Append(list, name) < 0))
            Py_CLEAR(list);
    }
    if (!added)
        Py_CLEAR(list);
    Py_XDECREF(added);
    return list;
}

static PyObject *iterate(PyObject *self)
{
    PyObject *list = keys(self, NULL);
    PyObject *iterator = list ? PyObject_GetIter(list) : NULL;
    Py_XDECREF(list);
    return iterator;
}

static int contains(PyObject *self, PyObject *name)
{
    PyObject *list = keys(self, NULL);
    int found = list ? PySequence_Contains(list, name) : -1;
    Py_XDECREF(list);
    return found;
}

static PyObject *release(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    struct lease *lease;
    BEGIN_GUARD(b)
    lease = b->lease;
    b->lease = NULL;
    END_GUARD()
    PyDict_Clear(b->values);
    lease_end(lease);
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------------------------------ attributes */

/* An array in the batch that `lease` holds, which is ended. */
static PyObject *array_of(struct batch *b, struct lease *lease, const void *data, apl_dtype dtype, size_t n)
{
    struct core_state *state = core_state_of(b);
    const Py_ssize_t shape[1] = {(Py_ssize_t)n};
    PyObject *view = view_of_array(state, lease, data, dtype, 1, shape);
    lease_end(lease);
    PyObject *array = view ? PyObject_CallFunctionObjArgs(state->as_array, view, NULL) : NULL;
    Py_XDECREF(view);
    return array;
}

static PyObject *get_ids(PyObject *self, void *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    struct lease *lease = hold(b);
    return lease ? array_of(b, lease, apl_batch_ids(lease_batch(lease)), APL_U64, b->rows) : NULL;
}

static PyObject *get_skipped(PyObject *self, void *unused)
{
    (void)unused;
    size_t n;
    struct batch *b = (struct batch *)self;
    struct lease *lease = hold(b);
    if (!lease)
        return NULL;
    const uint64_t *ids = apl_batch_skipped(lease_batch(lease), &n);
    return array_of(b, lease, ids, APL_U64, ids ? n : 0);
}

static PyObject *get_copies(PyObject *self, void *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    struct lease *lease = hold(b);
    const uint32_t *copies = lease ? apl_batch_copies(lease_batch(lease)) : NULL;
    if (copies)
        return array_of(b, lease, copies, APL_U32, b->rows);
    lease_end(lease);
    return lease ? Py_NewRef(Py_None) : NULL;
}

static PyObject *get_epoch(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((struct batch *)self)->epoch);
}

static PyObject *get_position(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((struct batch *)self)->position);
}

static PyObject *get_store(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((struct batch *)self)->store);
}

static PyObject *refuse_reduce(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    PyErr_SetString(PyExc_TypeError,
                    "a batch is lent by its loader and cannot be pickled: pickle copies of its arrays");
    return NULL;
}

static PyObject *enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *leave(PyObject *self, PyObject *args)
{
    (void)args;
    return release(self, NULL);
}

/* Text and pictures of it are made in Python. */
static PyObject *display(PyObject *self, const char *function)
{
    PyObject *module = PyImport_ImportModule("apldata._display");
    PyObject *text = module ? PyObject_CallMethod(module, function, "O", self) : NULL;
    Py_XDECREF(module);
    return text;
}

static PyObject *repr(PyObject *self)
{
    return display(self, "batch_repr");
}

static PyObject *repr_html(PyObject *self, PyObject *unused)
{
    (void)unused;
    return display(self, "batch_html");
}

static PyGetSetDef attributes[] = {
    {"ids", get_ids, NULL, "Ids of the rows: uint64[rows], read-only.", NULL},
    {"skipped", get_skipped, NULL,
     "Ids of records that were left out because their block is corrupt: uint64[n].", NULL},
    {"copies", get_copies, NULL,
     "Which of its copies each row is, from 0 to the loader's `reuse` - 1: uint32[rows]; None: of no loader.",
     NULL},
    {"epoch", get_epoch, NULL, "The epoch that it belongs to.", NULL},
    {"position", get_position, NULL, "Where its first row stands in the epoch's order.", NULL},
    {"_store", get_store, NULL, "The store that it was read from.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"column", column, METH_O,
     "column(name) -> View: the field's values where they lie, for DLPack and buffers."},
    {"keys", keys, METH_NOARGS, "Names of the fields, in the order of the schema."},
    {"release", release, METH_NOARGS,
     "Gives the batch back, now; arrays of it that are still held keep its memory until they are gone too. "
     "Otherwise that "
     "happens by itself when the last reference goes."},
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", leave, METH_VARARGS, NULL},
    {"__reduce__", refuse_reduce, METH_NOARGS, NULL},
    {"_repr_html_", repr_html, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Some records, field by field. batch[name] is a NumPy array of shape (rows, ...), lying in "
                "the library's own "
                "memory, which is lent until the last array on it is gone; a list, of str or arrays, for a "
                "field of varying "
                "shape. len(batch) is the number of rows. A field can be replaced by assignment."},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_repr, repr},
    {Py_tp_iter, iterate},
    {Py_mp_length, length},
    {Py_mp_subscript, subscript},
    {Py_mp_ass_subscript, assign},
    {Py_sq_contains, contains},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec batch_spec = {
    .name = "apldata.Batch",
    .basicsize = sizeof(struct batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
