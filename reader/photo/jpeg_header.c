/* Opens JPEG images by libjpeg, and reads their headers: see jpeg.h. Pixels are in jpeg.c. */
#include "exif.h"
#include "jpeg_state.h"
#include "status.h"

#define MAX_MEMORY ((long)1 << 29) /* of the coefficients of an image of several scans */

/* ---------------------------------------------------------------------------------------------- errors */

static void leave(j_common_ptr c)
{
    struct jpeg_decoder *d = c->client_data;
    c->err->format_message(c, d->text);
    longjmp(d->back, 1);
}

/* Level -1 is a warning: the bytes are damaged, and the pixels made up. Of a file that ends early, most would be. */
static void hear(j_common_ptr c, int level)
{
    struct jpeg_decoder *d = c->client_data;
    if (level >= 0)
        return;
    c->err->format_message(c, d->text);
    if (!warnings_take(d->warnings, d->text) || c->err->msg_code == JWRN_JPEG_EOF)
        longjmp(d->back, 1);
}

static void count_scans(j_common_ptr c)
{
    struct jpeg_decoder *d = c->client_data;
    if (d->c.input_scan_number <= JPEG_MAX_SCANS)
        return;
    snprintf(d->text, sizeof d->text, "more than %d scans", JPEG_MAX_SCANS);
    longjmp(d->back, 1);
}

apl_status jpeg_failed(struct jpeg_decoder *d, apl_error *err)
{
    int code = d->errors.msg_code;
    jpeg_decoder_end(d);
    if (code == JERR_OUT_OF_MEMORY)
        return fail_nomem(err);
    return fail(err, APL_E_CORRUPT, "JPEG: %s", d->text);
}

/* ---------------------------------------------------------------------------------------------- decoder */

struct jpeg_decoder *jpeg_decoder_new(void)
{
    struct jpeg_decoder *d = calloc(1, sizeof *d);
    if (d)
        d->warnings = &d->strict;
    return d;
}

void jpeg_decoder_listen(struct jpeg_decoder *d, struct warnings *warnings)
{
    d->warnings = warnings ? warnings : &d->strict;
}

void jpeg_decoder_free(struct jpeg_decoder *d)
{
    if (!d)
        return;
    jpeg_decoder_end(d);
    scratch_free(&d->rows_memory);
    free(d);
}

/* Each image has a new libjpeg object, which costs next to nothing: it would keep tables for the next image, and one
 * that lacks its own would be decoded by those of another. */
static void begin_image(struct jpeg_decoder *d)
{
    d->open = true;
    d->c.mem = NULL;
    jpeg_create_decompress(&d->c);
    d->c.progress = &d->progress;
    d->c.mem->max_memory_to_use = MAX_MEMORY;
}

void jpeg_decoder_end(struct jpeg_decoder *d)
{
    if (d->open)
        jpeg_destroy_decompress(&d->c);
    d->open = false;
}

/* ----------------------------------------------------------------------------------------------- header */

/* Of the component that has the most: each takes a bit at least, unless it is coded arithmetically. */
static uint64_t least_bits(const struct jpeg_decoder *d)
{
    uint64_t most = 0;
    for (int i = 0; i < d->c.num_components && !d->c.arith_code; i++) {
        const jpeg_component_info *p = &d->c.comp_info[i];
        uint64_t blocks = (uint64_t)p->width_in_blocks * p->height_in_blocks;
        most = blocks > most ? blocks : most;
    }
    return most;
}

static apl_status check_claim(struct jpeg_decoder *d, size_t size, apl_error *err)
{
    uint32_t width = d->c.image_width, height = d->c.image_height;
    if ((uint64_t)width * height > JPEG_MAX_PIXELS)
        return fail(err, APL_E_UNSUPPORTED, "JPEG: %u x %u pixels are more than the %llu that are allowed",
                    width, height, (unsigned long long)JPEG_MAX_PIXELS);
    if (least_bits(d) / 8 > size)
        return fail(err, APL_E_CORRUPT, "JPEG: claims %u x %u pixels, which %zu bytes cannot hold", width,
                    height, size);
    return APL_OK;
}

static bool find_colour(const struct jpeg_decoder *d, enum jpeg_colour *colour)
{
    const J_COLOR_SPACE space = d->c.jpeg_color_space;
    *colour = space == JCS_GRAYSCALE ? JPEG_GREY
              : space == JCS_YCbCr   ? JPEG_YCC
              : space == JCS_RGB     ? JPEG_RGB
                                     : JPEG_CMYK;
    return *colour != JPEG_CMYK || space == JCS_CMYK || space == JCS_YCCK;
}

static unsigned find_orientation(const struct jpeg_decoder *d)
{
    for (jpeg_saved_marker_ptr m = d->c.marker_list; m; m = m->next) {
        unsigned orientation = exif_orientation(m->data, m->data_length);
        if (orientation)
            return orientation;
    }
    return 1;
}

static apl_status read_info(struct jpeg_decoder *d, size_t size, apl_error *err)
{
    struct jpeg_info *info = &d->info;
    *info = (struct jpeg_info){.width = d->c.image_width,
                               .height = d->c.image_height,
                               .components = (unsigned)d->c.num_components,
                               .progressive = d->c.progressive_mode,
                               .orientation = find_orientation(d)};
    if (!find_colour(d, &info->colour))
        return fail(err, APL_E_UNSUPPORTED, "JPEG: %u components of unknown colours", info->components);
    for (unsigned i = 0; i < info->components && i < 4; i++) {
        info->across[i] = (uint8_t)d->c.comp_info[i].h_samp_factor;
        info->down[i] = (uint8_t)d->c.comp_info[i].v_samp_factor;
    }
    return check_claim(d, size, err);
}

static apl_status open_image(struct jpeg_decoder *d, const void *bytes, size_t size, unsigned save,
                             apl_error *err)
{
    jpeg_decoder_end(d);
    warnings_begin(d->warnings);
    d->c.err = jpeg_std_error(&d->errors);
    d->c.client_data = d;
    d->errors.error_exit = leave;
    d->errors.emit_message = hear;
    d->progress.progress_monitor = count_scans;
    if (setjmp(d->back))
        return jpeg_failed(d, err);
    begin_image(d);
    jpeg_save_markers(&d->c, JPEG_APP0 + 1, save);
    jpeg_mem_src(&d->c, bytes, size);
    (void)jpeg_read_header(&d->c, TRUE);
    apl_status status = read_info(d, size, err);
    if (status != APL_OK)
        jpeg_decoder_end(d);
    return status;
}

apl_status jpeg_decoder_open(struct jpeg_decoder *d, const void *bytes, size_t size, struct jpeg_info *info,
                             apl_error *err)
{
    TRY(open_image(d, bytes, size, 0, err));
    *info = d->info;
    return APL_OK;
}

apl_status jpeg_decoder_probe(struct jpeg_decoder *d, const void *bytes, size_t size, struct jpeg_info *info,
                              apl_error *err)
{
    TRY(open_image(d, bytes, size, 0xffff, err));
    *info = d->info;
    jpeg_decoder_end(d);
    return APL_OK;
}
