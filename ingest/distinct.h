/* Files and directories that are given, each once: one that is read twice would give its records twice. */
#ifndef DISTINCT_H
#define DISTINCT_H

#include "status.h"

#include <stddef.h>

/* Refuses paths that lead to one place, over whatever links. Files that share their bytes by hard links are several; pipes and what
 * is not there are let pass. */
apl_status distinct_paths(const char *const *paths, size_t count, apl_error *err);

#endif
