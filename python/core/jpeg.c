/* What a JPEG file holds, for those who put files into stores. */
#include "core.h"

PyObject *core_jpeg_check(PyObject *module, PyObject *args)
{
    Py_buffer file;
    int decode = 1;
    uint32_t shape[3];
    apl_error err;
    apl_status status;
    if (!PyArg_ParseTuple(args, "y*|p:jpeg_check", &file, &decode))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = apl_check_jpeg(file.buf, (size_t)file.len, decode, shape, &err);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&file);
    if (status != APL_OK)
        return core_raise(PyModule_GetState(module), &err);
    return Py_BuildValue("(III)", (unsigned)shape[0], (unsigned)shape[1], (unsigned)shape[2]);
}
