#include "net.h"

#include "layers.h"
#include "matmul.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 1024, MAX_CHANNELS = 64 };
static const unsigned widths[NET_MAX_BLOCKS] = {16, 32, 64}; /* multiples of 16, for matmul_add() */

/* What a thread needs for one image at a time, and the sum of its gradients. */
typedef struct worker {
    net *net;
    float *input[NET_MAX_BLOCKS];     /* of each block, with a border of zeros one pixel wide */
    float *convolved[NET_MAX_BLOCKS]; /* what its convolution gives */
    float *slope[NET_MAX_BLOCKS];     /* the loss's derivative by that, with a border of zeros too */
    float *features;                  /* output of the last block, or the image */
    float *d_input;                   /* derivative by the output of a block */
    float *outputs;
    float *gradient;
    const float *images; /* its share of the batch */
    const uint8_t *labels;
    size_t count;
    int learning;
    net_score score;
    pthread_t thread;
} worker;

struct net {
    block blocks[NET_MAX_BLOCKS];
    size_t depth, side, channels;      /* how many blocks; of an image */
    size_t features, classes, columns; /* of the dense layer; columns: the classes, up to a multiple of 16 */
    size_t dense, dense_bias;          /* where they begin: [features][columns], [columns] */
    size_t count;                      /* of all weights */
    float *weights, *gradient, *velocity;
    float *turned[NET_MAX_BLOCKS]; /* weights of a block's convolution backwards: [3][3][out][in] */
    unsigned threads;
    worker *workers;
};

/* ------------------------------------------------------------------------------------- the dense layer */

static void dense_forward(const net *n, const float *features, float *outputs)
{
    memcpy(outputs, n->weights + n->dense_bias, n->columns * sizeof *outputs);
    matmul_add(1, n->columns, n->features, (operand){features, 0, 1}, n->weights + n->dense, outputs);
}

/* `d` is the derivative by the outputs; its columns beyond the classes are set to 0, so that nothing learns
 * from them. */
static void dense_gradient(const net *n, const float *features, float *d, float *gradient)
{
    for (size_t i = n->classes; i < n->columns; i++)
        d[i] = 0;
    for (size_t i = 0; i < n->classes; i++)
        gradient[n->dense_bias + i] += d[i];
    matmul_add(n->features, n->columns, 1, (operand){features, 1, 0}, d, gradient + n->dense);
}

static void dense_backward(const net *n, const float *d, float *d_features)
{
    for (size_t f = 0; f < n->features; f++) {
        const float *w = n->weights + n->dense + f * n->columns;
        float sum = 0;
        for (size_t i = 0; i < n->classes; i++)
            sum += w[i] * d[i];
        d_features[f] = sum;
    }
}

/* ----------------------------------------------------------------------------------------- one image */

/* Where the output of block `i` goes: into the next one's input, which has a border, or to the features. */
static float *output_of(worker *w, size_t i)
{
    return i + 1 < w->net->depth ? w->input[i + 1] : w->features;
}

static void conv_forward(const net *n, const block *b, const float *input, float *output)
{
    for (size_t p = 0; p < b->side * b->side; p++)
        memcpy(output + p * b->out, n->weights + b->bias, b->out * sizeof *output);
    convolve(b->side, b->in, b->out, input, n->weights + b->weights, output);
}

/* Numbers in an image. */
static size_t image_size(const net *n)
{
    return n->side * n->side * n->channels;
}

static void take_image(worker *w, const float *image)
{
    const net *n = w->net;
    const size_t row = n->side * n->channels;
    if (n->depth == 0)
        memcpy(w->features, image, n->features * sizeof *image);
    for (size_t y = 0; n->depth > 0 && y < n->side; y++)
        memcpy(w->input[0] + row_at(y, n->side, n->channels, 1), image + y * row, row * sizeof *image);
}

static void forward(worker *w, const float *image)
{
    const net *n = w->net;
    take_image(w, image);
    for (size_t i = 0; i < n->depth; i++) {
        conv_forward(n, &n->blocks[i], w->input[i], w->convolved[i]);
        pool(&n->blocks[i], w->convolved[i], output_of(w, i), i + 1 < n->depth);
    }
    dense_forward(n, w->features, w->outputs);
}

static void backward(worker *w)
{
    const net *n = w->net;
    dense_gradient(n, w->features, w->outputs, w->gradient);
    if (n->depth > 0)
        dense_backward(n, w->outputs, w->d_input);
    for (size_t i = n->depth; i-- > 0;) {
        const block *b = &n->blocks[i];
        unpool(b, w->convolved[i], output_of(w, i), i + 1 < n->depth, w->d_input, w->slope[i]);
        conv_gradient(b, w->input[i], w->slope[i], w->gradient + b->weights, w->gradient + b->bias);
        if (i == 0)
            return;
        memset(w->d_input, 0, b->side * b->side * b->in * sizeof(float));
        convolve(b->side, b->out, b->in, w->slope[i], n->turned[i], w->d_input);
    }
}

/* --------------------------------------------------------------------------------------------- a batch */

static void *work(void *argument)
{
    worker *w = argument;
    const size_t image = image_size(w->net);
    w->score = (net_score){0, 0};
    if (w->learning)
        memset(w->gradient, 0, w->net->count * sizeof(float));
    for (size_t i = 0; i < w->count; i++) {
        int right;
        forward(w, w->images + i * image);
        w->score.loss += softmax_loss(w->outputs, w->net->classes, w->labels[i], &right);
        w->score.right += (size_t)right;
        if (w->learning)
            backward(w);
    }
    return NULL;
}

/* Shares the images out among the workers. The caller is the first of them, and the stand-in for a thread
 * that could not be started. */
static net_score run(net *n, const float *images, const uint8_t *labels, size_t count, int learning)
{
    const size_t image = image_size(n);
    net_score score = {0, 0};
    int started[NET_MAX_THREADS];
    for (size_t t = 0; t < n->threads; t++) {
        worker *w = &n->workers[t];
        const size_t from = count * t / n->threads;
        w->images = images + from * image;
        w->labels = labels + from;
        w->count = count * (t + 1) / n->threads - from;
        w->learning = learning;
        started[t] = t > 0 && pthread_create(&w->thread, NULL, work, w) == 0;
    }
    for (size_t t = 0; t < n->threads; t++) {
        worker *w = &n->workers[t];
        if (started[t])
            pthread_join(w->thread, NULL);
        else
            work(w);
        score.loss += w->score.loss;
        score.right += w->score.right;
    }
    return score;
}

net_score net_evaluate(net *n, const float *images, const uint8_t *labels, size_t count)
{
    return run(n, images, labels, count, 0);
}

net_score net_gradient(net *n, const float *images, const uint8_t *labels, size_t count)
{
    for (size_t i = 1; i < n->depth; i++)
        turn_weights(&n->blocks[i], n->weights + n->blocks[i].weights, n->turned[i]);
    const net_score score = run(n, images, labels, count, 1);
    const float scale = count > 0 ? 1.0f / (float)count : 0;
    for (size_t i = 0; i < n->count; i++) {
        float sum = 0;
        for (size_t t = 0; t < n->threads; t++)
            sum += n->workers[t].gradient[i];
        n->gradient[i] = sum * scale;
    }
    return score;
}

void net_step(net *n, float rate, float momentum, float decay)
{
    for (size_t i = 0; i < n->count; i++) {
        n->velocity[i] = momentum * n->velocity[i] + n->gradient[i] + decay * n->weights[i];
        n->weights[i] -= rate * n->velocity[i];
    }
}

size_t net_weight_count(const net *n)
{
    return n->count;
}

float *net_weights(net *n)
{
    return n->weights;
}

const float *net_gradients(const net *n)
{
    return n->gradient;
}

/* ---------------------------------------------------------------------------------- making and freeing */

static float *floats(size_t count)
{
    return calloc(count, sizeof(float));
}

/* Uniform in [-bound, bound), from a linear congruential generator. */
static void randomise(float *weights, size_t count, float bound, uint64_t *random)
{
    for (size_t i = 0; i < count; i++) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        weights[i] = ((float)(*random >> 40) / 8388608.0f - 1) * bound;
    }
}

/* Sizes of all layers, and where their weights begin. */
static void lay_out(net *n, unsigned side, unsigned channels)
{
    size_t in = channels, at = 0;
    n->side = side;
    n->channels = channels;
    for (size_t i = 0; i < n->depth; i++, side /= 2) {
        n->blocks[i] = (block){side, in, widths[i], at, at + 9 * in * widths[i]};
        at = n->blocks[i].bias + widths[i];
        in = widths[i];
    }
    n->features = (size_t)side * side * in;
    n->dense = at;
    n->dense_bias = at + n->features * n->columns;
    n->count = n->dense_bias + n->columns;
}

/* Weights such that numbers keep their size from layer to layer: variance 2 / inputs (He et al., 2015). The
 * last layer begins small; biases begin as 0. */
static void initialise(net *n, uint64_t seed)
{
    uint64_t random = seed * 2 + 1;
    for (size_t i = 0; i < n->depth; i++) {
        const block *b = &n->blocks[i];
        randomise(n->weights + b->weights, 9 * b->in * b->out, sqrtf(6.0f / (float)(9 * b->in)), &random);
    }
    randomise(n->weights + n->dense, n->features * n->columns, sqrtf(1.0f / (float)n->features), &random);
}

static int worker_init(worker *w, net *n)
{
    int ok = 1;
    w->net = n;
    for (size_t i = 0; i < n->depth; i++) {
        const block *b = &n->blocks[i];
        w->input[i] = floats(bordered(b->side, b->in));
        w->convolved[i] = floats(b->side * b->side * b->out);
        w->slope[i] = floats(bordered(b->side, b->out));
        ok = ok && w->input[i] && w->convolved[i] && w->slope[i];
    }
    w->features = floats(n->features);
    w->d_input = floats(n->side / 2 * (n->side / 2) * widths[0]); /* the first block's, the largest */
    w->outputs = floats(n->columns);
    w->gradient = floats(n->count);
    return ok && w->features && w->d_input && w->outputs && w->gradient;
}

static void worker_free(worker *w)
{
    for (size_t i = 0; i < NET_MAX_BLOCKS; i++) {
        free(w->input[i]);
        free(w->convolved[i]);
        free(w->slope[i]);
    }
    free(w->features);
    free(w->d_input);
    free(w->outputs);
    free(w->gradient);
}

static int allocate(net *n)
{
    int ok = 1;
    n->weights = floats(n->count);
    n->gradient = floats(n->count);
    n->velocity = floats(n->count);
    n->workers = calloc(n->threads, sizeof *n->workers);
    ok = n->weights && n->gradient && n->velocity && n->workers;
    for (size_t i = 1; i < n->depth; i++)
        ok = (n->turned[i] = floats(9 * n->blocks[i].in * n->blocks[i].out)) && ok;
    for (size_t t = 0; n->workers && t < n->threads; t++)
        ok = worker_init(&n->workers[t], n) && ok;
    return ok;
}

net *net_new(unsigned side, unsigned channels, unsigned depth, unsigned classes, unsigned threads,
             uint64_t seed)
{
    if (side == 0 || side % 8 != 0 || side > MAX_SIDE || channels == 0 || channels > MAX_CHANNELS ||
        depth > NET_MAX_BLOCKS || classes == 0 || classes > 256 || threads == 0 || threads > NET_MAX_THREADS)
        return NULL;
    net *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->depth = depth;
    n->classes = classes;
    n->columns = (classes + 15) / 16 * 16;
    n->threads = threads;
    lay_out(n, side, channels);
    if (!allocate(n)) {
        net_free(n);
        return NULL;
    }
    initialise(n, seed);
    return n;
}

void net_free(net *n)
{
    if (!n)
        return;
    for (size_t t = 0; n->workers && t < n->threads; t++)
        worker_free(&n->workers[t]);
    for (size_t i = 1; i < NET_MAX_BLOCKS; i++)
        free(n->turned[i]);
    free(n->workers);
    free(n->weights);
    free(n->gradient);
    free(n->velocity);
    free(n);
}
