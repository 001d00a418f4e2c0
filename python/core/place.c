/* What a reader does to images, told instead of done: for devices that do it themselves. */
#include "batch.h"
#include "lease.h"
#include "reader.h"
#include "store.h"

#include <string.h>

/* -1: an error is set. Either way the list of owners is to be given back. */
static int read_transform(struct reader_call *call, PyObject *given, apl_transform *transform)
{
    memset(call, 0, sizeof *call);
    call->owners = PyList_New(0);
    return call->owners ? transform_from(call, given, transform) : -1;
}

/* ------------------------------------------------------------------------------------------ completing */

static PyObject *float_list(const float *values, unsigned n)
{
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list && i < n; i++) {
        PyObject *value = PyFloat_FromDouble(values[i]);
        if (!value || PyList_Append(list, value) < 0)
            Py_CLEAR(list);
        Py_XDECREF(value);
    }
    return list;
}

static unsigned channels_of(const apl_field *image)
{
    bool varies = image->ndim == 3 && (image->shape[0] < 0 || image->shape[1] < 0 || image->shape[2] < 0);
    return image->media || varies ? 3 : image->ndim == 3 ? (unsigned)image->shape[0] : 1;
}

static PyObject *transform_dict(const apl_transform *t, unsigned channels)
{
    PyObject *dict = Py_BuildValue(
        "{s:I,s:i,s:I,s:I,s:i,s:i,s:I,s:i,s:i,s:i,s:d,s:d,s:i,s:I,s:I,s:I,s:i,s:i,s:d,s:d,s:d,s:d}", "pad",
        t->pad, "pad_mode", (int)t->pad_mode, "crop_height", t->crop_height, "crop_width", t->crop_width,
        "crop_centre", t->crop_centre, "flip", (int)t->flip, "cutout", t->cutout, "scale", (int)t->scale,
        "dtype", (int)t->dtype, "layout", (int)t->layout, "flip_p", t->flip_p, "vertical_flip_p",
        t->vertical_flip_p, "sizing", (int)t->sizing, "resize_short", t->resize_short, "resize_height",
        t->resize_height, "resize_width", t->resize_width, "pad_if_needed", t->pad_if_needed, "exact_chroma",
        t->exact_chroma, "area_least", t->area[0], "area_most", t->area[1], "ratio_least", t->ratio[0],
        "ratio_most", t->ratio[1]);
    if (dict && (dict_take(dict, "field", text_or_none(t->field)) < 0 ||
                 dict_take(dict, "mean", float_list(t->mean, channels)) < 0 ||
                 dict_take(dict, "std", float_list(t->std, channels)) < 0))
        Py_CLEAR(dict);
    return dict;
}

static PyObject *complete(struct py_store *s, const char *split, apl_transform *t)
{
    apl_error err;
    apl_status status;
    apl_store *store = store_use(s);
    if (!store)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = apl_transform_complete(store, split, t, &err);
    Py_END_ALLOW_THREADS
    int field = status == APL_OK ? apl_store_find_field(store, t->field) : -1;
    PyObject *dict = NULL;
    if (status != APL_OK)
        core_raise(core_state_of(s), &err);
    else if (field >= 0)
        dict = transform_dict(t, channels_of(apl_store_field(store, (unsigned)field)));
    store_done(s);
    return dict;
}

PyObject *store_transform(PyObject *self, PyObject *args)
{
    PyObject *given, *done = NULL;
    const char *split = NULL;
    struct reader_call call;
    apl_transform transform;
    if (!PyArg_ParseTuple(args, "O!|z:_transform", &PyDict_Type, &given, &split))
        return NULL;
    if (read_transform(&call, given, &transform) == 0)
        done = complete((struct py_store *)self, split, &transform);
    Py_XDECREF(call.owners);
    return done;
}

/* ------------------------------------------------------------------------------------------- placements */

static PyObject *placements(struct py_store *s, const apl_transform *t, uint64_t seed, const apl_batch *batch)
{
    _Static_assert(sizeof(apl_placement) == 5 * sizeof(int32_t), "callers see int32[rows, 5]");
    apl_error err;
    apl_status status;
    PyObject *bytes =
        PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(apl_batch_rows(batch) * sizeof(apl_placement)));
    apl_store *store = bytes ? store_use(s) : NULL;
    if (!store) {
        Py_XDECREF(bytes);
        return NULL;
    }
    apl_placement *to = (apl_placement *)(void *)PyByteArray_AsString(bytes);
    Py_BEGIN_ALLOW_THREADS
    status = apl_batch_placements(store, t, seed, batch, to, &err);
    Py_END_ALLOW_THREADS
    store_done(s);
    if (status == APL_OK)
        return bytes;
    Py_DECREF(bytes);
    return core_raise(core_state_of(s), &err);
}

PyObject *store_placements(PyObject *self, PyObject *args)
{
    PyObject *given, *object, *done = NULL;
    unsigned long long seed;
    struct reader_call call;
    apl_transform transform;
    if (!PyArg_ParseTuple(args, "O!KO:_placements", &PyDict_Type, &given, &seed, &object))
        return NULL;
    struct lease *lease = batch_lease(core_state_of(self), object);
    if (!lease)
        return NULL;
    if (read_transform(&call, given, &transform) == 0)
        done = placements((struct py_store *)self, &transform, seed, lease_batch(lease));
    Py_XDECREF(call.owners);
    lease_end(lease);
    return done;
}
