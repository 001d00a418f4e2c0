/* Files that say how many they are, such as train-00001-of-00003.tfrecord. */
#ifndef SERIES_H
#define SERIES_H

#include "status.h"

#include <stddef.h>

/* Refuses paths among which some of a series are missing, with APL_E_INCOMPLETE: those in one folder whose names are the same up to
 * the number, and end in any way. Numbers begin with 0, or if the last is that of all, with 1. */
apl_status series_check(const char *const *paths, size_t count, apl_error *err);

#endif
