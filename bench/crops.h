/* For benchmarks of crops of JPEG images: the work of a loader, and libjpeg-turbo alone. */
#ifndef CROPS_H
#define CROPS_H

#include "assemble.h"
#include "measure.h"
#include "photo.h"

#include <jpeglib.h>

#define SIDE  224u
#define PLANE ((size_t)SIDE * SIDE)

static const struct crop_rules random_box = {.sizing = CROP_RANDOM_RESIZED,
                                             .height = SIDE,
                                             .width = SIDE,
                                             .scale = {0.08, 1},
                                             .ratio = {3.0 / 4, 4.0 / 3}};

/* Milliseconds of CPU time of this process. */
static inline double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* A whole file, to be freed, or NULL. */
static inline uint8_t *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        return NULL;
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = must_have(malloc(*size + 1));
    bool whole = fread(bytes, 1, *size, f) == *size;
    fclose(f);
    return whole ? bytes : NULL;
}

/* Decodes an image by libjpeg-turbo, one decoder for all: whole, or rows and columns of the plan's box only. */
static inline void bare_decode(const uint8_t *bytes, size_t size, const struct crop_plan *plan, bool whole)
{
    static struct jpeg_decompress_struct c;
    static struct jpeg_error_mgr errors;
    static uint8_t line[3 * 65536];
    JSAMPROW row = line;
    if (!c.err) {
        c.err = jpeg_std_error(&errors);
        jpeg_create_decompress(&c);
    }
    jpeg_mem_src(&c, bytes, size);
    jpeg_read_header(&c, TRUE);
    c.out_color_space = JCS_RGB;
    jpeg_start_decompress(&c);
    JDIMENSION left = plan->box.left, width = plan->box.width, end = c.output_height;
    if (!whole) {
        jpeg_crop_scanline(&c, &left, &width);
        jpeg_skip_scanlines(&c, plan->box.top);
        end = plan->box.top + plan->box.height;
    }
    while (c.output_scanline < end)
        jpeg_read_scanlines(&c, &row, 1);
    jpeg_abort_decompress(&c);
}

/* u8[3, SIDE, SIDE] to f32, normalised, mirrored on request. */
static inline void finish_floats(const uint8_t *rgb, bool flip, float *floats)
{
    struct assembly a = {.channels = 3,
                         .height = SIDE,
                         .width = SIDE,
                         .out_height = SIDE,
                         .out_width = SIDE,
                         .dtype = APL_F32};
    struct placement p = {.flip = flip, .cut_top = SIDE};
    for (int c = 0; c < 3; c++)
        a.scale[c] = 1 / 58.4f, a.bias[c] = -2.1f;
    assemble(&a, &rgb, &p, 1, floats);
}

#endif
