/* Records as text, for people and for other programs. */
#ifndef RECORD_TEXT_H
#define RECORD_TEXT_H

#include "apl.h"
#include "image.h"

#include <stddef.h>

/* Prints row `row` of the batch, a line per field, long values cut; only the field of number `only`, or all if -1. */
void record_list(const apl_store *store, const apl_batch *batch, size_t row, int only);

/* The first line of a record, with its id; and a field of it, of which text is printed whole. Nothing of a value reaches the terminal
 * unescaped, but for line feeds in text. */
void record_head(const apl_store *store, const apl_batch *batch, size_t row);
void record_field(const apl_store *store, const apl_batch *batch, size_t row, unsigned field);

/* A line per record, with whole values; control bytes of text are escaped. data is NULL if memory ran out. */
struct bytes records_text(const apl_column *column, size_t rows);

#endif
