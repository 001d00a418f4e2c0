/* What a batch tells of its rows: its attributes. */
#include "batch_fields.h"
#include "view.h"

/* A copy of an array in the batch that `lease` holds, which is ended. */
static PyObject *array_of(struct batch *b, struct lease *lease, const void *data, apl_dtype dtype, size_t n)
{
    struct core_state *state = core_state_of(b);
    const Py_ssize_t shape[1] = {(Py_ssize_t)n};
    struct lease *copy = lease_copy(data, n * apl_dtype_size(dtype));
    lease_end(lease);
    if (!copy)
        return PyErr_NoMemory();
    PyObject *view = view_of_array(state, copy, lease_memory(copy), dtype, 1, shape);
    lease_end(copy);
    PyObject *array = view ? view_as_array(state, view) : NULL;
    Py_XDECREF(view);
    return array;
}

/* Are its rows those of the library's batch, as they came? Otherwise an error is set. */
static bool rows_as_they_came(struct batch *b, const char *refusal)
{
    if (!b->changed && !b->ids)
        return true;
    core_refuse(b, refusal);
    return false;
}

static const char no_ids[] =
    "batch.ids: a function has changed the rows of the batch: set the ids of those that it keeps, "
    "batch.ids = batch.ids[kept], or carry them along as a field";
static const char no_copies[] =
    "batch.copies: a function has changed the rows of the batch: carry them along as a field";
static const char no_pieces[] =
    "batch.pieces: a function has changed the rows of the batch: carry them along as a field";

/* What a function has set, as a new reference; NULL: nothing. */
static PyObject *own_ids(struct batch *b)
{
    PyObject *ids;
    BEGIN_GUARD(b)
    ids = Py_XNewRef(b->ids);
    END_GUARD()
    return ids;
}

static PyObject *get_ids(PyObject *self, void *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    PyObject *ids = lease ? own_ids(b) : NULL;
    if (lease && !ids && rows_as_they_came(b, no_ids))
        return array_of(b, lease, apl_batch_ids(lease_batch(lease)), APL_U64, b->rows);
    lease_end(lease);
    return ids;
}

static int set_ids(PyObject *self, PyObject *value, void *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    if (!value) {
        PyErr_SetString(PyExc_TypeError, "ids can be replaced, not deleted");
        return -1;
    }
    PyObject *module = PyImport_ImportModule("apldata._ids"), *before;
    PyObject *ids = module ? PyObject_CallMethod(module, "as_ids", "O", value) : NULL;
    Py_XDECREF(module);
    if (!ids)
        return -1;
    BEGIN_GUARD(b)
    before = b->ids;
    b->ids = ids;
    END_GUARD()
    Py_XDECREF(before);
    return 0;
}

PyObject *batch_set_rows(PyObject *self, PyObject *rows)
{
    struct batch *b = (struct batch *)self;
    size_t left = PyLong_AsSize_t(rows);
    PyObject *ids = PyErr_Occurred() ? NULL : own_ids(b), *lost = NULL;
    Py_ssize_t known = ids ? PyObject_Size(ids) : 0;
    Py_XDECREF(ids);
    if (PyErr_Occurred())
        return NULL;
    BEGIN_GUARD(b)
    if (b->ids && (size_t)known != left) {
        lost = b->ids;
        b->ids = NULL;
    }
    b->changed = b->changed || lost || left != b->rows;
    b->rows_left = left;
    END_GUARD()
    Py_XDECREF(lost);
    Py_RETURN_NONE;
}

static PyObject *get_skipped(PyObject *self, void *unused)
{
    (void)unused;
    size_t n;
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    if (!lease)
        return NULL;
    const uint64_t *ids = apl_batch_skipped(lease_batch(lease), &n);
    return array_of(b, lease, ids, APL_U64, ids ? n : 0);
}

/* Of rows that a function has changed, where all are first copies; NULL without an error: they are not. */
static PyObject *first_copies(struct batch *b, const uint32_t *copies)
{
    for (size_t i = 0; i < b->rows; i++)
        if (copies[i])
            return NULL;
    uint32_t *zeros = PyMem_Calloc(b->rows_left, sizeof *zeros);
    PyObject *array = zeros ? array_of(b, NULL, zeros, APL_U32, b->rows_left) : PyErr_NoMemory();
    PyMem_Free(zeros);
    return array;
}

static PyObject *get_copies(PyObject *self, void *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    const uint32_t *copies = lease ? apl_batch_copies(lease_batch(lease)) : NULL;
    if (copies && !b->changed && !b->ids)
        return array_of(b, lease, copies, APL_U32, b->rows);
    PyObject *array = NULL;
    if (copies) {
        array = first_copies(b, copies);
        if (!array && !PyErr_Occurred())
            rows_as_they_came(b, no_copies);
    }
    lease_end(lease);
    return !lease || copies ? array : Py_NewRef(Py_None);
}

/* As NumPy's records. */
static PyObject *get_pieces(PyObject *self, void *unused)
{
    (void)unused;
    size_t n;
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    const apl_piece *pieces = lease ? apl_batch_pieces(lease_batch(lease), &n) : NULL;
    if (!pieces || !rows_as_they_came(b, no_pieces)) {
        lease_end(lease);
        return lease && !pieces ? Py_NewRef(Py_None) : NULL;
    }
    PyObject *bytes = array_of(b, lease, pieces, APL_U8, n * sizeof *pieces);
    PyObject *module = bytes ? PyImport_ImportModule("apldata._arrays") : NULL;
    PyObject *array = module ? PyObject_CallMethod(module, "as_pieces", "O", bytes) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(bytes);
    return array;
}

static PyObject *get_rows(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((struct batch *)self)->rows_left);
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

PyGetSetDef batch_attributes[] = {
    {"rows", get_rows, NULL, "How many records it has.", NULL},
    {"ids", get_ids, set_ids,
     "Ids of the rows: uint64[rows], read-only. A function that changes which rows there are must set them, "
     "batch.ids = batch.ids[kept]; otherwise they are not known afterwards, and an error.",
     NULL},
    {"skipped", get_skipped, NULL,
     "Ids of records that were left out because their block is corrupt: uint64[n].", NULL},
    {"copies", get_copies, NULL,
     "Which of its copies each row is, from 0 to the loader's `reuse` - 1: uint32[rows]; None: of no loader.",
     NULL},
    {"pieces", get_pieces, NULL,
     "Of a batch that is packed or of windows: which part of which record is where, as an array with the "
     "fields id, offset (in the "
     "record's value), copy, "
     "row, start (in the row) and length; else None.",
     NULL},
    {"epoch", get_epoch, NULL, "The epoch that it belongs to.", NULL},
    {"position", get_position, NULL, "Where its first row stands in the epoch's order.", NULL},
    {"_store", get_store, NULL, "The store that it was read from.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
