/* Sealing the list of a set. */
#include "core.h"

#include <stdlib.h>

/* The paths as the file system has them; they live as long as `owned`, a tuple of bytes. */
static const char **paths_of(PyObject *owned, Py_ssize_t count)
{
    const char **paths = calloc((size_t)count + 1, sizeof *paths);
    for (Py_ssize_t i = 0; paths && i < count; i++) {
        PyObject *path = PyTuple_GetItem(owned, i);
        paths[i] = path ? PyBytes_AsString(path) : NULL;
        if (!paths[i]) {
            free(paths);
            return NULL;
        }
    }
    if (!paths)
        PyErr_NoMemory();
    return paths;
}

PyObject *core_join(PyObject *module, PyObject *args)
{
    const char *set;
    PyObject *owned;
    apl_set_options options = APL_SET_OPTIONS_INIT;
    apl_error err;
    if (!PyArg_ParseTuple(args, "yO!pp:join", &set, &PyTuple_Type, &owned, &options.replace, &options.append))
        return NULL;
    Py_ssize_t count = PyTuple_Size(owned);
    const char **paths = paths_of(owned, count);
    if (!paths)
        return NULL;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_set_join(set, paths, (size_t)count, &options, &err);
    Py_END_ALLOW_THREADS
    free(paths);
    if (status != APL_OK)
        return core_raise(PyModule_GetState(module), &err);
    Py_RETURN_NONE;
}
