/*
 * The body of filter_avx2.c and its siblings, which define FILTER_TABLE, the plane_restore_... that goes into it as
 * FILTER_PLANE and, by way of a header of vector operations, for a vector of VEC_BYTES (16 or 32; of lanes of 16 each):
 *
 *   vec, vec_load, vec_store, vec_fill  a vector, unaligned access to it, one byte in all places
 *   vec_add, vec_sub, vec_min, vec_max  of unsigned bytes, mod 256
 *   vec_zip_low, vec_zip_high           the bytes of the low (high) halves of two vectors in turns, by lanes
 *   vec_gather(from)                    lane k from from + k * 16 * WAYS
 *   vec_scatter(to, v)                  lane k to to + k * 16 * WAYS
 *   vec_abs                             of signed bytes; of -128, 128
 *   sum, sum_zero, sum_add, sum_total   a sum of unsigned bytes
 */
#include "filter.h"
#include "filter_chain.h"
#include "filter_transpose.h"

/* to[i] = a[i] - b[i] + plus */
static inline void subtract_plus(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8_t plus, size_t n)
{
    vec add = vec_fill(plus);
    size_t i = 0;
    for (; i + VEC_BYTES <= n; i += VEC_BYTES)
        vec_store(to + i, vec_add(vec_sub(vec_load(a + i), vec_load(b + i)), add));
    for (; i < n; i++)
        to[i] = (uint8_t)(a[i] - b[i] + plus);
}

static void subtract(uint8_t *to, const uint8_t *a, const uint8_t *b, size_t n)
{
    subtract_plus(to, a, b, FILTER_MIDDLE, n);
}

static void add_back(uint8_t *to, const uint8_t *a, size_t n)
{
    vec less = vec_fill(FILTER_MIDDLE);
    size_t i = 0;
    for (; i + VEC_BYTES <= n; i += VEC_BYTES)
        vec_store(to + i, vec_sub(vec_add(vec_load(to + i), vec_load(a + i)), less));
    for (; i < n; i++)
        to[i] = (uint8_t)(to[i] + a[i] - FILTER_MIDDLE);
}

static uint64_t activity(const uint8_t *residual, size_t n)
{
    sum s = sum_zero();
    size_t i = 0;
    for (; i + VEC_BYTES <= n; i += VEC_BYTES)
        s = sum_add(s, vec_min(vec_abs(vec_load(residual + i)), vec_fill(FILTER_CALM)));
    uint64_t total = sum_total(s);
    for (; i < n; i++)
        total += filter_activity(residual[i]);
    return total;
}

static inline vec vec_med(vec west, vec north, vec northwest)
{
    vec low = vec_min(west, north), high = vec_max(west, north);
    return vec_sub(vec_add(west, north), vec_min(vec_max(northwest, low), high));
}

/* The rows below the first are taken as one run of bytes, so that no width leaves a tail in every row; what
 * this gets wrong is the first column, whose west is the row above's end. It is done over. */
static uint64_t residuals(uint8_t *to, const uint8_t *plane, size_t width, size_t height)
{
    size_t n = width * height, i = width + 1;
    to[0] = (uint8_t)(plane[0] - FILTER_MIDDLE);
    subtract_plus(to + 1, plane + 1, plane, 0, width - 1);
    for (; i + VEC_BYTES <= n; i += VEC_BYTES) {
        const uint8_t *at = plane + i;
        vec med = vec_med(vec_load(at - 1), vec_load(at - width), vec_load(at - width - 1));
        vec_store(to + i, vec_sub(vec_load(at), med));
    }
    for (; i < n; i++)
        to[i] = (uint8_t)(plane[i] - filter_med(plane[i - 1], plane[i - width], plane[i - width - 1]));
    for (i = width; i < n; i += width)
        to[i] = (uint8_t)(plane[i] - plane[i - width]);
    return activity(to, n);
}

static void restore_row(uint8_t *row, size_t bytes)
{
    struct chain c;
    c.west = c.northwest = vec_load(row - bytes);
    for (size_t at = 0; at < bytes; at += WAYS)
        vec_store(row + at, advance(&c, vec_load(row + at - bytes), vec_load(row + at)));
}

/* Two rows at once, the lower one a pixel behind the upper one, whose pixels it takes as its north: two
 * chains that do not wait for each other. */
static void restore_two_rows(uint8_t *row, size_t bytes)
{
    uint8_t *lower = row + bytes;
    struct chain up, down;
    up.west = up.northwest = vec_load(row - bytes);
    vec pixel = advance(&up, up.west, vec_load(row));
    vec_store(row, pixel);
    down.west = down.northwest = pixel;
    for (size_t at = WAYS; at < bytes; at += WAYS) {
        vec next = advance(&up, vec_load(row + at - bytes), vec_load(row + at));
        vec_store(lower + at - WAYS, advance(&down, pixel, vec_load(lower + at - WAYS)));
        vec_store(row + at, next);
        pixel = next;
    }
    vec_store(lower + bytes - WAYS, advance(&down, pixel, vec_load(lower + bytes - WAYS)));
}

static void restore(uint8_t *group, size_t width, size_t height)
{
    size_t bytes = width * WAYS;
    for (size_t part = 0; part < WAYS; part += VEC_BYTES) {
        uint8_t *row = group + part;
        size_t y = 0;
        for (; y + 2 <= height; y += 2, row += 2 * bytes)
            restore_two_rows(row, bytes);
        if (y < height)
            restore_row(row, bytes);
    }
}

/* VEC_BYTES bytes of 16 ways. */
static inline void interleave_block(uint8_t *group, const uint8_t *const *from, size_t at)
{
    vec v[16];
#define LOAD(i) v[i] = vec_load(from[i] + at);
    SIXTEEN(LOAD)
#undef LOAD
    transpose(v);
#define STORE(i) vec_scatter(group + (i)*WAYS, v[i]);
    SIXTEEN(STORE)
#undef STORE
}

static void interleave(uint8_t *group, const uint8_t *const from[WAYS], size_t n)
{
    size_t at = 0;
    for (; at + VEC_BYTES <= n; at += VEC_BYTES) {
        interleave_block(group + at * WAYS, from, at);
        interleave_block(group + at * WAYS + 16, from + 16, at);
    }
    for (; at < n; at++)
        for (size_t w = 0; w < WAYS; w++)
            group[at * WAYS + w] = from[w][at];
}

static inline void separate_block(uint8_t *const *to, const uint8_t *const *plus, const uint8_t *group,
                                  size_t at)
{
    vec v[16];
#define LOAD(i) v[i] = vec_gather(group + (i)*WAYS);
    SIXTEEN(LOAD)
#undef LOAD
    transpose(v);
#define STORE(i)      vec_store(to[i] + at, v[i]);
#define STORE_PLUS(i) vec_store(to[i] + at, vec_add(vec_sub(v[i], middle), vec_load(plus[i] + at)));
    if (plus) {
        vec middle = vec_fill(FILTER_MIDDLE);
        SIXTEEN(STORE_PLUS)
    } else {
        SIXTEEN(STORE)
    }
#undef STORE_PLUS
#undef STORE
}

/* All bytes of 16 ways before the next 16: so few rows written to at a time stay in cache line by line. */
static size_t separate_ways(uint8_t *const *to, const uint8_t *const *plus, const uint8_t *group, size_t n)
{
    size_t at = 0;
    for (; at + VEC_BYTES <= n; at += VEC_BYTES)
        separate_block(to, plus, group + at * WAYS, at);
    return at;
}

static void separate(uint8_t *const to[WAYS], const uint8_t *const *plus, const uint8_t *group, size_t n)
{
    size_t at = 0;
    for (size_t part = 0; part < WAYS; part += 16)
        at = separate_ways(to + part, plus ? plus + part : NULL, group + part, n);
    for (; at < n; at++)
        for (size_t w = 0; w < WAYS; w++)
            to[w][at] = (uint8_t)(group[at * WAYS + w] + (plus ? plus[w][at] - FILTER_MIDDLE : 0));
}

const struct filter FILTER_TABLE = {subtract,     add_back,   residuals, restore,
                                    FILTER_PLANE, interleave, separate};
