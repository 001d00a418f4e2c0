/* Files and indexed images: see photo_source.h. */
#include "photo_source.h"

#include "cut.h"

#include <math.h>

#define EXACT_MARGIN 16 /* pixels around a region that interpolated chroma depends on, at any scale */

struct photo_source {
    struct jpeg_decoder *decoder;
    struct jpeg_info info;
    bool is_indexed;
    struct indexed indexed;
    struct cut cut;              /* what is decoded of an indexed image */
    uint32_t above[JPEG_PLANES]; /* rows of each plane above that */
};

struct photo_source *photo_source_new(void)
{
    struct photo_source *s = calloc(1, sizeof *s);
    if (s && !(s->decoder = jpeg_decoder_new())) {
        free(s);
        return NULL;
    }
    return s;
}

void photo_source_free(struct photo_source *s)
{
    if (!s)
        return;
    jpeg_decoder_free(s->decoder);
    cut_free(&s->cut);
    free(s);
}

void photo_source_end(struct photo_source *s)
{
    jpeg_decoder_end(s->decoder);
}

apl_status photo_source_open(struct photo_source *s, const void *bytes, size_t size, bool is_indexed,
                             struct jpeg_info *info, apl_error *err)
{
    static const enum jpeg_colour colours[] = {JPEG_GREY, JPEG_YCC, JPEG_RGB};
    s->is_indexed = is_indexed;
    memset(s->above, 0, sizeof s->above);
    if (!is_indexed)
        return jpeg_decoder_open(s->decoder, bytes, size, info, err);
    TRY(indexed_parse(bytes, size, &s->indexed, err));
    const struct frame *f = &s->indexed.frame;
    s->info = (struct jpeg_info){.width = f->width,
                                 .height = f->height,
                                 .components = f->components,
                                 .colour = colours[s->indexed.colours],
                                 .orientation = 1};
    *info = s->info;
    return APL_OK;
}

/* ---------------------------------------------------------------------------------------------- regions */

/* Enlarges one side of a region. */
static void enlarge(uint32_t *from, uint32_t *length, uint32_t most)
{
    uint32_t end = *from + *length;
    *from = *from < EXACT_MARGIN ? 0 : *from - EXACT_MARGIN;
    end = most - end < EXACT_MARGIN ? most : end + EXACT_MARGIN;
    *length = end - *from;
}

/* Says of the planes of a part of the image how they lie in the whole. */
static void place_planes(struct photo_source *s, struct jpeg_planes *planes)
{
    for (unsigned i = 0; i < planes->count; i++) {
        struct jpeg_plane *plane = &planes->plane[i];
        plane->width = (uint32_t)ceil(s->info.width / plane->step_across);
        plane->height = (uint32_t)ceil(s->info.height / plane->step_down);
        plane->from += (uint32_t)(s->cut.left / plane->step_across);
        s->above[i] = (uint32_t)(s->cut.top / plane->step_down);
    }
}

/* Begins a region of an indexed image: of a file cut out of it. */
static apl_status start_cut(struct photo_source *s, struct jpeg_region region, unsigned eighths,
                            enum jpeg_chroma chroma, struct jpeg_planes *planes, apl_error *err)
{
    struct jpeg_region wide = region;
    struct jpeg_info info;
    if (chroma == JPEG_CHROMA_EXACT) {
        enlarge(&wide.left, &wide.width, s->info.width);
        enlarge(&wide.top, &wide.height, s->info.height);
    }
    TRY(cut_make(&s->cut, &s->indexed, &wide, err));
    TRY(jpeg_decoder_open(s->decoder, s->cut.file.data, s->cut.file.size, &info, err));
    region.left -= s->cut.left;
    region.top -= s->cut.top;
    region.edge = s->info.width - s->cut.left;
    region.edge = region.edge < info.width ? region.edge : info.width;
    TRY(jpeg_decoder_start(s->decoder, region, eighths, chroma, planes, err));
    place_planes(s, planes);
    return APL_OK;
}

apl_status photo_source_start(struct photo_source *s, struct jpeg_region region, unsigned eighths,
                              enum jpeg_chroma chroma, struct jpeg_planes *planes, apl_error *err)
{
    return s->is_indexed ? start_cut(s, region, eighths, chroma, planes, err)
                         : jpeg_decoder_start(s->decoder, region, eighths, chroma, planes, err);
}

apl_status photo_source_next(struct photo_source *s, struct jpeg_band *band, apl_error *err)
{
    TRY(jpeg_decoder_next(s->decoder, band, err));
    for (unsigned i = 0; i < JPEG_PLANES; i++)
        band->plane[i].first += s->above[i];
    return APL_OK;
}
