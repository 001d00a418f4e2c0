/* JPEG images drawn for a test, by libjpeg itself, and what libjpeg makes of them. */
#ifndef JPEGS_H
#define JPEGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

struct jpeg_case {
    unsigned width, height;
    J_COLOR_SPACE colour; /* stored: JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK, JCS_YCCK */
    int across, down;     /* sampling of the first component; of the others 1 */
    bool progressive;
    bool stripes;     /* all blocks are alike: of one coefficient, and DC */
    uint8_t level;    /* of all samples; 0: what jpeg_sample() gives */
    unsigned restart; /* units between markers; 0: none */
    int quality;
    bool without_tables;
    const void *app1; /* with its length, an EXIF segment */
    unsigned app1_size;
    const jpeg_scan_info *scans;
    int scan_count;
};

struct jpeg_bytes {
    uint8_t *data;
    size_t size;
};

/* A slope, an edge and some noise, of which little is lost. */
static inline uint8_t jpeg_sample(unsigned x, unsigned y, unsigned c)
{
    uint32_t noise = (x * 73856093u ^ y * 19349663u ^ c * 83492791u) * 2654435761u;
    unsigned slope = x * (c + 1) / 2 + y * (3 - c % 3) / 2, edge = (x / 13 + y / 17 + c) % 3 == 0 ? 60 : 0;
    return (uint8_t)((slope + edge + (noise >> 29)) % 256);
}

static inline J_COLOR_SPACE jpeg_input_colour(J_COLOR_SPACE stored)
{
    return stored == JCS_YCbCr ? JCS_RGB : stored == JCS_YCCK ? JCS_CMYK : stored;
}

static inline struct jpeg_bytes jpeg_draw(const struct jpeg_case *k)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned long size = 0;
    uint8_t *data = NULL;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &data, &size);
    c.image_width = k->width;
    c.image_height = k->height;
    c.in_color_space = jpeg_input_colour(k->colour);
    c.input_components = k->colour == JCS_GRAYSCALE                       ? 1
                         : k->colour == JCS_CMYK || k->colour == JCS_YCCK ? 4
                                                                          : 3;
    jpeg_set_defaults(&c);
    jpeg_set_colorspace(&c, k->colour);
    jpeg_set_quality(&c, k->quality ? k->quality : 90, TRUE);
    for (int i = 0; i < c.num_components; i++) {
        c.comp_info[i].h_samp_factor = i == 0 && k->across ? k->across : 1;
        c.comp_info[i].v_samp_factor = i == 0 && k->down ? k->down : 1;
    }
    c.restart_interval = k->restart;
    if (k->progressive)
        jpeg_simple_progression(&c);
    if (k->scans) {
        c.scan_info = k->scans;
        c.num_scans = k->scan_count;
    }
    if (k->without_tables)
        jpeg_suppress_tables(&c, TRUE);
    jpeg_start_compress(&c, !k->without_tables);
    if (k->app1)
        jpeg_write_marker(&c, JPEG_APP0 + 1, k->app1, k->app1_size);
    uint8_t *row = malloc((size_t)k->width * (size_t)c.input_components);
    while (c.next_scanline < c.image_height) {
        for (unsigned i = 0; i < k->width * (unsigned)c.input_components; i++)
            row[i] = k->level     ? k->level
                     : k->stripes ? (uint8_t)(i / (unsigned)c.input_components % 8 * 36)
                                  : jpeg_sample(i / (unsigned)c.input_components, c.next_scanline,
                                                i % (unsigned)c.input_components);
        jpeg_write_scanlines(&c, &row, 1);
    }
    free(row);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return (struct jpeg_bytes){data, size};
}

static inline void jpeg_begin(struct jpeg_decompress_struct *c, struct jpeg_error_mgr *errors,
                              struct jpeg_bytes bytes)
{
    c->err = jpeg_std_error(errors);
    jpeg_create_decompress(c);
    jpeg_mem_src(c, bytes.data, bytes.size);
    jpeg_read_header(c, TRUE);
}

/* The whole image as libjpeg decodes it: RGB, or CMYK as it is stored; side by side. */
static inline uint8_t *jpeg_whole(struct jpeg_bytes bytes, unsigned eighths, unsigned *width,
                                  unsigned *height)
{
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    jpeg_begin(&c, &errors, bytes);
    bool ink = c.jpeg_color_space == JCS_CMYK || c.jpeg_color_space == JCS_YCCK;
    c.out_color_space = ink ? JCS_CMYK : JCS_RGB;
    c.scale_num = eighths;
    c.scale_denom = 8;
    jpeg_start_decompress(&c);
    *width = c.output_width;
    *height = c.output_height;
    size_t line = (size_t)c.output_width * (ink ? 4 : 3);
    uint8_t *pixels = malloc(line * c.output_height);
    while (c.output_scanline < c.output_height) {
        uint8_t *row = pixels + c.output_scanline * line;
        jpeg_read_scanlines(&c, &row, 1);
    }
    jpeg_destroy_decompress(&c);
    return pixels;
}

/* Its planes as they are stored; each free()d by the caller. */
struct jpeg_raw {
    unsigned width[3], height[3], stride[3];
    uint8_t *plane[3];
};

static inline struct jpeg_raw jpeg_stored(struct jpeg_bytes bytes, unsigned eighths)
{
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    struct jpeg_raw raw = {{0}, {0}, {0}, {NULL, NULL, NULL}};
    c.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, bytes.data, bytes.size);
    jpeg_read_header(&c, TRUE);
    c.raw_data_out = TRUE;
    c.scale_num = eighths;
    c.scale_denom = 8;
    jpeg_start_decompress(&c);
    unsigned band = (unsigned)(c.max_v_samp_factor * c.min_DCT_scaled_size);
    for (int i = 0; i < c.num_components; i++) {
        raw.width[i] = c.comp_info[i].downsampled_width;
        raw.height[i] = c.comp_info[i].downsampled_height;
        raw.stride[i] = raw.width[i] + 128;
        raw.plane[i] = malloc((size_t)raw.stride[i] * (raw.height[i] + 64));
    }
    while (c.output_scanline < c.output_height) {
        JSAMPROW rows[3][64];
        JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
        for (int i = 0; i < c.num_components; i++) {
            unsigned down = (unsigned)(c.comp_info[i].v_samp_factor * c.comp_info[i].DCT_scaled_size);
            for (unsigned k = 0; k < down; k++)
                rows[i][k] = raw.plane[i] + (size_t)(c.output_scanline / band * down + k) * raw.stride[i];
        }
        jpeg_read_raw_data(&c, planes, band);
    }
    jpeg_destroy_decompress(&c);
    return raw;
}

static inline void jpeg_raw_free(struct jpeg_raw *raw)
{
    for (int i = 0; i < 3; i++)
        free(raw->plane[i]);
}

static const struct jpeg_case jpeg_cases[] = {
    {.width = 1, .height = 1, .colour = JCS_YCbCr, .across = 2, .down = 2},
    {.width = 7, .height = 5, .colour = JCS_GRAYSCALE},
    {.width = 97, .height = 61, .colour = JCS_GRAYSCALE, .progressive = true},
    {.width = 128, .height = 96, .colour = JCS_YCbCr, .across = 2, .down = 2},
    {.width = 131, .height = 99, .colour = JCS_YCbCr, .across = 2, .down = 2, .restart = 3},
    {.width = 131, .height = 99, .colour = JCS_YCbCr, .across = 2, .down = 2, .progressive = true},
    {.width = 61, .height = 113, .colour = JCS_YCbCr, .across = 1, .down = 1},
    {.width = 113, .height = 61, .colour = JCS_YCbCr, .across = 1, .down = 1, .progressive = true},
    {.width = 77, .height = 83, .colour = JCS_YCbCr, .across = 2, .down = 1},
    {.width = 83, .height = 77, .colour = JCS_YCbCr, .across = 1, .down = 2},
    {.width = 101, .height = 37, .colour = JCS_YCbCr, .across = 4, .down = 1},
    {.width = 90, .height = 70, .colour = JCS_YCbCr, .across = 4, .down = 2, .restart = 1},
    {.width = 65, .height = 66, .colour = JCS_RGB, .across = 1, .down = 1},
    {.width = 75, .height = 46, .colour = JCS_CMYK, .across = 1, .down = 1},
    {.width = 75, .height = 46, .colour = JCS_YCCK, .across = 2, .down = 2, .progressive = true},
};
#define JPEG_CASES (sizeof jpeg_cases / sizeof jpeg_cases[0])

static inline bool jpeg_is_ink(const struct jpeg_case *k)
{
    return k->colour == JCS_CMYK || k->colour == JCS_YCCK;
}

#endif
