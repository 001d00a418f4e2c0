/* Some bytes of a file that is not read as a whole, to tell it from one that another has been put in the place of. */
#ifndef FILE_SAMPLE_H
#define FILE_SAMPLE_H

#include "hash.h"

#define SAMPLED_FILES 64u /* of many, at most */

/* 16 windows of 8 KiB, evenly spaced, the first at the beginning and the last at the end; of a file of up to 128 KiB, all. `name`: for
 * messages, safe to print. */
apl_status sample_add(int fd, const char *name, uint64_t size, struct sha256 *sha, apl_error *err);

#endif
