/* How much room an array that grows by halves is to have. */
#ifndef GROW_H
#define GROW_H

#include <stdint.h>

/* Room for `needed` items, at least 64 and half as much again as `room`, as far as 32 bits can count: never less than
 * `needed`. */
static inline uint32_t grown(uint32_t room, uint32_t needed)
{
    uint64_t wanted = (uint64_t)room + room / 2;
    wanted = wanted < 64 ? 64 : wanted;
    wanted = wanted < needed ? needed : wanted;
    return wanted > UINT32_MAX ? UINT32_MAX : (uint32_t)wanted;
}

#endif
