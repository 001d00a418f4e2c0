/* The fields of an export, as its schema.json says them, so that it is read back as it was. */
#ifndef DECLARED_H
#define DECLARED_H

#include "apl.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct declared_field {
    const char *name, *media; /* media: NULL if it is not kept */
    const char *kind;         /* as apl_kind_parse() has it; NULL: it does not say */
    const char *ending;       /* of its files; of TFRecord, the list that its values lie in */
    apl_dtype dtype;
    apl_role role;
    unsigned ndim;
    int64_t shape[APL_MAX_DIMS];
    const char **classes;
    size_t class_count;
};

/* A split of the export. */
struct declared_split {
    const char *name, *file; /* file: NULL where it is not one */
    uint64_t records;
};

struct declared {
    const char *split;             /* of the file that it lies in; NULL: it names none */
    uint32_t place;                /* of the split, among all */
    bool empty;                    /* the split has no records */
    bool numbered;                 /* the file is one of several of its split: */
    uint64_t number, first;        /* which, from 0, and which record of the split is its first */
    struct declared_split *splits; /* in their order */
    size_t split_count;
    struct declared_field fields[APL_MAX_FIELDS];
    unsigned count;
    void *json; /* owns the strings */
};

/* Reads it; to be freed in any case. Under `how` stands what becomes the `ending` of a field. Errors do not name the file: APL_E_SOURCE, APL_E_UNSUPPORTED of another version. */
apl_status declared_read(const void *text, size_t size, const char *how, struct declared *d, apl_error *err);
void declared_free(struct declared *d);

/* The role called so; false: none is. */
bool declared_role(const char *name, apl_role *role);

/* Says what a field that has been added is, as the export does. */
apl_status declared_kind_set(const struct declared_field *f, apl_writer *writer, apl_error *err);

/* Are their fields the same? */
bool declared_same(const struct declared *a, const struct declared *b);
/* Do they name the same splits, with the same numbers of records? */
bool declared_same_export(const struct declared *a, const struct declared *b);

#endif
