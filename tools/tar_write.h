/* Members of tar archives, each of which is a shard: see shards.h. Failures are reported on stderr. */
#ifndef TAR_WRITE_H
#define TAR_WRITE_H

#include "shards.h"

#define TAR_END       1024u /* bytes behind the last member */
#define TAR_NAME_LONG 2304u /* of a member's name */

/* The bytes of a member whose name fits into its header. */
uint64_t tar_member_size(uint64_t bytes);

/* Adds a file to the current shard. A name that the header has no room for, or that is not ASCII, lies in a pax header before it; its
 * last part must have an ending shorter than 90 bytes. */
int tar_add(struct shards *shards, const char *name, const void *data, size_t size);

/* Ends the archive, not the shard. */
int tar_end(struct shards *shards);

#endif
