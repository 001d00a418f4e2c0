/* A cell that is a list of texts, as the store has those. */
#ifndef TEXT_LIST_H
#define TEXT_LIST_H

#include "cell.h"

/* Appends the texts of a list in the notation of JSON, each filled up with NULs to the bytes of the longest; an empty cell is an empty
 * list. shape: how many, and these bytes. The message of an error says what is wrong with the cell. */
apl_status text_list_put(const struct cell *cell, struct buffer *out, int64_t shape[2], apl_error *err);

#endif
