/*
 * Speed of assembly:  bench_assemble [FILE [RECORDS]]
 *
 * FILE holds CIFAR rows (a label byte, then 3x32x32 pixels); without it, images are made up. Images are
 * taken in random order from huge pages to one batch buffer, again and again. Every row is timed in turns
 * with a plain loop that does the least of the same kind: copying for u8, v * scale + bias of whole images
 * for floats. Absolute figures drift, their ratios do not.
 */
#define _DEFAULT_SOURCE
#include "assemble_variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define CHANNELS 3u
#define SIDE     32u
#define PIXELS   (SIDE * SIDE)
#define IMAGE    (CHANNELS * PIXELS)
#define BATCH    512u
#define ROUNDS   9
#define HUGE     ((size_t)2 << 20)

struct bench {
    uint8_t *images, *batch;
    const uint8_t **order;
    struct placement *placements;
    size_t records;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *take(size_t size)
{
    size = (size + HUGE - 1) / HUGE * HUGE;
    void *p = aligned_alloc(HUGE, size);
    if (!p) {
        fprintf(stderr, "bench_assemble: out of memory\n");
        exit(1);
    }
    madvise(p, size, MADV_HUGEPAGE);
    memset(p, 1, size);
    return p;
}

static uint32_t draw(uint32_t below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static void read_images(struct bench *b, const char *path)
{
    FILE *f = path ? fopen(path, "rb") : NULL;
    if (path && !f) {
        perror(path);
        exit(1);
    }
    uint8_t row[1 + IMAGE];
    for (size_t i = 0; i < b->records; i++) {
        uint8_t *image = b->images + i * IMAGE;
        if (f && fread(row, sizeof row, 1, f) == 1)
            memcpy(image, row + 1, IMAGE);
        else
            for (size_t k = 0; k < IMAGE; k++)
                image[k] = (uint8_t)draw(256);
    }
    if (f)
        fclose(f);
}

static void prepare(struct bench *b, const char *path)
{
    b->images = take(b->records * IMAGE);
    b->batch = take(BATCH * IMAGE * sizeof(float));
    b->order = take(b->records * sizeof *b->order);
    b->placements = take(b->records * sizeof *b->placements);
    read_images(b, path);
    for (size_t i = 0; i < b->records; i++) {
        size_t other = draw((uint32_t)i + 1);
        b->order[i] = b->order[other];
        b->order[other] = b->images + i * IMAGE;
        b->placements[i] = (struct placement){.top = (int32_t)draw(9),
                                              .left = (int32_t)draw(9),
                                              .cut_top = (int32_t)draw(32) - 8,
                                              .cut_left = (int32_t)draw(32) - 8,
                                              .flip = draw(2)};
    }
}

/* ----------------------------------------------------------------------------------------- plain loops */

#define INLINE static inline __attribute__((always_inline))

INLINE void plain_floats(const uint8_t *const *from, const struct assembly *a, float *restrict to)
{
    for (size_t i = 0; i < BATCH; i++)
        for (size_t c = 0; c < CHANNELS; c++) {
            const uint8_t *restrict plane = from[i] + c * PIXELS;
            float *restrict out = to + (i * CHANNELS + c) * PIXELS, scale = a->scale[c], bias = a->bias[c];
            for (size_t k = 0; k < PIXELS; k++)
                out[k] = plane[k] * scale + bias;
        }
}

typedef void plain_fn(const uint8_t *const *from, const struct assembly *a, void *to);

static void plain_base(const uint8_t *const *from, const struct assembly *a, void *to)
{
    plain_floats(from, a, to);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void plain_avx2(const uint8_t *const *from, const struct assembly *a,
                                                       void *to)
{
    plain_floats(from, a, to);
}

#if defined(__clang__)
#define V4 "avx512f,avx512bw,avx512vl,avx512dq"
#else
#define V4 "avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512"
#endif

__attribute__((target(V4))) static void plain_avx512(const uint8_t *const *from, const struct assembly *a,
                                                     void *to)
{
    plain_floats(from, a, to);
}
#endif

static void plain_copy(const uint8_t *const *from, const struct assembly *a, void *to)
{
    (void)a;
    for (size_t i = 0; i < BATCH; i++)
        memcpy((uint8_t *)to + i * IMAGE, from[i], IMAGE);
}

static plain_fn *plain_for(enum cpu_variant variant, apl_dtype dtype)
{
    if (dtype == APL_U8)
        return plain_copy;
#if defined(__x86_64__)
    if (variant == CPU_AVX2)
        return plain_avx2;
    if (variant == CPU_AVX512)
        return plain_avx512;
#endif
    (void)variant;
    return plain_base;
}

/* ---------------------------------------------------------------------------------------------- timing */

struct kind {
    const char *name;
    apl_dtype dtype;
    apl_layout layout;
    unsigned pad;
    apl_pad pad_mode;
    unsigned cutout;
};

static const struct kind kinds[] = {
    {"u8 whole images", APL_U8, APL_NCHW, 0, APL_PAD_ZERO, 0},
    {"u8 crop flip", APL_U8, APL_NCHW, 4, APL_PAD_ZERO, 0},
    {"u8 crop flip NHWC", APL_U8, APL_NHWC, 4, APL_PAD_ZERO, 0},
    {"f32 normalise", APL_F32, APL_NCHW, 0, APL_PAD_ZERO, 0},
    {"f32 crop flip normalise", APL_F32, APL_NCHW, 4, APL_PAD_ZERO, 0},
    {"f32 the same, reflecting", APL_F32, APL_NCHW, 4, APL_PAD_REFLECT, 0},
    {"f32 the same, cutout 16", APL_F32, APL_NCHW, 4, APL_PAD_REFLECT, 16},
    {"f32 crop flip norm. NHWC", APL_F32, APL_NHWC, 4, APL_PAD_ZERO, 0},
    {"f16 crop flip normalise", APL_F16, APL_NCHW, 4, APL_PAD_ZERO, 0},
    {"f16 crop flip norm. NHWC", APL_F16, APL_NHWC, 4, APL_PAD_ZERO, 0},
    {"bf16 crop flip normalise", APL_BF16, APL_NCHW, 4, APL_PAD_ZERO, 0},
};

static struct assembly assembly_of(const struct kind *kind)
{
    struct assembly a = {
        .channels = CHANNELS, .height = SIDE, .width = SIDE, .out_height = SIDE, .out_width = SIDE};
    a.pad = kind->pad;
    a.pad_mode = kind->pad_mode;
    a.cutout = kind->cutout;
    a.dtype = kind->dtype;
    a.layout = kind->layout;
    for (unsigned c = 0; c < CHANNELS; c++) {
        a.scale[c] = 1 / (60.0f + (float)c);
        a.bias[c] = -2.0f - 0.1f * (float)c;
    }
    return a;
}

static double run_assemble(const struct bench *b, enum cpu_variant variant, const struct assembly *a,
                           size_t records)
{
    double start = now();
    for (size_t i = 0; i + BATCH <= records; i += BATCH)
        assemble_by(variant, a, b->order + i, a->pad ? b->placements + i : NULL, BATCH, b->batch);
    return now() - start;
}

static double run_plain(const struct bench *b, plain_fn *plain, const struct assembly *a, size_t records)
{
    double start = now();
    for (size_t i = 0; i + BATCH <= records; i += BATCH)
        plain(b->order + i, a, b->batch);
    return now() - start;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void bench_kind(const struct bench *b, enum cpu_variant variant, const struct kind *kind)
{
    struct assembly a = assembly_of(kind);
    plain_fn *plain = plain_for(variant, a.dtype);
    size_t records = b->records;
    double best = 1e9, base = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        base = least(base, run_plain(b, plain, &a, records));
        best = least(best, run_assemble(b, variant, &a, records));
    }
    double n = (double)(records / BATCH * BATCH);
    printf("%-7s %-25s %8.0f images/s  %6.1f ns  plain loop %8.0f  ratio %.3f%s\n", cpu_variant_name(variant),
           kind->name, n / best, best / n * 1e9, n / base, base / best,
           assemble_variant(&a) == variant ? "  chosen" : "");
}

static void copy_plainly(const struct bench *b, size_t first, size_t bytes)
{
    for (size_t i = 0; i < BATCH; i++)
        memcpy(b->batch + i * bytes, b->order[first + i], bytes);
}

static double run_gather(const struct bench *b, size_t bytes, int plainly)
{
    double start = now();
    for (size_t i = 0; i + BATCH <= b->records; i += BATCH) {
        if (plainly)
            copy_plainly(b, i, bytes);
        else
            gather(b->order + i, bytes, BATCH, b->batch);
    }
    return now() - start;
}

static void bench_gather(const struct bench *b, size_t bytes)
{
    double best = 1e9, base = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        base = least(base, run_gather(b, bytes, 1));
        best = least(best, run_gather(b, bytes, 0));
    }
    double n = (double)(b->records / BATCH * BATCH);
    printf("gather  %4zu bytes %25.0f values/s  %6.1f ns  plain loop %8.0f  ratio %.3f\n", bytes, n / best,
           best / n * 1e9, n / base, base / best);
}

int main(int argc, char **argv)
{
    struct bench b = {.records = argc > 2 ? strtoul(argv[2], NULL, 10) : 20000};
    if (b.records < BATCH) {
        fprintf(stderr, "bench_assemble: at least %u records\n", BATCH);
        return 1;
    }
    prepare(&b, argc > 1 ? argv[1] : NULL);
    const size_t sizes[] = {1, 2, 4, 8, 24, 256, IMAGE};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        bench_gather(&b, sizes[i]);
    for (int v = 0; v < CPU_VARIANTS; v++)
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            if (getenv("APL_CPU") ? v == (int)cpu_variant() : cpu_can((enum cpu_variant)v))
                bench_kind(&b, (enum cpu_variant)v, &kinds[i]);
    free(b.images), free(b.batch), free(b.order), free(b.placements);
    return 0;
}
