/* Which word was meant: for "did you mean ...?". */
#ifndef SPELLING_H
#define SPELLING_H

#include <stddef.h>

/* The word that is the fewest edits (a byte more, fewer, or another) from `asked`, if these are at most one in three of its bytes, and one
 * at least; else NULL. word(of, i) is the ith, NULL at the end. */
const char *nearest_spelling(const char *asked, const char *(*word)(const void *of, size_t i),
                             const void *of);

#endif
