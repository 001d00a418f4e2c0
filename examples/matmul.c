#include "matmul.h"

/*
 * A vector of floats, at any address, as wide as the machine's registers are with the options it is compiled
 * with: -march=native makes the best of it. The compiler turns arithmetic on vectors into such instructions.
 */
#ifdef __AVX__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

enum { TILE_ROWS = 8, TILE_COLUMNS = 2 * LANES };

/*
 * Some rows of c, two vectors wide, stay in registers while k runs: each step loads two vectors of b, and one
 * number of a for each row. `rows` is a constant where this is inlined, and its loops are unrolled.
 */
__attribute__((always_inline)) static inline void tile(size_t rows, size_t n, size_t k, operand a,
                                                       const float *b, float *c)
{
    vec left[TILE_ROWS], right[TILE_ROWS];
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        left[i] = *(const vec *)(c + i * n);
        right[i] = *(const vec *)(c + i * n + LANES);
    }
    for (size_t j = 0; j < k; j++, b += n, a.data += a.column) {
        const vec b_left = *(const vec *)b, b_right = *(const vec *)(b + LANES);
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++) {
            const float x = a.data[i * a.row];
            left[i] += x * b_left;
            right[i] += x * b_right;
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        *(vec *)(c + i * n) = left[i];
        *(vec *)(c + i * n + LANES) = right[i];
    }
}

void matmul_add(size_t m, size_t n, size_t k, operand a, const float *b, float *c)
{
    size_t i = 0;
    for (; i + TILE_ROWS <= m; i += TILE_ROWS, a.data += TILE_ROWS * a.row)
        for (size_t j = 0; j < n; j += TILE_COLUMNS)
            tile(TILE_ROWS, n, k, a, b + j, c + i * n + j);
    for (; i < m; i++, a.data += a.row)
        for (size_t j = 0; j < n; j += TILE_COLUMNS)
            tile(1, n, k, a, b + j, c + i * n + j);
}
