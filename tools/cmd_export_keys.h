/* The keys of an export's records: see export_check_keys(). */
#ifndef CMD_EXPORT_KEYS_H
#define CMD_EXPORT_KEYS_H

#include "cmd_export.h"

/* 0, or an exit status: two records of the split have the same text in field `field`. Reads the field once; again for each 4 million
 * records, so that memory is bounded; and to name the two. */
int export_check_keys(struct export *x, const apl_split *split, unsigned field);

#endif
