/* The one file that has libjpeg write: see jpeg_write.h. */
#include "jpeg_write.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#define JPEG_SOS    0xda /* where the segments before the samples end */
#define FULL_COLOUR 100  /* the quality from which on nothing is to be lost that need not be */

struct jpeg_output {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
    uint8_t *row;
    uint8_t *data; /* libjpeg's */
    unsigned long size;
};

static void leave_writing(j_common_ptr c)
{
    struct jpeg_output *o = c->client_data;
    c->err->format_message(c, o->text);
    longjmp(o->back, 1);
}

static void describe_output(struct jpeg_output *o, const struct raster *s, int quality)
{
    bool grey = s->channels < 3;
    o->c.image_width = s->width;
    o->c.image_height = s->height;
    o->c.input_components = grey ? 1 : 3;
    o->c.in_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&o->c);
    jpeg_set_quality(&o->c, quality, TRUE);
    o->c.optimize_coding = TRUE;
    o->c.dct_method = JDCT_ISLOW;
    o->c.comp_info[0].h_samp_factor = o->c.comp_info[0].v_samp_factor =
        grey || quality >= FULL_COLOUR ? 1 : 2;
}

static void put_row_together(const struct raster *s, uint32_t y, unsigned components, uint8_t *row)
{
    size_t plane = (size_t)s->height * s->width;
    const uint8_t *from = s->data + (size_t)y * s->width;
    for (uint32_t x = 0; x < s->width; x++)
        for (unsigned c = 0; c < components; c++)
            *row++ = from[c * plane + x];
}

/* EXIF of one entry: the orientation. */
static void write_orientation(struct jpeg_output *o, unsigned orientation)
{
    const uint8_t exif[] = {'E', 'x',  'i', 'f', 0,
                            0,   'I',  'I', 42,  0,
                            8,   0,    0,   0,   1,
                            0,   0x12, 1,   3,   0,
                            1,   0,    0,   0,   (uint8_t)orientation,
                            0,   0,    0,   0,   0,
                            0,   0};
    if (orientation >= 2 && orientation <= 8)
        jpeg_write_marker(&o->c, JPEG_APP0 + 1, exif, sizeof exif);
}

/* Copies the segments of a colour profile: those of APP2 that begin with ICC_PROFILE. */
static void write_profile(struct jpeg_output *o, const uint8_t *like, size_t size)
{
    static const char mark[12] = "ICC_PROFILE";
    size_t at = 2;
    while (at + 4 <= size && like[at] == 0xff && like[at + 1] != JPEG_SOS) {
        size_t length = (size_t)like[at + 2] << 8 | like[at + 3];
        if (length < 2 || length > size - at - 2)
            return;
        if (like[at + 1] == JPEG_APP0 + 2 && length - 2 >= sizeof mark &&
            memcmp(like + at + 4, mark, sizeof mark) == 0)
            jpeg_write_marker(&o->c, JPEG_APP0 + 2, like + at + 4, (unsigned)(length - 2));
        at += 2 + length;
    }
}

static void write_file(struct jpeg_output *o, const struct raster *s, int quality,
                       const struct jpeg_beside *beside)
{
    jpeg_create_compress(&o->c);
    jpeg_mem_dest(&o->c, &o->data, &o->size);
    describe_output(o, s, quality);
    jpeg_start_compress(&o->c, TRUE);
    write_orientation(o, beside->orientation);
    write_profile(o, beside->like, beside->like ? beside->like_size : 0);
    for (uint32_t y = 0; y < s->height; y++) {
        put_row_together(s, y, (unsigned)o->c.input_components, o->row);
        (void)jpeg_write_scanlines(&o->c, &o->row, 1);
    }
    jpeg_finish_compress(&o->c);
}

static apl_status write_guarded(struct jpeg_output *o, const struct raster *s, int quality,
                                const struct jpeg_beside *beside, apl_error *err)
{
    if (setjmp(o->back))
        return fail(err, APL_E_UNSUPPORTED, "cannot become a JPEG: %s", o->text);
    write_file(o, s, quality, beside);
    return APL_OK;
}

apl_status jpeg_write(const struct raster *samples, int quality, const struct jpeg_beside *beside,
                      struct buffer *out, apl_error *err)
{
    struct jpeg_output *o = calloc(1, sizeof *o);
    if (o)
        o->row = malloc((size_t)samples->width * 3);
    if (!o || !o->row) {
        free(o);
        return fail_nomem(err);
    }
    o->c.err = jpeg_std_error(&o->errors);
    o->c.client_data = o;
    o->errors.error_exit = leave_writing;
    apl_status status = write_guarded(o, samples, quality, beside, err);
    jpeg_destroy_compress(&o->c);
    out->size = 0;
    if (status == APL_OK)
        buffer_put(out, o->data, o->size);
    free(o->data);
    free(o->row);
    free(o);
    return status == APL_OK && out->failed ? fail_nomem(err) : status;
}

/* ---------------------------------------------------------------------------------------- files of the same coefficients */

#define LONGEST_SEGMENT 0xffffu

struct transcoding {
    struct jpeg_decompress_struct from;
    struct jpeg_compress_struct to;
    struct jpeg_error_mgr errors;
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
    bool lenient;  /* warnings are passed over */
    uint8_t *data; /* libjpeg's */
    unsigned long size;
};

static void leave_transcoding(j_common_ptr c)
{
    struct transcoding *t = c->client_data;
    c->err->format_message(c, t->text);
    longjmp(t->back, 1);
}

static void leave_at_warning(j_common_ptr c, int level)
{
    const struct transcoding *t = c->client_data;
    if (level < 0 && !t->lenient)
        leave_transcoding(c);
}

/* libjpeg writes these two itself. */
static bool is_written_anyway(const struct transcoding *t, const struct jpeg_marker_struct *m)
{
    bool jfif = m->marker == JPEG_APP0 && m->data_length >= 5 && memcmp(m->data, "JFIF", 5) == 0;
    bool adobe = m->marker == JPEG_APP0 + 14 && m->data_length >= 5 && memcmp(m->data, "Adobe", 5) == 0;
    return (jfif && t->to.write_JFIF_header) || (adobe && t->to.write_Adobe_marker);
}

static void transcode_file(struct transcoding *t, const struct buffer *file)
{
    jpeg_create_decompress(&t->from);
    jpeg_create_compress(&t->to);
    jpeg_mem_src(&t->from, file->data, file->size);
    jpeg_save_markers(&t->from, JPEG_COM, LONGEST_SEGMENT);
    for (int i = 0; i < 16; i++)
        jpeg_save_markers(&t->from, JPEG_APP0 + i, LONGEST_SEGMENT);
    (void)jpeg_read_header(&t->from, TRUE);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&t->from);
    jpeg_copy_critical_parameters(&t->from, &t->to);
    t->to.optimize_coding = TRUE;
    jpeg_mem_dest(&t->to, &t->data, &t->size);
    jpeg_write_coefficients(&t->to, coefficients);
    for (const struct jpeg_marker_struct *m = t->from.marker_list; m; m = m->next)
        if (!is_written_anyway(t, m))
            jpeg_write_marker(&t->to, m->marker, m->data, m->data_length);
    jpeg_finish_compress(&t->to);
    (void)jpeg_finish_decompress(&t->from);
}

static apl_status transcode_guarded(struct transcoding *t, const struct buffer *file, apl_error *err)
{
    if (setjmp(t->back))
        return fail(err, APL_E_CORRUPT, "cannot become a baseline JPEG: %s", t->text);
    transcode_file(t, file);
    return APL_OK;
}

apl_status jpeg_make_baseline(struct buffer *file, bool lenient, apl_error *err)
{
    struct transcoding *t = calloc(1, sizeof *t);
    if (!t)
        return fail_nomem(err);
    t->from.err = t->to.err = jpeg_std_error(&t->errors);
    t->from.client_data = t->to.client_data = t;
    t->errors.error_exit = leave_transcoding;
    t->errors.emit_message = leave_at_warning;
    t->lenient = lenient;
    apl_status status = transcode_guarded(t, file, err);
    jpeg_destroy_compress(&t->to);
    jpeg_destroy_decompress(&t->from);
    if (status == APL_OK && !buffer_reserve(file, t->size))
        status = fail_nomem(err);
    if (status == APL_OK) {
        memcpy(file->data, t->data, t->size);
        file->size = t->size;
    }
    free(t->data);
    free(t);
    return status;
}
