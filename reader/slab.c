/* Slots: see slab.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "slab.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

static size_t field_bytes(uint32_t slots, size_t value_bytes)
{
    /* A kernel may read a whole vector at the last value's end. */
    return ((size_t)slots * value_bytes + 64 + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

uint64_t arena_bytes(uint32_t slots, unsigned fields, const size_t *value_bytes)
{
    uint64_t bytes = (uint64_t)slots * (sizeof(atomic_uint) + sizeof(uint32_t));
    for (unsigned f = 0; f < fields; f++)
        bytes += value_bytes[f] ? field_bytes(slots, value_bytes[f]) : 0;
    return bytes;
}

static uint8_t *map_values(size_t bytes)
{
    /* Asks for one huge page more, so that the memory can begin at one; what is too much is given back. */
    uint8_t *p = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(p, before);
    munmap(p + before + bytes, HUGE_PAGE - before);
    madvise(p + before, bytes, MADV_HUGEPAGE); /* a hint: without it everything works, slower */
    return p + before;
}

apl_status arena_init(struct arena *arena, uint32_t slots, unsigned fields, const size_t *value_bytes,
                      apl_error *err)
{
    *arena = (struct arena){.slots = slots, .fields = fields, .lock = PTHREAD_MUTEX_INITIALIZER};
    arena->counts = calloc((size_t)slots + 1, sizeof *arena->counts);
    arena->free = calloc((size_t)slots + 1, sizeof *arena->free);
    bool ok = arena->counts && arena->free;
    for (unsigned f = 0; ok && f < fields; f++) {
        arena->value_bytes[f] = value_bytes[f];
        if (value_bytes[f])
            ok = (arena->values[f] = map_values(field_bytes(slots, value_bytes[f]))) != NULL;
    }
    if (!ok) {
        arena_free(arena);
        return fail_nomem(err);
    }
    arena_reset(arena);
    return APL_OK;
}

uint32_t arena_standing(struct arena *arena)
{
    pthread_mutex_lock(&arena->lock);
    uint32_t standing = arena->slots - arena->free_count;
    pthread_mutex_unlock(&arena->lock);
    return standing;
}

void arena_reset(struct arena *arena)
{
    /* Low numbers on top: slots are first used in the order in which they lie. */
    for (uint32_t i = 0; i < arena->slots; i++)
        arena->free[i] = arena->slots - 1 - i;
    arena->free_count = arena->slots;
}

void arena_free(struct arena *arena)
{
    for (unsigned f = 0; f < arena->fields && !arena->borrowed; f++)
        if (arena->values[f])
            munmap(arena->values[f], field_bytes(arena->slots, arena->value_bytes[f]));
    free(arena->counts);
    free(arena->free);
    *arena = (struct arena){0};
}

bool arena_take(struct arena *arena, uint32_t *slots, uint32_t n, unsigned deliveries)
{
    pthread_mutex_lock(&arena->lock);
    bool enough = arena->free_count >= n;
    for (uint32_t i = 0; enough && i < n; i++)
        slots[i] = arena->free[--arena->free_count];
    pthread_mutex_unlock(&arena->lock);
    /* relaxed: nobody knows of the slots before the loader has published the block */
    for (uint32_t i = 0; enough && i < n; i++)
        atomic_store_explicit(&arena->counts[slots[i]], deliveries, memory_order_relaxed);
    return enough;
}

void arena_add(struct arena *arena, const uint32_t *slots, uint32_t n, unsigned deliveries)
{
    /* relaxed: the lock under which blocks are announced orders this before the deliveries that it allows */
    for (uint32_t i = 0; i < n; i++)
        atomic_fetch_add_explicit(&arena->counts[slots[i]], deliveries, memory_order_relaxed);
}

uint32_t arena_release(struct arena *arena, uint32_t *slots, uint32_t n)
{
    uint32_t done = 0;
    /* acq_rel: who takes the count to zero must come after all others have read the slot, since it will be
     * written again */
    for (uint32_t i = 0; i < n; i++)
        if (atomic_fetch_sub_explicit(&arena->counts[slots[i]], 1, memory_order_acq_rel) == 1)
            slots[done++] = slots[i];
    if (done == 0)
        return 0;
    pthread_mutex_lock(&arena->lock);
    memcpy(arena->free + arena->free_count, slots, done * sizeof *slots);
    arena->free_count += done;
    pthread_mutex_unlock(&arena->lock);
    return done;
}
