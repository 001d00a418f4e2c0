/* Reading and writing the parts that a cache has: see disk_cache.h. */
#include "cache_state.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define SETTLE_TRIES 1000 /* of a millisecond each */
#define REST_S       600  /* for so long what others have read last is left alone */
#define LOOK_S       10   /* how often is looked for what may go of that */
#define CLAIM_NAP_MS 5    /* how often is looked whether another has let go */
#define MOST_FOUND   64u  /* files that are looked at each time */

/* ---------------------------------------------------------------------------------------------- reading */

bool disk_cache_expect(struct disk_cache *c, uint32_t object, const struct extent *range, uint64_t again,
                       bool *before)
{
    lock_caches();
    struct part *part =
        range->n <= UINT32_MAX ? parts_get(&c->parts, object, range->offset, (uint32_t)range->n) : NULL;
    struct part_key key = cache_key_of(c, object, range->offset, range->n);
    bool here = part && part->here;
    *before = part && part->expected;
    if (part) {
        part->expected = true;
        part->again = again;
    }
    unlock_caches();
    if (!part || here || *before || part_file_age(&key) < 0)
        return here;
    lock_caches(); /* another process has put it there */
    part = parts_get(&c->parts, object, range->offset, (uint32_t)range->n);
    here = part && (part->here || parts_here(&c->parts, part, DUE_UNKNOWN));
    unlock_caches();
    return here;
}

/* A part has been read: it is needed next when was said. */
static void note_read(struct disk_cache *c, uint32_t object, const struct extent *range)
{
    lock_caches();
    struct part *part = parts_get(&c->parts, object, range->offset, (uint32_t)range->n);
    if (part && parts_here(&c->parts, part, part->expected ? part->again : part->due)) {
        part->expected = false;
        part->turn = c->turn;
    }
    unlock_caches();
}

/* A part is no longer here, or must not be. */
static void note_lost(struct disk_cache *c, uint32_t object, const struct extent *range)
{
    lock_caches();
    struct part *part = parts_find(&c->parts, object, range->offset, (uint32_t)range->n);
    if (part && part->here) {
        bool expected = part->expected;
        uint64_t again = part->again;
        parts_remove(&c->parts, part);
        free(part);
        part = expected ? parts_get(&c->parts, object, range->offset, (uint32_t)range->n) : NULL;
        if (part) {
            part->expected = true;
            part->again = again;
        }
    }
    unlock_caches();
}

static void remove_file(const struct part_key *key)
{
    uint64_t used;
    if (part_file_remove(key))
        (void)part_used_add(key->directory, -(int64_t)part_disk_bytes(key->n), false, &used);
}

bool disk_cache_read(struct disk_cache *c, uint32_t object, const struct extent *range, uint8_t *to,
                     bool peek, bool *bad)
{
    *bad = false;
    if (range->n > UINT32_MAX)
        return false;
    lock_caches();
    struct part_key key = cache_key_of(c, object, range->offset, range->n);
    const struct part *part = parts_find(&c->parts, object, range->offset, (uint32_t)range->n);
    bool known = part && part->expected && !part->here; /* it was not there when it was asked for */
    unlock_caches();
    enum part_read read = known ? PART_MISSING : part_file_read(&key, to);
    if (read == PART_READ && !peek)
        note_read(c, object, range);
    if (read != PART_READ)
        note_lost(c, object, range);
    if (read == PART_BAD) {
        *bad = true;
        remove_file(&key);
    }
    return read == PART_READ;
}

bool disk_cache_find(struct disk_cache *c, uint32_t object, const struct extent *range, uint8_t *to)
{
    if (range->n > UINT32_MAX)
        return false;
    lock_caches();
    struct part_key key = cache_key_of(c, object, range->offset, range->n);
    unlock_caches();
    if (part_file_read(&key, to) != PART_READ)
        return false;
    lock_caches();
    struct part *part = parts_get(&c->parts, object, range->offset, (uint32_t)range->n);
    bool here = part && parts_here(&c->parts, part, part->expected ? part->again : part->due);
    unlock_caches();
    return here;
}

void disk_cache_forget(struct disk_cache *c, uint32_t object, uint64_t offset, uint64_t n)
{
    for (bool more = true; more;) {
        struct part *found = NULL;
        lock_caches();
        for (uint32_t i = 0; i < c->parts.here && !found; i++) {
            struct part *p = c->parts.heap[i];
            if (p->object == object && p->offset < offset + n && offset < p->offset + p->bytes)
                found = p;
        }
        struct part_key key =
            found ? cache_key_of(c, object, found->offset, found->bytes) : (struct part_key){0};
        if (found)
            parts_remove(&c->parts, found);
        unlock_caches();
        if (found)
            remove_file(&key);
        free(found);
        more = found;
    }
}

/* ---------------------------------------------------------------------------------------------- writing */

/* A part of a file that nobody here has open, and that nobody has read for long; it is looked for outside the lock, and now and then. */
static bool find_left(struct disk_cache *c, struct part_key *key)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (c->looked && now.tv_sec - c->looked < LOOK_S)
        return false;
    for (unsigned i = 0; i < MOST_FOUND; i++) {
        const struct part *p = parts_next(&c->parts);
        if (!p || !p->here || p->due != DUE_UNKNOWN || c->objects[p->object].opened)
            continue;
        *key = cache_key_of(c, p->object, p->offset, p->bytes);
        if (part_file_age(key) > REST_S || part_file_age(key) < 0)
            return true;
    }
    c->looked = now.tv_sec + (now.tv_sec == 0);
    return false;
}

/* Takes what is to make room out of the list, by its place there; false: there is nothing that is needed later than `due`. */
static bool choose_victim(struct disk_cache *c, uint64_t due, struct part_key *key)
{
    struct part *p = NULL;
    if (find_left(c, key)) {
        uint32_t object = cache_object_number(c, key->object);
        p = parts_find(&c->parts, object, key->offset, (uint32_t)key->n);
    } else if (due != DUE_UNKNOWN) {
        p = parts_last_needed(&c->parts);
        p = p && p->due > due ? p : NULL;
    }
    if (!p)
        return false;
    *key = cache_key_of(c, p->object, p->offset, p->bytes);
    parts_remove(&c->parts, p);
    free(p);
    return true;
}

/* Makes room, as far as it pays, and takes it. Returned is 0, or what keeps the part out, as by disk_cache_write(). */
static int make_cache_room(struct disk_cache *c, uint64_t due, uint64_t bytes)
{
    uint64_t used;
    struct part_key victim;
    bool chosen = true;
    int code = part_used_add(c->directory, 0, false, &used);
    if (code)
        return code;
    while (used + bytes > c->budget && chosen) {
        lock_caches();
        chosen = choose_victim(c, due, &victim);
        unlock_caches();
        uint64_t back = part_disk_bytes(chosen ? victim.n : 0);
        if (chosen && part_file_remove(&victim) &&
            (code = part_used_add(c->directory, -(int64_t)back, false, &used)))
            return code;
    }
    if (used + bytes > c->budget)
        return CACHE_IS_FULL;
    if ((code = part_used_add(c->directory, (int64_t)bytes, false, &used)))
        return code;
    if (used <= c->budget)
        return 0;
    (void)part_used_add(c->directory, -(int64_t)bytes, false, &used); /* another process was faster */
    return CACHE_IS_FULL;
}

/* When the part is needed next, if it is to be written now, by this thread alone. What is read now is no longer expected. */
static bool begin_write(struct disk_cache *c, uint32_t object, const struct extent *range, bool early,
                        struct part_key *key, uint64_t *due)
{
    lock_caches();
    *key = cache_key_of(c, object, range->offset, range->n);
    struct part *part = parts_get(&c->parts, object, range->offset, (uint32_t)range->n);
    bool mine = part && !part->here && !part->written;
    if (mine) {
        *due = part->expected ? part->again : DUE_UNKNOWN;
        part->written = true;
        c->writing++;
    }
    if (part) {
        part->expected = part->expected && early;
        part->turn = c->turn;
    }
    unlock_caches();
    return mine;
}

static void end_write(struct disk_cache *c, uint32_t object, const struct extent *range, bool here,
                      uint64_t due)
{
    lock_caches();
    c->writing--;
    struct part *part = parts_find(&c->parts, object, range->offset, (uint32_t)range->n);
    if (part)
        part->written = false;
    if (part && !(here && parts_here(&c->parts, part, due)) && !part->expected) {
        parts_remove(&c->parts, part);
        free(part);
    }
    unlock_caches();
}

/* Gives back what a part that could not be written was to take. */
static void give_room_back(struct disk_cache *c, uint64_t bytes, int code)
{
    uint64_t used;
    (void)part_used_add(c->directory, -(int64_t)bytes, false, &used);
    lock_caches();
    if ((code == ENOSPC || code == EDQUOT) && used < c->budget) {
        c->budget = used; /* the disk has no more: what is here is replaced by what is needed sooner */
        c->full = code;
    }
    unlock_caches();
}

int disk_cache_write(struct disk_cache *c, uint32_t object, const struct extent *range, const uint8_t *from,
                     bool early)
{
    struct part_key key;
    uint64_t due, bytes = part_disk_bytes(range->n);
    if (range->n > UINT32_MAX)
        return EFBIG;
    if (!begin_write(c, object, range, early, &key, &due))
        return 0;
    int code = make_cache_room(c, due, bytes);
    if (code == 0 && (code = part_file_write(&key, from)))
        give_room_back(c, bytes, code);
    end_write(c, object, range, code == 0, due);
    return code;
}

/* ---------------------------------------------------------------------------------------------- claims */

/* Of the threads of this process; false: another has it. What a parent had noted before fork() is not this process's. With the lock held. */
static bool claim_here(struct disk_cache *c, uint32_t object, uint64_t offset, bool have)
{
    int pid = (int)getpid();
    struct claimed_part *room = NULL;
    for (unsigned i = 0; i < MOST_CLAIMED; i++) {
        struct claimed_part *p = &c->claimed[i];
        bool same = p->pid == pid && p->object == object && p->offset == offset;
        if (same && have)
            return false;
        if (same)
            p->pid = 0;
        room = p->pid == pid ? room : p;
    }
    if (have && room)
        *room = (struct claimed_part){pid, object, offset};
    return true;
}

static bool ask_claim(struct disk_cache *c, uint32_t object, const struct extent *range)
{
    lock_caches();
    struct part_key key = cache_key_of(c, object, range->offset, range->n);
    bool here = claim_here(c, object, range->offset, true);
    unlock_caches();
    if (!here || part_claim(c->claims, &key, true))
        return here;
    lock_caches();
    (void)claim_here(c, object, range->offset, false);
    unlock_caches();
    return false;
}

bool disk_cache_claim(struct disk_cache *c, uint32_t object, const struct extent *range)
{
    for (unsigned ms = 0; !ask_claim(c, object, range); ms += CLAIM_NAP_MS) {
        if (ms >= CLAIM_MS)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = CLAIM_NAP_MS * 1000000}, NULL);
    }
    return true;
}

void disk_cache_unclaim(struct disk_cache *c, uint32_t object, const struct extent *range)
{
    lock_caches();
    struct part_key key = cache_key_of(c, object, range->offset, range->n);
    (void)part_claim(c->claims, &key, false);
    (void)claim_here(c, object, range->offset, false);
    unlock_caches();
}

void disk_cache_settle(struct disk_cache *c)
{
    unsigned writing;
    for (int i = 0; i < SETTLE_TRIES; i++) {
        lock_caches();
        writing = c->writing;
        unlock_caches();
        if (writing == 0)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* ------------------------------------------------------------------------------------------- shrinking */

struct old_part {
    uint32_t object;
    struct extent range;
    long age;
};

static int oldest_first(const void *a, const void *b)
{
    long x = ((const struct old_part *)a)->age, y = ((const struct old_part *)b)->age;
    return (x < y) - (x > y);
}

/* What is here, the oldest first; NULL: nothing, or out of memory. */
static struct old_part *list_by_age(struct disk_cache *c, uint32_t *count)
{
    lock_caches();
    uint32_t n = c->parts.here;
    struct old_part *old = n ? malloc(n * sizeof *old) : NULL;
    for (uint32_t i = 0; old && i < n; i++) {
        const struct part *p = c->parts.heap[i];
        old[i] = (struct old_part){p->object, {p->offset, p->bytes}, 0};
    }
    unlock_caches();
    for (uint32_t i = 0; old && i < n; i++) {
        lock_caches();
        struct part_key key = cache_key_of(c, old[i].object, old[i].range.offset, old[i].range.n);
        unlock_caches();
        old[i].age = part_file_age(&key);
    }
    if (old)
        qsort(old, n, sizeof *old, oldest_first);
    *count = n;
    return old;
}

void disk_cache_shrink(struct disk_cache *c)
{
    uint64_t used;
    uint32_t n;
    if (part_used_add(c->directory, 0, false, &used) || used <= c->budget)
        return;
    struct old_part *old = list_by_age(c, &n);
    for (uint32_t i = 0; old && i < n && used > c->budget; i++) {
        lock_caches();
        struct part_key key = cache_key_of(c, old[i].object, old[i].range.offset, old[i].range.n);
        unlock_caches();
        note_lost(c, old[i].object, &old[i].range);
        remove_file(&key);
        if (part_used_add(c->directory, 0, false, &used))
            break;
    }
    free(old);
}
