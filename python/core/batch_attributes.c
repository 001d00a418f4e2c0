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

static PyObject *get_ids(PyObject *self, void *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    return lease ? array_of(b, lease, apl_batch_ids(lease_batch(lease)), APL_U64, b->rows) : NULL;
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

static PyObject *get_copies(PyObject *self, void *unused)
{
    (void)unused;
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    const uint32_t *copies = lease ? apl_batch_copies(lease_batch(lease)) : NULL;
    if (copies)
        return array_of(b, lease, copies, APL_U32, b->rows);
    lease_end(lease);
    return lease ? Py_NewRef(Py_None) : NULL;
}

/* As NumPy's records. */
static PyObject *get_pieces(PyObject *self, void *unused)
{
    (void)unused;
    size_t n;
    struct batch *b = (struct batch *)self;
    struct lease *lease = batch_hold(b);
    const apl_piece *pieces = lease ? apl_batch_pieces(lease_batch(lease), &n) : NULL;
    if (!pieces) {
        lease_end(lease);
        return lease ? Py_NewRef(Py_None) : NULL;
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
    return PyLong_FromSize_t(((struct batch *)self)->rows);
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
    {"ids", get_ids, NULL, "Ids of the rows: uint64[rows], read-only.", NULL},
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
