/* Which records a reader reads: some of its split, a sample of them, those of more stores. */
#include "reader.h"
#include "store.h"
#include "take.h"

#include <string.h>

/* An array, as its bytes. */
static int take_array(struct reader_call *call, PyObject *dict, const char *name, size_t item,
                      const void **array, size_t *count)
{
    size_t size = 0;
    if (take_bytes(call->owners, dict, name, array, &size) < 0)
        return -1;
    *count = size / item;
    if (size % item == 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s: whole items of %zu bytes are needed", name, item);
    return -1;
}

static int sampling_from(struct reader_call *call, PyObject *dict)
{
    apl_sampling *s = &call->sampling;
    const void *weights = NULL;
    unsigned long long records = 0;
    int replacement = 0;
    *s = (apl_sampling)APL_SAMPLING_INIT;
    if (take_text(call->owners, dict, "field", &s->field) < 0 ||
        take_text(call->owners, dict, "weight_field", &s->weight_field) < 0 ||
        take_array(call, dict, "weights", sizeof *s->weights, &weights, &s->weight_count) < 0)
        return -1;
    PyObject *value = PyDict_GetItemString(dict, "records");
    if (value) {
        records = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred() || PyDict_DelItemString(dict, "records") < 0)
            return -1;
    }
    value = PyDict_GetItemString(dict, "replacement");
    if (value &&
        ((replacement = PyObject_IsTrue(value)) < 0 || PyDict_DelItemString(dict, "replacement") < 0))
        return -1;
    s->weights = weights;
    s->replacement = replacement;
    s->records = records;
    call->options.sampling = s;
    return check_empty(dict, "a sampling");
}

static int take_sampling(struct reader_call *call, PyObject *options)
{
    PyObject *given = PyDict_GetItemString(options, "sampling");
    if (!given || given == Py_None)
        return given ? PyDict_DelItemString(options, "sampling") : 0;
    PyObject *dict = PyDict_Copy(given);
    int done = dict ? sampling_from(call, dict) : -1;
    Py_XDECREF(dict);
    return done < 0 ? -1 : PyDict_DelItemString(options, "sampling");
}

/* ------------------------------------------------------------------------------------------- more stores */

/* From (store, split or None, weight). Counted as soon as it is in use. */
static int source_from(struct reader_call *call, PyTypeObject *type, PyObject *given)
{
    size_t i = call->options.mix.count;
    call->mix[i].size = sizeof *call->mix;
    PyObject *store, *split, *owner = NULL;
    if (!PyArg_ParseTuple(given, "O!Od:mix", type, &store, &split, &call->mix[i].weight) ||
        text_from(split, &call->mix[i].split, &owner) < 0)
        return -1;
    int done = owner ? PyList_Append(call->owners, owner) : 0;
    Py_XDECREF(owner);
    if (done < 0 || !(call->mix[i].store = store_use((struct py_store *)store)))
        return -1;
    call->mixed[i] = Py_NewRef(store);
    call->options.mix.count++;
    return 0;
}

static int take_mix(struct reader_call *call, PyTypeObject *type, PyObject *dict)
{
    PyObject *list = PyDict_GetItemString(dict, "mix");
    Py_ssize_t n = list ? PySequence_Size(list) : 0;
    if (n <= 0)
        return n < 0 ? -1 : list ? PyDict_DelItemString(dict, "mix") : 0;
    call->mix = PyMem_Calloc((size_t)n, sizeof *call->mix);
    call->mixed = PyMem_Calloc((size_t)n, sizeof *call->mixed);
    if (!call->mix || !call->mixed) {
        PyErr_NoMemory();
        return -1;
    }
    call->options.mix.sources = call->mix;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *given = PySequence_GetItem(list, i);
        int done = given ? source_from(call, type, given) : -1;
        Py_XDECREF(given);
        if (done < 0)
            return -1;
    }
    return PyDict_DelItemString(dict, "mix");
}

int take_records(struct reader_call *call, PyTypeObject *store, PyObject *dict)
{
    const void *ids = NULL;
    if (take_array(call, dict, "ids", sizeof *call->options.ids, &ids, &call->options.id_count) < 0 ||
        take_sampling(call, dict) < 0)
        return -1;
    call->options.ids = ids;
    if (take_real(dict, "weight", &call->options.mix.weight) < 0)
        return -1;
    return take_mix(call, store, dict);
}

void free_records(struct reader_call *call)
{
    for (size_t i = 0; call->mixed && i < call->options.mix.count; i++) {
        store_done((struct py_store *)call->mixed[i]);
        Py_DECREF(call->mixed[i]);
    }
    PyMem_Free(call->mixed);
    PyMem_Free(call->mix);
    call->mixed = NULL;
    call->mix = NULL;
}
