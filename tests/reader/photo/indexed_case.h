/* Indexed images drawn for a test: coefficients, from which libjpeg makes both a JPEG file and the segments of its indexed form. */
#ifndef INDEXED_CASE_H
#define INDEXED_CASE_H

#include "indexed.h"

#include "jpegs.h"
#include "samples.h"

/* The quantised coefficients of an image, filler beyond its last column included. */
struct coefs {
    unsigned width, height, components, across, down; /* sampling of the first component */
    bool rgb;
    unsigned per_segment, columns, segments,
        rows;              /* MCUs of a segment and of a row; segments of a row; rows of MCUs */
    uint16_t quant[3][64]; /* row by row */
    int16_t *values[3];    /* rows of blocks of 64, as wide as the segments are */
};

static inline unsigned coefs_across(const struct coefs *c, unsigned i)
{
    return i == 0 ? c->across : 1;
}

static inline unsigned coefs_down(const struct coefs *c, unsigned i)
{
    return i == 0 ? c->down : 1;
}

static inline unsigned coefs_blocks(const struct coefs *c, unsigned i)
{
    return c->segments * c->per_segment * coefs_across(c, i);
}

static inline int16_t *coefs_block(const struct coefs *c, unsigned i, unsigned x, unsigned y)
{
    return c->values[i] + ((size_t)y * coefs_blocks(c, i) + x) * 64;
}

static inline void coefs_measure(struct coefs *c)
{
    c->columns = (c->width + 8 * c->across - 1) / (8 * c->across);
    c->rows = (c->height + 8 * c->down - 1) / (8 * c->down);
    c->segments = (c->columns + c->per_segment - 1) / c->per_segment;
    for (unsigned i = 0; i < c->components; i++)
        c->values[i] = calloc((size_t)coefs_blocks(c, i) * c->rows * coefs_down(c, i), 64 * sizeof(int16_t));
}

static inline void coefs_free(struct coefs *c)
{
    for (unsigned i = 0; i < c->components; i++)
        free(c->values[i]);
}

/* Filler: the DC of the block before. */
static inline void coefs_fill_up(struct coefs *c)
{
    for (unsigned y = 0; y < c->rows; y++)
        for (unsigned i = 0; i < c->components; i++) {
            unsigned across = coefs_across(c, i), down = coefs_down(c, i);
            for (unsigned x = c->columns * across; x < coefs_blocks(c, i); x++)
                for (unsigned k = 0; k < down; k++)
                    coefs_block(c, i, x, y * down + k)[0] =
                        coefs_block(c, i, c->columns * across - 1, y * down + down - 1)[0];
        }
}

/* As libjpeg writes them; `fillers`: with the filler, and a marker behind each segment. */
static inline struct jpeg_bytes coefs_write(const struct coefs *k, bool fillers)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned long size = 0;
    uint8_t *data = NULL;
    jvirt_barray_ptr arrays[3];
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &data, &size);
    c.image_width = fillers ? k->segments * k->per_segment * 8 * k->across : k->width;
    c.image_height = k->height;
    c.input_components = (int)k->components;
    c.in_color_space = k->components == 1 ? JCS_GRAYSCALE : k->rgb ? JCS_RGB : JCS_YCbCr;
    jpeg_set_defaults(&c);
    jpeg_set_colorspace(&c, c.in_color_space);
    c.optimize_coding = TRUE;
    c.restart_interval = fillers ? k->per_segment : 0;
    for (unsigned i = 0; i < k->components; i++) {
        unsigned quant[64];
        for (int n = 0; n < 64; n++)
            quant[n] = k->quant[i][n];
        jpeg_add_quant_table(&c, (int)i, quant, 100, TRUE);
        c.comp_info[i].quant_tbl_no = (int)i;
        c.comp_info[i].dc_tbl_no = c.comp_info[i].ac_tbl_no = i > 0;
        c.comp_info[i].h_samp_factor = (int)coefs_across(k, i);
        c.comp_info[i].v_samp_factor = (int)coefs_down(k, i);
        arrays[i] = c.mem->request_virt_barray((j_common_ptr)&c, JPOOL_IMAGE, TRUE, coefs_blocks(k, i),
                                               k->rows * coefs_down(k, i), coefs_down(k, i));
    }
    jpeg_write_coefficients(&c, arrays);
    for (unsigned i = 0; i < k->components; i++)
        for (unsigned y = 0; y < k->rows * coefs_down(k, i); y++) {
            JBLOCKARRAY row = c.mem->access_virt_barray((j_common_ptr)&c, arrays[i], y, 1, TRUE);
            memcpy(row[0], coefs_block(k, i, 0, y), (size_t)coefs_blocks(k, i) * 64 * sizeof(int16_t));
        }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return (struct jpeg_bytes){data, size};
}

/* False: libjpeg makes something of it that has no indexed form. */
static inline bool coefs_read(struct jpeg_bytes bytes, unsigned per_segment, struct coefs *k)
{
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    jpeg_begin(&c, &errors, bytes);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&c);
    const jpeg_component_info *p = c.comp_info;
    bool grey = c.num_components == 1;
    bool fits = grey || (c.num_components == 3 && p[0].h_samp_factor <= 2 && p[0].v_samp_factor <= 2 &&
                         p[1].h_samp_factor == 1 && p[1].v_samp_factor == 1 && p[2].h_samp_factor == 1 &&
                         p[2].v_samp_factor == 1);
    *k = (struct coefs){.width = c.image_width,
                        .height = c.image_height,
                        .components = (unsigned)c.num_components,
                        .across = grey ? 1 : (unsigned)p[0].h_samp_factor,
                        .down = grey ? 1 : (unsigned)p[0].v_samp_factor,
                        .rgb = c.jpeg_color_space == JCS_RGB,
                        .per_segment = per_segment};
    if (fits) {
        coefs_measure(k);
        for (unsigned i = 0; i < k->components; i++) {
            memcpy(k->quant[i], p[i].quant_table->quantval, sizeof k->quant[i]);
            unsigned wide = k->columns * coefs_across(k, i);
            for (unsigned y = 0; y < k->rows * coefs_down(k, i); y++) {
                JBLOCKARRAY row = c.mem->access_virt_barray((j_common_ptr)&c, arrays[i], y, 1, FALSE);
                memcpy(coefs_block(k, i, 0, y), row[0], (size_t)wide * 64 * sizeof(int16_t));
            }
        }
        coefs_fill_up(k);
    }
    jpeg_destroy_decompress(&c);
    return fits;
}

/* ------------------------------------------------------------------------------------------------ values */

/* An indexed image with all that it points to; the segments are at the end of their memory. */
struct indexed_case {
    struct indexed image;
    uint8_t *lengths, *data;
};

static inline void indexed_free(struct indexed_case *x)
{
    free(x->lengths);
    free(x->data);
}

static const uint8_t indexed_natural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                            12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                            35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                            58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

/* Tables from DHT segments; returns where the scan begins. */
static inline size_t indexed_tables(struct indexed_case *x, struct jpeg_bytes bytes)
{
    for (size_t at = 2;;) {
        const uint8_t *p = bytes.data + at, *end = p + 2 + (p[2] << 8 | p[3]);
        if (p[1] == 0xda)
            return (size_t)(end - bytes.data);
        if (p[1] == 0xc4)
            for (p += 4; p < end;) {
                unsigned count = 0;
                for (int n = 1; n <= 16; n++)
                    count += p[n];
                struct huffman *code = (p[0] >> 4 ? x->image.ac : x->image.dc) + (p[0] & 15);
                memcpy(code->counts, p + 1, 16);
                memcpy(code->symbols, p + 17, count);
                code->size = count;
                p += 17 + count;
            }
        at = (size_t)(end - bytes.data);
    }
}

/* Cuts a scan at its markers, and takes the stuffing out of it. */
static inline void indexed_cut(struct indexed_case *x, const uint8_t *scan, size_t size)
{
    size_t n = 0, count = 0, begin = 0;
    uint8_t *data = malloc(size);
    x->lengths = malloc(2 * (size_t)x->image.segments * x->image.rendering.frame.rows);
    for (size_t i = 0; i < size; i++) {
        if (scan[i] != 0xff || scan[i + 1] == 0) {
            data[n++] = scan[i];
            i += scan[i] == 0xff;
            continue;
        }
        x->lengths[2 * count] = (uint8_t)(n - begin);
        x->lengths[2 * count++ + 1] = (uint8_t)((n - begin) >> 8);
        begin = n;
        i++;
    }
    if (count != (size_t)x->image.segments * x->image.rendering.frame.rows)
        abort();
    x->data = malloc(n);
    memcpy(x->data, data, n);
    free(data);
    x->image.data = x->data;
    x->image.data_bytes = n;
    x->image.lengths = x->lengths;
}

static inline void indexed_make(const struct coefs *k, struct indexed_case *x)
{
    struct jpeg_bytes bytes = coefs_write(k, true);
    struct rendering *r = &x->image.rendering;
    x->image =
        (struct indexed){.mcus = k->per_segment, .segments = k->segments, .codes = k->components > 1 ? 2 : 1};
    r->colours = k->components == 1 ? IMAGE_GREY : k->rgb ? IMAGE_RGB : IMAGE_YCC;
    r->frame = (struct frame){.width = k->width,
                              .height = k->height,
                              .columns = k->columns,
                              .rows = k->rows,
                              .components = (uint16_t)k->components};
    for (unsigned i = 0; i < k->components; i++) {
        r->frame.across[i] = (uint8_t)coefs_across(k, i);
        r->frame.down[i] = (uint8_t)coefs_down(k, i);
        for (int n = 0; n < 64; n++)
            r->tables[i][n] = (uint8_t)k->quant[i][indexed_natural[n]];
    }
    size_t scan = indexed_tables(x, bytes);
    indexed_cut(x, bytes.data + scan, bytes.size - scan);
    free(bytes.data);
}

#endif
