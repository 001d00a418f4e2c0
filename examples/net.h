/*
 * net.h - a small convolutional network for square images, in plain C: up to three times (3x3 convolution,
 * largest of 2x2, rectifier), then one dense layer; softmax, cross-entropy, stochastic gradient descent with momentum.
 *
 * All weights are one array of floats, all gradients another: a step is one loop. The images of a batch are
 * shared out among threads, each of which has a gradient of its own; these are added in a fixed order, so that
 * the same batches give the same weights for the same number of threads.
 */
#ifndef NET_H
#define NET_H

#include <stddef.h>
#include <stdint.h>

#define NET_MAX_THREADS 64
#define NET_MAX_BLOCKS  3

typedef struct net net;

/* Of some images: the sum of their losses, and how many were classified correctly. */
typedef struct net_score {
    double loss;
    size_t right;
} net_score;

/*
 * A network for images of side x side pixels with `channels` numbers each, with random weights and `depth`
 * convolutions (at most NET_MAX_BLOCKS; 0: the dense layer alone). The side is a multiple of 8; at most
 * NET_MAX_THREADS threads. NULL if out of memory, or if the numbers make no sense.
 */
net *net_new(unsigned side, unsigned channels, unsigned depth, unsigned classes, unsigned threads,
             uint64_t seed);
void net_free(net *n);

/* Classifies `count` images: floats, pixel by pixel (NHWC), and their labels, below `classes`. */
net_score net_evaluate(net *n, const float *images, const uint8_t *labels, size_t count);

/* The same, and sets the gradient of the mean loss. */
net_score net_gradient(net *n, const float *images, const uint8_t *labels, size_t count);

/* Moves the weights against the gradient, with momentum; `decay` pulls them towards 0. */
void net_step(net *n, float rate, float momentum, float decay);

/* Weights and their gradients, net_weight_count() numbers each; for tests. */
size_t net_weight_count(const net *n);
float *net_weights(net *n);
const float *net_gradients(const net *n);

#endif
