/*
 * What is known of a cache's parts: which are on the disk, and when each is needed next. Nothing is read or written here. With the lock
 * of disk_cache.c held.
 */
#ifndef CACHE_PARTS_H
#define CACHE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct part {
    struct part *chain;
    uint64_t offset;
    uint64_t due;    /* when it is needed next: see disk_cache.h */
    uint64_t again;  /* when it is needed after the time that it is expected to be read */
    uint32_t bytes;  /* of the file elsewhere */
    uint32_t object; /* the number of that file */
    uint32_t place;  /* in the heap, if it is here */
    uint32_t turn;   /* when it was read last, in turns of the cache */
    bool here, expected, written;
};

struct part_list {
    struct part **table; /* by object, offset and size */
    size_t size, count;
    struct part **heap; /* those that are here, what is needed last first */
    uint32_t here, room;
    uint64_t bytes; /* that those take on the disk */
    size_t hand;    /* where in the table something was looked for last */
};

void parts_clear(struct part_list *parts);

#define PART_HEAD 64u /* bytes before a part's own, in its file */

/* Bytes on the disk: files take whole pages. */
uint64_t part_disk_bytes(uint64_t bytes);

/* The part; or one that is made, which is not here (NULL: out of memory). */
struct part *parts_find(const struct part_list *parts, uint32_t object, uint64_t offset, uint32_t bytes);
struct part *parts_get(struct part_list *parts, uint32_t object, uint64_t offset, uint32_t bytes);

/* It is here, and needed next at `due`. False: out of memory, and it counts as not here. */
bool parts_here(struct part_list *parts, struct part *part, uint64_t due);

/* It is not, or no longer; the caller frees it. */
void parts_remove(struct part_list *parts, struct part *part);

/* Puts back what was removed. False: out of memory, and it is freed. */
bool parts_put_back(struct part_list *parts, struct part *part);

/* Of those here, what is needed last; NULL: nothing is here. */
struct part *parts_last_needed(const struct part_list *parts);

/* The next of all parts, round and round; NULL: none in the next few places. */
struct part *parts_next(struct part_list *parts);

#endif
