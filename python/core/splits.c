/* Splits of a store: those that its source brought, and those in files beside it. */
#include "store.h"

#include <stdlib.h>

PyObject *store_split_ids(PyObject *self, PyObject *name)
{
    struct py_store *s = (struct py_store *)self;
    const char *text;
    PyObject *owner, *ids = NULL;
    apl_error err;
    if (text_from(name, &text, &owner) < 0)
        return NULL;
    apl_store *store = store_use(s);
    if (!store)
        goto out;
    uint64_t count = 0;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_split_ids(store, text, NULL, &count, &err);
    Py_END_ALLOW_THREADS
    if (status == APL_OK)
        ids = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)(count * 8));
    uint64_t *to = ids ? (uint64_t *)(void *)PyByteArray_AsString(ids) : NULL;
    if (to) {
        Py_BEGIN_ALLOW_THREADS
        status = apl_split_ids(store, text, to, &count, &err);
        Py_END_ALLOW_THREADS
    }
    if (status != APL_OK) {
        Py_CLEAR(ids);
        core_raise(core_state_of(self), &err);
    } else if (to && PyByteArray_Resize(ids, (Py_ssize_t)(count * 8)) < 0) { /* its file may have changed */
        Py_CLEAR(ids);
    }
    store_done(s);
out:
    Py_XDECREF(owner);
    return ids;
}

static PyObject *count_list(const uint64_t *counts, uint64_t n)
{
    PyObject *list = PyList_New(0);
    for (uint64_t c = 0; list && c < n; c++) {
        PyObject *count = PyLong_FromUnsignedLongLong(counts[c]);
        if (!count || PyList_Append(list, count) < 0)
            Py_CLEAR(list);
        Py_XDECREF(count);
    }
    return list;
}

static PyObject *class_counts(apl_store *store, struct core_state *state, const char *split, const char *name)
{
    apl_error err;
    int number = apl_store_find_field(store, name);
    const apl_field *field = number < 0 ? NULL : apl_store_field(store, (unsigned)number);
    if (!field || !field->classes)
        return PyList_New(0);
    uint64_t *counts = calloc(field->class_count + 1, sizeof *counts);
    if (!counts)
        return PyErr_NoMemory();
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_split_class_counts(store, split, (unsigned)number, counts, &err);
    Py_END_ALLOW_THREADS
    PyObject *list = status == APL_OK ? count_list(counts, field->class_count) : core_raise(state, &err);
    free(counts);
    return list;
}

PyObject *store_class_counts(PyObject *self, PyObject *args)
{
    struct py_store *s = (struct py_store *)self;
    const char *split, *field;
    if (!PyArg_ParseTuple(args, "ss:class_counts", &split, &field))
        return NULL;
    apl_store *store = store_use(s);
    if (!store)
        return NULL;
    PyObject *list = class_counts(store, core_state_of(self), split, field);
    store_done(s);
    return list;
}

/* ---------------------------------------------------------------------------------------------- files */

/* What is hashed. */
static const char *by_name(apl_split_by by)
{
    static const char *const names[] = {"content", "key", "id", "group"};
    return (unsigned)by < sizeof names / sizeof *names ? names[by] : NULL;
}

static PyObject *file_dict(const apl_split_file *f)
{
    PyObject *dict =
        Py_BuildValue("{s:d,s:K,s:K,s:K,s:i}", "ratio", f->ratio, "seed", (unsigned long long)f->seed,
                      "records", (unsigned long long)f->records, "rest_records",
                      (unsigned long long)f->rest_records, "status", (int)f->status);
    if (dict && (dict_take(dict, "name", text_or_none(f->name)) < 0 ||
                 dict_take(dict, "rest", text_or_none(f->rest)) < 0 ||
                 dict_take(dict, "parent", text_or_none(f->parent)) < 0 ||
                 dict_take(dict, "source", text_or_none(f->source)) < 0 ||
                 dict_take(dict, "stratify", text_or_none(f->stratify)) < 0 ||
                 dict_take(dict, "group", text_or_none(f->group)) < 0 ||
                 dict_take(dict, "by", text_or_none(by_name(f->by))) < 0 ||
                 dict_take(dict, "replaced", text_or_none(f->replaced)) < 0 ||
                 dict_take(dict, "message", text_or_none(f->message)) < 0))
        Py_CLEAR(dict);
    return dict;
}

PyObject *store_split_files(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct py_store *s = (struct py_store *)self;
    apl_split_list *files = NULL;
    apl_error err;
    apl_store *store = store_use(s);
    if (!store)
        return NULL;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_split_list_open(store, &files, &err);
    Py_END_ALLOW_THREADS
    PyObject *list = status == APL_OK ? PyList_New(0) : core_raise(core_state_of(self), &err);
    const apl_split_file *file;
    for (size_t i = 0; list && (file = apl_split_list_file(files, i)) != NULL; i++) {
        PyObject *one = file_dict(file);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    apl_split_list_close(files);
    store_done(s);
    return list;
}

/* Divides a split in two; or, where `parts` is not NULL, into that many parts. What it shares with other splits, in
 * words, or None. */
static PyObject *divide(struct py_store *s, apl_split_options *options, const unsigned *parts,
                        double concentration)
{
    apl_store *store = store_use(s);
    apl_split_overlap shared = {.splits = 0};
    apl_error err;
    if (!store)
        return NULL;
    options->shared = &shared;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = parts ? apl_split_parts(store, options, *parts, concentration, &err)
                   : apl_split_make(store, options, &err);
    Py_END_ALLOW_THREADS
    store_done(s);
    if (status != APL_OK)
        return core_raise(core_state_of(s), &err);
    return text_or_none(shared.splits ? shared.message : NULL);
}

PyObject *store_split_make(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"name",    "ratio", "parent", "stratify", "seed", "threads",
                            "replace", "group", "by",     "overlap",  NULL};
    struct py_store *s = (struct py_store *)self;
    apl_split_options options = APL_SPLIT_OPTIONS_INIT;
    int by = APL_BY_CONTENT;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sd|zzO&O&pzip:split", names, &options.name,
                                     &options.ratio, &options.parent, &options.stratify, u64_from,
                                     &options.seed, unsigned_from, &options.threads, &options.replace,
                                     &options.group, &by, &options.overlap))
        return NULL;
    options.by = (apl_split_by)by;
    return divide(s, &options, NULL, 0);
}

PyObject *store_split_parts(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"name",    "parts",   "concentration", "parent", "stratify", "seed",
                            "threads", "replace", "group",         "by",     "overlap",  NULL};
    struct py_store *s = (struct py_store *)self;
    apl_split_options options = APL_SPLIT_OPTIONS_INIT;
    unsigned parts;
    double concentration = 0;
    int by = APL_BY_CONTENT;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "sO&|dzzO&O&pzip:split_parts", names, &options.name, unsigned_from, &parts,
            &concentration, &options.parent, &options.stratify, u64_from, &options.seed, unsigned_from,
            &options.threads, &options.replace, &options.group, &by, &options.overlap))
        return NULL;
    options.by = (apl_split_by)by;
    return divide(s, &options, &parts, concentration);
}

PyObject *store_split_verify(PyObject *self, PyObject *args)
{
    struct py_store *s = (struct py_store *)self;
    const char *name;
    unsigned threads = 0;
    if (!PyArg_ParseTuple(args, "s|O&:split_verify", &name, unsigned_from, &threads))
        return NULL;
    apl_store *store = store_use(s);
    apl_error err;
    if (!store)
        return NULL;
    apl_status status;
    Py_BEGIN_ALLOW_THREADS
    status = apl_split_verify(store, name, threads, &err);
    Py_END_ALLOW_THREADS
    store_done(s);
    if (status != APL_OK)
        return core_raise(core_state_of(self), &err);
    Py_RETURN_NONE;
}
