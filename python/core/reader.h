/* A reader as a Python object. */
#ifndef PY_READER_H
#define PY_READER_H

#include "core.h"
#include "handle.h"
#include "pin.h"

#define READER_SLICE_MS 100u /* how long a wait goes on before signals are looked at */

/* The library takes the reader's lock in every call, and may hold it while it waits for the GIL in an allocator of ours
 * (pin.h): so no call on a reader is made with the GIL held. */
struct py_reader {
    PyObject_HEAD struct handle handle;
    struct pin *pin;
    PyObject *store, *parts;
    apl_stats explained; /* when explain() was called last; with the GIL held */
    bool connected;      /* to a server */
};

/* The reader, in use until reader_done(). NULL: it is closed, and an error is set. */
apl_reader *reader_use(struct py_reader *r);
void reader_done(struct py_reader *r);

/* The next Batch of a reader, an object of its type; None: the epoch is over; NULL: an error is set. `timeout`: seconds; 0: for ever. */
PyObject *reader_next(struct core_state *state, PyObject *self, double timeout);

/* Options of a reader and what they point to. */
struct reader_call {
    apl_reader_options options;
    apl_transform transforms[APL_MAX_FIELDS];
    const char *fields[APL_MAX_FIELDS], *kinds[APL_MAX_FIELDS];
    apl_collation collations[APL_MAX_FIELDS];
    PyObject *parts; /* what batch_object() takes of that name; NULL: none */
    apl_sampling sampling;
    apl_blend blend;
    apl_source *mix;
    PyObject **mixed; /* the options.mix.count stores of it, each in use until the call is freed */
    PyObject *owners; /* list: what the strings and arrays lie in */
    apl_allocator allocator;
    struct pin *pin;
};

/* Fills `call` from a dict whose keys are the names of apl_reader_options' members; `store`: the type of stores. -1: an
 * error is set. Free it in either case. */
int reader_call_from(struct reader_call *call, PyTypeObject *store, PyObject *options);
void reader_call_free(struct reader_call *call);

/* A transform, from a dict whose keys are the names of apl_transform's members. Its name lies in what is appended to
 * call->owners, a list. -1: an error is set. */
int transform_from(struct reader_call *call, PyObject *given, apl_transform *t);

/* connect.c: how a reader of a server's batches is opened, from a dict. -1: an error is set. Free it in either case. */
struct connect_call {
    const char *path;
    unsigned rank;
    apl_connect_options options;
    PyObject *owners; /* list: what the strings and arrays lie in */
};
int connect_call_from(struct connect_call *call, PyObject *given);
void connect_call_free(struct connect_call *call);

/* reader_account.c: the statistics of a reader, an object of its type. False: an error is set. */
bool reader_take_stats(PyObject *self, apl_stats *stats);

/* And its methods. */
PyObject *reader_state(PyObject *self, PyObject *unused);
PyObject *reader_receipt(PyObject *self, PyObject *unused);
PyObject *reader_stats(PyObject *self, PyObject *unused);
PyObject *reader_explain(PyObject *self, PyObject *args);

/* reader_collate.c: how fields are collated: `collations`, `parts`. */
int take_collations(struct reader_call *call, PyObject *dict);

/* reader_kinds.c: what fields are: `kinds`. */
int take_kinds(struct reader_call *call, PyObject *dict);

/* reader_records.c: which records are read: `ids`, `sampling`, `mix`. */
int take_records(struct reader_call *call, PyTypeObject *store, PyObject *dict);
void free_records(struct reader_call *call);

#endif
