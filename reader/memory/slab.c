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

uint64_t slab_bytes(uint32_t slots, unsigned fields, const size_t *value_bytes)
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

apl_status slab_init(struct slab *slab, uint32_t slots, unsigned fields, const size_t *value_bytes,
                     apl_error *err)
{
    *slab = (struct slab){.slots = slots, .fields = fields, .lock = PTHREAD_MUTEX_INITIALIZER};
    slab->counts = calloc((size_t)slots + 1, sizeof *slab->counts);
    slab->free = calloc((size_t)slots + 1, sizeof *slab->free);
    bool ok = slab->counts && slab->free;
    for (unsigned f = 0; ok && f < fields; f++) {
        slab->value_bytes[f] = value_bytes[f];
        if (value_bytes[f])
            ok = (slab->values[f] = map_values(field_bytes(slots, value_bytes[f]))) != NULL;
    }
    if (!ok) {
        slab_free(slab);
        return fail_nomem(err);
    }
    slab_reset(slab);
    return APL_OK;
}

uint32_t slab_standing(struct slab *slab)
{
    pthread_mutex_lock(&slab->lock);
    uint32_t standing = slab->slots - slab->free_count;
    pthread_mutex_unlock(&slab->lock);
    return standing;
}

void slab_reset(struct slab *slab)
{
    /* Low numbers on top: slots are first used in the order in which they lie. */
    for (uint32_t i = 0; i < slab->slots; i++)
        slab->free[i] = slab->slots - 1 - i;
    slab->free_count = slab->slots;
}

void slab_free(struct slab *slab)
{
    for (unsigned f = 0; f < slab->fields && !slab->borrowed; f++)
        if (slab->values[f])
            munmap(slab->values[f], field_bytes(slab->slots, slab->value_bytes[f]));
    free(slab->counts);
    free(slab->free);
    *slab = (struct slab){0};
}

bool slab_take(struct slab *slab, uint32_t *slots, uint32_t n, unsigned deliveries)
{
    pthread_mutex_lock(&slab->lock);
    bool enough = slab->free_count >= n;
    for (uint32_t i = 0; enough && i < n; i++)
        slots[i] = slab->free[--slab->free_count];
    pthread_mutex_unlock(&slab->lock);
    /* relaxed: nobody knows of the slots before the loader has published the block */
    for (uint32_t i = 0; enough && i < n; i++)
        atomic_store_explicit(&slab->counts[slots[i]], deliveries, memory_order_relaxed);
    return enough;
}

void slab_add(struct slab *slab, const uint32_t *slots, uint32_t n, unsigned deliveries)
{
    /* relaxed: the lock under which blocks are announced orders this before the deliveries that it allows */
    for (uint32_t i = 0; i < n; i++)
        atomic_fetch_add_explicit(&slab->counts[slots[i]], deliveries, memory_order_relaxed);
}

uint32_t slab_release(struct slab *slab, uint32_t *slots, uint32_t n)
{
    uint32_t done = 0;
    /* acq_rel: who takes the count to zero must come after all others have read the slot, since it will be
     * written again */
    for (uint32_t i = 0; i < n; i++)
        if (atomic_fetch_sub_explicit(&slab->counts[slots[i]], 1, memory_order_acq_rel) == 1)
            slots[done++] = slots[i];
    if (done == 0)
        return 0;
    pthread_mutex_lock(&slab->lock);
    memcpy(slab->free + slab->free_count, slots, done * sizeof *slots);
    slab->free_count += done;
    pthread_mutex_unlock(&slab->lock);
    return done;
}
