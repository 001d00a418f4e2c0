/* Parts of files elsewhere, on this node's disk: see disk_cache.h. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "cache_state.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; /* listing takes time: others read meanwhile */
static struct disk_cache *caches;

void lock_caches(void)
{
    pthread_mutex_lock(&cache_lock);
}

void unlock_caches(void)
{
    pthread_mutex_unlock(&cache_lock);
}

static void before_cache_fork(void)
{
    pthread_mutex_lock(&opening);
    lock_caches();
}

static void after_cache_fork(void)
{
    unlock_caches();
    pthread_mutex_unlock(&opening);
}

/* The threads that write are the parent's. */
static void forget_writers(void)
{
    for (struct disk_cache *c = caches; c; c = c->next)
        c->writing = 0;
    after_cache_fork();
}

static void mind_cache_forks(void)
{
    pthread_atfork(before_cache_fork, after_cache_fork, forget_writers);
}

/* ---------------------------------------------------------------------------------------------- objects */

uint32_t cache_object_number(struct disk_cache *c, struct hash128 identity)
{
    for (uint32_t i = 0; i < c->object_count; i++)
        if (c->objects[i].identity.low == identity.low && c->objects[i].identity.high == identity.high)
            return i;
    if (c->object_count == c->object_room) {
        uint32_t room = c->object_room ? 2 * c->object_room : 16;
        struct file_elsewhere *objects = realloc(c->objects, room * sizeof *objects);
        if (!objects)
            return UINT32_MAX;
        c->objects = objects;
        c->object_room = room;
    }
    c->objects[c->object_count] = (struct file_elsewhere){identity, 0};
    return c->object_count++;
}

bool disk_cache_open_object(struct disk_cache *c, struct hash128 identity, uint32_t *object)
{
    lock_caches();
    *object = cache_object_number(c, identity);
    if (*object != UINT32_MAX)
        c->objects[*object].opened++;
    unlock_caches();
    return *object != UINT32_MAX;
}

void disk_cache_close_object(struct disk_cache *c, uint32_t object)
{
    lock_caches();
    c->objects[object].opened--;
    unlock_caches();
}

/* ---------------------------------------------------------------------------------------------- opening */

/* A part that is on the disk. */
static void list_part(void *user, struct hash128 identity, uint64_t offset, uint64_t n)
{
    struct disk_cache *c = user;
    uint32_t object = cache_object_number(c, identity);
    struct part *part =
        object < UINT32_MAX && n <= UINT32_MAX ? parts_get(&c->parts, object, offset, (uint32_t)n) : NULL;
    if (part && !parts_here(&c->parts, part, DUE_UNKNOWN)) {
        parts_remove(&c->parts, part);
        free(part);
    }
}

static uint64_t default_budget(const struct disk_cache *c)
{
    struct statvfs fs;
    if (statvfs(c->directory, &fs) != 0)
        return 0;
    return ((uint64_t)fs.f_bavail * fs.f_frsize + c->parts.bytes) / 10 * 9;
}

static void free_cache(struct disk_cache *c)
{
    parts_clear(&c->parts);
    if (c->in_use >= 0)
        close(c->in_use);
    if (c->claims >= 0)
        close(c->claims);
    free(c->objects);
    free(c->directory);
    free(c);
}

/* Before others see it. */
static apl_status begin_cache(struct disk_cache *c, const char *directory, uint64_t budget, apl_error *err)
{
    bool alone;
    uint64_t used;
    int code = part_directory_make(directory);
    if (code)
        return fail_errno(err, code, "cache %s: cannot make the directory", directory);
    if (!(c->directory = realpath(directory, NULL)))
        return fail_errno(err, errno, "cache %s", directory);
    part_directory_enter(c->directory, &c->in_use, &alone);
    c->claims = part_claims_open(c->directory);
    part_directory_list(c->directory, alone, list_part, c);
    if (alone)
        (void)part_used_add(c->directory, (int64_t)c->parts.bytes, true, &used);
    part_directory_share(c->in_use); /* what others write from now on is neither removed nor forgotten */
    c->budget = budget ? budget : default_budget(c);
    c->clock = 1;
    return APL_OK;
}

static struct disk_cache *find_cache(const char *directory, uint64_t budget)
{
    char *path = realpath(directory, NULL);
    struct disk_cache *c = path ? caches : NULL;
    while (c && strcmp(c->directory, path) != 0)
        c = c->next;
    free(path);
    if (c) {
        c->holders++;
        c->budget = budget ? budget : c->budget;
        c->full = budget ? 0 : c->full;
    }
    return c;
}

apl_status disk_cache_open(const char *directory, uint64_t budget, struct disk_cache **cache, apl_error *err)
{
    apl_status status = APL_OK;
    pthread_once(&once, mind_cache_forks);
    pthread_mutex_lock(&opening);
    lock_caches();
    *cache = find_cache(directory, budget);
    unlock_caches();
    struct disk_cache *c = *cache ? NULL : calloc(1, sizeof *c);
    if (c) {
        c->in_use = c->claims = -1;
        c->holders = 1;
        status = begin_cache(c, directory, budget, err);
    }
    if (c && status == APL_OK) {
        lock_caches();
        c->next = caches;
        *cache = caches = c;
        unlock_caches();
    } else if (c) {
        free_cache(c);
    }
    pthread_mutex_unlock(&opening);
    return status != APL_OK ? status : *cache ? APL_OK : fail_nomem(err);
}

struct disk_cache *disk_cache_retain(struct disk_cache *c)
{
    lock_caches();
    c->holders++;
    unlock_caches();
    return c;
}

void disk_cache_release(struct disk_cache *c)
{
    lock_caches();
    bool last = --c->holders == 0;
    struct disk_cache **at = &caches;
    while (last && *at != c)
        at = &(*at)->next;
    if (last)
        *at = c->next;
    unlock_caches();
    if (last)
        free_cache(c);
}

/* ---------------------------------------------------------------------------------------------- the clock */

void disk_cache_begin(struct disk_cache *c, uint64_t *clock, uint32_t *turn)
{
    lock_caches();
    *clock = c->clock;
    *turn = ++c->turn;
    unlock_caches();
}

void disk_cache_advance(struct disk_cache *c, uint64_t clock)
{
    lock_caches();
    c->clock = clock > c->clock ? clock : c->clock;
    unlock_caches();
}

void disk_cache_age(struct disk_cache *c, uint32_t turn)
{
    lock_caches();
    for (size_t i = 0; i < c->parts.size; i++)
        for (struct part *p = c->parts.table[i]; p; p = p->chain)
            if (p->here && p->turn < turn && p->due < c->clock)
                (void)parts_here(&c->parts, p, DUE_NEVER);
    unlock_caches();
}

/* A disk may have room, and no inodes: each part is a file. */
static apl_status disk_is_full(const struct disk_cache *c, int code, apl_error *err)
{
    struct statvfs fs;
    bool no_inodes = statvfs(c->directory, &fs) == 0 && fs.f_files > 0 && fs.f_favail == 0;
    return fail_errno(err, code,
                      no_inodes ? "cache %s: the disk has no inodes left" : "cache %s: the disk is full",
                      c->directory);
}

apl_status disk_cache_fail(struct disk_cache *c, int code, apl_error *err)
{
    lock_caches();
    code = code == CACHE_IS_FULL && c->full ? c->full : code;
    unlock_caches();
    if (code == ENOSPC || code == EDQUOT)
        return disk_is_full(c, code, err);
    if (code != CACHE_IS_FULL)
        return fail_errno(err, code, "cache %s", c->directory);
    return fail(err, APL_E_NOSPACE, "cache %s: its budget of %llu bytes is used up", c->directory,
                (unsigned long long)c->budget);
}

uint64_t disk_cache_used(struct disk_cache *c, uint64_t *budget)
{
    uint64_t used = 0;
    (void)part_used_add(c->directory, 0, false, &used);
    lock_caches();
    *budget = c->budget;
    unlock_caches();
    return used;
}
