/* How many records an epoch's order mixes at a time, and the memory that this takes. */
#ifndef WINDOW_H
#define WINDOW_H

#include "spec.h"

/* Do the lanes that were asked for go with all else? */
apl_status window_check_lanes(const struct spec *spec, const apl_reader_options *asked, apl_error *err);

/* The window, the budget, and the slots that this leaves over, from what was asked for; all other options are resolved. An error says
 * what would do. */
apl_status window_resolve(struct spec *spec, const apl_reader_options *asked, apl_error *err);

/* APL_E_UNSUPPORTED if no budget was given, and decoded values are to take out of proportion more memory than their files (expansion.h). */
apl_status window_check_standing(const struct spec *spec, uint64_t standing, apl_error *err);

/* Slots that a window of that many records needs. */
uint64_t window_slots(const struct spec *spec, uint64_t window);

/* Bytes that values of varying shape take up beside these slots, on average: in blocks, of which all records are decoded, also those
 * that the split has not. */
uint64_t window_varying_bytes(const struct spec *spec, uint64_t window);

#endif
