/* Records in files of limited size: SPLIT-000000.ENDING, SPLIT-000001.ENDING, ... Failures are reported on stderr. */
#ifndef SHARDS_H
#define SHARDS_H

#include "outfile.h"

struct shards {
    struct outset *out;
    const char *split, *ending;
    uint64_t most_bytes, most_records; /* a shard ends before it has more; 0: no limit */
    int file;                          /* the current one; -1: none */
    uint64_t bytes, records;           /* in it */
    unsigned number;                   /* of the next one */
};

/* Is there a shard with room for a record of that many bytes? */
bool shards_have_room(const struct shards *shards, uint64_t bytes);

/* Starts the next shard; the one before must have been ended. */
int shards_begin(struct shards *shards);
int shards_write(struct shards *shards, const void *data, size_t size);
int shards_end(struct shards *shards);

#endif
