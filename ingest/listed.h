/* What tells a list of files from another: all paths, some sizes, and samples of fewer. */
#ifndef LISTED_H
#define LISTED_H

#include "hasher.h"

/* The file of that number, from 0, `name` in the directory `fd`. The sizes of the first 1,000 files count, and of one in 64 others: to
 * ask for each would take longer than to list them. Of those that is_drawn() says, samples of their bytes count too: images that are not
 * compressed have the same sizes, whatever they show. */
void listed_add(struct hasher *sha, uint64_t number, const char *path, int fd, const char *name);

#endif
