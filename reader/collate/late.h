/*
 * Late loading: the values of kept fields, such as the files of photos, are not loaded with their block. Of these a block that is
 * loaded has a list, in the place of the column: how long each value is, where it lies in the file, and its checksum. A value is
 * read, and checked, when its batch is being collated. So a window over all of a split takes a few bytes of memory a record, and
 * what is in memory are the values of batches on their way.
 *
 * A value is checked whenever it is read. Where corrupt blocks are to be left out, which ones are must be known before their batches
 * are: there all values are read and checked, but not held, when their block is loaded.
 */
#ifndef LATE_H
#define LATE_H

#include "kept.h"
#include "worker.h"

/* Fills in the list of a block's column; and makes sure, if that is asked for, that all of its values are right. */
apl_status late_list(struct worker *w, uint32_t index, const struct block_view *view, unsigned field,
                     struct raw_column *list, apl_error *err);

/* The value of a row: in which block's list, and which of it. */
struct late_value {
    const struct raw_column *list;
    uint32_t index, record;
    uint64_t id; /* the reader's */
    struct kept_place place;
};
struct late_value late_value_of(const struct spec *spec, const struct standing *standing,
                                const struct job *job, unsigned field, size_t row);

/* Is it a probe, which is not asked for ahead of its turn? See residence.h. */
static inline bool late_is_probe(const struct late_value *v)
{
    return v->id % 512 == 0;
}

/* Reads the value of row `row` of a batch from the file to `out`, which has room for it. The error names record and field. */
apl_status late_read(struct worker *w, struct job *job, unsigned field, size_t row, uint8_t *out,
                     apl_error *err);

/* The same, to memory of the worker: good until the next. late_take_stored() gives it as it is stored. */
apl_status late_take(struct worker *w, struct job *job, unsigned field, size_t row, const uint8_t **value,
                     apl_error *err);
apl_status late_take_stored(struct worker *w, struct job *job, unsigned field, size_t row,
                            const uint8_t **value, struct kept_place *place, apl_error *err);

/* Reads those of all rows, as they are stored, and makes nothing of them. */
apl_status late_read_all(struct worker *w, struct job *job, unsigned field, apl_error *err);

/* For tests: called before each value that is read late, or each block that is loaded (../load.h), in the thread that does so, with the number of the
 * block in the store; may take its time, or fail. NULL: nothing is called. */
struct load_hook {
    apl_status (*before)(void *user, uint64_t number, apl_error *err);
    void *user;
};
void late_set_hook(const struct load_hook *hook);

#endif
