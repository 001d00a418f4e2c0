/* Taking options out of a dict: see take.h. */
#include "take.h"

static int set_number(char *to, const struct number_item *item, PyObject *value)
{
    PyObject *whole = PyNumber_Index(value); /* also NumPy's integers; no floats */
    unsigned long long n = whole ? PyLong_AsUnsignedLongLong(whole) : 0;
    Py_XDECREF(whole);
    if (PyErr_Occurred() || n > item->most) {
        PyObject *type =
            PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError) ? PyExc_TypeError : PyExc_ValueError;
        PyErr_Format(type, "%s: a whole number from 0 to %llu is needed, not %R", item->name, item->most,
                     value);
        return -1;
    }
    switch (item->kind) {
    case NUMBER_SIZE:
        *(size_t *)(void *)to = (size_t)n;
        break;
    case NUMBER_U64:
        *(uint64_t *)(void *)to = n;
        break;
    default:
        *(unsigned *)(void *)to = (unsigned)n; /* int, unsigned and enumerations alike */
    }
    return 0;
}

int take_numbers(void *to, const struct number_item *items, size_t count, PyObject *dict)
{
    for (size_t i = 0; i < count; i++) {
        PyObject *value = PyDict_GetItemString(dict, items[i].name);
        if (!value)
            continue;
        if (set_number((char *)to + items[i].at, &items[i], value) < 0 ||
            PyDict_DelItemString(dict, items[i].name) < 0)
            return -1;
    }
    return 0;
}

int take_real(PyObject *dict, const char *name, double *to)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    if (!value)
        return 0;
    *to = PyFloat_AsDouble(value);
    return PyErr_Occurred() ? -1 : PyDict_DelItemString(dict, name);
}

int check_empty(PyObject *dict, const char *what)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    if (!PyDict_Next(dict, &at, &key, &value))
        return 0;
    PyErr_Format(PyExc_TypeError, "%s: there is no %R", what, key);
    return -1;
}

int take_text(PyObject *owners, PyObject *dict, const char *name, const char **text)
{
    PyObject *value = PyDict_GetItemString(dict, name), *owner;
    if (!value)
        return 0;
    if (text_from(value, text, &owner) < 0)
        return -1;
    int done = owner ? PyList_Append(owners, owner) : 0;
    Py_XDECREF(owner);
    return done < 0 ? -1 : PyDict_DelItemString(dict, name);
}

int take_bytes(PyObject *owners, PyObject *dict, const char *name, const void **bytes, size_t *size)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    char *at;
    Py_ssize_t n;
    if (!value || value == Py_None)
        return value ? PyDict_DelItemString(dict, name) : 0;
    if (PyBytes_AsStringAndSize(value, &at, &n) < 0 || PyList_Append(owners, value) < 0)
        return -1;
    *bytes = at;
    *size = (size_t)n;
    return PyDict_DelItemString(dict, name);
}
