/* Some bytes of a file that is not read as a whole, to tell it from one that another has been put in the place of. */
#ifndef FILE_SAMPLE_H
#define FILE_SAMPLE_H

#include "hash.h"

#include <stddef.h>

#define SAMPLED_FILES 64u  /* of many, at most */
#define SAMPLE_LEAST  16u  /* windows of each of many files */
#define SAMPLE_MOST   256u /* of one; the more files, the fewer */

/* How many windows to take of each of so many files. */
unsigned sample_windows(size_t files);

/* That many windows of 8 KiB, evenly spaced, the first at the beginning and the last at the end; of a file that has no more bytes, all.
 * `name`: for messages, safe to print. */
apl_status sample_add(int fd, const char *name, uint64_t size, unsigned windows, struct sha256 *sha,
                      apl_error *err);

#endif
