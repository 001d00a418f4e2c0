/* What readers have done, for Prometheus. */
#include "reader.h"

/* A number of readers, and what the library says of them. */
struct measuring {
    apl_measured *measured;
    apl_stats *stats;
    Py_ssize_t count;
};

static int measure(struct measuring *m, struct core_state *state, PyObject *list)
{
    for (Py_ssize_t i = 0; i < m->count; i++) {
        apl_measured *of = &m->measured[i];
        PyObject *reader;
        if (!PyArg_ParseTuple(PyList_GetItem(list, i), "O!sss", state->reader, &reader, &of->loader,
                              &of->store, &of->split) ||
            !reader_take_stats(reader, &m->stats[i]))
            return -1;
        of->stats = &m->stats[i];
    }
    return 0;
}

static PyObject *write_metrics(const struct measuring *m)
{
    size_t count = (size_t)m->count;
    size_t n = apl_stats_metrics(m->measured, count, sizeof *m->stats, APL_METRICS_PROMETHEUS, NULL, 0);
    char *text = PyMem_Malloc(n + 1);
    if (!text)
        return PyErr_NoMemory();
    (void)apl_stats_metrics(m->measured, count, sizeof *m->stats, APL_METRICS_PROMETHEUS, text, n + 1);
    PyObject *made = PyUnicode_FromString(text);
    PyMem_Free(text);
    return made;
}

PyObject *core_metrics(PyObject *module, PyObject *args)
{
    PyObject *list, *made = NULL;
    if (!PyArg_ParseTuple(args, "O!:metrics", &PyList_Type, &list))
        return NULL;
    struct measuring m = {.count = PyList_Size(list)};
    m.measured = PyMem_Calloc((size_t)m.count + 1, sizeof *m.measured);
    m.stats = PyMem_Calloc((size_t)m.count + 1, sizeof *m.stats);
    if (!m.measured || !m.stats)
        PyErr_NoMemory();
    else if (measure(&m, PyModule_GetState(module), list) == 0)
        made = write_metrics(&m);
    PyMem_Free(m.measured);
    PyMem_Free(m.stats);
    return made;
}
