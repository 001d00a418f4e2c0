/* An indexed image behind eight bytes, which say what region of it is decoded, and how small. What the decoder takes, libjpeg takes
 * too, as a file with the same segments, and makes the same samples of; what it refuses is damaged. All variants agree. */
#include "fuzz.h"
#include "indexed_decoder.h"
#include "indexed_file.h"

#define HEAD        8u
#define MOST_PIXELS (1u << 18) /* that are compared */
#define LONGEST     65500u     /* of a side, that libjpeg takes */

static struct indexed_decoder *variants[CPU_VARIANTS];
static struct jpeg_decoder *libjpeg;

/* The planes of a region, row by row. */
struct taken {
    apl_status status;
    struct jpeg_planes planes;
    uint32_t first[JPEG_PLANES], rows[JPEG_PLANES], columns[JPEG_PLANES];
    struct buffer samples[JPEG_PLANES];
};

static void taken_free(struct taken *t)
{
    for (int i = 0; i < JPEG_PLANES; i++)
        buffer_free(&t->samples[i]);
}

static uint32_t columns_of(const struct jpeg_plane *plane, const struct jpeg_region *region)
{
    double end = ((double)region->left + region->width) / plane->step_across;
    uint32_t whole = (uint32_t)end + (end > (uint32_t)end);
    MUST(plane->from * plane->step_across <= region->left);
    return (whole < plane->width ? whole : plane->width) - plane->from;
}

static void take_band(struct taken *t, const struct jpeg_band *band, const struct jpeg_region *region)
{
    for (unsigned i = 0; i < t->planes.count; i++) {
        t->columns[i] = columns_of(&t->planes.plane[i], region);
        MUST(band->plane[i].count <= t->planes.plane[i].band_rows);
        if (t->rows[i] == 0)
            t->first[i] = band->plane[i].first;
        MUST(band->plane[i].first == t->first[i] + t->rows[i]);
        for (uint32_t k = 0; k < band->plane[i].count; k++, t->rows[i]++)
            buffer_put(&t->samples[i], band->plane[i].rows[k], t->columns[i]);
        MUST(t->first[i] + t->rows[i] <= t->planes.plane[i].height);
    }
}

static struct taken take(struct indexed_decoder *d, const struct indexed *x, struct jpeg_region region,
                         unsigned eighths, enum jpeg_chroma chroma)
{
    struct taken t = {.status = indexed_decoder_open(d, x, NULL)};
    struct jpeg_band band;
    if (t.status == APL_OK)
        t.status = indexed_decoder_start(d, region, eighths, chroma, &t.planes, NULL);
    do {
        if (t.status == APL_OK)
            t.status = indexed_decoder_next(d, &band, NULL);
        if (t.status == APL_OK)
            take_band(&t, &band, &region);
    } while (t.status == APL_OK && band.plane[0].count > 0);
    MUST(t.status == APL_OK || t.status == APL_E_CORRUPT || t.status == APL_E_NOMEM);
    return t;
}

static void same(const struct taken *a, const struct taken *b)
{
    MUST(a->status == b->status || a->status == APL_E_NOMEM || b->status == APL_E_NOMEM);
    for (unsigned i = 0; a->status == APL_OK && b->status == APL_OK && i < a->planes.count; i++) {
        MUST(a->first[i] == b->first[i] && a->rows[i] == b->rows[i] && a->columns[i] == b->columns[i]);
        MUST(a->samples[i].size == b->samples[i].size &&
             memcmp(a->samples[i].data, b->samples[i].data, a->samples[i].size) == 0);
    }
}

/* ----------------------------------------------------------------------------------------------- libjpeg */

/* What is in both must be the same; libjpeg's bands hold whole rows. */
static void compare_libjpeg_band(const struct taken *t, const struct jpeg_band *band)
{
    for (unsigned i = 0; i < t->planes.count; i++)
        for (uint32_t k = 0; k < band->plane[i].count; k++) {
            uint32_t row = band->plane[i].first + k;
            if (row >= t->first[i] && row < t->first[i] + t->rows[i])
                MUST(memcmp(t->samples[i].data + (size_t)(row - t->first[i]) * t->columns[i],
                            band->plane[i].rows[k] + t->planes.plane[i].from, t->columns[i]) == 0);
        }
}

/* Damage beyond the region is libjpeg's to find: not all is decoded here. So is what lies at the end of segments that are not decoded
 * to their end. */
static void compare_libjpeg(const struct taken *t, const struct indexed *x, unsigned eighths, bool whole)
{
    struct jpeg_info info;
    struct jpeg_planes planes;
    struct jpeg_band band;
    struct buffer file = indexed_file(x);
    const struct jpeg_region all = {.width = indexed_file_width(x), .height = x->rendering.frame.height};
    MUST(!file.failed);
    MUST(jpeg_decoder_open(libjpeg, file.data, file.size, &info, NULL) == APL_OK);
    MUST(jpeg_decoder_start(libjpeg, all, eighths, JPEG_CHROMA_PLANES, &planes, NULL) == APL_OK);
    MUST(planes.count == t->planes.count && planes.ycc == t->planes.ycc);
    apl_status status;
    while ((status = jpeg_decoder_next(libjpeg, &band, NULL)) == APL_OK && band.plane[0].count > 0)
        compare_libjpeg_band(t, &band);
    MUST(status == APL_OK || !whole);
    jpeg_decoder_end(libjpeg);
    buffer_free(&file);
}

static uint32_t part(uint32_t of, uint8_t byte)
{
    return (uint32_t)((uint64_t)of * byte / 256);
}

static struct jpeg_region region_of(const uint8_t *head, const struct frame *f)
{
    struct jpeg_region r = {.left = part(f->width, head[0]), .top = part(f->height, head[1])};
    r.width = 1 + part(f->width - r.left - 1, head[2]);
    r.height = 1 + part(f->height - r.top - 1, head[3]);
    return r;
}

static void set_up(void)
{
    if (libjpeg)
        return;
    MUST((libjpeg = jpeg_decoder_new()) != NULL);
    for (int v = 0; v < CPU_VARIANTS; v++)
        if (cpu_can((enum cpu_variant)v))
            MUST((variants[v] = indexed_decoder_new((enum cpu_variant)v)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct indexed x;
    const struct frame *f = &x.rendering.frame;
    set_up();
    if (size < HEAD || indexed_parse(data + HEAD, size - HEAD, &x, NULL) != APL_OK ||
        (uint64_t)f->width * f->height > MOST_PIXELS)
        return 0;
    const struct jpeg_region region = region_of(data, f);
    unsigned eighths = 1u << (data[4] & 3);
    enum jpeg_chroma chroma = data[4] & 4 ? JPEG_CHROMA_EXACT : JPEG_CHROMA_PLANES;
    struct taken plain = take(variants[CPU_SCALAR], &x, region, eighths, chroma);
    for (int v = 1; v < CPU_VARIANTS; v++) {
        struct taken other = {.status = APL_E_NOMEM};
        if (variants[v])
            other = take(variants[v], &x, region, eighths, chroma);
        same(&plain, &other);
        taken_free(&other);
    }
    bool whole = region.width == f->width && region.height == f->height && f->columns % x.mcus == 0;
    if (plain.status == APL_OK && chroma == JPEG_CHROMA_PLANES && indexed_file_width(&x) <= LONGEST &&
        f->height <= LONGEST)
        compare_libjpeg(&plain, &x, eighths, whole);
    taken_free(&plain);
    return 0;
}
