/* What an open cache is, for disk_cache.c, which opens it, and cache_use.c, which reads and writes it. */
#ifndef CACHE_STATE_H
#define CACHE_STATE_H

#include "cache_parts.h"
#include "disk_cache.h"
#include "part_file.h"

#include <time.h>

struct file_elsewhere {
    struct hash128 identity;
    uint32_t opened;
};

/* A part that a thread of a process has claimed. */
struct claimed_part {
    int pid; /* 0: none */
    uint32_t object;
    uint64_t offset;
};
#define MOST_CLAIMED 64u /* more are not noted */

struct disk_cache {
    struct disk_cache *next;
    unsigned holders;
    char *directory;
    _Atomic uint64_t budget;
    int full; /* what the disk has said that had room for less than the budget: an errno; else 0 */
    uint64_t clock;
    uint32_t turn;
    int in_use; /* a descriptor, whose lock others see */
    int claims; /* another, where locks of single bytes stand for parts that are being fetched */
    struct claimed_part
        claimed[MOST_CLAIMED]; /* by threads of this process, which locks of files do not tell apart */
    unsigned writing;          /* parts, at the moment */
    struct part_list parts;
    struct file_elsewhere *objects;
    uint32_t object_count, object_room;
    time_t looked; /* for parts that nobody needs */
};

/* One lock for all caches, so that a child after fork() finds it free; no part is read or written while it is held. */
void lock_caches(void);
void unlock_caches(void);

/* With the lock held; UINT32_MAX: out of memory. */
uint32_t cache_object_number(struct disk_cache *cache, struct hash128 identity);

static inline struct part_key cache_key_of(const struct disk_cache *c, uint32_t object, uint64_t offset,
                                           uint64_t n)
{
    return (struct part_key){c->directory, c->objects[object].identity, offset, n};
}

#endif
