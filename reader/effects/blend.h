/*
 * Images of a batch, mixed with each other, and their labels: torchvision's MixUp and CutMix. Each is mixed with the one before it,
 * and the first with the last. Floats are multiplied and added in single precision, rounded after each operation; halves are
 * rounded once more. Pure functions; every variant gives the same bytes.
 */
#ifndef BLEND_H
#define BLEND_H

#include "apl.h"
#include "cpu.h"
#include "scratch.h"

#include <stdbool.h>

#define BLEND_LEAST_ALPHA 1e-3
#define BLEND_MOST_ALPHA  1e3

/* What a batch's draws are keyed by. */
struct blend_key {
    uint64_t key;
    uint32_t counter[3];
};

struct blend_key blend_key(uint64_t seed, uint64_t epoch, uint64_t position, uint32_t rank);

enum blend_how { BLEND_NOTHING, BLEND_MIXUP, BLEND_CUTMIX };

/* What is done to a batch: `own` is what is left of an image, and of its label. CutMix: the box that is another's. */
struct blend_plan {
    enum blend_how how;
    double own;
    uint32_t left, top, right, bottom;
};

/* Of settings that have been checked and completed. */
struct blend_plan blend_draw(const apl_blend *settings, struct blend_key key, uint32_t height,
                             uint32_t width);

/* `rows` images, each of `planes` planes of height x width pixels of `channels` elements. */
struct blend_images {
    uint8_t *data;
    size_t rows;
    apl_dtype dtype;
    uint32_t planes, height, width, channels;
};

/* Mixes them in place; MixUp is for floats. False: out of memory. */
bool blend_apply(struct scratch *last, const struct blend_plan *plan, const struct blend_images *images);

/* Writes a number for each class: of a label, and of the one that it is mixed with. */
void blend_label(const struct blend_plan *plan, double smoothing, uint32_t own, uint32_t other,
                 uint32_t classes, float *out);

/* before[i] * other + row[i] * own, to row[i], of n elements: bits of halves. */
struct blend {
    void (*f32)(float *row, const float *before, size_t n, float own, float other);
    void (*f16)(uint16_t *row, const uint16_t *before, size_t n, float own, float other);
    void (*bf16)(uint16_t *row, const uint16_t *before, size_t n, float own, float other);
};

/* That of a variant; the plain one for what was not built in. */
const struct blend *blend_for(enum cpu_variant variant);

extern const struct blend blend_scalar, blend_avx2, blend_avx512;

#endif
