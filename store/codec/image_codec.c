/* The codec for images; image_codec.h describes it. */
#include "image_codec.h"

#include "bytes.h"
#include "filter.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

struct image_codec {
    const struct filter *filter;
    struct entropy *entropy;
    struct scratch scratch;
};

struct image_codec *image_codec_new(enum cpu_variant variant, struct entropy *entropy)
{
    struct image_codec *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->filter = filter_for(variant);
    p->entropy = entropy;
    return p;
}

void image_codec_free(struct image_codec *image)
{
    if (!image)
        return;
    scratch_free(&image->scratch);
    free(image);
}

/* ---------------------------------------------------------------------------------------------- layout */

bool image_layout_of(const struct column_spec *spec, struct image_layout *layout)
{
    if (spec->element_bytes != 1 || spec->ndim < 2 || spec->ndim > 3)
        return false;
    if (spec->records < 1 || spec->records > IMAGE_MAX_RECORDS)
        return false;
    const int64_t *rows = spec->shape + spec->ndim - 2;
    int64_t channels = spec->ndim == 3 ? spec->shape[0] : 1;
    if (channels < 1 || channels > IMAGE_MAX_CHANNELS)
        return false;
    if (rows[0] < 1 || rows[1] < 1 || rows[0] > IMAGE_MAX_PLANE || rows[1] > IMAGE_MAX_PLANE / rows[0])
        return false;
    struct image_layout l = {
        spec->records, (size_t)channels, (size_t)rows[0], (size_t)rows[1], 0, 0, 0, 0, 0};
    l.plane = l.height * l.width;
    uint64_t planes = (uint64_t)l.records * l.channels; /* at most 2^32 */
    if (planes * l.plane != spec->raw_bytes)
        return false;
    l.groups = (l.records + WAYS - 1) / WAYS;
    l.order_bytes = l.records <= 256 ? 1 : 2;
    uint64_t header = planes * l.order_bytes + (uint64_t)l.channels * l.groups * 4;
    if (header > SIZE_MAX / 2)
        return false;
    l.table = (size_t)planes * l.order_bytes;
    l.frames = (size_t)header;
    *layout = l;
    return true;
}

size_t image_ways(const struct image_layout *layout, size_t group)
{
    size_t left = layout->records - group * WAYS;
    return left < WAYS ? left : WAYS;
}

/* Images of 3 and 4 channels have their green subtracted, and so decoded first. */
static bool has_green(size_t channels)
{
    return channels == 3 || channels == 4;
}

size_t image_channel(size_t channels, size_t i)
{
    return has_green(channels) && i < 2 ? 1 - i : i;
}

/* Is this channel coded as its difference to green? */
static bool less_green(size_t channels, size_t channel)
{
    return has_green(channels) && (channel == 0 || channel == 2);
}

static size_t add_sizes(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

static size_t multiply_sizes(size_t a, size_t b)
{
    return b && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

size_t image_bound(const struct image_layout *layout)
{
    size_t full = multiply_sizes(entropy_bound(layout->plane * WAYS), layout->groups - 1);
    size_t last = entropy_bound(layout->plane * image_ways(layout, layout->groups - 1));
    return add_sizes(layout->frames, multiply_sizes(add_sizes(full, last), layout->channels));
}

/* -------------------------------------------------------------------------------------------- encoding */

/* An encoding under way, and where its working memory lies. */
struct encoding {
    const struct image_layout *layout;
    const uint8_t *raw;
    uint64_t *keys;     /* by record: activity, then the number of the record */
    uint8_t *less;      /* a plane less its green */
    bool keep;          /* the residuals of a plane of all records, else of one group's only */
    uint8_t *residuals; /* of one record after another */
    size_t stride;      /* from one to the next of these: not a power of two, which would crowd cache sets */
    uint8_t *group;     /* the same side by side */
};

/* Residuals up to this size are kept from the ordering to the coding: about what a core's cache holds. Of
 * larger columns they are taken again when their group's turn comes, so that the memory does not grow with
 * the column. */
#define KEEP_BYTES (1u << 20)

static bool encoding_begin(struct image_codec *p, const struct image_layout *l, const uint8_t *raw,
                           struct encoding *e)
{
    size_t keys = scratch_round(l->records * sizeof *e->keys);
    size_t plane = scratch_round(l->plane);
    size_t stride = plane + SCRATCH_ALIGN;
    bool keep = l->records <= KEEP_BYTES / stride;
    size_t residuals = (keep && l->records > WAYS ? l->records : WAYS) * stride;
    /* the planes' limit keeps this below 2^27 */
    uint8_t *at = scratch_reserve(&p->scratch, keys + plane + residuals + WAYS * plane);
    if (!at)
        return false;
    *e = (struct encoding){.layout = l, .raw = raw, .keep = keep, .stride = stride};
    e->keys = (uint64_t *)(void *)at;
    e->less = at + keys;
    e->residuals = e->less + plane;
    e->group = e->residuals + residuals;
    return true;
}

/* Residuals of one plane of a record; returns their activity. */
static uint64_t plane_residuals(const struct filter *f, const struct encoding *e, size_t record,
                                size_t channel, uint8_t *to)
{
    const struct image_layout *l = e->layout;
    const uint8_t *value = e->raw + record * l->channels * l->plane;
    const uint8_t *plane = value + channel * l->plane;
    if (less_green(l->channels, channel)) {
        f->subtract(e->less, plane, value + l->plane, l->plane);
        plane = e->less;
    }
    return f->residuals(to, plane, l->width, l->height);
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Puts the records in order of activity. */
static void order_records(const struct filter *f, struct encoding *e, size_t channel, uint8_t *order)
{
    const struct image_layout *l = e->layout;
    for (size_t i = 0; i < l->records; i++) {
        uint8_t *to = e->residuals + (e->keep ? i * e->stride : 0);
        e->keys[i] = plane_residuals(f, e, i, channel, to) << 16 | i;
    }
    qsort(e->keys, l->records, sizeof *e->keys, by_key);
    for (size_t i = 0; i < l->records; i++)
        store_le(order + i * l->order_bytes, e->keys[i] & 0xffff, (unsigned)l->order_bytes);
}

/* Lays a group's residuals side by side; returns how many bytes that is. */
static size_t gather_group(const struct filter *f, struct encoding *e, size_t channel, size_t group)
{
    const struct image_layout *l = e->layout;
    size_t ways = image_ways(l, group);
    const uint8_t *from[WAYS];
    for (size_t w = 0; w < WAYS; w++) {
        size_t record = w < ways ? e->keys[group * WAYS + w] & 0xffff : 0;
        uint8_t *to = e->residuals + (e->keep ? record : w) * e->stride;
        if (!e->keep && w < ways)
            plane_residuals(f, e, record, channel, to);
        from[w] = to;
    }
    f->interleave(e->group, from, l->plane);
    for (size_t i = 1; ways < WAYS && i < l->plane; i++)
        memmove(e->group + i * ways, e->group + i * WAYS, ways);
    return ways * l->plane;
}

apl_status image_encode(struct image_codec *image, int level, const struct image_layout *layout,
                        const uint8_t *raw, uint8_t *out, size_t capacity, size_t *size, apl_error *err)
{
    const struct filter *f = image->filter;
    struct encoding e;
    if (!encoding_begin(image, layout, raw, &e))
        return fail_nomem(err);
    if (capacity < layout->frames)
        return fail(err, APL_E_INVALID, "no room for a coded column of images");
    uint8_t *order = out, *entry = out + layout->table;
    size_t end = layout->frames;
    for (size_t i = 0; i < layout->channels; i++) {
        size_t channel = image_channel(layout->channels, i);
        order_records(f, &e, channel, order);
        order += layout->records * layout->order_bytes;
        for (size_t g = 0; g < layout->groups; g++, entry += 4) {
            size_t bytes = gather_group(f, &e, channel, g), frame;
            TRY(entropy_encode(image->entropy, level, e.group, bytes, out + end, capacity - end, &frame,
                               err));
            store_le(entry, frame, 4);
            end += frame;
        }
    }
    *size = end;
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- decoding */

/* A decoding under way, and where its working memory lies. The coded bytes may be those of a mapped file, which others may
 * change at any time: what a plane says of its records and frames is copied, then checked, and only the copy is used. */
struct decoding {
    const struct image_layout *layout;
    uint8_t *const *rows;
    struct cursor frames; /* what is left of them */
    uint8_t *group;       /* in front of it the filter's row above the first */
    uint8_t *waste;       /* a plane for what nobody wants */
    uint8_t *seen;        /* by record: met in the order at hand? */
    uint8_t *order;       /* of the plane at hand, a copy */
    uint8_t *sizes;       /* of its frames, a copy */
};

static bool decoding_begin(struct image_codec *p, const struct image_layout *l, struct decoding *d)
{
    size_t row = scratch_round(l->width * WAYS), plane = scratch_round(l->plane);
    /* the planes' limit keeps this below 2^27 */
    uint8_t *at = scratch_reserve(&p->scratch, row + WAYS * plane + plane +
                                                   l->records * (1 + l->order_bytes) + l->groups * 4);
    if (!at)
        return false;
    memset(at, FILTER_MIDDLE, row);
    d->group = at + row;
    d->waste = d->group + WAYS * plane;
    d->seen = d->waste + plane;
    d->order = d->seen + l->records;
    d->sizes = d->order + l->records * l->order_bytes;
    return true;
}

static size_t record_at(const struct decoding *d, size_t k)
{
    return (size_t)load_le(d->order + k * d->layout->order_bytes, (unsigned)d->layout->order_bytes);
}

/* Copies what the header says of plane i; each record must be in its order once. */
static apl_status take_plane(struct decoding *d, const uint8_t *coded, size_t i, apl_error *err)
{
    const struct image_layout *l = d->layout;
    size_t order_bytes = l->records * l->order_bytes;
    memcpy(d->order, coded + i * order_bytes, order_bytes);
    memcpy(d->sizes, coded + l->table + i * l->groups * 4, l->groups * 4);
    memset(d->seen, 0, l->records);
    for (size_t k = 0; k < l->records; k++) {
        size_t record = record_at(d, k);
        if (record >= l->records || d->seen[record])
            return fail(err, APL_E_CORRUPT, "the order of plane %zu is not a permutation: entry %zu", i, k);
        d->seen[record] = 1;
    }
    return APL_OK;
}

/* Where the records of a group go, channel 0 of each; false if nobody wants any. */
static bool find_row_order(const struct decoding *d, size_t g, uint8_t *to[WAYS])
{
    size_t ways = image_ways(d->layout, g);
    bool any = false;
    for (size_t w = 0; w < WAYS; w++) {
        to[w] = w < ways ? d->rows[record_at(d, g * WAYS + w)] : NULL;
        any |= to[w] != NULL;
    }
    return any;
}

/* Spreads a group of fewer ways, packed at the end of its buffer, to one of WAYS. */
static void spread_group(uint8_t *group, const uint8_t *packed, size_t ways, size_t plane)
{
    for (size_t p = 0; p < plane; p++)
        memmove(group + p * WAYS, packed + p * ways, ways);
}

static apl_status decode_group(struct image_codec *p, const struct decoding *d, size_t channel, size_t ways,
                               const uint8_t *frame, size_t size, uint8_t *to[WAYS], apl_error *err)
{
    const struct image_layout *l = d->layout;
    uint8_t *packed = d->group + (WAYS - ways) * l->plane;
    TRY(entropy_decode(p->entropy, frame, size, packed, ways * l->plane, err));
    if (ways < WAYS)
        spread_group(d->group, packed, ways, l->plane);
    p->filter->restore(d->group, l->width, l->height);
    const uint8_t *green[WAYS];
    for (size_t w = 0; w < WAYS; w++) {
        green[w] = to[w] ? to[w] + l->plane : d->waste;
        to[w] = to[w] ? to[w] + channel * l->plane : d->waste;
    }
    p->filter->separate(to, less_green(l->channels, channel) ? green : NULL, d->group, l->plane);
    return APL_OK;
}

/* Decodes group g of the plane at hand, or steps over it where nobody wants any of its records. */
static apl_status take_group(struct image_codec *p, struct decoding *d, size_t channel, size_t g,
                             apl_error *err)
{
    size_t bytes = (size_t)load_le(d->sizes + g * 4, 4);
    uint8_t *to[WAYS];
    const uint8_t *frame = cursor_take(&d->frames, bytes);
    if (!frame)
        return fail(err, APL_E_CORRUPT, "a frame of %zu bytes where %zu are left", bytes,
                    cursor_left(&d->frames));
    if (!find_row_order(d, g, to))
        return APL_OK;
    return decode_group(p, d, channel, image_ways(d->layout, g), frame, bytes, to, err);
}

apl_status image_decode(struct image_codec *image, const struct image_layout *layout, const uint8_t *coded,
                        size_t size, uint8_t *const *rows, apl_error *err)
{
    struct decoding d = {.layout = layout, .rows = rows};
    if (size < layout->frames)
        return fail(err, APL_E_CORRUPT, "%zu coded bytes, too few for the header of %zu", size,
                    layout->frames);
    if (!decoding_begin(image, layout, &d))
        return fail_nomem(err);
    d.frames = cursor_over(coded + layout->frames, size - layout->frames);
    for (size_t i = 0; i < layout->channels; i++) {
        TRY(take_plane(&d, coded, i, err));
        for (size_t g = 0; g < layout->groups; g++) {
            apl_status status = take_group(image, &d, image_channel(layout->channels, i), g, err);
            if (status != APL_OK)
                return fail_in(err, status, "plane %zu, group %zu", i, g);
        }
    }
    if (cursor_left(&d.frames) > 0)
        return fail(err, APL_E_CORRUPT, "%zu bytes after the last frame", cursor_left(&d.frames));
    return APL_OK;
}
