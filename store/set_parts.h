/* The shards of a list, taken apart, and put together as a store: what set_read.c and set_layout.c share. */
#ifndef SET_PARTS_H
#define SET_PARTS_H

#include "set_list.h"

/* What one shard has of one split. */
struct part {
    uint32_t split; /* of the set */
    uint32_t shard;
    uint64_t own_first, count; /* ids in the shard */
    uint64_t own_block;        /* the first one's block, among all of the shard */
    uint64_t first;            /* ids in the set; set_layout() finds it */
};

/* A member of a shard. */
struct piece {
    const char *name; /* not a string */
    size_t length;
    uint32_t part, number; /* the number that it has in the set */
    uint64_t own_first, count;
};

struct parts {
    struct part *part; /* shard by shard */
    struct piece *piece;
    uint32_t part_count, piece_count;
    uint32_t *named; /* of each split of the set, the last part of that name, and one */
    /* by name, a split of the set, and one; a power of two of them */
    uint32_t *table;
    uint32_t table_size;
};

void parts_free(struct parts *parts);

/* Takes the payload of a shard's entry apart; the schema is known, and so are the shards before it. Adds its splits, sums and sizes
 * to the manifest. */
apl_status set_read_shard(struct set_list *list, uint32_t shard, struct parts *parts, struct manifest *m,
                          apl_error *err);

/* The splits of the set have all their records: finds first ids, members, segments, blocks and runs. */
apl_status set_layout(struct set_list *list, struct parts *parts, struct manifest *m, apl_error *err);

apl_status bad_list(apl_error *err, const char *what);

#endif
