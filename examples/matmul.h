/* matmul.h - multiplies small matrices at the speed of the machine's vectors, on one thread. */
#ifndef MATMUL_H
#define MATMUL_H

#include <stddef.h>

/* A matrix to read: element (i, k) is data[i * row + k * column]. Rows may overlap. */
typedef struct operand {
    const float *data;
    size_t row, column;
} operand;

/* Adds a (m x k) times b (k x n) to c (m x n). n is a multiple of 16; rows of b and c are n floats. */
void matmul_add(size_t m, size_t n, size_t k, operand a, const float *b, float *c);

#endif
