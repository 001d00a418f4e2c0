/* What the text of a cell means. */
#ifndef CELL_H
#define CELL_H

#include "jsontext.h"
#include "rows.h"

/* Where the numbers of lists are put. */
struct cell_room {
    struct buffer reals, wholes;
};

void cell_room_free(struct cell_room *room);

/* Does text spell a decimal number that f64 can round: also with leading zeros, blanks around it, or beyond i64? */
bool cell_decimal(const char *text, size_t length, double *real);

/* Text of CSV: a number, true or false, a list in the notation of JSON, or else text. Not with the commas, currencies and leading
 * zeros that make a number a text. Needs cell->text and cell->length; false: out of memory. */
bool cell_from_text(struct cell *cell, struct cell_room *room);

/* The value of a JSON object's key; NULL: none. Needs cell->text and cell->length: the string, or how the value is spelled. Its whole
 * numbers may have been parsed as reals; one beyond i64 is text, as in CSV. */
bool cell_from_json(struct cell *cell, const json_t *value, bool whole_as_real, struct cell_room *room);

#endif
