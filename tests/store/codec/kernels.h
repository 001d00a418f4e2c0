/* Every kernel of one table against that of another, on the same inputs; in plain C, so that it runs where
 * there is no test framework. */
#ifndef KERNELS_H
#define KERNELS_H

#include "filter.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A size of picture, a kind of input; two tables of kernels. */
struct kernel_case {
    const struct filter *a, *b;
    size_t width, height;
    enum sample kind;
};

#define KERNEL_GUARD 64 /* bytes around a result that must stay as they are */

static inline uint8_t *kernel_bytes(size_t n, int fill)
{
    uint8_t *p = malloc(n + 2 * KERNEL_GUARD);
    if (!p)
        abort();
    memset(p, fill, n + 2 * KERNEL_GUARD);
    return p;
}

static inline int kernel_same(const uint8_t *a, const uint8_t *b, size_t n)
{
    return memcmp(a, b, n + 2 * KERNEL_GUARD) == 0;
}

static inline const char *compare_subtract(const struct kernel_case *k, const uint8_t *in, size_t n)
{
    uint8_t *x = kernel_bytes(n, 7), *y = kernel_bytes(n, 7);
    k->a->subtract(x + KERNEL_GUARD, in, in + n, n);
    k->b->subtract(y + KERNEL_GUARD, in, in + n, n);
    int same = kernel_same(x, y, n);
    free(x);
    free(y);
    return same ? NULL : "subtract";
}

static inline const char *compare_residuals(const struct kernel_case *k, const uint8_t *in, size_t n)
{
    uint8_t *x = kernel_bytes(n, 7), *y = kernel_bytes(n, 7);
    uint64_t p = k->a->residuals(x + KERNEL_GUARD, in, k->width, k->height);
    uint64_t q = k->b->residuals(y + KERNEL_GUARD, in, k->width, k->height);
    int same = kernel_same(x, y, n);
    free(x);
    free(y);
    return !same ? "residuals" : p != q ? "activity" : NULL;
}

static inline const char *compare_add_back(const struct kernel_case *k, const uint8_t *in, size_t n)
{
    uint8_t *x = kernel_bytes(n, 7), *y = kernel_bytes(n, 7);
    memcpy(x + KERNEL_GUARD, in, n);
    memcpy(y + KERNEL_GUARD, in, n);
    k->a->add_back(x + KERNEL_GUARD, in + n, n);
    k->b->add_back(y + KERNEL_GUARD, in + n, n);
    int same = kernel_same(x, y, n);
    free(x);
    free(y);
    return same ? NULL : "add_back";
}

static inline const char *compare_restore_plane(const struct kernel_case *k, const uint8_t *in, size_t n)
{
    uint8_t *x = kernel_bytes(n, 7), *y = kernel_bytes(n, 7);
    memcpy(x + KERNEL_GUARD, in, n);
    memcpy(y + KERNEL_GUARD, in, n);
    k->a->restore_plane(x + KERNEL_GUARD, k->width, k->height);
    k->b->restore_plane(y + KERNEL_GUARD, k->width, k->height);
    int same = kernel_same(x, y, n);
    free(x);
    free(y);
    return same ? NULL : "restore_plane";
}

static inline const char *compare_interleave(const struct kernel_case *k, const uint8_t *in, size_t n)
{
    const uint8_t *from[WAYS];
    for (size_t w = 0; w < WAYS; w++)
        from[w] = in + (w * 7 % WAYS) * n;
    uint8_t *x = kernel_bytes(WAYS * n, 7), *y = kernel_bytes(WAYS * n, 7);
    k->a->interleave(x + KERNEL_GUARD, from, n);
    k->b->interleave(y + KERNEL_GUARD, from, n);
    int same = kernel_same(x, y, WAYS * n);
    free(x);
    free(y);
    return same ? NULL : "interleave";
}

static inline void kernel_restore(const struct filter *f, const struct kernel_case *k, const uint8_t *in,
                                  uint8_t *to)
{
    memset(to, FILTER_MIDDLE, k->width * WAYS);
    memcpy(to + k->width * WAYS, in, k->width * k->height * WAYS);
    f->restore(to + k->width * WAYS, k->width, k->height);
}

static inline const char *compare_restore(const struct kernel_case *k, const uint8_t *in, size_t n)
{
    size_t bytes = WAYS * (n + k->width);
    uint8_t *x = kernel_bytes(bytes, 7), *y = kernel_bytes(bytes, 7);
    kernel_restore(k->a, k, in, x + KERNEL_GUARD);
    kernel_restore(k->b, k, in, y + KERNEL_GUARD);
    int same = kernel_same(x, y, bytes);
    free(x);
    free(y);
    return same ? NULL : "restore";
}

static inline const char *compare_separate(const struct kernel_case *k, const uint8_t *in, size_t n, int plus)
{
    uint8_t *x = kernel_bytes(WAYS * n, 7), *y = kernel_bytes(WAYS * n, 7), *to[2][WAYS];
    const uint8_t *green[WAYS];
    for (size_t w = 0; w < WAYS; w++) {
        size_t place = KERNEL_GUARD + (w * 5 % WAYS) * n;
        to[0][w] = x + place;
        to[1][w] = y + place;
        green[w] = in + (w * 3 % WAYS) * n;
    }
    k->a->separate(to[0], plus ? green : NULL, in, n);
    k->b->separate(to[1], plus ? green : NULL, in, n);
    int same = kernel_same(x, y, WAYS * n);
    free(x);
    free(y);
    return same ? NULL : plus ? "separate, plus green" : "separate";
}

/* NULL, or the kernel in which the tables differ. */
static inline const char *compare_kernels(const struct kernel_case *k)
{
    size_t n = k->width * k->height;
    uint8_t *in = kernel_bytes(WAYS * n, 0);
    sample_fill(in, WAYS * n, k->kind, k->width, (uint32_t)(n + 1));
    const char *differs = compare_residuals(k, in, n);
    differs = differs ? differs : compare_subtract(k, in, n);
    differs = differs ? differs : compare_add_back(k, in, n);
    differs = differs ? differs : compare_restore_plane(k, in, n);
    differs = differs ? differs : compare_interleave(k, in, n);
    differs = differs ? differs : compare_restore(k, in, n);
    differs = differs ? differs : compare_separate(k, in, n, 0);
    differs = differs ? differs : compare_separate(k, in, n, 1);
    free(in);
    return differs;
}

static const size_t kernel_sizes[][2] = {{1, 1},   {1, 2},   {2, 1},   {1, 40},  {40, 1},  {2, 2},   {3, 3},
                                         {5, 7},   {16, 16}, {31, 33}, {33, 31}, {32, 32}, {28, 28}, {17, 64},
                                         {64, 17}, {96, 96}, {15, 15}, {47, 49}, {48, 32}};

/* All sizes and kinds; prints what differs. Returns how many cases differ. */
static inline int compare_tables(const struct filter *a, const struct filter *b, const char *name)
{
    int wrong = 0;
    for (size_t s = 0; s < sizeof kernel_sizes / sizeof kernel_sizes[0]; s++) {
        for (int kind = 0; kind < SAMPLES; kind++) {
            struct kernel_case k = {a, b, kernel_sizes[s][0], kernel_sizes[s][1], (enum sample)kind};
            const char *differs = compare_kernels(&k);
            if (!differs)
                continue;
            fprintf(stderr, "%s: %s differs on %zux%zu, kind %d\n", name, differs, k.width, k.height, kind);
            wrong++;
        }
    }
    return wrong;
}

#endif
