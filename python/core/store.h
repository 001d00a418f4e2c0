/* A store as a Python object. */
#ifndef PY_STORE_H
#define PY_STORE_H

#include "core.h"
#include "handle.h"

struct py_store {
    PyObject_HEAD struct handle handle;
    int pid; /* of the process that opened it */
    uint64_t records;
    uint8_t content[32];
    uint8_t digest[32]; /* that was asked for; only if `pinned` */
    bool pinned;
    const char *path, *split_directory;
    apl_io io;
    unsigned open_shards, remote_timeout_s, requests;
    int plain_http;
    const char *cache;
    unsigned long long cache_budget;
    PyObject *path_owner, *directory_owner, *cache_owner;
    PyObject *names; /* tuple: of the fields */
};

/* The store, for use until store_done(); NULL: an error is set. */
apl_store *store_use(struct py_store *s);
void store_done(struct py_store *s);

/* describe.c */
PyObject *store_info(PyObject *self, PyObject *unused);
PyObject *store_fields(PyObject *self, PyObject *unused);
PyObject *store_splits(PyObject *self, PyObject *unused);
PyObject *store_members(PyObject *self, PyObject *unused);
PyObject *store_skipped(PyObject *self, PyObject *unused);
PyObject *store_moments(PyObject *self, PyObject *args);

/* splits.c */
PyObject *store_class_counts(PyObject *self, PyObject *args);
PyObject *store_split_ids(PyObject *self, PyObject *name);
PyObject *store_split_files(PyObject *self, PyObject *unused);
PyObject *store_split_make(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *store_split_parts(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *store_split_verify(PyObject *self, PyObject *args);

/* place.c */
PyObject *store_transform(PyObject *self, PyObject *args);
PyObject *store_placements(PyObject *self, PyObject *args);

/* kinds.c */
PyObject *store_actions(PyObject *self, PyObject *options);

/* verify.c */
PyObject *store_verify(PyObject *self, PyObject *args);

#endif
