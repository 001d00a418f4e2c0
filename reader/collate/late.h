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
#include "load.h"

/* Fills in the list of a block's column; and makes sure, if that is asked for, that all of its values are right. */
apl_status late_list(struct worker *w, uint32_t index, const struct block_view *view, unsigned field,
                     struct raw_column *list, apl_error *err);

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

/* Has the values that a planned batch, whose blocks are there, needs from elsewhere fetched. With the reader's lock held. False: there is
 * no room for all; the rest are asked for while the batch is collated. */
bool late_ahead(const apl_reader *r, struct job *job);

/* For tests: called before each value that is read late, with the number of its block, as load_set_hook() has it for blocks. */
void late_set_hook(const struct load_hook *hook);

#endif
