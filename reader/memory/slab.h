/*
 * The slab: slots of one record each, for the decoded values of fields of fixed shape. Values of one field
 * lie side by side in memory of their own, on huge pages where they are available. A slot has an atomic count
 * of the deliveries that are still to come from it; who takes it to zero gives the slot back. The slab knows
 * no order.
 */
#ifndef SLAB_H
#define SLAB_H

#include "status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct slab {
    uint32_t slots;
    unsigned fields;
    bool borrowed; /* the values are somebody else's, and no slot is ever taken or given back */
    size_t value_bytes[APL_MAX_FIELDS]; /* 0: the field has no place in slots */
    uint8_t *values[APL_MAX_FIELDS];
    atomic_uint *counts;
    uint32_t *free; /* a stack; with the lock held */
    uint32_t free_count;
    pthread_mutex_t lock;
};

apl_status slab_init(struct slab *slab, uint32_t slots, unsigned fields, const size_t *value_bytes,
                     apl_error *err);
void slab_free(struct slab *slab);

/* Bytes that a slab of that many slots takes up. */
uint64_t slab_bytes(uint32_t slots, unsigned fields, const size_t *value_bytes);

static inline uint8_t *slab_value(const struct slab *slab, unsigned field, uint32_t slot)
{
    return slab->values[field] + (size_t)slot * slab->value_bytes[field];
}

/* Takes `n` slots, each good for `deliveries`; false, and nothing taken, if fewer are free. */
bool slab_take(struct slab *slab, uint32_t *slots, uint32_t n, unsigned deliveries);

/* That many more deliveries are to come from each of these; only where at least one still is. */
void slab_add(struct slab *slab, const uint32_t *slots, uint32_t n, unsigned deliveries);

/* One delivery less is to come from each of these; slots that have none left are given back, all under one
 * lock. `slots` is used as scratch. Returns how many were given back. */
uint32_t slab_release(struct slab *slab, uint32_t *slots, uint32_t n);

/* Slots that are taken now. */
uint32_t slab_standing(struct slab *slab);

/* Takes all slots back; only while nobody uses any. */
void slab_reset(struct slab *slab);

#endif
