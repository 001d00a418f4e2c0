/* Paths as they stand in archives: never opened, only looked at. */
#ifndef MEMBERPATH_H
#define MEMBERPATH_H

#include <stdbool.h>

/* The last part of a path, without trailing slashes; "" for the root. To be freed; NULL: out of
 * memory. */
char *path_basename(const char *path);

/* The path without empty parts and parts that are ".": no "./" before it, no slashes behind it. To be freed; NULL: out of
 * memory. */
char *path_plain(const char *path);

/* Is it absolute, or does it go up somewhere? */
bool path_leads_out(const char *path);

#endif
