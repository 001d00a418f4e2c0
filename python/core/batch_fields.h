/* The insides of a Batch, and what it has under a name. */
#ifndef BATCH_FIELDS_H
#define BATCH_FIELDS_H

#include "batch.h"
#include "lease.h"

struct batch {
    PyObject_HEAD struct lease *lease; /* NULL: released */
    PyObject *store;                   /* from which its classes are known */
    PyObject *names;                   /* the store's */
    PyObject *parts;                   /* as batch_object() takes them; NULL: none */
    PyObject *copies;                  /* dict: views of small columns that have been asked for */
    PyObject *values; /* dict: arrays that have been asked for, or put in place of the batch's own */
    PyObject *ids;    /* that a function has given its rows; NULL: none */
    uint64_t epoch, position;
    size_t rows, rows_left; /* of the library's batch; of what functions have left of it */
    bool changed; /* have they changed the rows? Then only ids that they have set say which those are */
};

/* A lease of one's own, which another thread's release() cannot take away; NULL: an error is set. */
struct lease *batch_hold(struct batch *b);

/* The column or part called `name`; NULL: a NoFieldError is set. */
const apl_column *batch_find(struct batch *b, const struct lease *lease, PyObject *name);

/* A list of the names of the columns and parts that it has. */
PyObject *batch_columns(const struct batch *b, const struct lease *lease);

/* Has its array a row for each of the batch? One of all nodes of graphs has not. */
bool batch_has_rows(struct batch *b, PyObject *name);

/* _set_rows(rows): a function has left so many. */
PyObject *batch_set_rows(PyObject *self, PyObject *rows);

/* ids, rows, pieces, ... */
extern PyGetSetDef batch_attributes[];

#endif
