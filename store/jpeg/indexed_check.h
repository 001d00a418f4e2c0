/*
 * Is the image that an indexed one's head describes that of the file which it restores? For those who decode images without restoring
 * their files: what a value says twice is compared before it is used.
 */
#ifndef INDEXED_CHECK_H
#define INDEXED_CHECK_H

#include "indexed.h"

/* For one thread at a time; images after one another reuse its memory. */
struct indexed_checker;
struct indexed_checker *indexed_checker_new(void); /* NULL: out of memory */
void indexed_checker_free(struct indexed_checker *checker);

/* Of an image that indexed_parse() has taken. Reads the headers in front of the file's first scan, and no more. Likely errors:
 * APL_E_CORRUPT, APL_E_NOMEM. */
apl_status indexed_check(struct indexed_checker *checker, const struct indexed *x, apl_error *err);

#endif
