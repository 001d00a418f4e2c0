/* Images as files of JPEG, by libjpeg: see image.h. */
#include "image.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

struct jpeg_out {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    jmp_buf back;
    unsigned char *data; /* libjpeg's */
    unsigned long size;
};

static void leave_jpeg(j_common_ptr c)
{
    struct jpeg_out *out = c->client_data;
    longjmp(out->back, 1);
}

static void encode_jpeg(struct jpeg_out *out, const struct image *image, int quality)
{
    size_t row = image->width * image->channels;
    jpeg_create_compress(&out->c);
    jpeg_mem_dest(&out->c, &out->data, &out->size);
    out->c.image_width = (JDIMENSION)image->width;
    out->c.image_height = (JDIMENSION)image->height;
    out->c.input_components = (int)image->channels;
    out->c.in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&out->c);
    jpeg_set_quality(&out->c, quality, TRUE);
    out->c.optimize_coding = TRUE;
    jpeg_start_compress(&out->c, TRUE);
    for (size_t y = 0; y < image->height; y++) {
        JSAMPROW line = image->pixels + y * row;
        jpeg_write_scanlines(&out->c, &line, 1);
    }
    jpeg_finish_compress(&out->c);
}

struct bytes image_jpeg(const struct image *image, int quality)
{
    struct bytes bytes = {0};
    struct jpeg_out *out = calloc(1, sizeof *out);
    if (!out)
        return bytes;
    out->c.err = jpeg_std_error(&out->errors);
    out->c.client_data = out;
    out->errors.error_exit = leave_jpeg;
    if (!setjmp(out->back)) {
        encode_jpeg(out, image, quality);
        bytes = (struct bytes){malloc(out->size), out->size};
        if (bytes.data)
            memcpy(bytes.data, out->data, out->size);
    }
    jpeg_destroy_compress(&out->c);
    free(out->data);
    free(out);
    return bytes;
}
