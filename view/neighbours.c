/* Nearest neighbours: see neighbours.h. */
#include "neighbours.h"

#include "image_features.h"

#define TILE 256u /* rows of features that stay in the cache while others pass */

/* Puts a neighbour in its place, if it is nearer than the last. */
static void insert(struct neighbour *list, uint32_t at, uint32_t distance)
{
    unsigned i = NEIGHBOURS - 1;
    if (distance >= list[i].distance)
        return;
    for (; i > 0 && list[i - 1].distance > distance; i--)
        list[i] = list[i - 1];
    list[i] = (struct neighbour){at, distance};
}

/* Each pair of a row of the tile and of a row before it. */
static void compare(const uint8_t *features, const uint8_t *counts, uint32_t from, uint32_t to, uint32_t row,
                    struct neighbour *found)
{
    for (uint32_t i = row < from ? from : row + 1; i < to; i++) {
        if (!counts[i])
            continue;
        uint32_t d = features_distance(features + (size_t)row * FEATURES, features + (size_t)i * FEATURES);
        insert(found + (size_t)row * NEIGHBOURS, i, d);
        insert(found + (size_t)i * NEIGHBOURS, row, d);
    }
}

bool neighbours_find(const uint8_t *features, const uint8_t *counts, uint32_t n, struct neighbour *found,
                     bool (*goes_on)(void *user, uint32_t done), void *user)
{
    for (size_t i = 0; i < (size_t)n * NEIGHBOURS; i++)
        found[i] = (struct neighbour){UINT32_MAX, UINT32_MAX};
    for (uint32_t from = 0; from < n; from += TILE) {
        uint32_t to = n - from < TILE ? n : from + TILE;
        for (uint32_t row = 0; row < to; row++)
            if (counts[row])
                compare(features, counts, from, to, row, found);
        if (!goes_on(user, to))
            return false;
    }
    return true;
}
