/* Conditions on the values of a field, such as "label=cat,dog" or "year>=2020". A comma or backslash in a value follows a backslash.
 * A class is meant by its name, or else by its number; <, <=, > and >= compare numbers alone. Where classes are called by numbers
 * that are not their own, a number is a name only, and = and != alone compare it. */
#ifndef WHERE_H
#define WHERE_H

#include "apl.h"

/* Keeps those of ids[0 ... *count-1], ascending ids of the split, for which the condition holds. APL_E_INVALID, with a
 * message, if the condition does not fit the store. */
apl_status where_sift(apl_store *store, const char *split, const char *condition, uint64_t *ids,
                      uint64_t *count, apl_error *err);

#endif
