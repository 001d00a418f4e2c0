/* What is said of fields, in what is made of some fields of a store. */
#ifndef KIND_LEFT_H
#define KIND_LEFT_H

#include "apl.h"

#include <stdbool.h>

/* The kind that a field still has there; `has` says whether a field is there too. Those that are left out are not named; and what lies in
 * an image that is left out is pinned, so that nobody takes it for what lies in another. */
apl_kind kind_left(const apl_kind *kind, bool (*has)(const void *user, const char *name), const void *user);

#endif
