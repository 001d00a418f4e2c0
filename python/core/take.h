/* Taking single options out of a dict, which loses them; what it has not stays as it is. All return -1 where an error is
 * set. */
#ifndef TAKE_H
#define TAKE_H

#include "core.h"

/* A number of a structure, `at` bytes from its beginning. */
struct number_item {
    const char *name;
    size_t at;
    enum { NUMBER_INT, NUMBER_UNSIGNED, NUMBER_SIZE, NUMBER_U64, NUMBER_ENUM, NUMBER_FLAG } kind;
    unsigned long long most;
};

int take_numbers(void *to, const struct number_item *items, size_t count, PyObject *dict);

/* These lie in what is appended to the list `owners`. */
int take_text(PyObject *owners, PyObject *dict, const char *name, const char **text);
int take_bytes(PyObject *owners, PyObject *dict, const char *name, const void **bytes, size_t *size);

/* A float, or what can be made one. */
int take_real(PyObject *dict, const char *name, double *to);

/* What is left has a name that nothing has. */
int check_empty(PyObject *dict, const char *what);

#endif
