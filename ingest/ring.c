/* A ring of buffers between one filling and one emptying thread. */
#include "ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define POLL_NANOSECONDS 50000000 /* between two calls of poll while waiting */

struct ring {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    uint8_t *memory; /* RING_BLOCKS x RING_BYTES */
    size_t sizes[RING_BLOCKS];
    unsigned first, count; /* buffers handed over and not yet given back */
    bool lent;             /* the first of them is in the emptying thread's hands */
    bool ended;
    apl_status status; /* with which it ended */
    apl_error why;
    atomic_bool stopped;
};

/* With these attributes none of the calls can fail on Linux. */
static void init_sync(struct ring *ring)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    /* Steps of the wall clock must not stretch a wait. */
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&ring->filled, &attr);
    pthread_condattr_destroy(&attr);
    pthread_cond_init(&ring->emptied, NULL);
    pthread_mutex_init(&ring->lock, NULL);
}

struct ring *ring_new(void)
{
    struct ring *ring = calloc(1, sizeof *ring);
    if (!ring)
        return NULL;
    atomic_init(&ring->stopped, false);
    ring->memory = malloc((size_t)RING_BLOCKS * RING_BYTES);
    if (!ring->memory) {
        free(ring);
        return NULL;
    }
    init_sync(ring);
    return ring;
}

void ring_free(struct ring *ring)
{
    if (!ring)
        return;
    pthread_mutex_destroy(&ring->lock);
    pthread_cond_destroy(&ring->emptied);
    pthread_cond_destroy(&ring->filled);
    free(ring->memory);
    free(ring);
}

static uint8_t *block(const struct ring *ring, unsigned i)
{
    return ring->memory + (size_t)(i % RING_BLOCKS) * RING_BYTES;
}

uint8_t *ring_room(struct ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    while (ring->count == RING_BLOCKS && !ring_stopped(ring))
        pthread_cond_wait(&ring->emptied, &ring->lock);
    uint8_t *room = ring_stopped(ring) ? NULL : block(ring, ring->first + ring->count);
    pthread_mutex_unlock(&ring->lock);
    return room;
}

void ring_put(struct ring *ring, size_t size)
{
    pthread_mutex_lock(&ring->lock);
    ring->sizes[(ring->first + ring->count) % RING_BLOCKS] = size;
    ring->count++;
    pthread_cond_signal(&ring->filled);
    pthread_mutex_unlock(&ring->lock);
}

void ring_end(struct ring *ring, apl_status status, const apl_error *why)
{
    pthread_mutex_lock(&ring->lock);
    ring->ended = true;
    ring->status = status;
    if (status != APL_OK)
        ring->why = *why;
    pthread_cond_signal(&ring->filled);
    pthread_mutex_unlock(&ring->lock);
}

bool ring_stopped(struct ring *ring)
{
    return atomic_load(&ring->stopped);
}

static void give_back(struct ring *ring)
{
    if (!ring->lent)
        return;
    ring->lent = false;
    ring->first = (ring->first + 1) % RING_BLOCKS;
    ring->count--;
    pthread_cond_signal(&ring->emptied);
}

static void wait_a_little(struct ring *ring)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += POLL_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&ring->filled, &ring->lock, &until);
}

apl_status ring_take(struct ring *ring, int (*poll)(void *user), void *user, const uint8_t **data,
                     size_t *size, apl_error *err)
{
    apl_status status = APL_OK;
    pthread_mutex_lock(&ring->lock);
    give_back(ring);
    for (;;) {
        /* The callback is the caller's: not under the lock. */
        pthread_mutex_unlock(&ring->lock);
        if (poll && poll(user) != 0)
            return fail(err, APL_E_CANCELLED, "cancelled");
        pthread_mutex_lock(&ring->lock);
        if (ring->count > 0 || ring->ended)
            break;
        wait_a_little(ring);
    }
    if (ring->count > 0) {
        ring->lent = true;
        *data = block(ring, ring->first);
        *size = ring->sizes[ring->first];
    } else {
        status = ring->status == APL_OK ? APL_END : ring->status;
        if (err && ring->status != APL_OK)
            *err = ring->why;
    }
    pthread_mutex_unlock(&ring->lock);
    return status;
}

void ring_stop(struct ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    atomic_store(&ring->stopped, true);
    pthread_cond_signal(&ring->emptied);
    pthread_mutex_unlock(&ring->lock);
}
