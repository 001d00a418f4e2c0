/* Kinds of fields, as words, and what becomes of fields by them. */
#include "reader.h"
#include "store.h"
#include "writer.h"

/* "boxes,xywh"; None: nobody has said. */
PyObject *kind_words(const apl_kind *kind)
{
    char text[APL_KIND_BYTES];
    if (!kind || kind->id == APL_KIND_NONE)
        Py_RETURN_NONE;
    return PyUnicode_FromString(apl_kind_print(NULL, kind, text, sizeof text));
}

/* 0, or -1 and an error. */
static int kind_from(struct core_state *state, PyObject *words, apl_kind *kind)
{
    const char *text;
    PyObject *owner;
    apl_error err;
    if (text_from(words, &text, &owner) < 0)
        return -1;
    apl_status status = apl_kind_parse(text, NULL, kind, &err);
    Py_XDECREF(owner);
    if (status != APL_OK)
        (void)core_raise(state, &err);
    return status == APL_OK ? 0 : -1;
}

PyObject *core_kind_words(PyObject *self, PyObject *words)
{
    apl_kind kind;
    return kind_from(PyModule_GetState(self), words, &kind) < 0 ? NULL : kind_words(&kind);
}

PyObject *writer_set_kind(PyObject *self, PyObject *args)
{
    struct py_writer *w = (struct py_writer *)self;
    const char *field;
    PyObject *words;
    int origin;
    apl_kind kind;
    apl_error err;
    if (!PyArg_ParseTuple(args, "sOi:set_kind", &field, &words, &origin) ||
        kind_from(core_state_of(self), words, &kind) < 0)
        return NULL;
    kind.origin = (apl_origin)origin;
    apl_writer *writer = writer_use(w);
    return writer ? writer_finish(w, apl_writer_set_kind(writer, field, &kind, &err), &err) : NULL;
}

PyObject *core_channels_last(PyObject *self, PyObject *shape)
{
    (void)self;
    apl_field field = {.dtype = APL_U8};
    if (shape_from(shape, field.shape, &field.ndim) < 0)
        return NULL;
    return PyBool_FromLong(apl_field_form(&field) == APL_FORM_HWC);
}

/* ---------------------------------------------------------------------------------------- what becomes of fields */

static PyObject *action_list(const apl_store *store, const apl_kind *kinds, const apl_action *actions)
{
    unsigned n = apl_store_info(store)->fields;
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list && i < n; i++) {
        PyObject *one = Py_BuildValue("NNi", text_or_none(apl_store_field(store, i)->name),
                                      kind_words(&kinds[i]), (int)actions[i]);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *ask(struct py_store *s, const apl_reader_options *options)
{
    apl_action actions[APL_MAX_FIELDS];
    apl_error err;
    apl_store *store = store_use(s);
    apl_kind *kinds = store ? PyMem_Calloc(APL_MAX_FIELDS, sizeof *kinds) : NULL;
    PyObject *list = NULL;
    if (kinds && apl_reader_actions(store, options, kinds, actions, &err) == APL_OK)
        list = action_list(store, kinds, actions);
    else if (kinds)
        (void)core_raise(core_state_of(s), &err);
    else if (store)
        PyErr_NoMemory();
    PyMem_Free(kinds);
    if (store)
        store_done(s);
    return list;
}

PyObject *store_actions(PyObject *self, PyObject *options)
{
    struct reader_call call;
    PyObject *list = NULL;
    if (!PyDict_Check(options)) {
        PyErr_SetString(PyExc_TypeError, "options of a reader are a dict");
        return NULL;
    }
    if (reader_call_from(&call, core_state_of(self)->store, options) == 0)
        list = ask((struct py_store *)self, &call.options);
    reader_call_free(&call);
    return list;
}
