/*
 * Puts any number of records into a keyed random order in bounded memory: each record goes to a bucket by the
 * first bits of its key, buckets are kept coded in a nameless file, and are later read one by one and sorted. Sorting by independent uniform keys gives a uniform permutation; ties go by the record's position,
 * so that the order is a pure function.
 */
#ifndef EXTERNAL_SHUFFLE_H
#define EXTERNAL_SHUFFLE_H

#include "block.h"
#include "random.h"

struct external_shuffle;

/* The field `position` of the schema holds each record's position; its key is the keyed hash of that. `fd` is
 * a scratch file whose first *end bytes are taken; both must outlive the shuffle, as must schema and coder. */
apl_status external_shuffle_new(const struct schema *schema, unsigned position, struct random_key key, int fd,
                                uint64_t *end, struct block_coder *bc, struct external_shuffle **shuffle,
                                apl_error *err);
void external_shuffle_free(struct external_shuffle *shuffle);

apl_status external_shuffle_add(struct external_shuffle *shuffle, const apl_value *values, apl_error *err);

/* Hands out all records in the order of their keys. Once. */
apl_status external_shuffle_take(struct external_shuffle *shuffle,
                                 apl_status (*take)(void *context, const apl_value *values, apl_error *err),
                                 void *context, apl_error *err);

#endif
