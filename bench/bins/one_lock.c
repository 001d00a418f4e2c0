/* One array and one lock: see one_lock.h. */
#include "one_lock.h"
#include "grow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct one_lock {
    pthread_mutex_t lock; /* of what follows */
    struct random_stream draws;
    uint32_t *deliveries;
    uint32_t size, capacity;
};

apl_status one_lock_new(struct one_lock **array, apl_error *err)
{
    struct one_lock *a = calloc(1, sizeof *a);
    if (!a)
        return fail_nomem(err);
    pthread_mutex_init(&a->lock, NULL);
    *array = a;
    return APL_OK;
}

void one_lock_free(struct one_lock *a)
{
    if (!a)
        return;
    pthread_mutex_destroy(&a->lock);
    free(a->deliveries);
    free(a);
}

void one_lock_begin(struct one_lock *a, struct random_key draws)
{
    random_stream_init(&a->draws, draws);
    a->size = 0;
}

uint64_t one_lock_standing(struct one_lock *a)
{
    pthread_mutex_lock(&a->lock);
    uint64_t n = a->size;
    pthread_mutex_unlock(&a->lock);
    return n;
}

static bool make_room(struct one_lock *a, uint32_t more)
{
    if (a->capacity - a->size >= more)
        return true;
    uint32_t capacity = grown(a->size, a->size + more);
    uint32_t *deliveries = realloc(a->deliveries, capacity * sizeof *deliveries);
    if (!deliveries)
        return false;
    a->deliveries = deliveries;
    a->capacity = capacity;
    return true;
}

bool one_lock_put(struct one_lock *a, const uint32_t *deliveries, uint32_t n)
{
    pthread_mutex_lock(&a->lock);
    bool ok = make_room(a, n);
    if (ok && n)
        memcpy(a->deliveries + a->size, deliveries, n * sizeof *deliveries);
    a->size += ok ? n : 0;
    pthread_mutex_unlock(&a->lock);
    return ok;
}

size_t one_lock_draw(struct one_lock *a, uint32_t *deliveries, size_t n)
{
    pthread_mutex_lock(&a->lock);
    size_t drawn = n < a->size ? n : a->size;
    for (size_t k = 0; k < drawn; k++) {
        uint32_t place = random_below(&a->draws, a->size);
        deliveries[k] = a->deliveries[place];
        a->deliveries[place] = a->deliveries[--a->size];
    }
    pthread_mutex_unlock(&a->lock);
    return drawn;
}
