/* What fields are: `kinds`, texts as apl_kind_parse() reads them; without it, what loaders were told by masks= and boxes=. */
#include "reader.h"
#include "store.h"
#include "take.h"

#include <stdio.h>
#include <string.h>

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

/* ------------------------------------------------------------------------------------------- as before */

/* The transforms of a loader's options, and the store that they are for. */
struct before {
    struct reader_call *call;
    const apl_store *store;
    bool said[APL_MAX_FIELDS];
};

/* A field's kind; one that the store does not have is left to the reader. */
static int say(struct before *b, const char *name, const char *kind, const char *more, const char *of)
{
    char text[3 * APL_MAX_NAME + 64];
    int field = name ? apl_store_find_field(b->store, name) : -1;
    if (field < 0 || b->said[field] || strpbrk(name, ",="))
        return 0;
    int n = snprintf(text, sizeof text, "%s=%s%s%s", name, kind, more, of ? of : "");
    PyObject *owner = PyBytes_FromStringAndSize(text, n);
    int done = owner ? PyList_Append(b->call->owners, owner) : -1;
    if (done == 0)
        b->call->kinds[b->call->options.kind_count++] = PyBytes_AsString(owner);
    b->said[field] = true;
    Py_XDECREF(owner);
    return done;
}

static bool is_floats(const struct before *b, const char *name)
{
    int field = apl_store_find_field(b->store, name);
    const apl_field *f = field < 0 ? NULL : apl_store_field(b->store, (unsigned)field);
    return f && f->dtype >= APL_F16 && f->dtype <= APL_F64;
}

/* One of a dict's names, or of its tuples of names. NULL: none, or an error is set. */
static const char *name_of(const struct before *b, PyObject *value)
{
    const char *name = NULL;
    PyObject *owner = NULL;
    if (value && value != Py_None && text_from(value, &name, &owner) == 0 && owner &&
        PyList_Append(b->call->owners, owner) < 0)
        name = NULL;
    Py_XDECREF(owner);
    return name;
}

static int say_each(struct before *b, PyObject *tuple, bool masks, const char *of)
{
    for (Py_ssize_t i = 0; tuple && i < PyTuple_Size(tuple); i++) {
        const char *name = name_of(b, PyTuple_GetItem(tuple, i));
        if (!name || say(b, name,
                         !masks               ? "plain"
                         : is_floats(b, name) ? "map"
                                              : "mask",
                         masks ? ",of=" : ",per=", of) < 0)
            return -1;
    }
    return 0;
}

static int say_of(struct before *b, PyObject *transform)
{
    static const char *const forms[] = {"xyxy,of=", "xywh,of=", "cxcywh,of="};
    const char *image = name_of(b, PyDict_GetItemString(transform, "field")),
               *boxes = name_of(b, PyDict_GetItemString(transform, "boxes"));
    PyObject *form = PyDict_GetItemString(transform, "box_format");
    long number = form ? PyLong_AsLong(form) : 0;
    if (PyErr_Occurred() || !image)
        return PyErr_Occurred() ? -1 : 0;
    (void)say(b, image, "image", "", "");
    if (boxes && say(b, boxes, "boxes,", forms[number >= 0 && number < 3 ? number : 0], image) < 0)
        return -1;
    if (say_each(b, PyDict_GetItemString(transform, "masks"), true, image) < 0)
        return -1;
    return boxes ? say_each(b, PyDict_GetItemString(transform, "box_fields"), false, boxes) : 0;
}

/* Everything else has been found to have nothing to do with the images. */
static int say_rest(struct before *b)
{
    for (unsigned i = 0; i < apl_store_info(b->store)->fields; i++) {
        const apl_field *f = apl_store_field(b->store, i);
        bool image = f->media && strncmp(f->media, "image/", 6) == 0;
        if (f->kind || f->dtype == APL_UTF8 || f->ndim == 0 || (f->media && !image))
            continue;
        if (say(b, f->name, image ? "image" : "plain", "", "") < 0)
            return -1;
    }
    return 0;
}

int kinds_as_before(struct reader_call *call, PyObject *options, const apl_store *store)
{
    struct before b = {call, store, {false}};
    PyObject *list = PyDict_GetItemString(options, "transforms");
    if (!list || PyDict_GetItemString(options, "kinds"))
        return 0;
    for (Py_ssize_t i = 0; i < PySequence_Size(list); i++) {
        PyObject *one = PySequence_GetItem(list, i);
        int done = one ? say_of(&b, one) : -1;
        Py_XDECREF(one);
        if (done < 0)
            return -1;
    }
    call->options.kinds = call->kinds;
    return PySequence_Size(list) ? say_rest(&b) : 0;
}
