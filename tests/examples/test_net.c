/* The network of the training example: its gradients against differences of its loss, and that it learns. */
#include "../../examples/matmul.h"
#include "../../examples/net.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, CHANNELS = 3, CLASSES = 5, COUNT = 6, PICTURE = SIDE * SIDE * CHANNELS };

/* Numbers in [-1, 1). */
static float noise(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (float)(*random >> 40) / 8388608.0f - 1;
}

static float pictures[COUNT * PICTURE];
static uint8_t labels[COUNT];

static void draw(uint64_t seed)
{
    for (size_t i = 0; i < COUNT * PICTURE; i++)
        pictures[i] = noise(&seed);
    for (size_t i = 0; i < COUNT; i++)
        labels[i] = (uint8_t)(i % CLASSES);
}

static net *net_of(unsigned depth, unsigned threads)
{
    net *n = net_new(SIDE, CHANNELS, depth, CLASSES, threads, 3);
    cr_assert(n);
    return n;
}

static net *small_net(unsigned threads)
{
    return net_of(NET_MAX_BLOCKS, threads);
}

/* The mean loss with weights moved by `step` times the gradient, from `first` on, `count` of them. */
static double loss_at(net *n, const float *weights, const float *gradient, size_t first, size_t count,
                      double step)
{
    float *w = net_weights(n);
    memcpy(w, weights, net_weight_count(n) * sizeof *w);
    for (size_t i = first; i < first + count; i++)
        w[i] += (float)(step * gradient[i]);
    return net_evaluate(n, pictures, labels, COUNT).loss / COUNT;
}

/* Along the gradient of some weights, the loss rises by the square of that gradient's length. */
static void check_slope(net *n, const float *weights, const float *gradient, size_t first, size_t count)
{
    double square = 0;
    for (size_t i = first; i < first + count; i++)
        square += (double)gradient[i] * gradient[i];
    if (square < 1e-8)
        return;
    const double step = 2e-3 / sqrt(square);
    const double rise = (loss_at(n, weights, gradient, first, count, step) -
                         loss_at(n, weights, gradient, first, count, -step)) /
                        (2 * step);
    cr_expect(fabs(rise / square - 1) < 0.03,
              "weights %zu to %zu: the loss rises by %g, the gradient says %g", first, first + count - 1,
              rise, square);
}

static float *copy(const float *from, size_t count)
{
    float *to = malloc(count * sizeof *to);
    cr_assert(to);
    return memcpy(to, from, count * sizeof *to);
}

/* By runs of 16 weights: how many. */
static size_t check_gradient(unsigned depth)
{
    draw(1);
    net *n = net_of(depth, 1);
    const size_t count = net_weight_count(n);
    for (size_t i = 0; i < count; i++) /* biases too shall be something */
        net_weights(n)[i] += 0.01f * (float)(i % 7);
    net_gradient(n, pictures, labels, COUNT);
    float *weights = copy(net_weights(n), count), *gradient = copy(net_gradients(n), count);
    /* All kernels and biases are met by some run of 16: rows of kernels are multiples of that. */
    size_t runs = 0;
    for (size_t first = 0; first + 16 <= count; first += 16, runs++)
        check_slope(n, weights, gradient, first, 16);
    check_slope(n, weights, gradient, 0, count);
    free(weights);
    free(gradient);
    net_free(n);
    return runs;
}

Test(net, gradient_is_that_of_the_loss)
{
    cr_expect(check_gradient(NET_MAX_BLOCKS) > 1000);
}

Test(net, gradient_of_fewer_blocks_is_that_of_the_loss)
{
    for (unsigned depth = 0; depth < NET_MAX_BLOCKS; depth++)
        cr_expect(check_gradient(depth) > 100);
}

Test(net, a_wrong_gradient_would_be_seen)
{
    draw(1);
    net *n = small_net(1);
    const size_t count = net_weight_count(n);
    net_gradient(n, pictures, labels, COUNT);
    float *weights = copy(net_weights(n), count), *gradient = copy(net_gradients(n), count);
    double square = 0;
    for (size_t i = 0; i < 16; i++)
        gradient[i] = -gradient[i], square += (double)gradient[i] * gradient[i];
    const double step = 2e-3 / sqrt(square);
    const double rise =
        loss_at(n, weights, gradient, 0, 16, step) - loss_at(n, weights, gradient, 0, 16, -step);
    cr_expect(rise < 0);
    free(weights);
    free(gradient);
    net_free(n);
}

Test(net, threads_share_the_work)
{
    draw(2);
    net *one = small_net(1), *many = small_net(4);
    const net_score a = net_gradient(one, pictures, labels, COUNT),
                    b = net_gradient(many, pictures, labels, COUNT);
    cr_expect_eq(a.right, b.right);
    cr_expect(fabs(a.loss - b.loss) < 1e-6 * fabs(a.loss));
    for (size_t i = 0; i < net_weight_count(one); i++)
        cr_assert(fabsf(net_gradients(one)[i] - net_gradients(many)[i]) < 1e-5f, "weight %zu", i);
    net_free(one);
    net_free(many);
}

Test(net, learns_a_batch_by_heart)
{
    draw(3);
    net *n = small_net(2);
    for (int i = 0; i < 300; i++) {
        net_gradient(n, pictures, labels, COUNT);
        net_step(n, 0.02f, 0.9f, 0);
    }
    const net_score score = net_evaluate(n, pictures, labels, COUNT);
    cr_expect_eq(score.right, (size_t)COUNT);
    cr_expect(score.loss < 0.1 * COUNT, "%g", score.loss);
    net_free(n);
}

Test(net, refuses_what_makes_no_sense)
{
    cr_expect_null(net_new(12, 3, 3, 10, 1, 0));
    cr_expect_null(net_new(0, 3, 3, 10, 1, 0));
    cr_expect_null(net_new(32, 0, 3, 10, 1, 0));
    cr_expect_null(net_new(32, 3, NET_MAX_BLOCKS + 1, 10, 1, 0));
    cr_expect_null(net_new(32, 3, 3, 0, 1, 0));
    cr_expect_null(net_new(32, 3, 3, 10, 0, 0));
    cr_expect_null(net_new(32, 3, 3, 10, NET_MAX_THREADS + 1, 0));
    net_free(NULL);
}

Test(net, products_of_matrices)
{
    static float a[24 * 24], b[24 * 32], c[24 * 32], expected[24 * 32];
    uint64_t random = 5;
    for (size_t m = 1; m <= 20; m++)
        for (size_t n = 16; n <= 32; n += 16)
            for (size_t k = 0; k <= 5; k++) {
                const operand left = {a, 1, 24};
                for (size_t i = 0; i < sizeof a / sizeof *a; i++)
                    a[i] = noise(&random);
                for (size_t i = 0; i < sizeof b / sizeof *b; i++)
                    b[i] = noise(&random), expected[i] = c[i] = noise(&random);
                for (size_t i = 0; i < m; i++)
                    for (size_t j = 0; j < n; j++)
                        for (size_t s = 0; s < k; s++)
                            expected[i * n + j] += a[i + s * 24] * b[s * n + j];
                matmul_add(m, n, k, left, b, c);
                for (size_t i = 0; i < sizeof c / sizeof *c; i++)
                    cr_assert(fabsf(c[i] - expected[i]) < 1e-5f, "%zu x %zu x %zu, %zu", m, k, n, i);
            }
}
