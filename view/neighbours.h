/* The records most like each record, found exactly: all pairs are compared. */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEIGHBOURS 10 /* of each */

struct neighbour {
    uint32_t at, distance; /* UINT32_MAX: none */
};

/*
 * Of rows of FEATURES bytes, those for which `counts` is not 0: into found[i * NEIGHBOURS ...], nearest first, of equally near ones those
 * found first. Calls `goes_on` now and then; where it returns false, all ends with false.
 */
bool neighbours_find(const uint8_t *features, const uint8_t *counts, uint32_t n, struct neighbour *found,
                     bool (*goes_on)(void *user, uint32_t done), void *user);

#endif
