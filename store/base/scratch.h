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

/* What is taken for that many bytes: up to an eighth more, so that what grows bit by bit is not replaced at each. 0: too many. */
static inline size_t scratch_room(size_t size)
{
    size_t step = SCRATCH_ALIGN;
    while (step < size / 16)
        step *= 2;
    return size > SIZE_MAX - step ? 0 : size ? (size + step - 1) / step * step : step;
}

/* At least `size` bytes, aligned to 64. They hold what they held, unless there were fewer: then they are zero. NULL: out of memory,
 * and what there was is gone. */
static inline uint8_t *scratch_reserve(struct scratch *s, size_t size)
{
    if (size <= s->size && s->data)
        return s->data;
    size_t room = scratch_room(size);
    free(s->data); /* first, so that there may be room where it was */
    s->data = room ? aligned_alloc(SCRATCH_ALIGN, room) : NULL;
    s->size = s->data ? room : 0;
    if (s->data)
        memset(s->data, 0, room);
    return s->data;
}

static inline void scratch_free(struct scratch *s)
{
    free(s->data);
    *s = (struct scratch){NULL, 0};
}

#endif
