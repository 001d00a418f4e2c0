/* PNG, by libpng: its one user in ingest. The samples of most files are had faster, by png_plain, once libpng has found good what comes
 * before them. */
#include "exif.h"
#include "image_kinds.h"
#include "png_chunks.h"
#include "png_plain.h"

#include <png.h>
#include <stdio.h>

#define CHUNK_MAX (16u << 20)
#define RATIO_MAX 1100 /* bytes out of one byte of deflate, at most, and a few */

struct png_file {
    png_structp png;
    png_infop info;
    struct cursor data;
    struct warnings *warnings;
    struct raster *samples; /* once their rows are being read */
    png_bytep *rows;
    bool taken;     /* they have been, from the rows */
    char text[160]; /* why libpng gave up */
};

static void give_png(png_structp png, png_bytep to, size_t size)
{
    struct png_file *f = png_get_io_ptr(png);
    const uint8_t *bytes = cursor_take(&f->data, size);
    if (!bytes)
        png_error(png, "end of file");
    memcpy(to, bytes, size);
}

static void hear_png(png_structp png, png_const_charp text)
{
    struct png_file *f = png_get_error_ptr(png);
    snprintf(f->text, sizeof f->text, "%s", text);
    longjmp(png_jmpbuf(png), 1);
}

/* What libpng warns of is damage, unless it is in a chunk that pixels do not depend on, such as a colour profile: the names of those
 * begin with a small letter. Checksums are of all chunks. */
static void hear_png_warning(png_structp png, png_const_charp text)
{
    struct png_file *f = png_get_error_ptr(png);
    bool ancillary = strlen(text) > 5 && text[0] >= 'a' && text[0] <= 'z' && text[4] == ':';
    if ((!ancillary || strstr(text, "CRC")) && !warnings_take(f->warnings, text))
        hear_png(png, text);
}

/* Palettes become colours; grey of fewer than 8 bits becomes 8; what is said to be transparent becomes alpha. */
static void set_colours(struct png_file *f)
{
    if (png_get_color_type(f->png, f->info) == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(f->png);
    if (png_get_bit_depth(f->png, f->info) < 8)
        png_set_expand_gray_1_2_4_to_8(f->png);
    if (png_get_valid(f->png, f->info, PNG_INFO_tRNS))
        png_set_tRNS_to_alpha(f->png);
}

static bool keeps_numbers(const struct png_file *f, bool numbers)
{
    png_byte type = png_get_color_type(f->png, f->info);
    return numbers && (type == PNG_COLOR_TYPE_PALETTE || type == PNG_COLOR_TYPE_GRAY);
}

/* Are its samples those of the file, of 8 bits, row by row? */
static bool is_plain_png(const struct png_file *f, bool numbers)
{
    bool made_colours = png_get_color_type(f->png, f->info) == PNG_COLOR_TYPE_PALETTE ||
                        png_get_valid(f->png, f->info, PNG_INFO_tRNS);
    return png_get_bit_depth(f->png, f->info) == 8 &&
           png_get_interlace_type(f->png, f->info) == PNG_INTERLACE_NONE &&
           (!made_colours || keeps_numbers(f, numbers));
}

/* Where numbers are asked for, indices and levels of grey as they lie in the file, whatever is said to be transparent. */
static void set_form(struct png_file *f, bool numbers)
{
    if (png_get_bit_depth(f->png, f->info) == 16)
        png_set_swap(f->png);
    (void)png_set_interlace_handling(f->png);
    if (keeps_numbers(f, numbers)) {
        png_set_packing(f->png); /* a byte each, as they are */
        png_set_check_for_invalid_index(f->png, 0);
    } else
        set_colours(f);
    png_read_update_info(f->png, f->info);
}

static void take_png_info(const struct png_file *f, struct image_info *info)
{
    png_charp name;
    png_bytep profile;
    png_uint_32 length;
    int method;
    info->channels = png_get_channels(f->png, f->info);
    info->bits = png_get_bit_depth(f->png, f->info);
    info->profile = png_get_iCCP(f->png, f->info, &name, &method, &profile, &length) != 0;
}

static void turn_by_libpng(const struct png_file *f, struct image_info *info)
{
    png_bytep exif = NULL;
    png_uint_32 length = 0;
    unsigned orientation =
        png_get_eXIf_1(f->png, f->info, &length, &exif) && exif ? tiff_orientation(exif, length) : 0;
    info->orientation = orientation ? orientation : 1;
}

static void take_png_rows(struct png_file *f)
{
    struct raster *s = f->samples;
    for (uint32_t y = 0; y < s->height && !f->taken; y++)
        raster_take_row(s, y, f->rows[y], s->channels);
    f->taken = true;
}

/* Where libpng has failed: had it read all rows, in all passes? */
static bool has_all_rows(const struct png_file *f)
{
    bool interlaced = png_get_interlace_type(f->png, f->info) != PNG_INTERLACE_NONE;
    return f->samples &&
           (f->taken || (interlaced ? png_get_current_pass_number(f->png) >= 7
                                    : png_get_current_row_number(f->png) >= f->samples->height));
}

static apl_status decode_by_libpng(struct png_file *f, struct raster *s, apl_error *err)
{
    size_t row = (size_t)s->width * s->channels * (s->bits / 8),
           pointers = scratch_round(s->height * sizeof(png_bytep));
    uint8_t *work = scratch_reserve(&s->work, pointers + row * s->height);
    if (!work)
        return fail_nomem(err);
    f->rows = (png_bytep *)(void *)work;
    for (uint32_t y = 0; y < s->height; y++)
        f->rows[y] = work + pointers + y * row;
    f->samples = s;
    png_read_image(f->png, f->rows);
    take_png_rows(f);
    png_read_end(f->png, f->info);
    return APL_OK;
}

/* What libpng has failed with is worth a warning where all pixels are there. */
static apl_status fail_or_warn(struct png_file *f, apl_error *err)
{
    if (!has_all_rows(f))
        return fail(err, APL_E_CORRUPT, "PNG: %s", f->text);
    take_png_rows(f);
    return warnings_add(f->warnings, "PNG", f->text, err);
}

/* Where libpng fails, it comes back to here. */
static apl_status read_by_libpng(struct png_file *f, const uint8_t *bytes, size_t size,
                                 struct image_info *info, struct raster *samples, apl_error *err)
{
    if (setjmp(png_jmpbuf(f->png))) {
        turn_by_libpng(f, info);
        return fail_or_warn(f, err);
    }
    png_set_read_fn(f->png, f, give_png);
    png_set_user_limits(f->png, INT32_MAX, INT32_MAX);
    png_set_chunk_malloc_max(f->png, CHUNK_MAX);
    png_set_crc_action(f->png, PNG_CRC_ERROR_QUIT,
                       f->warnings->allowed ? PNG_CRC_WARN_DISCARD : PNG_CRC_ERROR_QUIT);
    png_read_info(f->png, f->info);
    info->width = png_get_image_width(f->png, f->info);
    info->height = png_get_image_height(f->png, f->info);
    TRY(raster_check(info, "PNG", size, RATIO_MAX, err));
    info->palette = png_get_color_type(f->png, f->info) == PNG_COLOR_TYPE_PALETTE;
    info->scaled = !info->palette && png_get_bit_depth(f->png, f->info) < 8;
    bool plain = is_plain_png(f, info->numbers);
    set_form(f, info->numbers);
    take_png_info(f, info);
    if (samples) {
        TRY(raster_begin(samples, info, err));
        if (!plain || !png_plain_read(bytes, size, samples))
            TRY(decode_by_libpng(f, samples, err));
    }
    turn_by_libpng(f, info);
    return APL_OK;
}

apl_status image_png_read(const uint8_t *bytes, size_t size, struct image_info *info, struct raster *samples,
                          apl_error *err)
{
    struct png_file f = {.data = cursor_over(bytes, size), .warnings = &info->warnings};
    f.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &f, hear_png, hear_png_warning);
    f.info = f.png ? png_create_info_struct(f.png) : NULL;
    apl_status status = f.info ? read_by_libpng(&f, bytes, size, info, samples, err) : fail_nomem(err);
    info->more = png_has_frames(bytes, size);
    png_destroy_read_struct(&f.png, &f.info, NULL);
    return status;
}
