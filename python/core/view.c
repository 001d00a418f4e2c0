/* Views as Python objects: buffer protocol and array interface. */
#include "view.h"

#include <string.h>

/*
 * Of one element: as the struct module names it, and as NumPy's array interface does. NULL: they have no name for it. L and l, not Q and q:
 * NumPy makes longlong of these, a type of its own, which torch refuses if it is unsigned.
 */
static const char *const buffer_formats[] = {
    [APL_U8] = "B",  [APL_I8] = "b",   [APL_U16] = "H", [APL_I16] = "h", [APL_U32] = "I",
    [APL_I32] = "i", [APL_U64] = "L",  [APL_I64] = "l", [APL_F16] = "e", [APL_F32] = "f",
    [APL_F64] = "d", [APL_BOOL] = "?", [APL_UTF8] = "B"};
static const char *const type_strings[] = {
    [APL_U8] = "|u1",  [APL_I8] = "|i1",   [APL_U16] = "<u2", [APL_I16] = "<i2", [APL_U32] = "<u4",
    [APL_I32] = "<i4", [APL_U64] = "<u8",  [APL_I64] = "<i8", [APL_F16] = "<f2", [APL_F32] = "<f4",
    [APL_F64] = "<f8", [APL_BOOL] = "|b1", [APL_UTF8] = "|u1"};

static void set_strides(struct view *v)
{
    Py_ssize_t stride = (Py_ssize_t)apl_dtype_size(v->dtype);
    for (int d = v->ndim - 1; d >= 0; d--) {
        v->strides[d] = stride;
        stride *= v->shape[d];
    }
}

static struct view *new_view(struct core_state *state, struct lease *lease, const void *data, apl_dtype dtype)
{
    allocfunc allocate = PyType_GetSlot(state->view, Py_tp_alloc);
    struct view *v = (struct view *)allocate(state->view, 0);
    if (!v)
        return NULL;
    v->lease = lease_share(lease);
    v->data = (void *)data;
    v->dtype = dtype;
    return v;
}

PyObject *view_of_column(struct core_state *state, struct lease *lease, const apl_column *column, size_t rows)
{
    struct view *v = new_view(state, lease, column->data, column->dtype);
    if (!v)
        return NULL;
    v->writable = true;
    v->rows = rows;
    v->column = column;
    v->ndim = (int)column->dims;
    for (unsigned d = 0; d < column->dims; d++)
        v->shape[d] = (Py_ssize_t)column->dim[d];
    set_strides(v);
    return (PyObject *)v;
}

PyObject *view_of_copy(struct core_state *state, const apl_column *column, size_t rows)
{
    struct lease *copy = lease_copy(column->data, column->bytes);
    if (!copy)
        return PyErr_NoMemory();
    struct view *v = (struct view *)view_of_column(state, copy, column, rows);
    if (v) {
        v->data = lease_memory(copy);
        v->column = NULL;
    }
    lease_end(copy);
    return (PyObject *)v;
}

PyObject *view_of_array(struct core_state *state, struct lease *lease, const void *data, apl_dtype dtype,
                        int ndim, const Py_ssize_t *shape)
{
    struct view *v = new_view(state, lease, data, dtype);
    if (!v)
        return NULL;
    v->ndim = ndim;
    memcpy(v->shape, shape, (size_t)ndim * sizeof *shape);
    set_strides(v);
    return (PyObject *)v;
}

/* Of one shape, and of a type that NumPy has, it is what numpy.asarray() makes of it: asked here, that takes a fifth less time. */
PyObject *view_as_array(struct core_state *state, PyObject *view)
{
    const struct view *v = (const struct view *)view;
    bool plain = v->dtype != APL_BF16 && (!v->column || !v->column->offsets);
    return PyObject_CallFunctionObjArgs(plain ? state->asarray : state->as_array, view, NULL);
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    lease_end(((struct view *)self)->lease);
    release(self);
    Py_DECREF(type);
}

/* ------------------------------------------------------------------------------------- buffer protocol */

static int get_buffer(PyObject *self, Py_buffer *buffer, int flags)
{
    struct view *v = (struct view *)self;
    const char *format = buffer_formats[v->dtype];
    buffer->obj = NULL;
    if (!format || (flags & PyBUF_WRITABLE && !v->writable)) {
        PyErr_Format(PyExc_BufferError,
                     format ? "this array is read-only" : "Python's buffers know no %s: use DLPack",
                     apl_dtype_name(v->dtype));
        return -1;
    }
    Py_ssize_t bytes = (Py_ssize_t)apl_dtype_size(v->dtype);
    buffer->itemsize = bytes;
    for (int d = 0; d < v->ndim; d++)
        bytes *= v->shape[d];
    buffer->obj = Py_NewRef(self);
    buffer->buf = v->data;
    buffer->len = bytes;
    buffer->readonly = !v->writable;
    buffer->ndim = v->ndim;
    buffer->format = flags & PyBUF_FORMAT ? (char *)format : NULL;
    buffer->shape = flags & PyBUF_ND ? v->shape : NULL;
    buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? v->strides : NULL;
    buffer->suboffsets = NULL;
    buffer->internal = NULL;
    return 0;
}

/* ------------------------------------------------------------------------------------------ attributes */

static PyObject *tuple_of(const Py_ssize_t *values, int n)
{
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *value = PyLong_FromSsize_t(values[i]);
        if (!value || PyTuple_SetItem(tuple, i, value) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    struct view *v = (struct view *)self;
    return tuple_of(v->shape, v->ndim);
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(apl_dtype_name(((struct view *)self)->dtype));
}

static PyObject *get_rows(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((struct view *)self)->rows);
}

static PyObject *get_lent(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(lease_batch(((struct view *)self)->lease) != NULL);
}

static PyObject *get_offsets(PyObject *self, void *unused)
{
    (void)unused;
    struct view *v = (struct view *)self;
    if (!v->column || !v->column->offsets || v->column->how >= APL_COLLATE_PACK)
        Py_RETURN_NONE;
    const Py_ssize_t shape[1] = {(Py_ssize_t)v->rows + 1};
    return view_of_array(core_state_of(self), v->lease, v->column->offsets, APL_U64, 1, shape);
}

static PyObject *get_shapes(PyObject *self, void *unused)
{
    (void)unused;
    struct view *v = (struct view *)self;
    if (!v->column || !v->column->shapes)
        Py_RETURN_NONE;
    const Py_ssize_t shape[2] = {(Py_ssize_t)v->rows, (Py_ssize_t)v->column->ndim};
    return view_of_array(core_state_of(self), v->lease, v->column->shapes, APL_I64, 2, shape);
}

static PyObject *get_ragged(PyObject *self, void *unused)
{
    (void)unused;
    struct view *v = (struct view *)self;
    return PyBool_FromLong(v->column && v->column->how == APL_COLLATE_RAGGED);
}

/* For those who know no bfloat16. */
static PyObject *bits(PyObject *self, PyObject *unused)
{
    (void)unused;
    static const apl_dtype unsigned_of[] = {[1] = APL_U8, [2] = APL_U16, [4] = APL_U32, [8] = APL_U64};
    struct view *v = (struct view *)self;
    apl_dtype dtype = unsigned_of[apl_dtype_size(v->dtype)];
    struct view *b =
        (struct view *)view_of_array(core_state_of(self), v->lease, v->data, dtype, v->ndim, v->shape);
    if (b)
        b->writable = v->writable;
    return (PyObject *)b;
}

static PyObject *get_array_interface(PyObject *self, void *unused)
{
    (void)unused;
    struct view *v = (struct view *)self;
    if (!type_strings[v->dtype]) {
        PyErr_Format(PyExc_AttributeError, "NumPy's array interface knows no %s", apl_dtype_name(v->dtype));
        return NULL;
    }
    PyObject *shape = tuple_of(v->shape, v->ndim);
    if (!shape)
        return NULL;
    return Py_BuildValue("{s:i,s:s,s:(KO),s:N,s:O}", "version", 3, "typestr", type_strings[v->dtype], "data",
                         (unsigned long long)(uintptr_t)v->data, v->writable ? Py_False : Py_True, "shape",
                         shape, "strides", Py_None);
}

static PyObject *refuse_reduce(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    PyErr_SetString(PyExc_TypeError,
                    "an array that lies in a batch cannot be pickled: pickle a copy, numpy.array(...)");
    return NULL;
}

static PyGetSetDef attributes[] = {
    {"shape", get_shape, NULL,
     "Its dimensions, rows first; of a column of varying shape: all elements in one row.", NULL},
    {"dtype", get_dtype, NULL, "The type of the elements, as the store names it: 'u8', 'bf16', 'utf8', ...",
     NULL},
    {"rows", get_rows, NULL, "Rows of the batch, of a column.", NULL},
    {"lent", get_lent, NULL,
     "Does it lie in its batch, and keep that? False: it is a copy, as of all small columns.", NULL},
    {"offsets", get_offsets, NULL,
     "Of a column of varying shape: row r has the elements offsets[r] ... offsets[r+1]-1. Else None.", NULL},
    {"shapes", get_shapes, NULL, "Of a column of varying shape: the shape of each row. Else None.", NULL},
    {"ragged", get_ragged, NULL, "Are the values of all rows one array, by a collation?", NULL},
    {"__array_interface__", get_array_interface, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))view_dlpack, METH_VARARGS | METH_KEYWORDS,
     "A DLPack capsule of the array, on the CPU, not copied."},
    {"bits", bits, METH_NOARGS, "The same memory as unsigned numbers of the same size."},
    {"__dlpack_device__", view_dlpack_device, METH_NOARGS, "(1, 0): the CPU."},
    {"__reduce__", refuse_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "An array of a batch. If it is `lent`, it lies in the batch, and keeps that from being used again "
     "while it, or an array made of it, lives. numpy.asarray(), torch.from_dlpack(), "
     "jax.dlpack.from_dlpack() and memoryview() take "
     "it, without a copy."},
    {Py_tp_dealloc, dealloc},
    {Py_bf_getbuffer, get_buffer},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec view_spec = {
    .name = "apldata._core.View",
    .basicsize = sizeof(struct view),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
