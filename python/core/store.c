/* A store as a Python object: opening, describing, reading. */
#include "store.h"
#include "batch.h"
#include "handle.h"

#include <string.h>
#include <unistd.h>

static void close_store(void *it)
{
    apl_store_close(it);
}

/* ------------------------------------------------------------------------------------- opening, closing */

static apl_store *open_store(struct py_store *s, const uint8_t *content, apl_error *err)
{
    apl_store_options options = APL_STORE_OPTIONS_INIT;
    apl_store *store = NULL;
    options.expected_content = content;
    options.split_directory = s->split_directory;
    options.io = s->io;
    options.open_shards = s->open_shards;
    options.remote_timeout_s = s->remote_timeout_s;
    options.plain_http = s->plain_http;
    options.cache = s->cache;
    options.cache_budget = s->cache_budget;
    options.requests = s->requests;
    options.expected_digest = s->pinned ? s->digest : NULL;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_store_open(s->path, &options, &store, err);
    Py_END_ALLOW_THREADS
    return status == APL_OK ? store : NULL;
}

/* A child process opens the store again, if it is still the same: what the parent opened is not to be used after a fork. */
static int reopen_in_child(struct py_store *s)
{
    apl_error err;
    int pid = (int)getpid();
    if (s->pid == pid || !s->handle.it)
        return 0;
    apl_store *store = open_store(s, s->content, &err);
    if (s->pid == pid) { /* another thread was faster */
        apl_store_close(store);
        return 0;
    }
    if (!store) {
        core_raise(core_state_of(s), &err);
        return -1;
    }
    handle_init(&s->handle, store, close_store); /* the parent's is left as it is */
    s->pid = pid;
    return 0;
}

apl_store *store_use(struct py_store *s)
{
    if (reopen_in_child(s) < 0)
        return NULL;
    apl_store *store = handle_use(&s->handle);
    if (!store)
        core_refuse(s, "the store is closed");
    return store;
}

void store_done(struct py_store *s)
{
    Py_BEGIN_ALLOW_THREADS
    handle_done(&s->handle);
    Py_END_ALLOW_THREADS
}

static PyObject *names_of_fields(apl_store *store)
{
    unsigned n = apl_store_info(store)->fields;
    PyObject *names = PyTuple_New((Py_ssize_t)n);
    for (unsigned i = 0; names && i < n; i++) {
        PyObject *name = text_or_none(apl_store_field(store, i)->name);
        if (!name || PyTuple_SetItem(names, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

/* Takes what Store() was called with; *content: NULL, or the digest that is expected, which the arguments own. */
static bool take_arguments(struct py_store *s, PyObject *args, PyObject *keywords, const char **content)
{
    static char *names[] = {"path",         "expected_content", "split_directory", "io",
                            "open_shards",  "remote_timeout_s", "plain_http",      "cache",
                            "cache_budget", "requests",         "expected_digest", NULL};
    PyObject *path = NULL, *directory = Py_None, *cache = Py_None;
    const char *digest = NULL;
    Py_ssize_t content_bytes = 0, digest_bytes = 0;
    int io = APL_IO_AUTO;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|z#OiIIpOKIz#:Store", names, PyUnicode_FSConverter,
                                     &path, content, &content_bytes, &directory, &io, &s->open_shards,
                                     &s->remote_timeout_s, &s->plain_http, &cache, &s->cache_budget,
                                     &s->requests, &digest, &digest_bytes))
        return false;
    s->io = (apl_io)io;
    s->path_owner = path;
    s->path = PyBytes_AsString(path);
    if (directory != Py_None && !PyUnicode_FSConverter(directory, &s->directory_owner))
        return false;
    s->split_directory = s->directory_owner ? PyBytes_AsString(s->directory_owner) : NULL;
    if (cache != Py_None && !PyUnicode_FSConverter(cache, &s->cache_owner))
        return false;
    s->cache = s->cache_owner ? PyBytes_AsString(s->cache_owner) : NULL;
    if ((*content && content_bytes != 32) || (digest && digest_bytes != 32)) {
        PyErr_SetString(PyExc_ValueError, "expected_content, expected_digest: a digest has 32 bytes");
        return false;
    }
    s->pinned = digest != NULL;
    if (digest)
        memcpy(s->digest, digest, sizeof s->digest);
    return true;
}

static int init(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct py_store *s = (struct py_store *)self;
    const char *content = NULL;
    apl_error err;
    if (s->path_owner) {
        PyErr_SetString(PyExc_TypeError, "the store is open already");
        return -1;
    }
    if (!take_arguments(s, args, keywords, &content))
        return -1;
    apl_store *store = open_store(s, (const uint8_t *)content, &err);
    if (!store) {
        core_raise(core_state_of(self), &err);
        return -1;
    }
    memcpy(s->content, apl_store_info(store)->content_digest, sizeof s->content);
    s->pid = (int)getpid();
    handle_init(&s->handle, store, close_store);
    s->records = apl_store_info(store)->records;
    s->names = names_of_fields(store);
    return s->names ? 0 : -1;
}

static PyObject *close_method(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct py_store *s = (struct py_store *)self;
    if (s->pid == (int)getpid()) {
        Py_BEGIN_ALLOW_THREADS
        handle_close(&s->handle);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct py_store *s = (struct py_store *)self;
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    PyObject_GC_UnTrack(self);
    if (s->handle.it && s->pid == (int)getpid()) {
        Py_BEGIN_ALLOW_THREADS
        handle_close(&s->handle);
        Py_END_ALLOW_THREADS
    }
    Py_CLEAR(s->names);
    Py_CLEAR(s->path_owner);
    Py_CLEAR(s->directory_owner);
    Py_CLEAR(s->cache_owner);
    release(self);
    Py_DECREF(type);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((struct py_store *)self)->names);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

/* --------------------------------------------------------------------------------------------- reading */

/* Field names as C strings, which live as long as *owner (a list of bytes). None: NULL, all fields. */
static int field_list(PyObject *fields, const char **list, size_t *count, PyObject **owner)
{
    *owner = NULL;
    *count = 0;
    if (fields == Py_None)
        return 0;
    Py_ssize_t n = PySequence_Size(fields);
    if (n < 0 || n > APL_MAX_FIELDS) {
        if (n >= 0)
            PyErr_Format(PyExc_ValueError, "%zd fields: a store has at most %d", n, APL_MAX_FIELDS);
        return -1;
    }
    *owner = PyList_New(0);
    for (Py_ssize_t i = 0; *owner && i < n; i++) {
        PyObject *item = PySequence_GetItem(fields, i), *bytes = NULL;
        if (!item || text_from(item, &list[i], &bytes) < 0 || !bytes || PyList_Append(*owner, bytes) < 0)
            Py_CLEAR(*owner);
        Py_XDECREF(bytes);
        Py_XDECREF(item);
    }
    *count = (size_t)n;
    if (!*owner && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "fields have names");
    return *owner ? 0 : -1;
}

/* A buffer of ids: contiguous, 8 bytes each. */
static int id_buffer(PyObject *object, Py_buffer *ids)
{
    if (PyObject_GetBuffer(object, ids, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0)
        return -1;
    if (ids->itemsize == 8 && ids->format && strchr("QLN", ids->format[0]))
        return 0;
    PyBuffer_Release(ids);
    PyErr_SetString(PyExc_TypeError, "ids: an array of uint64 is needed");
    return -1;
}

static PyObject *get_ids(struct py_store *s, const Py_buffer *ids, const apl_get_options *options)
{
    struct core_state *state = core_state_of(s);
    apl_store *store = store_use(s);
    apl_batch *batch = NULL;
    apl_error err;
    apl_status status;
    if (!store)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = apl_store_get_batch(store, ids->buf, (size_t)ids->len / 8, options, &batch, &err);
    Py_END_ALLOW_THREADS
    store_done(s);
    return status == APL_OK ? batch_object(state, batch, (PyObject *)s, NULL) : core_raise(state, &err);
}

static PyObject *get(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"ids", "fields", "threads", NULL};
    struct py_store *s = (struct py_store *)self;
    const char *list[APL_MAX_FIELDS];
    apl_get_options options = APL_GET_OPTIONS_INIT;
    PyObject *object, *fields = Py_None, *owner;
    Py_buffer ids;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OO&:get", names, &object, &fields, unsigned_from,
                                     &options.threads) ||
        field_list(fields, list, &options.field_count, &owner) < 0)
        return NULL;
    options.fields = owner ? list : NULL;
    PyObject *batch = NULL;
    if (id_buffer(object, &ids) == 0) {
        batch = get_ids(s, &ids, &options);
        PyBuffer_Release(&ids);
    }
    Py_XDECREF(owner);
    return batch;
}

static Py_ssize_t length(PyObject *self)
{
    return (Py_ssize_t)((struct py_store *)self)->records;
}

static PyObject *get_path(PyObject *self, void *unused)
{
    (void)unused;
    struct py_store *s = (struct py_store *)self;
    return s->path ? PyUnicode_DecodeFSDefault(s->path) : Py_NewRef(Py_None);
}

static PyObject *get_split_directory(PyObject *self, void *unused)
{
    (void)unused;
    struct py_store *s = (struct py_store *)self;
    return s->split_directory ? PyUnicode_DecodeFSDefault(s->split_directory) : Py_NewRef(Py_None);
}

static PyObject *get_closed(PyObject *self, void *unused)
{
    (void)unused;
    const struct handle *h = &((struct py_store *)self)->handle;
    return PyBool_FromLong(h->it == NULL || h->closing);
}

static PyGetSetDef attributes[] = {
    {"path", get_path, NULL, "The directory, as it was given.", NULL},
    {"split_directory", get_split_directory, NULL,
     "Where files of splits are, if not beside the store; or None.", NULL},
    {"closed", get_closed, NULL, "Has it been closed?", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"_get", (PyCFunction)(void (*)(void))get, METH_VARARGS | METH_KEYWORDS,
     "The records ids (uint64[n]) as a Batch."},
    {"_info", store_info, METH_NOARGS, "What the store says of itself."},
    {"_fields", store_fields, METH_NOARGS, "Its fields."},
    {"_splits", store_splits, METH_NOARGS, "The splits that its source brought: (name, first, count)."},
    {"_members", store_members, METH_NOARGS, "Its members: (name, split, first, count, number)."},
    {"_skipped", store_skipped, METH_NOARGS, "Files of its source that were left out: (path, why)."},
    {"_moments", store_moments, METH_VARARGS, "Mean and standard deviation of each channel."},
    {"_class_counts", store_class_counts, METH_VARARGS, "Records of each class in a split."},
    {"_split_ids", store_split_ids, METH_O, "The ids of a split: bytes of uint64."},
    {"_split_files", store_split_files, METH_NOARGS, "The split files beside the store."},
    {"_split_make", (PyCFunction)(void (*)(void))store_split_make, METH_VARARGS | METH_KEYWORDS,
     "Makes a split."},
    {"_split_parts", (PyCFunction)(void (*)(void))store_split_parts, METH_VARARGS | METH_KEYWORDS,
     "Makes the splits of a division into many parts."},
    {"_split_verify", store_split_verify, METH_VARARGS, "Checks a split's file against its rule."},
    {"_transform", store_transform, METH_VARARGS,
     "A transform's settings for a split, with nothing left to defaults."},
    {"_actions", store_actions, METH_O,
     "What readers of such options do with each field when images move: (name, kind, action)."},
    {"_placements", store_placements, METH_VARARGS,
     "Where crop, flip and square of each row of a reader's batch fall: bytes of int32[rows, 5]."},
    {"_verify", store_verify, METH_VARARGS, "Decodes and checks every byte; a list of bad blocks."},
    {"close", close_method, METH_NOARGS, "Closes the store. Batches and loaders made from it stay valid."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_init, init},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_mp_length, length},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec store_spec = {
    .name = "apldata._core.Store",
    .basicsize = sizeof(struct py_store),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};
