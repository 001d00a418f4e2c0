/* Which records of a store have equal inputs, by the values as they are decoded. */
#ifndef INPUTS_H
#define INPUTS_H

#include "apl.h"
#include "digest.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * equal[id] becomes the lowest id of the store whose input fields have the same shapes and values. The values are compared by
 * 128-bit hashes: the probability that any two different ones are taken for equal is below n^2 / 2^129.
 * Reads the whole store. APL_E_UNSUPPORTED where it has 2^32 records or more, or no input fields.
 */
apl_status inputs_equal(apl_store *store, uint32_t *equal, apl_error *err);

/* The same of the values of one field, of any role. */
apl_status inputs_equal_field(apl_store *store, const char *field, uint32_t *equal, apl_error *err);

/* Decodes these fields of all records, in id order, some blocks at a time, and calls take() with each batch. */
apl_status inputs_each(apl_store *store, const char *const *fields, unsigned count,
                       void (*take)(void *user, const apl_batch *batch), void *user, apl_error *err);

/* values[i] of the record ids[i]: its value of a field of one whole number a record. */
apl_status inputs_values(apl_store *store, unsigned field, const uint64_t *ids, uint32_t n, uint64_t *values,
                         apl_error *err);

/* cls[i]: values[i] by rank among those that occur; how many do. values[0 ... 2n-1] has room to sort them. */
uint32_t inputs_rank(uint64_t *values, uint32_t n, uint32_t *cls);

/* cls[i] of the record ids[i]: its value of a target field, by rank among those that occur (0 ... *classes-1). */
apl_status inputs_classes(apl_store *store, unsigned field, const uint64_t *ids, uint32_t n, uint32_t *cls,
                          uint32_t *classes, apl_error *err);

/* How many records to get at a time, of these fields: whole blocks, so that few are decoded twice. */
uint64_t inputs_chunk(const apl_store *store, const char *const *fields, unsigned count);

/* A hash of a row of a batch: the values of columns[0 ... count-1], with their shapes where these vary. */
struct digest inputs_row(const apl_batch *batch, const unsigned *columns, unsigned count, size_t row);

/* A digest of a batch's values, and of the one of the batches before. */
uint64_t inputs_digest(const apl_batch *batch, unsigned fields, uint64_t before);

/* The first target that has classes, or -1; the target of that name of one whole number a record, or -1. */
int inputs_class_field(const apl_store *store);
int inputs_target(const apl_store *store, const char *name);

apl_status inputs_error(apl_error *err, apl_status status, const char *message);
apl_status inputs_no_memory(apl_error *err);

#endif
