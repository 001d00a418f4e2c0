/* Files that say how many they are, such as train-00001-of-00003.tfrecord, or that are numbered, such as train-000001.tar. */
#ifndef SERIES_H
#define SERIES_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

/* Refuses paths among which some of a series are missing, with APL_E_INCOMPLETE: those in one folder whose names are the same up to
 * the number, and end in any way. Numbers begin with 0, or if the last is that of all, with 1. */
apl_status series_check(const char *const *paths, size_t count, apl_error *err);

/* A series of files of one folder whose names differ only in a number, which has as many digits in all and zeros at its beginning. */
struct series_gap {
    const char *path; /* the first of the series; one of those given */
    char text[160];   /* what it lacks */
};

/* Does one lack numbers between those that it has? *found: one does, the first by name. Those that say how many they are do not count. */
apl_status series_find_gap(const char *const *paths, size_t count, struct series_gap *gap, bool *found,
                           apl_error *err);

#endif
