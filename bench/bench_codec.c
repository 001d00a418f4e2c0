/*
 * Sizes and speed of the image codec:  bench_codec [FILE [RECORDS [LEVEL...]]]
 *
 * FILE holds CIFAR rows (a label byte, then 3x32x32 pixels); without it, images are made up. Every variant
 * of the kernels is timed within one run against bare zstd decoding of the very frames it decodes, into
 * memory touched before: absolute figures drift, their ratios do not.
 */
#include "bytes.h"
#include "image_codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#define IMAGE_BYTES 3072u
#define BLOCK       128u
#define ROUNDS      7

/* The columns of all blocks, raw and coded. */
struct bench {
    uint8_t *raw, *coded, *decoded;
    size_t records, blocks;
    size_t *at; /* where each block's coded column begins; the last one: their end */
    uint8_t **rows;
    struct entropy *entropy;
    ZSTD_DCtx *bare;
    apl_error err;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *take(size_t size)
{
    void *p = malloc(size);
    if (!p) {
        fprintf(stderr, "bench_codec: out of memory\n");
        exit(1);
    }
    memset(p, 1, size);
    return p;
}

static void check(struct bench *b, apl_status status)
{
    if (status == APL_OK)
        return;
    fprintf(stderr, "bench_codec: %s\n", b->err.message);
    exit(1);
}

static void read_rows(struct bench *b, const char *path, size_t most)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    uint8_t row[1 + IMAGE_BYTES];
    b->raw = take(most * IMAGE_BYTES);
    for (; b->records < most && fread(row, sizeof row, 1, f) == 1; b->records++)
        memcpy(b->raw + b->records * IMAGE_BYTES, row + 1, IMAGE_BYTES);
    fclose(f);
}

/* Smooth shades with a little noise: about as compressible as photographs. */
static void make_rows(struct bench *b, size_t count)
{
    uint32_t noise = 1;
    b->records = count;
    b->raw = take(count * IMAGE_BYTES);
    for (size_t i = 0; i < count * IMAGE_BYTES; i++) {
        noise = noise * 1664525u + 1013904223u;
        size_t record = i / IMAGE_BYTES, x = i % 32, y = i / 32 % 32, c = i / 1024 % 3;
        b->raw[i] =
            (uint8_t)(x * (record % 5) + y * (record % 7) + c * 20 + (noise >> 24) % (4 + record % 24));
    }
}

static struct image_layout layout_of(const struct bench *b, size_t block)
{
    size_t left = b->records - block * BLOCK, n = left < BLOCK ? left : BLOCK;
    struct column_spec spec = {n, n * IMAGE_BYTES, 1, 3, {3, 32, 32}};
    struct image_layout layout;
    if (!image_layout_of(&spec, &layout))
        abort();
    return layout;
}

static void prepare(struct bench *b)
{
    struct image_layout layout = layout_of(b, 0);
    b->blocks = (b->records + BLOCK - 1) / BLOCK;
    b->coded = take(b->blocks * image_bound(&layout));
    b->decoded = take(b->records * IMAGE_BYTES);
    b->at = take((b->blocks + 1) * sizeof *b->at);
    b->rows = take(b->records * sizeof *b->rows);
    for (size_t i = 0; i < b->records; i++)
        b->rows[i] = b->decoded + i * IMAGE_BYTES;
    b->entropy = entropy_new();
    b->bare = ZSTD_createDCtx();
    if (!b->entropy || !b->bare)
        abort();
}

static double encode_all(struct bench *b, struct image_codec *p, int level)
{
    double start = now();
    b->at[0] = 0;
    for (size_t i = 0; i < b->blocks; i++) {
        struct image_layout layout = layout_of(b, i);
        size_t size = 0;
        check(b, image_encode(p, level, &layout, b->raw + i * BLOCK * IMAGE_BYTES, b->coded + b->at[i],
                              image_bound(&layout), &size, &b->err));
        b->at[i + 1] = b->at[i] + size;
    }
    return now() - start;
}

static double decode_all(struct bench *b, struct image_codec *p)
{
    double start = now();
    for (size_t i = 0; i < b->blocks; i++) {
        struct image_layout layout = layout_of(b, i);
        check(b, image_decode(p, &layout, b->coded + b->at[i], b->at[i + 1] - b->at[i], b->rows + i * BLOCK,
                              &b->err));
    }
    return now() - start;
}

/* Nothing but zstd on the same frames. */
static double decode_bare(struct bench *b)
{
    double start = now();
    uint8_t *to = b->decoded;
    for (size_t i = 0; i < b->blocks; i++) {
        struct image_layout layout = layout_of(b, i);
        const uint8_t *coded = b->coded + b->at[i], *frame = coded + layout.frames;
        for (size_t k = 0; k < layout.channels * layout.groups; k++) {
            size_t size = (size_t)load_le(coded + layout.table + 4 * k, 4);
            size_t raw_size = image_ways(&layout, k % layout.groups) * layout.plane;
            if (ZSTD_decompressDCtx(b->bare, to, raw_size, frame, size) != raw_size)
                abort();
            frame += size;
            to += raw_size;
        }
    }
    return now() - start;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void bench_variant(struct bench *b, enum cpu_variant variant, int level)
{
    struct image_codec *p = image_codec_new(variant, b->entropy);
    if (!p)
        abort();
    double encode = 1e9, decode = 1e9, bare = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        encode = least(encode, encode_all(b, p, level));
        bare = least(bare, decode_bare(b));
        decode = least(decode, decode_all(b, p));
    }
    if (memcmp(b->decoded, b->raw, b->records * IMAGE_BYTES) != 0) {
        fprintf(stderr, "bench_codec: %s gives other bytes\n", cpu_variant_name(variant));
        exit(1);
    }
    double raw = (double)b->records * IMAGE_BYTES;
    printf("%-8s level %4d  size/raw %.4f  encode %5.0f MB/s  decode %5.0f MB/s  %7.0f images/s  bare zstd "
           "%5.0f MB/s  ratio %.3f\n",
           cpu_variant_name(variant), level, (double)b->at[b->blocks] / raw, raw / encode * 1e-6,
           raw / decode * 1e-6, (double)b->records / decode, raw / bare * 1e-6, bare / decode);
    image_codec_free(p);
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    size_t most = argc > 2 ? strtoul(argv[2], NULL, 10) : 10000;
    if (argc > 1)
        read_rows(&b, argv[1], most);
    else
        make_rows(&b, most);
    if (b.records == 0) {
        fprintf(stderr, "bench_codec: no rows\n");
        return 1;
    }
    prepare(&b);
    for (int v = 0; v < CPU_VARIANTS; v++)
        if (getenv("APL_CPU") ? v == (int)cpu_variant() : cpu_can(v))
            bench_variant(&b, v, ENTROPY_LITERALS);
    if (argc > 3)
        for (int i = 3; i < argc; i++)
            bench_variant(&b, cpu_variant(), atoi(argv[i]));
    entropy_free(b.entropy);
    ZSTD_freeDCtx(b.bare);
    free(b.raw), free(b.coded), free(b.decoded), free(b.at), free(b.rows);
    return 0;
}
