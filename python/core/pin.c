/* An allocator whose memory Python code pins: see pin.h. */
#include "pin.h"

#include <stdatomic.h>
#include <stdlib.h>

#define ALIGNMENT 4096u /* whole pages, since those are what is pinned */

struct pin {
    atomic_uint holders; /* the object that made it, and every piece of memory */
    PyObject *pin, *unpin;
};

struct pin *pin_new(PyObject *pin, PyObject *unpin)
{
    struct pin *p = calloc(1, sizeof *p);
    if (!p) {
        PyErr_NoMemory();
        return NULL;
    }
    atomic_init(&p->holders, 1);
    p->pin = Py_NewRef(pin);
    p->unpin = Py_NewRef(unpin);
    return p;
}

/* With the GIL held. */
void pin_free(struct pin *p)
{
    if (!p || atomic_fetch_sub(&p->holders, 1) != 1)
        return;
    Py_DECREF(p->pin);
    Py_DECREF(p->unpin);
    free(p);
}

static bool call(PyObject *function, void *memory, size_t bytes)
{
    PyObject *result = PyObject_CallFunction(function, "KK", (unsigned long long)(uintptr_t)memory,
                                             (unsigned long long)bytes);
    if (!result)
        PyErr_WriteUnraisable(function);
    Py_XDECREF(result);
    return result != NULL;
}

static size_t whole_pages(size_t bytes)
{
    return bytes > SIZE_MAX - ALIGNMENT ? 0 : (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static void *allocate(void *user, size_t bytes)
{
    struct pin *p = user;
    size_t size = whole_pages(bytes);
    void *memory = size ? aligned_alloc(ALIGNMENT, size) : NULL;
    if (!memory)
        return NULL;
    PyGILState_STATE gil = PyGILState_Ensure();
    bool pinned = call(p->pin, memory, size);
    if (pinned)
        atomic_fetch_add(&p->holders, 1);
    PyGILState_Release(gil);
    if (pinned)
        return memory;
    free(memory);
    return NULL;
}

static void deallocate(void *user, void *memory, size_t bytes)
{
    struct pin *p = user;
    if (!memory || !Py_IsInitialized()) /* the interpreter is gone, and the process is about to be */
        return;
    PyGILState_STATE gil = PyGILState_Ensure();
    call(p->unpin, memory, whole_pages(bytes));
    pin_free(p);
    PyGILState_Release(gil);
    free(memory);
}

apl_allocator pin_allocator(struct pin *p)
{
    return (apl_allocator){allocate, deallocate, p};
}
