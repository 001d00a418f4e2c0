#include "layers.h"

#include "matmul.h"
#include <math.h>

size_t bordered(size_t side, size_t channels)
{
    return (side + 2) * (side + 2) * channels;
}

size_t row_at(size_t y, size_t side, size_t channels, size_t border)
{
    return ((y + border) * (side + 2 * border) + border) * channels;
}

/*
 * Three neighbours in a row are 3 * in numbers on end: a row of a bordered image is, as it lies, a matrix
 * whose rows overlap. So a convolution is three products of matrices for each row, and nothing is copied.
 */
void convolve(size_t side, size_t in, size_t out, const float *from, const float *weights, float *to)
{
    for (size_t y = 0; y < side; y++)
        for (size_t dy = 0; dy < 3; dy++) {
            const operand row = {from + (y + dy) * (side + 2) * in, in, 1};
            matmul_add(side, out, 3 * in, row, weights + dy * 3 * in * out, to + y * side * out);
        }
}

void conv_gradient(const block *b, const float *input, const float *slope, float *weights, float *bias)
{
    for (size_t y = 0; y < b->side; y++) {
        const float *row = slope + row_at(y, b->side, b->out, 1);
        for (size_t dy = 0; dy < 3; dy++) {
            const operand neighbours = {input + (y + dy) * (b->side + 2) * b->in, 1, b->in};
            matmul_add(3 * b->in, b->out, b->side, neighbours, row, weights + dy * 3 * b->in * b->out);
        }
        for (size_t x = 0; x < b->side; x++)
            for (size_t c = 0; c < b->out; c++)
                bias[c] += row[x * b->out + c];
    }
}

/* Backwards, a neighbour above is one below, and what went in comes out. */
void turn_weights(const block *b, const float *weights, float *turned)
{
    for (size_t tap = 0; tap < 9; tap++)
        for (size_t i = 0; i < b->in; i++)
            for (size_t o = 0; o < b->out; o++)
                turned[(tap * b->out + o) * b->in + i] = weights[((8 - tap) * b->in + i) * b->out + o];
}

static inline float larger(float a, float b)
{
    return a > b ? a : b;
}

void pool(const block *b, const float *from, float *to, size_t border)
{
    const size_t side = b->side, c = b->out;
    for (size_t y = 0; y < side / 2; y++)
        for (size_t x = 0; x < side / 2; x++) {
            const float *up = from + (2 * y * side + 2 * x) * c, *down = up + side * c;
            float *p = to + row_at(y, side / 2, c, border) + x * c;
            for (size_t i = 0; i < c; i++)
                p[i] = larger(larger(larger(up[i], up[c + i]), larger(down[i], down[c + i])), 0);
        }
}

/* Of four pixels and one number a channel, the first that equals what was pooled gets the derivative; none if
 * that was 0. Rows of four pixels are `stride` numbers apart; those of the slope, two pixels more. */
static void unpool_four(size_t c, size_t stride, const float *restrict up, const float *restrict pooled,
                        const float *restrict d, float *restrict to)
{
    const float *down = up + stride;
    float *to_down = to + stride + 2 * c;
    for (size_t i = 0; i < c; i++) {
        const float most = pooled[i];
        float left = most > 0 ? d[i] : 0; /* still to be given away */
        to[i] = up[i] == most ? left : 0;
        left = up[i] == most ? 0 : left;
        to[c + i] = up[c + i] == most ? left : 0;
        left = up[c + i] == most ? 0 : left;
        to_down[i] = down[i] == most ? left : 0;
        to_down[c + i] = down[i] == most ? 0 : left;
    }
}

void unpool(const block *b, const float *from, const float *pooled, size_t border, const float *d,
            float *slope)
{
    const size_t half = b->side / 2, c = b->out;
    for (size_t y = 0; y < half; y++)
        for (size_t x = 0; x < half; x++)
            unpool_four(c, b->side * c, from + (2 * y * b->side + 2 * x) * c,
                        pooled + row_at(y, half, c, border) + x * c, d + (y * half + x) * c,
                        slope + row_at(2 * y, b->side, c, 1) + 2 * x * c);
}

double softmax_loss(float *outputs, size_t classes, unsigned label, int *right)
{
    size_t best = 0;
    double sum = 0;
    for (size_t i = 1; i < classes; i++)
        best = outputs[i] > outputs[best] ? i : best;
    const float most = outputs[best], own = outputs[label];
    for (size_t i = 0; i < classes; i++)
        sum += outputs[i] = expf(outputs[i] - most);
    for (size_t i = 0; i < classes; i++)
        outputs[i] = (float)(outputs[i] / sum) - (i == label);
    *right = best == label;
    return log(sum) + most - own;
}
