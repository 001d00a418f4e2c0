/* The first frame of a GIF, by giflib: its one user. Built where that is installed. */
#ifdef HAVE_GIF

#include "image_kinds.h"

#include <gif_lib.h>

#define RATIO_MAX        8192 /* pixels out of one byte: strings of LZW are up to 4096 long */
#define NO_COLOUR        (-1)
#define FRAMES_LOOKED_AT 4096

struct gif {
    GifFileType *file;
    struct cursor data;
    int transparent; /* index of the transparent colour, or NO_COLOUR */
};

static int give_gif(GifFileType *file, GifByteType *to, int wanted)
{
    struct gif *g = file->UserData;
    size_t left = cursor_left(&g->data), n = (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(to, g->data.at, n);
    g->data.at += n;
    return (int)n;
}

static apl_status gif_failed(int code, apl_error *err)
{
    if (code == D_GIF_ERR_NOT_ENOUGH_MEM)
        return fail_nomem(err);
    const char *text = GifErrorString(code);
    return fail(err, APL_E_CORRUPT, "GIF: %s", text ? text : "damaged");
}

static apl_status gif_error(const struct gif *g, apl_error *err)
{
    return gif_failed(g->file->Error, err);
}

/* An extension: what says which colour is transparent is taken, the rest passed over. */
static apl_status pass_extension(struct gif *g, apl_error *err)
{
    int code;
    GifByteType *block;
    GraphicsControlBlock control;
    if (DGifGetExtension(g->file, &code, &block) != GIF_OK)
        return gif_error(g, err);
    if (code == GRAPHICS_EXT_FUNC_CODE && block &&
        DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
        g->transparent = control.TransparentColor;
    while (block)
        if (DGifGetExtensionNext(g->file, &block) != GIF_OK)
            return gif_error(g, err);
    return APL_OK;
}

/* The pixels of a frame that is not wanted. */
static apl_status pass_frame(const struct gif *g, apl_error *err)
{
    int size;
    GifByteType *block;
    if (DGifGetCode(g->file, &size, &block) != GIF_OK)
        return gif_error(g, err);
    while (block)
        if (DGifGetCodeNext(g->file, &block) != GIF_OK)
            return gif_error(g, err);
    return APL_OK;
}

/* Goes to the next frame; *found: there is one. */
static apl_status next_frame(struct gif *g, bool *found, apl_error *err)
{
    GifRecordType type;
    for (*found = false;;) {
        if (DGifGetRecordType(g->file, &type) != GIF_OK)
            return gif_error(g, err);
        if (type == TERMINATE_RECORD_TYPE)
            return APL_OK;
        if (type == EXTENSION_RECORD_TYPE)
            TRY(pass_extension(g, err));
        if (type != IMAGE_DESC_RECORD_TYPE)
            continue;
        if (DGifGetImageDesc(g->file) != GIF_OK)
            return gif_error(g, err);
        *found = true;
        return APL_OK;
    }
}

static const ColorMapObject *colours_of(const struct gif *g)
{
    return g->file->Image.ColorMap ? g->file->Image.ColorMap : g->file->SColorMap;
}

/* The frame must lie on the canvas, which is what the image is. */
static apl_status take_gif_info(const struct gif *g, size_t size, struct image_info *info, apl_error *err)
{
    const GifImageDesc *frame = &g->file->Image;
    info->width = (uint32_t)g->file->SWidth;
    info->height = (uint32_t)g->file->SHeight;
    bool whole = frame->Width == g->file->SWidth && frame->Height == g->file->SHeight;
    info->palette = true;
    info->channels = info->numbers ? 1 : g->transparent != NO_COLOUR || !whole ? 4 : 3;
    TRY(raster_check(info, "GIF", size, RATIO_MAX, err));
    if (frame->Left < 0 || frame->Top < 0 || frame->Width < 1 || frame->Height < 1 ||
        frame->Left + frame->Width > g->file->SWidth || frame->Top + frame->Height > g->file->SHeight)
        return fail(err, APL_E_CORRUPT, "GIF: a frame that goes beyond the image");
    if (!colours_of(g))
        return fail(err, APL_E_CORRUPT, "GIF: no colours");
    if (info->numbers && !whole)
        return fail(err, APL_E_SOURCE,
                    "GIF: a frame that does not cover the image, which has no numbers beside it");
    return APL_OK;
}

static apl_status colour_row(const struct gif *g, const uint8_t *row, unsigned channels, uint8_t *to,
                             apl_error *err)
{
    const ColorMapObject *map = colours_of(g);
    for (int x = 0; x < g->file->Image.Width; x++, to += channels) {
        if (row[x] >= map->ColorCount)
            return fail(err, APL_E_CORRUPT, "GIF: a colour that its palette lacks");
        to[0] = map->Colors[row[x]].Red;
        to[1] = map->Colors[row[x]].Green;
        to[2] = map->Colors[row[x]].Blue;
        if (channels == 4)
            to[3] = row[x] == g->transparent ? 0 : 255;
    }
    return APL_OK;
}

/* One row of the frame, to its place on the canvas, whose rest is transparent. */
static apl_status decode_gif_row(const struct gif *g, uint32_t y, struct raster *s, apl_error *err)
{
    const GifImageDesc *frame = &g->file->Image;
    uint8_t *row = s->work.data, *pixels = row + scratch_round((size_t)s->width);
    if (DGifGetLine(g->file, row, frame->Width) != GIF_OK)
        return gif_error(g, err);
    if (s->channels == 1) { /* numbers, of a frame that covers all */
        raster_take_row(s, y, row, 1);
        return APL_OK;
    }
    memset(pixels, 0, (size_t)s->width * s->channels);
    TRY(colour_row(g, row, s->channels, pixels + (size_t)frame->Left * s->channels, err));
    raster_take_row(s, y, pixels, s->channels);
    return APL_OK;
}

static apl_status decode_gif(const struct gif *g, struct raster *s, apl_error *err)
{
    static const struct {
        uint32_t from, step;
    } passes[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}}, plain = {0, 1};
    const GifImageDesc *frame = &g->file->Image;
    if (!scratch_reserve(&s->work, scratch_round((size_t)s->width) + (size_t)s->width * s->channels))
        return fail_nomem(err);
    memset(s->data, 0, (size_t)s->channels * s->height * s->width);
    for (unsigned i = 0; i < (frame->Interlace ? 4u : 1u); i++) {
        uint32_t from = frame->Interlace ? passes[i].from : plain.from;
        uint32_t step = frame->Interlace ? passes[i].step : plain.step;
        for (uint32_t y = from; y < (uint32_t)frame->Height; y += step)
            TRY(decode_gif_row(g, (uint32_t)frame->Top + y, s, err));
    }
    return APL_OK;
}

/* The rest of the file: further frames are passed over, and it must end as it should. */
static apl_status finish_gif(struct gif *g, struct image_info *info, apl_error *err)
{
    bool found = true;
    for (unsigned i = 0; found && i < FRAMES_LOOKED_AT; i++) {
        TRY(next_frame(g, &found, err));
        info->more |= found;
        if (found)
            TRY(pass_frame(g, err));
    }
    return APL_OK;
}

static apl_status read_gif(struct gif *g, size_t size, struct image_info *info, struct raster *samples,
                           apl_error *err)
{
    bool found;
    TRY(next_frame(g, &found, err));
    if (!found)
        return fail(err, APL_E_CORRUPT, "GIF: has no image");
    TRY(take_gif_info(g, size, info, err));
    if (!samples)
        return APL_OK;
    TRY(raster_begin(samples, info, err));
    TRY(decode_gif(g, samples, err));
    apl_error rest;
    apl_status status = finish_gif(g, info, &rest);
    if (status == APL_E_CORRUPT) /* the image itself is whole */
        return warnings_add(&info->warnings, "GIF", rest.message + strlen("GIF: "), err);
    return status == APL_OK ? status : fail_nomem(err);
}

apl_status image_gif_read(const uint8_t *bytes, size_t size, struct image_info *info, struct raster *samples,
                          apl_error *err)
{
    struct gif g = {.data = cursor_over(bytes, size), .transparent = NO_COLOUR};
    int code = 0;
    g.file = DGifOpen(&g, give_gif, &code);
    if (!g.file)
        return gif_failed(code, err);
    apl_status status = read_gif(&g, size, info, samples, err);
    DGifCloseFile(g.file, &code);
    return status;
}

#else
typedef int image_gif_is_empty; /* a file of C has something in it */
#endif
