/* Which word was meant: for "did you mean ...?". */
#ifndef NEAR_WORD_H
#define NEAR_WORD_H

#include <stddef.h>

/* How many edits (a byte more, fewer or another, or two that changed places) lie between a word of `length` bytes and `other`. 0, as for
 * equal words: they are so many, more than one in three bytes of the longer one but at least one, that it was not meant. */
unsigned near_word_edits(const char *word, size_t length, const char *other);

#endif
