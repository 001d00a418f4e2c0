/* How fields of varying shape are collated, and what to call the arrays that this adds to batches. */
#include "reader.h"
#include "take.h"

static int collation_from(struct reader_call *call, PyObject *given, apl_collation *c)
{
    static const struct number_item items[] = {
        {"how", offsetof(apl_collation, how), NUMBER_ENUM, UINT32_MAX},
        {"length", offsetof(apl_collation, length), NUMBER_U64, UINT64_MAX},
        {"truncate", offsetof(apl_collation, truncate), NUMBER_FLAG, 1},
        {"stride", offsetof(apl_collation, stride), NUMBER_U64, UINT64_MAX},
        {"join", offsetof(apl_collation, join), NUMBER_FLAG, 1},
        {"no_segments", offsetof(apl_collation, no_segments), NUMBER_FLAG, 1},
        {"bucket", offsetof(apl_collation, bucket), NUMBER_U64, UINT64_MAX},
    };
    PyObject *dict = PyDict_Copy(given);
    if (!dict)
        return -1;
    *c = (apl_collation)APL_COLLATION_INIT;
    int done = take_text(call->owners, dict, "field", &c->field);
    if (done == 0)
        done = take_numbers(c, items, sizeof items / sizeof *items, dict);
    if (done == 0)
        done = take_real(dict, "fill", &c->fill);
    if (done == 0)
        done = check_empty(dict, "a collation");
    Py_DECREF(dict);
    return done;
}

static int take_parts(struct reader_call *call, PyObject *dict)
{
    PyObject *parts = PyDict_GetItemString(dict, "parts");
    if (!parts)
        return 0;
    if (!PyTuple_Check(parts)) {
        PyErr_SetString(PyExc_TypeError, "parts: a tuple is needed");
        return -1;
    }
    call->parts = Py_NewRef(parts);
    return PyDict_DelItemString(dict, "parts");
}

int take_collations(struct reader_call *call, PyObject *dict)
{
    PyObject *list = PyDict_GetItemString(dict, "collations");
    Py_ssize_t n = list ? PySequence_Size(list) : 0;
    if (n < 0 || n > APL_MAX_FIELDS) {
        if (n > 0)
            PyErr_SetString(PyExc_ValueError, "collations: at most one for each field");
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PySequence_GetItem(list, i);
        int done = one ? collation_from(call, one, &call->collations[i]) : -1;
        Py_XDECREF(one);
        if (done < 0)
            return -1;
    }
    call->options.collations = n ? call->collations : NULL;
    call->options.collation_count = (size_t)n;
    if (list && PyDict_DelItemString(dict, "collations") < 0)
        return -1;
    return take_parts(call, dict);
}
