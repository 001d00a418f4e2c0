/* A writer as a Python object. */
#ifndef PY_WRITER_H
#define PY_WRITER_H

#include "core.h"
#include "handle.h"

struct py_writer {
    PyObject_HEAD struct handle handle;
    unsigned fields;
    apl_dtype dtypes[APL_MAX_FIELDS];
    unsigned dims[APL_MAX_FIELDS];
    size_t value_bytes[APL_MAX_FIELDS]; /* 0: varies */
};

/* The writer, for the one thread that may use it at a time; NULL: an error is set. Each is given back by writer_finish() or
 * handle_done(). */
apl_writer *writer_use(struct py_writer *w);

/* After a call with what writer_use() gave: None, or NULL and an exception for a failure. */
PyObject *writer_finish(struct py_writer *w, apl_status status, const apl_error *err);

/* A shape from a sequence of at most APL_MAX_DIMS numbers. -1: an error is set. */
int shape_from(PyObject *tuple, int64_t *shape, unsigned *ndim);

/* writer_describe.c: methods that say what is written. */
PyObject *writer_add_field(PyObject *self, PyObject *args);
PyObject *writer_set_media(PyObject *self, PyObject *args);
PyObject *writer_set_indexed(PyObject *self, PyObject *args);
PyObject *writer_set_classes(PyObject *self, PyObject *args);
PyObject *writer_set_kind(PyObject *self, PyObject *args); /* kinds.c */
PyObject *writer_set_source(PyObject *self, PyObject *args);
PyObject *writer_skipped(PyObject *self, PyObject *args);
PyObject *writer_begin_member(PyObject *self, PyObject *args);

/* writer_append.c: the method that takes records. */
PyObject *writer_append(PyObject *self, PyObject *args);

#endif
