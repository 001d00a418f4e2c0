/*
 * What a record is known by when it is divided: 128 bits, equal for records that have to be on one side.
 *
 *     content    its record hash: of all its inputs
 *     key        where it was in its source: number of the member x 2^32 + row of it
 *     id         its id in the store
 *     group      the XXH3-128 of the bytes of its value of one field
 */
#ifndef SPLIT_UNIT_H
#define SPLIT_UNIT_H

#include "split_file.h"

/* One thread's: it belongs to one store and one rule. */
struct split_units {
    const apl_store *store;
    enum split_by by;
    int field; /* to decode: the group's, or the one of source positions; -1: none */
    bool ready;
    struct block_coder bc;
    struct raw_column column;
    struct hash128 *units; /* of the block that was read last, record by record */
    size_t room;
};

apl_status split_units_open(const apl_store *store, const struct split_file *rule, struct split_units *units,
                            apl_error *err);
void split_units_close(struct split_units *units);

/* Fills units[]; `number` is the block's among all, `view` has been parsed. */
apl_status split_units_read(struct split_units *units, uint64_t number, const struct block_view *view,
                            apl_error *err);

/* The field by which records can be grouped; its number. */
apl_status split_group_field(const apl_store *store, const char *name, unsigned *field, apl_error *err);

#endif
