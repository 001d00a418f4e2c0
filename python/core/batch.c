/* Batches as Python objects: see batch.h. */
#include "batch_fields.h"

#include "store.h"
#include "view.h"

/* For `match`; the limited API leaves the name out. */
#ifdef Py_TPFLAGS_MAPPING
#define MAPPING Py_TPFLAGS_MAPPING
#else
#define MAPPING (1ul << 6)
#endif

enum { SMALL = 64 }; /* bytes of a row, at most, of the columns that are handed out as copies */

PyObject *batch_object(struct core_state *state, apl_batch *batch, PyObject *store, PyObject *parts)
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
    b->parts = Py_XNewRef(parts);
    b->epoch = apl_batch_epoch(batch);
    b->position = apl_batch_position(batch);
    b->rows = b->rows_left = apl_batch_rows(batch);
    b->copies = PyDict_New();
    b->values = PyDict_New();
    if (!b->copies || !b->values)
        Py_CLEAR(b);
    return (PyObject *)b;
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct batch *)self)->values);
    Py_VISIT(((struct batch *)self)->copies);
    Py_VISIT(((struct batch *)self)->names);
    Py_VISIT(((struct batch *)self)->parts);
    Py_VISIT(((struct batch *)self)->ids);
    Py_VISIT(((struct batch *)self)->store);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int clear(PyObject *self)
{
    struct batch *b = (struct batch *)self;
    Py_CLEAR(b->values);
    Py_CLEAR(b->copies);
    Py_CLEAR(b->names);
    Py_CLEAR(b->parts);
    Py_CLEAR(b->ids);
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

struct lease *batch_lease(struct core_state *state, PyObject *object)
{
    if (PyObject_TypeCheck(object, state->batch))
        return batch_hold((struct batch *)object);
    PyErr_SetString(PyExc_TypeError, "a Batch is needed");
    return NULL;
}

/* What a dict has under a name, as a new reference; NULL without an error: nothing. */
static PyObject *item_of(PyObject *dict, PyObject *name)
{
    PyObject *value = NULL;
#ifdef Py_GIL_DISABLED
    return PyDict_GetItemRef(dict, name, &value) < 0 ? NULL : value;
#else
    value = PyDict_GetItemWithError(dict, name);
    return Py_XNewRef(value);
#endif
}

/* The copy of a small column: one for all who ask, so that what is written into it is there for the next. */
static PyObject *copied(struct batch *b, PyObject *name, const apl_column *column)
{
    PyObject *view;
    BEGIN_GUARD(b)
    view = item_of(b->copies, name);
    if (!view && !PyErr_Occurred()) {
        view = view_of_copy(core_state_of(b), column, b->rows);
        if (view && PyDict_SetItem(b->copies, name, view) < 0)
            Py_CLEAR(view);
    }
    END_GUARD()
    return view;
}

/* Small columns are copied, so that labels can be kept without keeping the images of their batch. */
static PyObject *view_of(struct batch *b, struct lease *lease, PyObject *name, const apl_column *column)
{
    if (!column->offsets && column->bytes <= SMALL * b->rows)
        return copied(b, name, column);
    return view_of_column(core_state_of(b), lease, column, b->rows);
}

static PyObject *column(PyObject *self, PyObject *name)
{
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    const apl_column *found = lease ? batch_find(b, lease, name) : NULL;
    PyObject *view = found ? view_of(b, lease, name, found) : NULL;
    lease_end(lease);
    return view;
}

/* What the user sees of a view: an array. Made once. */
static PyObject *subscript(PyObject *self, PyObject *name)
{
    struct batch *b = (struct batch *)self;
    PyObject *value = item_of(b->values, name);
    if (value || PyErr_Occurred())
        return value;
    PyObject *view = column(self, name);
    if (!view)
        return NULL;
    value = view_as_array(core_state_of(self), view);
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

/* Names of the fields it has, in the order of the schema, then those that were added; of a released batch, none. */
static PyObject *names_of(PyObject *self)
{
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    PyErr_Clear();
    PyObject *list = lease ? batch_columns(b, lease) : PyList_New(0), *added = PyDict_Keys(b->values);
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

static Py_ssize_t length(PyObject *self)
{
    PyObject *list = names_of(self);
    Py_ssize_t n = list ? PyList_Size(list) : -1;
    Py_XDECREF(list);
    return n;
}

static PyObject *iterate(PyObject *self)
{
    PyObject *list = names_of(self);
    PyObject *iterator = list ? PyObject_GetIter(list) : NULL;
    Py_XDECREF(list);
    return iterator;
}

static int contains(PyObject *self, PyObject *name)
{
    PyObject *list = names_of(self);
    int found = list ? PySequence_Contains(list, name) : -1;
    Py_XDECREF(list);
    return found;
}

/* keys(), values() and items() are those that Python has for all mappings. */
static PyObject *mapping_view(PyObject *self, const char *kind)
{
    PyObject *module = PyImport_ImportModule("collections.abc");
    PyObject *view = module ? PyObject_CallMethod(module, kind, "O", self) : NULL;
    Py_XDECREF(module);
    return view;
}

static PyObject *keys(PyObject *self, PyObject *unused)
{
    (void)unused;
    return mapping_view(self, "KeysView");
}

static PyObject *values(PyObject *self, PyObject *unused)
{
    (void)unused;
    return mapping_view(self, "ValuesView");
}

static PyObject *items(PyObject *self, PyObject *unused)
{
    (void)unused;
    return mapping_view(self, "ItemsView");
}

static PyObject *get(PyObject *self, PyObject *args)
{
    PyObject *name, *otherwise = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:get", &name, &otherwise))
        return NULL;
    int found = contains(self, name);
    return found < 0 ? NULL : found ? subscript(self, name) : Py_NewRef(otherwise);
}

/* Of each of its own fields that has a row for each of the batch, the array that has been asked for or put in its place; None: it is
 * as it came. */
static PyObject *held(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    PyObject *list = lease ? batch_columns(b, lease) : NULL, *dict = list ? PyDict_New() : NULL;
    lease_end(lease);
    for (Py_ssize_t i = 0; dict && i < PyList_Size(list); i++) {
        PyObject *name = PyList_GetItem(list, i); /* of a list that is nobody else's */
        PyObject *value = item_of(b->values, name);
        if (!PyErr_Occurred() && !batch_has_rows(b, name)) {
            Py_XDECREF(value);
            continue;
        }
        if (PyErr_Occurred() || PyDict_SetItem(dict, name, value ? value : Py_None) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    Py_XDECREF(list);
    return dict;
}

/* Frameworks rebuild mappings by their type, type(batch)({...}): what they get is a dict. */
static PyObject *rebuild(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)type;
    if (PyTuple_Size(args) != 1 || keywords) {
        PyErr_SetString(PyExc_TypeError,
                        "batches are made by stores and loaders; of one mapping, Batch makes a dict");
        return NULL;
    }
    return PyObject_Call((PyObject *)&PyDict_Type, args, NULL);
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
    PyDict_Clear(b->copies);
    lease_end(lease);
    Py_RETURN_NONE;
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

/* Text and images of it are made in Python. */
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

static PyMethodDef methods[] = {
    {"column", column, METH_O, "column(name) -> View: the field's values, for DLPack and buffers."},
    {"keys", keys, METH_NOARGS, "Names of the fields, in the order of the schema."},
    {"values", values, METH_NOARGS, "What batch[name] is, for each field."},
    {"items", items, METH_NOARGS, "(name, batch[name]) of each field."},
    {"_held", held, METH_NOARGS, "_held(): of each field, the array in its place, or None"},
    {"_set_rows", batch_set_rows, METH_O, "_set_rows(rows): a function has left so many"},
    {"get", get, METH_VARARGS,
     "get(name, default=None) -> batch[name], or the default if there is no such field."},
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
    {Py_tp_doc,
     "Some records as a mapping from the names of fields to their values; batch.rows is the number of "
     "records. batch[name] is a NumPy array of shape (rows, ...); a list, of str or arrays, for a "
     "field of varying shape. The array of a field of more than 64 bytes a record lies in the "
     "library's own memory, which is lent until the last array on it is gone; those of smaller "
     "fields, and ids, are copies, which keep nothing. A field can be replaced by assignment."},
    {Py_tp_new, rebuild},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_repr, repr},
    {Py_tp_iter, iterate},
    {Py_mp_length, length},
    {Py_mp_subscript, subscript},
    {Py_mp_ass_subscript, assign},
    {Py_sq_contains, contains},
    {Py_tp_getset, batch_attributes},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec batch_spec = {
    .name = "apldata.Batch",
    .basicsize = sizeof(struct batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | MAPPING,
    .slots = slots,
};
