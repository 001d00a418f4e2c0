/* Files and indexed images, each with its decoder: see photo_source.h. */
#include "photo_source.h"

#include "indexed_check.h"
#include "indexed_decoder.h"

struct photo_source {
    struct jpeg_decoder *files;
    struct indexed_decoder *indexed;
    struct indexed_checker *checker;
    bool is_indexed; /* is the image that is open? */
};

struct photo_source *photo_source_new(void)
{
    struct photo_source *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->files = jpeg_decoder_new();
    s->indexed = indexed_decoder_new(cpu_variant());
    s->checker = indexed_checker_new();
    if (!s->files || !s->indexed || !s->checker) {
        photo_source_free(s);
        return NULL;
    }
    return s;
}

void photo_source_free(struct photo_source *s)
{
    if (!s)
        return;
    jpeg_decoder_free(s->files);
    indexed_decoder_free(s->indexed);
    indexed_checker_free(s->checker);
    free(s);
}

void photo_source_end(struct photo_source *s)
{
    jpeg_decoder_end(s->files);
}

static apl_status source_open_indexed(struct photo_source *s, const void *bytes, size_t size,
                                      struct jpeg_info *info, apl_error *err)
{
    static const enum jpeg_colour colours[] = {JPEG_GREY, JPEG_YCC, JPEG_RGB};
    struct indexed image;
    TRY(indexed_parse(bytes, size, &image, err));
    TRY(indexed_check(s->checker, &image, err));
    const struct rendering *r = &image.rendering;
    *info = (struct jpeg_info){.width = r->frame.width,
                               .height = r->frame.height,
                               .components = r->frame.components,
                               .colour = colours[r->colours],
                               .orientation = 1};
    return indexed_decoder_open(s->indexed, &image, err);
}

apl_status photo_source_open(struct photo_source *s, const void *bytes, size_t size, bool is_indexed,
                             struct jpeg_info *info, apl_error *err)
{
    s->is_indexed = is_indexed;
    return is_indexed ? source_open_indexed(s, bytes, size, info, err)
                      : jpeg_decoder_open(s->files, bytes, size, info, err);
}

apl_status photo_source_start(struct photo_source *s, struct jpeg_region region, unsigned eighths,
                              enum jpeg_chroma chroma, struct jpeg_planes *planes, apl_error *err)
{
    return s->is_indexed ? indexed_decoder_start(s->indexed, region, eighths, chroma, planes, err)
                         : jpeg_decoder_start(s->files, region, eighths, chroma, planes, err);
}

apl_status photo_source_next(struct photo_source *s, struct jpeg_band *band, apl_error *err)
{
    return s->is_indexed ? indexed_decoder_next(s->indexed, band, err)
                         : jpeg_decoder_next(s->files, band, err);
}
