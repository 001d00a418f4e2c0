/* Working memory that is kept from call to call and grows to the most that was ever asked for. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct scratch {
    uint8_t *data;
    size_t size;
};

#define SCRATCH_ALIGN 64

/* Rounds a size up so that what follows it in a scratch is aligned too. */
static inline size_t scratch_round(size_t size)
{
    return (size + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
}

/* At least `size` bytes, aligned to 64 and holding whatever they held; new memory is zero. NULL: out of
 * memory. */
static inline uint8_t *scratch_reserve(struct scratch *s, size_t size)
{
    if (size <= s->size && s->data)
        return s->data;
    if (size > SIZE_MAX - SCRATCH_ALIGN)
        return NULL;
    size_t rounded = size ? scratch_round(size) : SCRATCH_ALIGN;
    uint8_t *data = aligned_alloc(SCRATCH_ALIGN, rounded);
    if (!data)
        return NULL;
    memset(data, 0, rounded);
    free(s->data);
    *s = (struct scratch){data, rounded};
    return data;
}

static inline void scratch_free(struct scratch *s)
{
    free(s->data);
    *s = (struct scratch){NULL, 0};
}

#endif
