/* Readers of a server's batches, and a server. */
#include "reader.h"

#include "store.h"
#include "take.h"

#include <signal.h>
#include <string.h>

int connect_call_from(struct connect_call *call, PyObject *given)
{
    static const struct number_item items[] = {
        {"rank", offsetof(struct connect_call, rank), NUMBER_UNSIGNED, UINT32_MAX},
        {"wait_ms", offsetof(struct connect_call, options.wait_ms), NUMBER_UNSIGNED, UINT32_MAX},
        {"first_epoch", offsetof(struct connect_call, options.first_epoch), NUMBER_U64, UINT64_MAX},
        {"go_on", offsetof(struct connect_call, options.go_on), NUMBER_FLAG, 1},
    };
    *call = (struct connect_call){.options = APL_CONNECT_OPTIONS_INIT, .owners = PyList_New(0)};
    call->options.timeout_ms = READER_SLICE_MS;
    call->options.writable = 1; /* as the arrays of other readers are */
    PyObject *dict = call->owners ? PyDict_Copy(given) : NULL;
    if (!dict)
        return -1;
    int done = take_text(call->owners, dict, "path", &call->path);
    if (done == 0)
        done = take_bytes(call->owners, dict, "state", &call->options.state, &call->options.state_size);
    if (done == 0)
        done = take_numbers(call, items, sizeof items / sizeof *items, dict);
    if (done == 0)
        done = check_empty(dict, "options of a connection");
    Py_DECREF(dict);
    return done;
}

void connect_call_free(struct connect_call *call)
{
    Py_CLEAR(call->owners);
}

/* ----------------------------------------------------------------------------------------------- serving */

static apl_server *serving; /* there is one in a process: what is on the other end of signals */

static void on_signal(int number)
{
    (void)number;
    apl_server_stop(serving);
}

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
#define STOPPING (sizeof stopping / sizeof *stopping)

static apl_status run(apl_error *err)
{
    struct sigaction before[STOPPING], action = {.sa_handler = on_signal};
    apl_status status;
    for (size_t i = 0; i < STOPPING; i++)
        sigaction(stopping[i], &action, &before[i]);
    Py_BEGIN_ALLOW_THREADS
    status = apl_server_run(serving, err);
    Py_END_ALLOW_THREADS
    for (size_t i = 0; i < STOPPING; i++)
        sigaction(stopping[i], &before[i], NULL);
    return status;
}

static int take_ranks(PyObject *tuple, struct reader_call *call, unsigned *ranks, Py_ssize_t most)
{
    Py_ssize_t n = PyTuple_Size(tuple);
    if (n < 1 || n > most) {
        PyErr_Format(PyExc_ValueError, "ranks: from 1 to %zd", most);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (!unsigned_from(PyTuple_GetItem(tuple, i), &ranks[i]))
            return -1;
    call->options.ranks.list = ranks;
    call->options.ranks.count = (unsigned)n;
    return 0;
}

static apl_status open_and_run(struct py_store *store, const struct reader_call *call, const char *path,
                               unsigned idle_ms, PyObject *ready, apl_error *err)
{
    apl_serve_options how = APL_SERVE_OPTIONS_INIT;
    apl_status status;
    apl_store *opened = store_use(store);
    if (!opened)
        return APL_END;
    how.idle_ms = idle_ms;
    Py_BEGIN_ALLOW_THREADS
    status = apl_server_open(opened, &call->options, path, &how, &serving, err);
    Py_END_ALLOW_THREADS
    store_done(store);
    if (status != APL_OK)
        return status;
    PyObject *said = PyObject_CallFunction(ready, NULL);
    Py_XDECREF(said);
    status = said ? run(err) : APL_END;
    Py_BEGIN_ALLOW_THREADS
    apl_server_close(serving);
    Py_END_ALLOW_THREADS
    serving = NULL;
    return status;
}

PyObject *core_serve(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    struct reader_call call;
    unsigned ranks[1024], idle_ms;
    PyObject *store, *options, *given, *ready;
    const char *path;
    apl_error err;
    apl_status status = APL_END; /* a Python error is set */
    if (!PyArg_ParseTuple(args, "O!O!sO!IO:serve", state->store, &store, &PyDict_Type, &options, &path,
                          &PyTuple_Type, &given, &idle_ms, &ready))
        return NULL;
    int done = reader_call_from(&call, state->store, options);
    call.options.faults.timeout_ms = 0; /* slices are for those who wait */
    if (done == 0)
        done = take_ranks(given, &call, ranks, sizeof ranks / sizeof *ranks);
    if (done == 0)
        status = open_and_run((struct py_store *)store, &call, path, idle_ms, ready, &err);
    reader_call_free(&call);
    if (status == APL_OK)
        Py_RETURN_NONE;
    return status == APL_END ? NULL : core_raise(state, &err);
}

PyObject *core_dismiss(PyObject *module, PyObject *args)
{
    const char *path;
    unsigned timeout_ms;
    apl_error err;
    apl_status status;
    if (!PyArg_ParseTuple(args, "sI:dismiss", &path, &timeout_ms))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = apl_server_dismiss(path, timeout_ms, &err);
    Py_END_ALLOW_THREADS
    if (status == APL_OK)
        Py_RETURN_NONE;
    return core_raise(PyModule_GetState(module), &err);
}
