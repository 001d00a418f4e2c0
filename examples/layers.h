/*
 * layers.h - what the network of net.h does to one image: convolution, pooling, loss, each with its
 * derivative. Images are square; their numbers are in the order y, x, channel. An image is "bordered" if it
 * has a border of zeros, one pixel wide.
 */
#ifndef LAYERS_H
#define LAYERS_H

#include <stddef.h>

/* A 3x3 convolution that keeps the size, the largest of each 2x2, a rectifier. */
typedef struct block {
    size_t side, in, out; /* pixels a side of its input; channels of input and output: out a multiple of 16 */
    size_t weights, bias; /* where they begin among all weights: [3 rows][3 columns][in][out], and [out] */
} block;

/* Numbers in a bordered image, and where row `y` begins in one that has a border or not (1 or 0). */
size_t bordered(size_t side, size_t channels);
size_t row_at(size_t y, size_t side, size_t channels, size_t border);

/* Adds the 3x3 convolution of `from` (bordered, `in` channels) to `to` (side x side x out). */
void convolve(size_t side, size_t in, size_t out, const float *from, const float *weights, float *to);

/* Adds to the gradients by a block's weights and bias. input, slope: bordered; the block's input, and the
 * derivative of the loss by what its convolution gave. */
void conv_gradient(const block *b, const float *input, const float *slope, float *weights, float *bias);

/* The weights, [3][3][out][in], with which convolving a slope gives the derivative by the block's input. */
void turn_weights(const block *b, const float *weights, float *turned);

/* Of each 2x2 pixels the largest number, or 0: `to` has half the side, and a border or not. */
void pool(const block *b, const float *from, float *to, size_t border);

/* From d, the derivative by what pool() gave, to the slope (bordered): the derivative by what it was given. */
void unpool(const block *b, const float *from, const float *pooled, size_t border, const float *d,
            float *slope);

/* Softmax and cross-entropy: returns the loss, turns outputs into its derivative by them, and sets *right to
 * whether the largest is that of the label. */
double softmax_loss(float *outputs, size_t classes, unsigned label, int *right);

#endif
