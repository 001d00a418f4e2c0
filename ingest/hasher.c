/* SHA-256 on a thread of its own: see hasher.h. */
#include "hasher.h"

#include "bytes.h"
#include "hash.h"
#include "parallel.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS      4u
#define BLOCK_BYTES ((size_t)256 << 10)

struct hasher {
    struct sha256 *sha;
    struct hash_stream *quick; /* instead, without a thread; else NULL */
    bool threaded;
    pthread_t thread;
    size_t filled; /* of the block that is being filled: the caller's alone */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned head, tail; /* numbers of the next block to hash and to fill */
    bool stop;
    size_t sizes[BLOCKS];
    uint8_t blocks[BLOCKS][BLOCK_BYTES];
};

static void *run_hasher(void *argument)
{
    struct hasher *h = argument;
    pthread_mutex_lock(&h->lock);
    for (;;) {
        while (h->head == h->tail && !h->stop)
            pthread_cond_wait(&h->changed, &h->lock);
        if (h->head == h->tail)
            break;
        unsigned i = h->head % BLOCKS;
        pthread_mutex_unlock(&h->lock);
        sha256_add(h->sha, h->blocks[i], h->sizes[i]);
        pthread_mutex_lock(&h->lock);
        h->head++;
        pthread_cond_signal(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

struct hasher *hasher_new(void)
{
    struct hasher *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->sha = sha256_new();
    if (!h->sha) {
        free(h);
        return NULL;
    }
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    h->threaded = thread_start(&h->thread, run_hasher, h, NULL) == APL_OK;
    return h;
}

struct hasher *hasher_new_quick(void)
{
    struct hasher *h = calloc(1, sizeof *h);
    if (h && !(h->quick = hash_stream_new())) {
        free(h);
        return NULL;
    }
    return h;
}

void hasher_free(struct hasher *h)
{
    if (!h)
        return;
    if (h->quick) {
        hash_stream_free(h->quick);
        free(h);
        return;
    }
    if (h->threaded) {
        pthread_mutex_lock(&h->lock);
        h->stop = true;
        pthread_cond_signal(&h->changed);
        pthread_mutex_unlock(&h->lock);
        pthread_join(h->thread, NULL);
    }
    sha256_free(h->sha);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

/* Waits until at most `most` blocks are still to be hashed. */
static void wait_for_room(struct hasher *h, unsigned most)
{
    pthread_mutex_lock(&h->lock);
    while (h->tail - h->head > most)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

/* Hands over the block that is being filled. */
static void hand_over(struct hasher *h)
{
    pthread_mutex_lock(&h->lock);
    h->sizes[h->tail % BLOCKS] = h->filled;
    h->tail++;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
    h->filled = 0;
    wait_for_room(h, BLOCKS - 1);
}

void hasher_add(struct hasher *h, const void *data, size_t size)
{
    if (!h)
        return;
    if (h->quick || !h->threaded) {
        if (h->quick)
            hash_stream_add(h->quick, data, size);
        else
            sha256_add(h->sha, data, size);
        return;
    }
    for (const uint8_t *p = data; size > 0;) {
        size_t n = BLOCK_BYTES - h->filled < size ? BLOCK_BYTES - h->filled : size;
        memcpy(h->blocks[h->tail % BLOCKS] + h->filled, p, n);
        h->filled += n;
        p += n;
        size -= n;
        if (h->filled == BLOCK_BYTES)
            hand_over(h);
    }
}

static void end_quick(struct hasher *h, uint8_t digest[32])
{
    struct hash128 hash = hash_stream_128(h->quick);
    memset(digest, 0, 32);
    store_le(digest, hash.low, 8);
    store_le(digest + 8, hash.high, 8);
    hash_stream_reset(h->quick);
}

void hasher_end(struct hasher *h, uint8_t digest[32])
{
    if (!h)
        return;
    if (h->quick) {
        end_quick(h, digest);
        return;
    }
    if (h->filled)
        hand_over(h);
    if (h->threaded)
        wait_for_room(h, 0);
    sha256_end(h->sha, digest);
}
