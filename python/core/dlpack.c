/*
 * Views as DLPack tensors. The structures below are those of the DLPack specification, in its versions 0 and 1
 * (https://dmlc.github.io/dlpack/latest/c_api.html): their layout is what counts, and is the same on every machine with
 * 64 bits.
 */
#include "view.h"

#include <stdlib.h>
#include <string.h>

struct dl_tensor {
    void *data;
    struct {
        int32_t type, number;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* in elements */
    uint64_t byte_offset;
};

struct dl_managed {
    struct dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
};

struct dl_versioned {
    struct {
        uint32_t major, minor;
    } version;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    struct dl_tensor tensor;
};

enum { DEVICE_CPU = 1 };
enum { CODE_INT = 0, CODE_UINT = 1, CODE_FLOAT = 2, CODE_BFLOAT = 4, CODE_BOOL = 6 };
enum { FLAG_READ_ONLY = 1 };

/* A tensor, its shape, and what keeps it: one allocation, which its deleter frees. */
struct exported {
    union {
        struct dl_managed managed;
        struct dl_versioned versioned;
    } u;
    struct lease *lease;
    int64_t shape[APL_MAX_DIMS + 1], strides[APL_MAX_DIMS + 1];
};

/* Deleters are called from any thread, with or without the GIL, and touch no Python object. */
static void delete_managed(struct dl_managed *self)
{
    struct exported *e = self->context;
    lease_end(e->lease);
    free(e);
}

static void delete_versioned(struct dl_versioned *self)
{
    struct exported *e = self->context;
    lease_end(e->lease);
    free(e);
}

/* Who takes a capsule renames it, and the tensor is his. */
static void drop_managed(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor"))
        return;
    struct dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
    m->deleter(m);
}

static void drop_versioned(PyObject *capsule)
{
    if (!PyCapsule_IsValid(capsule, "dltensor_versioned"))
        return;
    struct dl_versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    m->deleter(m);
}

static uint8_t type_code(apl_dtype dtype)
{
    switch (dtype) {
    case APL_I8:
    case APL_I16:
    case APL_I32:
    case APL_I64:
        return CODE_INT;
    case APL_F16:
    case APL_F32:
    case APL_F64:
        return CODE_FLOAT;
    case APL_BF16:
        return CODE_BFLOAT;
    case APL_BOOL:
        return CODE_BOOL;
    default:
        return CODE_UINT;
    }
}

static void fill_tensor(struct exported *e, struct dl_tensor *t, const struct view *v)
{
    size_t element = apl_dtype_size(v->dtype);
    memset(t, 0, sizeof *t);
    t->data = v->data;
    t->device.type = DEVICE_CPU;
    t->ndim = v->ndim;
    t->dtype.code = type_code(v->dtype);
    t->dtype.bits = (uint8_t)(8 * element);
    t->dtype.lanes = 1;
    t->shape = e->shape;
    t->strides = e->strides;
    for (int d = 0; d < v->ndim; d++) {
        e->shape[d] = v->shape[d];
        e->strides[d] = v->strides[d] / (Py_ssize_t)element;
    }
}

static PyObject *make_capsule(const struct view *v, bool versioned)
{
    struct exported *e = calloc(1, sizeof *e);
    if (!e)
        return PyErr_NoMemory();
    PyObject *capsule;
    if (versioned) {
        struct dl_versioned *m = &e->u.versioned;
        m->version.major = 1;
        m->context = e;
        m->deleter = delete_versioned;
        m->flags = v->writable ? 0 : FLAG_READ_ONLY;
        fill_tensor(e, &m->tensor, v);
        capsule = PyCapsule_New(m, "dltensor_versioned", drop_versioned);
    } else {
        struct dl_managed *m = &e->u.managed;
        m->context = e;
        m->deleter = delete_managed;
        fill_tensor(e, &m->tensor, v);
        capsule = PyCapsule_New(m, "dltensor", drop_managed);
    }
    if (capsule)
        e->lease = lease_share(v->lease);
    else
        free(e);
    return capsule;
}

/* Two whole numbers from a tuple; None leaves them as they are. */
static int pair_from(PyObject *tuple, int *first, int *second)
{
    if (tuple == Py_None)
        return 0;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "__dlpack__: max_version and dl_device are pairs of whole numbers");
        return -1;
    }
    return PyArg_ParseTuple(tuple, "ii", first, second) ? 0 : -1;
}

/* What the consumer asks for must be what there is: memory of the CPU, not copied. */
static int check_request(PyObject *device, PyObject *copy)
{
    int type = DEVICE_CPU, number = 0;
    if (pair_from(device, &type, &number) < 0)
        return -1;
    int wants_copy = copy == Py_None ? 0 : PyObject_IsTrue(copy);
    if (wants_copy == 0 && type == DEVICE_CPU)
        return 0;
    if (wants_copy >= 0)
        PyErr_SetString(PyExc_BufferError,
                        "batches lie in memory of the CPU and are lent as they are: copy or move the result");
    return -1;
}

PyObject *view_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    const struct view *v = (struct view *)self;
    PyObject *stream = Py_None, *max_version = Py_None, *device = Py_None, *copy = Py_None;
    int major = 0, minor = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOO:__dlpack__", names, &stream, &max_version,
                                     &device, &copy) ||
        pair_from(max_version, &major, &minor) < 0 || check_request(device, copy) < 0)
        return NULL;
    if (major < 1 && !v->writable) {
        PyErr_SetString(PyExc_BufferError, "this array is read-only, which DLPack before 1.0 cannot say");
        return NULL;
    }
    return make_capsule(v, major >= 1);
}

PyObject *view_dlpack_device(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_BuildValue("(ii)", DEVICE_CPU, 0);
}
