/* What a batch has under a name: see batch_fields.h. */
#include "batch_fields.h"

/* A lease of one's own, which another thread's release() cannot take away; NULL: an error is set. */
struct lease *batch_hold(struct batch *b)
{
    struct lease *lease;
    BEGIN_GUARD(b)
    lease = b->lease ? lease_share(b->lease) : NULL;
    END_GUARD()
    if (!lease)
        core_refuse(b, "the batch has been released");
    return lease;
}

/* A part that the batch has, and its name, borrowed; NULL: an error is set. */
static const apl_column *part_at(const struct batch *b, const struct lease *lease, Py_ssize_t i,
                                 PyObject **name)
{
    unsigned field, part;
    if (!PyArg_ParseTuple(PyTuple_GetItem(b->parts, i), "UII:parts", name, &field, &part))
        return NULL;
    const apl_column *column = apl_batch_part(lease_batch(lease), field, (apl_part)part);
    if (!column)
        PyErr_SetString(PyExc_SystemError, "parts: the reader has no such part");
    return column;
}

/* The part called `name`; NULL without an error: none. */
static const apl_column *find_part(const struct batch *b, const struct lease *lease, PyObject *name)
{
    for (Py_ssize_t i = 0; b->parts && i < PyTuple_Size(b->parts); i++) {
        PyObject *its;
        const apl_column *column = part_at(b, lease, i, &its);
        int same = column ? PyObject_RichCompareBool(its, name, Py_EQ) : -1;
        if (same)
            return same < 0 ? NULL : column;
    }
    return NULL;
}

/* The column or part called `name`; NULL: a NoFieldError is set. */
const apl_column *batch_find(struct batch *b, const struct lease *lease, PyObject *name)
{
    Py_ssize_t n = PyTuple_Size(b->names);
    for (Py_ssize_t i = 0; i < n; i++) {
        int same = PyObject_RichCompareBool(PyTuple_GetItem(b->names, i), name, Py_EQ);
        if (same < 0)
            return NULL;
        if (same && apl_batch_column(lease_batch(lease), (unsigned)i))
            return apl_batch_column(lease_batch(lease), (unsigned)i);
    }
    const apl_column *part = find_part(b, lease, name);
    if (!part && !PyErr_Occurred())
        PyErr_Format(core_state_of(b)->no_field, "the batch has no field %R", name);
    return part;
}

/* Names of the columns that a batch has. */
PyObject *batch_columns(const struct batch *b, const struct lease *lease)
{
    PyObject *list = PyList_New(0);
    Py_ssize_t n = PyTuple_Size(b->names);
    for (Py_ssize_t i = 0; list && i < n; i++)
        if (apl_batch_column(lease_batch(lease), (unsigned)i) &&
            PyList_Append(list, PyTuple_GetItem(b->names, i)) < 0)
            Py_CLEAR(list);
    for (Py_ssize_t i = 0; list && b->parts && i < PyTuple_Size(b->parts); i++) {
        PyObject *name;
        if (!part_at(b, lease, i, &name) || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Has its array a row for each of the batch? One of all nodes of graphs has not. */
bool batch_has_rows(struct batch *b, PyObject *name)
{
    struct lease *lease = batch_hold(b);
    const apl_column *c = lease ? batch_find(b, lease, name) : NULL;
    bool rows = !c || ((c->how < APL_COLLATE_NODES || c->how == APL_COLLATE_WINDOWS) &&
                       (c->offsets || c->dim[0] == (int64_t)b->rows));
    lease_end(lease);
    PyErr_Clear();
    return rows;
}
