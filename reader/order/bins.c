/* Bins with locks: see bins.h. */
#include "bins.h"
#include "grow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct bin {
    pthread_mutex_t lock;
    uint32_t *deliveries;
    uint32_t size, capacity;
};

struct bins {
    unsigned count;
    struct random_key place;
    pthread_mutex_t lock; /* of what follows */
    struct random_stream draws;
    uint64_t standing;
    uint32_t *left; /* of each bin: what has been put and not been reserved */
    struct bin bin[];
};

apl_status bins_new(unsigned count, struct bins **bins, apl_error *err)
{
    struct bins *b = calloc(1, sizeof *b + count * sizeof b->bin[0]);
    uint32_t *left = calloc(count, sizeof *left);
    if (!b || !left) {
        free(b);
        free(left);
        return fail_nomem(err);
    }
    b->count = count;
    b->left = left;
    pthread_mutex_init(&b->lock, NULL);
    for (unsigned i = 0; i < count; i++)
        pthread_mutex_init(&b->bin[i].lock, NULL);
    *bins = b;
    return APL_OK;
}

void bins_free(struct bins *b)
{
    if (!b)
        return;
    for (unsigned i = 0; i < b->count; i++) {
        pthread_mutex_destroy(&b->bin[i].lock);
        free(b->bin[i].deliveries);
    }
    pthread_mutex_destroy(&b->lock);
    free(b->left);
    free(b);
}

void bins_begin(struct bins *b, struct random_key place, struct random_key draws)
{
    b->place = place;
    random_stream_init(&b->draws, draws);
    b->standing = 0;
    memset(b->left, 0, b->count * sizeof *b->left);
    for (unsigned i = 0; i < b->count; i++)
        b->bin[i].size = 0;
}

uint64_t bins_standing(struct bins *b)
{
    pthread_mutex_lock(&b->lock);
    uint64_t n = b->standing;
    pthread_mutex_unlock(&b->lock);
    return n;
}

/* --------------------------------------------------------------------------------------------- putting */

static unsigned bin_of(const struct bins *b, uint64_t id)
{
    return (unsigned)((random_mix(b->place.low, id) >> 32) * b->count >> 32);
}

/* Makes room in the bin for `more`; with its lock held. */
static bool bin_reserve(struct bin *bin, uint32_t more)
{
    if (bin->capacity - bin->size >= more)
        return true;
    uint32_t capacity = grown(bin->size, bin->size + more); /* an epoch has fewer than 2^32 deliveries */
    uint32_t *deliveries = realloc(bin->deliveries, capacity * sizeof *deliveries);
    if (!deliveries)
        return false;
    bin->deliveries = deliveries;
    bin->capacity = capacity;
    return true;
}

bool bins_put(struct bins *b, const uint32_t *deliveries, const uint64_t *ids, uint32_t n)
{
    uint32_t *starts = calloc(b->count + 1, sizeof *starts), *sorted = malloc((n + 1) * sizeof *sorted);
    bool ok = starts && sorted;
    for (uint32_t i = 0; ok && i < n; i++)
        starts[bin_of(b, ids[i]) + 1]++;
    for (unsigned i = 0; ok && i < b->count; i++)
        starts[i + 1] += starts[i];
    for (uint32_t i = 0; ok && i < n; i++) /* a counting sort that leaves starts[i] where bin i ends */
        sorted[starts[bin_of(b, ids[i])]++] = deliveries[i];
    for (unsigned i = 0; ok && i < b->count; i++) {
        uint32_t from = i ? starts[i - 1] : 0, more = starts[i] - from;
        pthread_mutex_lock(&b->bin[i].lock);
        ok = bin_reserve(&b->bin[i], more);
        if (ok && more)
            memcpy(b->bin[i].deliveries + b->bin[i].size, sorted + from, more * sizeof *sorted);
        b->bin[i].size += ok ? more : 0;
        pthread_mutex_unlock(&b->bin[i].lock);
    }
    /* Only now can they be reserved: a reservation always finds what it stands for. */
    if (ok) {
        pthread_mutex_lock(&b->lock);
        for (unsigned i = 0; i < b->count; i++)
            b->left[i] += starts[i] - (i ? starts[i - 1] : 0);
        b->standing += n;
        pthread_mutex_unlock(&b->lock);
    }
    free(starts);
    free(sorted);
    return ok;
}

/* --------------------------------------------------------------------------------------------- drawing */

struct reservation {
    uint32_t bin;
    uint64_t random; /* which of the bin's records: decided when the bin is locked */
};

struct bins_scratch {
    struct reservation *reserved;
    uint32_t *starts, *rows;
};

struct bins_scratch *bins_scratch_new(const struct bins *b, size_t most)
{
    struct bins_scratch *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->reserved = calloc(most + 1, sizeof *s->reserved);
    s->starts = calloc(b->count + 1, sizeof *s->starts);
    s->rows = calloc(most + 1, sizeof *s->rows);
    if (s->reserved && s->starts && s->rows)
        return s;
    bins_scratch_free(s);
    return NULL;
}

void bins_scratch_free(struct bins_scratch *s)
{
    if (!s)
        return;
    free(s->reserved);
    free(s->starts);
    free(s->rows);
    free(s);
}

/* The high half of a product of 64 bits each. */
static uint32_t scale(uint64_t random, uint32_t bound)
{
    uint64_t low = (random & UINT32_MAX) * bound >> 32;
    return (uint32_t)(((random >> 32) * bound + low) >> 32);
}

/* Reserves one draw: a bin in proportion to what is left in it; with the lock held. */
static struct reservation reserve(struct bins *b)
{
    uint32_t r = random_below(&b->draws, (uint32_t)b->standing);
    uint32_t i = 0;
    while (r >= b->left[i])
        r -= b->left[i++];
    b->left[i]--;
    b->standing--;
    uint64_t high = random_u32(&b->draws);
    return (struct reservation){i, high << 32 | random_u32(&b->draws)};
}

/* Takes the record of every reservation of bin `i`; the bin is locked once. */
static void fetch(struct bin *bin, const struct reservation *reserved, const uint32_t *rows, uint32_t n,
                  uint32_t *deliveries)
{
    pthread_mutex_lock(&bin->lock);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t place = scale(reserved[rows[k]].random, bin->size);
        deliveries[rows[k]] = bin->deliveries[place];
        bin->deliveries[place] = bin->deliveries[--bin->size];
    }
    pthread_mutex_unlock(&bin->lock);
}

size_t bins_draw(struct bins *b, struct bins_scratch *s, uint32_t *deliveries, size_t n)
{
    pthread_mutex_lock(&b->lock);
    size_t drawn = n < b->standing ? n : (size_t)b->standing;
    for (size_t k = 0; k < drawn; k++)
        s->reserved[k] = reserve(b);
    pthread_mutex_unlock(&b->lock);
    memset(s->starts, 0, (b->count + 1) * sizeof *s->starts);
    for (size_t k = 0; k < drawn; k++)
        s->starts[s->reserved[k].bin + 1]++;
    for (unsigned i = 0; i < b->count; i++)
        s->starts[i + 1] += s->starts[i];
    for (size_t k = 0; k < drawn; k++) /* a counting sort that leaves starts[i] where bin i ends */
        s->rows[s->starts[s->reserved[k].bin]++] = (uint32_t)k;
    for (unsigned i = 0; i < b->count; i++) {
        uint32_t from = i ? s->starts[i - 1] : 0;
        if (s->starts[i] > from)
            fetch(&b->bin[i], s->reserved, s->rows + from, s->starts[i] - from, deliveries);
    }
    return drawn;
}
