/* What a store says of itself, as dicts and tuples. */
#include "store.h"

static PyObject *digest(const uint8_t *bytes)
{
    return PyBytes_FromStringAndSize((const char *)bytes, 32);
}

PyObject *store_info(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct py_store *s = (struct py_store *)self;
    apl_store *store = store_use(s);
    if (!store)
        return NULL;
    const apl_info *i = apl_store_info(store);
    PyObject *info = Py_BuildValue(
        "{s:K,s:K,s:I,s:K,s:K,s:(II),s:N,s:K,s:I}", "records", (unsigned long long)i->records, "blocks",
        (unsigned long long)i->blocks, "block_records", (unsigned)i->block_records, "raw_bytes",
        (unsigned long long)i->raw_bytes, "file_bytes", (unsigned long long)i->file_bytes, "format",
        i->format_major, i->format_minor, "shuffled", PyBool_FromLong(i->shuffled), "skipped",
        (unsigned long long)i->skipped, "shards", i->shards);
    if (info && (dict_take(info, "tool", text_or_none(i->tool)) < 0 ||
                 dict_take(info, "source_format", text_or_none(i->source_format)) < 0 ||
                 dict_take(info, "shuffle_seed", PyLong_FromUnsignedLongLong(i->shuffle_seed)) < 0 ||
                 dict_take(info, "content_digest", digest(i->content_digest)) < 0 ||
                 dict_take(info, "digest", i->has_digest ? digest(i->digest) : Py_NewRef(Py_None)) < 0 ||
                 dict_take(info, "source_digest",
                           i->has_source_digest ? digest(i->source_digest) : Py_NewRef(Py_None)) < 0))
        Py_CLEAR(info);
    store_done(s);
    return info;
}

/* ---------------------------------------------------------------------------------------------- fields */

static PyObject *shape_tuple(const apl_field *f)
{
    PyObject *shape = PyTuple_New((Py_ssize_t)f->ndim);
    for (unsigned d = 0; shape && d < f->ndim; d++) {
        PyObject *size = PyLong_FromLongLong(f->shape[d]);
        if (!size || PyTuple_SetItem(shape, (Py_ssize_t)d, size) < 0)
            Py_CLEAR(shape);
    }
    return shape;
}

static PyObject *class_tuple(const apl_field *f)
{
    if (!f->classes)
        Py_RETURN_NONE;
    PyObject *classes = PyTuple_New((Py_ssize_t)f->class_count);
    for (uint64_t c = 0; classes && c < f->class_count; c++) {
        PyObject *name = text_or_none(f->classes[c]);
        if (!name || PyTuple_SetItem(classes, (Py_ssize_t)c, name) < 0)
            Py_CLEAR(classes);
    }
    return classes;
}

static const char *role_name(apl_role role)
{
    static const char *const names[] = {"", "input", "target", "name", "position"};
    return role >= APL_INPUT && role <= APL_POSITION ? names[role] : "?";
}

static PyObject *field_dict(const apl_field *f)
{
    PyObject *dict = Py_BuildValue("{s:s,s:s,s:K,s:K,s:K,s:i}", "dtype", apl_dtype_name(f->dtype), "mark",
                                   role_name(f->role), "value_bytes", (unsigned long long)f->value_bytes,
                                   "raw_bytes", (unsigned long long)f->raw_bytes, "stored_bytes",
                                   (unsigned long long)f->stored_bytes, "level", f->level);
    if (dict &&
        (dict_take(dict, "name", text_or_none(f->name)) < 0 ||
         dict_take(dict, "codec", text_or_none(f->codec)) < 0 ||
         dict_take(dict, "media", text_or_none(f->media)) < 0 ||
         dict_take(dict, "kind", kind_words(f->kind)) < 0 ||
         dict_take(dict, "kind_origin", PyLong_FromLong(f->kind ? (long)f->kind->origin : 0)) < 0 ||
         dict_take(dict, "indexed", PyLong_FromUnsignedLongLong(f->indexed)) < 0 ||
         dict_take(dict, "shape", shape_tuple(f)) < 0 || dict_take(dict, "classes", class_tuple(f)) < 0 ||
         dict_take(dict, "digest", digest(f->digest)) < 0))
        Py_CLEAR(dict);
    return dict;
}

/* ----------------------------------------------------------------------------------------------- lists */

typedef PyObject *item_fn(const apl_store *store, unsigned i);

static PyObject *field_item(const apl_store *store, unsigned i)
{
    return field_dict(apl_store_field(store, i));
}

static PyObject *split_item(const apl_store *store, unsigned i)
{
    const apl_split *s = apl_store_split(store, i);
    return Py_BuildValue("NKK", text_or_none(s->name), (unsigned long long)s->first,
                         (unsigned long long)s->count);
}

static PyObject *member_item(const apl_store *store, unsigned i)
{
    const apl_member *m = apl_store_member(store, i);
    return Py_BuildValue("NNKKI", text_or_none(m->name), text_or_none(m->split), (unsigned long long)m->first,
                         (unsigned long long)m->count, (unsigned)m->number);
}

static PyObject *list_of(PyObject *self, size_t count_at, item_fn *item)
{
    struct py_store *s = (struct py_store *)self;
    apl_store *store = store_use(s);
    if (!store)
        return NULL;
    unsigned n = *(const unsigned *)((const char *)apl_store_info(store) + count_at);
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list && i < n; i++) {
        PyObject *one = item(store, i);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    store_done(s);
    return list;
}

PyObject *store_fields(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of(self, offsetof(apl_info, fields), field_item);
}

PyObject *store_splits(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of(self, offsetof(apl_info, splits), split_item);
}

PyObject *store_members(PyObject *self, PyObject *unused)
{
    (void)unused;
    return list_of(self, offsetof(apl_info, members), member_item);
}

PyObject *store_skipped(PyObject *self, PyObject *unused)
{
    (void)unused;
    struct py_store *s = (struct py_store *)self;
    apl_store *store = store_use(s);
    if (!store)
        return NULL;
    PyObject *list = PyList_New(0);
    const char *path, *why;
    for (uint64_t i = 0; list && (path = apl_store_skipped(store, i, &why)); i++) {
        PyObject *one = Py_BuildValue("NN", text_or_none(path), text_or_none(why));
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    store_done(s);
    return list;
}

/* ------------------------------------------------------------------------------------------ statistics */

/* The channels that have moments, up to the first that has none. */
static PyObject *moment_list(const apl_store *store, unsigned split, unsigned field)
{
    PyObject *list = PyList_New(0);
    double mean, std;
    for (unsigned c = 0; list && apl_store_moments(store, split, field, c, &mean, &std) == APL_OK; c++) {
        PyObject *pair = Py_BuildValue("dd", mean, std);
        if (!pair || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

PyObject *store_moments(PyObject *self, PyObject *args)
{
    struct py_store *s = (struct py_store *)self;
    const char *split, *field;
    if (!PyArg_ParseTuple(args, "ss:moments", &split, &field))
        return NULL;
    apl_store *store = store_use(s);
    if (!store)
        return NULL;
    int split_number = apl_store_find_split(store, split), field_number = apl_store_find_field(store, field);
    PyObject *list = split_number < 0 || field_number < 0
                         ? PyList_New(0)
                         : moment_list(store, (unsigned)split_number, (unsigned)field_number);
    store_done(s);
    return list;
}
