/* Image files: what aplingest makes of them, for apldata.convert(). */
#include "ingest.h"

/* The texts of an image's remarks, as a tuple. */
static PyObject *remarks_of(const apl_image *image)
{
    PyObject *list = PyList_New(0);
    const char *text;
    for (unsigned i = 0; list && (text = apl_image_remark(i)); i++) {
        PyObject *one = image->remarks >> i & 1 ? PyUnicode_FromString(text) : NULL;
        if (one && PyList_Append(list, one) != 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
        if (PyErr_Occurred())
            break;
    }
    PyObject *tuple = list && !PyErr_Occurred() ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static PyObject *values_of(const apl_image *image)
{
    PyObject *remarks = remarks_of(image);
    if (!remarks)
        return NULL;
    return Py_BuildValue("(s(III)IIOy#Nz)", image->kind, (unsigned)image->channels, (unsigned)image->height,
                         (unsigned)image->width, image->bits, image->orientation,
                         image->palette ? Py_True : Py_False, image->data ? (const char *)image->data : "",
                         (Py_ssize_t)image->bytes, remarks, image->warning);
}

static PyObject *finished(apl_status status, apl_image *image, const apl_error *err)
{
    if (status != APL_OK)
        return ingest_raise(err);
    PyObject *values = values_of(image);
    apl_image_free(image);
    return values;
}

PyObject *ingest_image_decode(PyObject *module, PyObject *arguments)
{
    Py_buffer file;
    unsigned bits;
    int allow;
    apl_image *image = NULL;
    apl_error err;
    apl_status status;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*Ip:image_decode", &file, &bits, &allow))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = apl_image_decode(file.buf, (size_t)file.len, bits, allow, &image, &err);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&file);
    return finished(status, image, &err);
}

PyObject *ingest_image_to_jpeg(PyObject *module, PyObject *arguments)
{
    Py_buffer file;
    int unchecked, allow;
    apl_image *image = NULL;
    apl_error err;
    apl_status status;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*pp:image_to_jpeg", &file, &unchecked, &allow))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = apl_image_to_jpeg(file.buf, (size_t)file.len, unchecked, allow, &image, &err);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&file);
    return finished(status, image, &err);
}

PyObject *ingest_mask_decode(PyObject *module, PyObject *arguments)
{
    Py_buffer file;
    int header, allow;
    apl_image *image = NULL;
    apl_error err;
    apl_status status;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "y*pp:mask_decode", &file, &header, &allow))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = apl_mask_decode(file.buf, (size_t)file.len, header, allow, &image, &err);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&file);
    return finished(status, image, &err);
}
