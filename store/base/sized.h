/*
 * Sized structs: the first member of each is its size, as the caller was compiled to know it. So callers may be older than the
 * library, or newer.
 */
#ifndef SIZED_H
#define SIZED_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

/* Copies what a caller asks for over `into`, which holds the defaults, its own size included, in `known` bytes. NULL asks for
 * nothing. Of a shorter struct, an older caller's, the rest keeps its defaults. Of a longer one, a newer caller's, what this
 * library does not know must be 0, or APL_E_INVALID. `name` is that of the type, such as "apl_get_options". */
apl_status options_take(void *into, size_t known, const void *asked, const char *name, apl_error *err);

/* The same for element i of an array of such structs, which all have the size of the first. */
apl_status options_take_from(void *into, size_t known, const void *array, size_t i, const char *name,
                             apl_error *err);

/* Can a caller who passes the size of a struct along have room for that much, or for the first members of it? Other sizes have not been
 * set. */
bool room_ok(size_t size);

/* Hands out a struct of `known` bytes to a caller who has room for `size`, which room_ok() has accepted: what he does not know is left
 * out, what this library does not know becomes 0. */
void options_give(void *to, size_t size, const void *from, size_t known);

#endif
