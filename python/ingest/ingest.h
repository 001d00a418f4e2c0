/* What the files of apldata._ingest share. */
#ifndef INGEST_H
#define INGEST_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "apl_ingest.h"

/* Raises what apldata._errors.make() makes of a failure; returns NULL. */
PyObject *ingest_raise(const apl_error *err);

PyObject *ingest_image_decode(PyObject *module, PyObject *arguments);
PyObject *ingest_image_to_jpeg(PyObject *module, PyObject *arguments);
PyObject *ingest_mask_decode(PyObject *module, PyObject *arguments);

#endif
