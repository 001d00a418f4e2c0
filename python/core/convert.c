/* Between Python's values and C's; errors. */
#include "core.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

PyObject *core_raise(struct core_state *state, const apl_error *err)
{
    PyObject *error =
        PyObject_CallFunction(state->make_error, "isiKK", (int)err->status, err->message, err->sys_errno,
                              (unsigned long long)err->first_record, (unsigned long long)err->records);
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    return NULL;
}

PyObject *core_refuse(void *self, const char *message)
{
    apl_error err = {.status = APL_E_INVALID};
    snprintf(err.message, sizeof err.message, "%s", message);
    return core_raise(core_state_of(self), &err);
}

int dict_take(PyObject *dict, const char *key, PyObject *value)
{
    int done = value ? PyDict_SetItemString(dict, key, value) : -1;
    Py_XDECREF(value);
    return done;
}

PyObject *text_or_none(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

int text_from(PyObject *object, const char **text, PyObject **owner)
{
    *text = NULL;
    *owner = NULL;
    if (object == NULL || object == Py_None)
        return 0;
    *owner = PyBytes_Check(object) ? Py_NewRef(object)
                                   : PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape");
    char *bytes;
    if (!*owner || PyBytes_AsStringAndSize(*owner, &bytes, NULL) < 0) { /* without a length: refuses NULs */
        Py_CLEAR(*owner);
        return -1;
    }
    *text = bytes;
    return 0;
}

static int number_from(PyObject *object, unsigned long long most, unsigned long long *n)
{
    PyObject *whole = PyNumber_Index(object);
    *n = whole ? PyLong_AsUnsignedLongLong(whole) : 0;
    Py_XDECREF(whole);
    if (!whole)
        return 0;
    if (!PyErr_Occurred() && *n <= most)
        return 1;
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%R: a whole number from 0 to %llu is needed", object, most);
    return 0;
}

int unsigned_from(PyObject *object, void *to)
{
    unsigned long long n;
    if (!number_from(object, UINT_MAX, &n))
        return 0;
    *(unsigned *)to = (unsigned)n;
    return 1;
}

int u64_from(PyObject *object, void *to)
{
    unsigned long long n;
    if (!number_from(object, UINT64_MAX, &n))
        return 0;
    *(uint64_t *)to = n;
    return 1;
}
