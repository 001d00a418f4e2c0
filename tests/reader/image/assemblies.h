/* One variant of assemble() against another on drawn cases, from and to memory that ends where the data ends;
 * in plain C, so that it runs where there is no test framework. */
#ifndef ASSEMBLIES_H
#define ASSEMBLIES_H

#include "assemble_variants.h"
#include "counts.h"
#include "samples.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CASE_PICTURES 3
#define CASE_PAGE     ((size_t)65536) /* at least what any machine has */

/* Bytes before and behind which nothing can be touched: behind at once if at_end, else before at once. */
struct fenced {
    uint8_t *map, *data;
    size_t pages;
};

static inline struct fenced fence(size_t bytes, int at_end)
{
    struct fenced f = {.pages = (bytes + CASE_PAGE - 1) / CASE_PAGE * CASE_PAGE};
    int zero = open("/dev/zero", O_RDWR | O_CLOEXEC);
    f.map = mmap(NULL, f.pages + 2 * CASE_PAGE, PROT_NONE, MAP_PRIVATE, zero, 0);
    if (zero < 0 || f.map == MAP_FAILED || mprotect(f.map + CASE_PAGE, f.pages, PROT_READ | PROT_WRITE) != 0)
        abort();
    close(zero);
    f.data = f.map + CASE_PAGE + (at_end ? f.pages - bytes : 0);
    return f;
}

static inline void unfence(struct fenced f)
{
    munmap(f.map, f.pages + 2 * CASE_PAGE);
}

struct assembly_case {
    struct assembly a;
    struct placement placements[CASE_PICTURES];
    int centred; /* no placements */
    struct fenced memory[CASE_PICTURES];
    const uint8_t *sources[CASE_PICTURES];
};

static inline uint32_t draw(uint32_t *state, uint32_t below)
{
    return (sample_random(state) >> 4) % below;
}

/* Sizes about those of vectors, strips and pictures. */
static inline unsigned draw_size(uint32_t *state)
{
    static const unsigned sizes[] = {1,  1,  2,  3,  5,  7,  8,  15, 16, 17, 28,  31,  32, 32,
                                     32, 33, 34, 40, 47, 48, 63, 64, 65, 95, 100, 256, 257};
    return sizes[draw(state, sizeof sizes / sizeof sizes[0])];
}

/* Among them numbers whose results are infinite, subnormal or halfway between two halves. */
static inline float draw_scale(uint32_t *state)
{
    static const float scales[] = {1.0f,    0.0f,     1 / 255.0f, 1 / 61.7f, -1 / 58.3f, 300.0f,
                                   -1e5f,   3.4e38f,  1e-40f,     1e-8f,     2.3e-10f,   -0.001f,
                                   0.0625f, 0.03125f, 257.0f,     16.0625f,  3e-5f,      0.1f};
    float scale = scales[draw(state, sizeof scales / sizeof scales[0])];
    return draw(state, 2) ? scale : scale * ((float)(draw(state, 1000) + 1) * 0.001f);
}

static inline void draw_placements(struct assembly_case *c, uint32_t *state)
{
    const struct assembly *a = &c->a;
    c->centred = draw(state, 8) == 0;
    for (int i = 0; i < CASE_PICTURES; i++) {
        struct placement *p = &c->placements[i];
        p->top = (int32_t)draw(state, a->height + 2 * a->pad - a->out_height + 1);
        p->left = (int32_t)draw(state, a->width + 2 * a->pad - a->out_width + 1);
        p->cut_top = (int32_t)draw(state, a->out_height + 2 * a->cutout + 3) - (int32_t)a->cutout - 1;
        p->cut_left = (int32_t)draw(state, a->out_width + 2 * a->cutout + 3) - (int32_t)a->cutout - 1;
        p->flip = draw(state, 2);
        p->vertical_flip = draw(state, 2);
    }
}

static inline unsigned draw_crop(uint32_t *state, unsigned source, unsigned pad)
{
    unsigned padded = source + 2 * pad, wanted = draw_size(state);
    return draw(state, 2) && source <= padded ? source : wanted <= padded ? wanted : 1 + draw(state, padded);
}

static inline void draw_assembly(struct assembly *a, uint32_t *state)
{
    static const apl_dtype dtypes[] = {APL_U8, APL_F32, APL_F16, APL_BF16};
    static const unsigned channels[] = {1, 2, 3, 3, 4, 16};
    a->channels = channels[draw(state, 6)];
    a->height = draw_size(state) % 60 + 1;
    a->width = draw_size(state);
    a->pad_mode = draw(state, 2) ? APL_PAD_REFLECT : APL_PAD_ZERO;
    unsigned least = a->height < a->width ? a->height : a->width;
    a->pad = draw(state, 3) == 0 ? 0 : draw(state, a->pad_mode == APL_PAD_REFLECT ? least : 45);
    a->out_height = draw_crop(state, a->height, a->pad);
    a->out_width = draw_crop(state, a->width, a->pad);
    a->cutout = draw(state, 2) ? 0 : 1 + draw(state, 40);
    a->dtype = dtypes[draw(state, 4)];
    a->layout = draw(state, 2) ? APL_NHWC : APL_NCHW;
    for (unsigned c = 0; c < a->channels; c++) {
        a->scale[c] = draw_scale(state);
        a->bias[c] = draw(state, 3) ? draw_scale(state) * 100 : 0;
        if (a->bias[c] > 3.4e38f)
            a->bias[c] = 3.4e38f;
    }
}

static inline void case_draw(struct assembly_case *c, uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1;
    memset(c, 0, sizeof *c);
    draw_assembly(&c->a, &state);
    draw_placements(c, &state);
    size_t bytes = (size_t)c->a.channels * c->a.height * c->a.width;
    for (int i = 0; i < CASE_PICTURES; i++) {
        c->memory[i] = fence(bytes, i != 1);
        sample_fill(c->memory[i].data, bytes, SAMPLE_RANDOM, 1, seed + (uint32_t)i);
        c->sources[i] = c->memory[i].data;
    }
}

static inline void case_free(struct assembly_case *c)
{
    for (int i = 0; i < CASE_PICTURES; i++)
        unfence(c->memory[i]);
}

static inline struct fenced case_run(const struct assembly_case *c, assemble_fn *variant, int at_end)
{
    struct fenced out = fence(CASE_PICTURES * assemble_bytes(&c->a), at_end);
    memset(out.map + CASE_PAGE, 0xa5, out.pages);
    variant(&c->a, c->sources, c->centred ? NULL : c->placements, CASE_PICTURES, out.data);
    return out;
}

static inline void case_print(const struct assembly_case *c, const char *name)
{
    const struct assembly *a = &c->a;
    fprintf(stderr, "%s: differs: %ux%ux%u pad %u mode %d to %ux%u cutout %u dtype %d layout %d\n", name,
            a->channels, a->height, a->width, a->pad, (int)a->pad_mode, a->out_height, a->out_width,
            a->cutout, (int)a->dtype, (int)a->layout);
}

/* Returns in how many of `cases` cases, drawn from `seed` on, the variants differ. */
static inline int compare_assemblies(assemble_fn *x, assemble_fn *y, uint32_t seed, uint32_t cases,
                                     const char *name)
{
    int wrong = 0;
    for (uint32_t i = 0; i < cases; i++) {
        struct assembly_case c;
        case_draw(&c, seed + i);
        int at_end = i % 2 == 0;
        struct fenced a = case_run(&c, x, at_end), b = case_run(&c, y, at_end);
        if (memcmp(a.map + CASE_PAGE, b.map + CASE_PAGE, a.pages) != 0) {
            case_print(&c, name);
            wrong++;
        }
        unfence(a);
        unfence(b);
        case_free(&c);
    }
    return wrong;
}

/* How many of 16 numbers the variants write differently, as numbers of one type: those of the biases. */
static inline int compare_roundings(assemble_fn *x, assemble_fn *y, apl_dtype dtype, const uint32_t bits[16])
{
    static const uint8_t source[APL_MAX_CHANNELS];
    const uint8_t *sources[1] = {source};
    struct assembly a = {.channels = 16, .height = 1, .width = 1, .out_height = 1, .out_width = 1};
    a.dtype = dtype;
    a.layout = APL_NHWC;
    memcpy(a.bias, bits, sizeof a.bias);
    uint32_t p[APL_MAX_CHANNELS] = {0}, q[APL_MAX_CHANNELS] = {0};
    x(&a, sources, NULL, 1, p);
    y(&a, sources, NULL, 1, q);
    return memcmp(p, q, sizeof p) != 0;
}

/* For every half, or some: what lies a little below and above it, and about the middle between it and the next. */
static inline int compare_all_roundings(assemble_fn *x, assemble_fn *y, apl_dtype dtype)
{
    int wrong = 0;
    /* Steps of half the distance between two halves; those of f16 end at 2^17, beyond infinity. */
    uint32_t step = dtype == APL_F16 ? 1u << 12 : 1u << 15;
    uint32_t first = dtype == APL_F16 ? 0x33000000u - 4 * step : 0,
             end = dtype == APL_F16 ? 0x48000000u : 0x7f800000u;
    for (uint32_t at = first; at < end; at += 2 * step * (uint32_t)sweep_step()) {
        uint32_t bits[16];
        for (uint32_t i = 0; i < 16; i++) {
            uint32_t value = at + i / 8 * step + i % 4 - 1;
            bits[i] = (at == 0 && value > end ? 0 : value) | (i % 8 < 4 ? 0 : 0x80000000u);
        }
        wrong += compare_roundings(x, y, dtype, bits);
    }
    return wrong;
}

#endif
