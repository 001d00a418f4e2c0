/*
 * apldata._core: the C library as a few Python types, one to one. What users see is made of these in Python.
 *
 * Rules: a call into the library is made without the GIL whenever it may wait, read or copy. Nothing here relies on the
 * GIL to be safe: what a thread may close while another uses it stands behind a handle, batches behind a lease. So the
 * same code serves free-threaded Python.
 */
#ifndef CORE_H
#define CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "apl.h"

#include <stdbool.h>

/* What lies between is done by one thread at a time, of those that hold the object: by virtue of the GIL where there is one. */
#ifdef Py_GIL_DISABLED
#define BEGIN_GUARD(object) Py_BEGIN_CRITICAL_SECTION((PyObject *)(object));
#define END_GUARD()         Py_END_CRITICAL_SECTION();
#else
#define BEGIN_GUARD(object) {
#define END_GUARD()         }
#endif

/* What the module owns. */
struct core_state {
    PyTypeObject *store, *batch, *view, *reader, *iterator, *writer;
    PyObject *make_error; /* apldata._errors.make */
    PyObject *no_field;   /* apldata._errors.NoFieldError */
    PyObject *as_array;   /* apldata._arrays.as_array */
    PyObject *asarray;    /* numpy.asarray */
};

extern struct PyModuleDef core_module;

/* The module's state, from an object of one of its types or a subclass. Never NULL: types cannot outlive their module. */
struct core_state *core_state_of(void *object);

/* Raises the Python exception for a failure of the library; returns NULL. */
PyObject *core_raise(struct core_state *state, const apl_error *err);

/* Raises InvalidError with `message`, for a call that came at the wrong time; returns NULL. `self`: as core_state_of(). */
PyObject *core_refuse(void *self, const char *message);

/* Sets item `key` of `dict` to `value`, whose reference is taken over; NULL (an error is set) is passed on. */
int dict_take(PyObject *dict, const char *key, PyObject *value);

/* A Python string from foreign bytes: what is not UTF-8 becomes surrogates. NULL: None. */
PyObject *text_or_none(const char *text);

/* UTF-8 of a str (or bytes, or None: *text = NULL), which lives as long as *owner, a new reference. A NUL inside is
 * refused. -1: an error is set. */
int text_from(PyObject *object, const char **text, PyObject **owner);

/* Converters for "O&": whole numbers (NumPy's too), refused with a ValueError where they do not fit. */
int unsigned_from(PyObject *object, void *to); /* unsigned */
int u64_from(PyObject *object, void *to);      /* uint64_t */

/* Gives the module the enumerations and limits of apl.h, by their names. -1: an error is set. */
int add_constants(PyObject *module);

/* The words of a kind as apl_kind_print() has them; None: nobody has said what the field is. */
PyObject *kind_words(const apl_kind *kind);

/* kind_words(words) -> the same words, read and written by the library. */
PyObject *core_kind_words(PyObject *module, PyObject *words);

/* channels_last(shape) -> are images of that shape taken to have their channels last? */
PyObject *core_channels_last(PyObject *module, PyObject *shape);

/* join(set, shards, replace, append): see apl_set_join(). */
PyObject *core_join(PyObject *module, PyObject *args);

/* jpeg_check(file, decode=True) -> (channels, height, width). */
PyObject *core_jpeg_check(PyObject *module, PyObject *args);

/* serve(store, options, path, ranks, idle_ms, ready): see connect.c. */
PyObject *core_serve(PyObject *module, PyObject *args);
PyObject *core_dismiss(PyObject *module, PyObject *args);

/* metrics([(reader, loader, store, split), ...]) -> their metrics: see apl_stats_metrics(). */
PyObject *core_metrics(PyObject *module, PyObject *args);

extern PyType_Spec store_spec, batch_spec, view_spec, reader_spec, iterator_spec, writer_spec;

#endif
