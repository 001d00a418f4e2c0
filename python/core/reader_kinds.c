/* What fields are, of the options of a reader: `kinds`, texts as apl_kind_parse() reads them. */
#include "reader.h"

int take_kinds(struct reader_call *call, PyObject *dict)
{
    PyObject *list = PyDict_GetItemString(dict, "kinds");
    Py_ssize_t n = list ? PySequence_Size(list) : 0;
    if (n < 0 || n > APL_MAX_FIELDS) {
        if (n > 0)
            PyErr_SetString(PyExc_ValueError, "kinds: at most one for each field");
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *text = PySequence_GetItem(list, i), *owner = NULL;
        int done = text ? text_from(text, &call->kinds[i], &owner) : -1;
        Py_XDECREF(text);
        if (done == 0)
            done = owner ? PyList_Append(call->owners, owner) : -1;
        Py_XDECREF(owner);
        if (done < 0)
            return -1;
    }
    call->options.kinds = call->kinds;
    call->options.kind_count = (size_t)n;
    return list ? PyDict_DelItemString(dict, "kinds") : 0;
}
