/* The codec for images of any size; varying_codec.h describes it. */
#include "varying_codec.h"

#include "bytes.h"
#include "filter.h"
#include "image_codec.h"
#include "scratch.h"

#define MOST_CHANNELS 4
#define FRAME_SLACK   512 /* of a frame's bound, beyond what it shares with those of others */

struct varying_codec {
    const struct filter *filter;
    struct entropy *entropy;
    struct scratch scratch;
};

/* A record as it lies in the column. */
struct varying_image {
    size_t planes, width, height, plane; /* the last: bytes in a plane */
    bool predicted;
    uint8_t *values; /* of a column being encoded, only read */
};

struct varying_codec *varying_codec_new(enum cpu_variant variant, struct entropy *entropy)
{
    struct varying_codec *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    v->filter = filter_for(variant);
    v->entropy = entropy;
    return v;
}

void varying_codec_free(struct varying_codec *v)
{
    if (!v)
        return;
    scratch_free(&v->scratch);
    free(v);
}

/* ---------------------------------------------------------------------------------------------- layout */

static unsigned varying_dims(const struct column_spec *spec)
{
    unsigned dims = 0;
    for (unsigned d = 0; d < 3; d++)
        dims += spec->shape[d] < 0;
    return dims;
}

bool varying_suits(const struct column_spec *spec)
{
    unsigned dims = varying_dims(spec);
    return spec->element_bytes == 1 && spec->ndim == 3 && dims > 0 && spec->records > 0 &&
           spec->records <= IMAGE_MAX_RECORDS && spec->raw_bytes >= spec->records * dims * 4;
}

/* Takes the shape of the next record, whose values begin `left` bytes before the column's end; false: they go beyond it. */
static bool take_varying(const struct column_spec *spec, const uint8_t **dims, size_t left,
                         struct varying_image *image)
{
    uint64_t shape[3], bytes = 1;
    for (unsigned d = 0; d < 3; d++) {
        shape[d] = (uint64_t)spec->shape[d];
        if (spec->shape[d] < 0) {
            shape[d] = load_le(*dims, 4);
            *dims += 4;
        }
        if (shape[d] > 0 && bytes > UINT64_MAX / shape[d])
            return false;
        bytes *= shape[d];
    }
    if (bytes > left)
        return false;
    image->predicted = bytes > 0 && shape[0] <= MOST_CHANNELS;
    image->planes = image->predicted ? (size_t)shape[0] : 1;
    image->height = (size_t)shape[1];
    image->width = (size_t)shape[2];
    image->plane = (size_t)bytes / image->planes;
    return true;
}

size_t varying_shapes_bytes(const struct column_spec *spec)
{
    return spec->records * varying_dims(spec) * 4;
}

bool varying_front(const struct column_spec *spec, const uint8_t *raw, size_t most, struct column_spec *front)
{
    const uint8_t *dims = raw;
    size_t shape = varying_dims(spec) * 4, left = spec->raw_bytes - varying_shapes_bytes(spec);
    *front = *spec;
    front->raw_bytes = 0;
    for (size_t i = 0; i < spec->records; i++) {
        struct varying_image image;
        if (!take_varying(spec, &dims, left, &image)) {
            *front = *spec;
            return false;
        }
        size_t bytes = shape + image.planes * image.plane;
        if (i > 0 && bytes > most - front->raw_bytes)
            break;
        front->records = i + 1;
        front->raw_bytes += bytes;
        left -= image.planes * image.plane;
        if (front->raw_bytes >= most)
            break;
    }
    return true;
}

void varying_copy_front(const struct column_spec *spec, const uint8_t *raw, const struct column_spec *front,
                        uint8_t *out)
{
    size_t shapes = varying_shapes_bytes(front);
    memcpy(out, raw, shapes);
    memcpy(out + shapes, raw + varying_shapes_bytes(spec), front->raw_bytes - shapes);
}

/* Room for the sizes of frames of all records, however many planes they have. */
static size_t most_planes(const struct column_spec *spec)
{
    return spec->records * MOST_CHANNELS;
}

size_t varying_bound(const struct column_spec *spec)
{
    size_t bound = entropy_bound(spec->raw_bytes), more = most_planes(spec) * (4 + FRAME_SLACK);
    return bound > SIZE_MAX - more ? SIZE_MAX : bound + more;
}

static bool is_less_green(const struct varying_image *image, size_t channel)
{
    return image->predicted && image->planes >= 3 && (channel == 0 || channel == 2);
}

static size_t channel_of(const struct varying_image *image, size_t i)
{
    return image->predicted ? image_channel(image->planes, i) : i;
}

/* -------------------------------------------------------------------------------------------- encoding */

static apl_status encode_plane(struct varying_codec *v, int level, const struct varying_image *image,
                               size_t channel, uint8_t *out, size_t capacity, size_t *size, apl_error *err)
{
    const uint8_t *plane = image->values + channel * image->plane;
    if (image->predicted) {
        size_t half = scratch_round(image->plane);
        uint8_t *less = scratch_reserve(&v->scratch, 2 * half);
        if (!less)
            return fail_nomem(err);
        if (is_less_green(image, channel)) {
            v->filter->subtract(less, plane, image->values + image->plane, image->plane);
            plane = less;
        }
        v->filter->residuals(less + half, plane, image->width, image->height);
        plane = less + half;
    }
    return entropy_encode(v->entropy, level, plane, image->plane, out, capacity, size, err);
}

static size_t count_planes(const struct column_spec *spec, const uint8_t *raw)
{
    const uint8_t *dims = raw;
    size_t planes = 0;
    for (size_t i = 0; i < spec->records; i++) {
        struct varying_image image;
        if (!take_varying(spec, &dims, spec->raw_bytes, &image))
            return SIZE_MAX;
        planes += image.planes;
    }
    return planes;
}

apl_status varying_encode_apart(struct varying_codec *v, int level, const struct column_spec *spec,
                                const uint8_t *dims, const uint8_t *values, uint8_t *out, size_t *size,
                                apl_error *err)
{
    size_t head = varying_shapes_bytes(spec), left = spec->raw_bytes - head,
           planes = count_planes(spec, dims);
    if (planes == SIZE_MAX)
        return fail(err, APL_E_INVALID, "not a column of images");
    uint8_t *entry = out + head;
    size_t end = head + planes * 4, capacity = varying_bound(spec);
    memcpy(out, dims, head);
    for (size_t i = 0; i < spec->records; i++) {
        struct varying_image image;
        if (!take_varying(spec, &dims, left, &image))
            return fail(err, APL_E_INVALID, "not a column of images");
        image.values = (uint8_t *)(uintptr_t)values;
        for (size_t p = 0; p < image.planes; p++, entry += 4) {
            size_t frame = 0;
            if (image.plane > 0)
                TRY(encode_plane(v, level, &image, channel_of(&image, p), out + end, capacity - end, &frame,
                                 err));
            store_le(entry, frame, 4);
            end += frame;
        }
        values += image.planes * image.plane;
        left -= image.planes * image.plane;
    }
    *size = end;
    return APL_OK;
}

apl_status varying_encode(struct varying_codec *v, int level, const struct column_spec *spec,
                          const uint8_t *raw, uint8_t *out, size_t *size, apl_error *err)
{
    return varying_encode_apart(v, level, spec, raw, raw + varying_shapes_bytes(spec), out, size, err);
}

/* -------------------------------------------------------------------------------------------- decoding */

static apl_status decode_plane(struct varying_codec *v, const struct varying_image *image, size_t channel,
                               const uint8_t *frame, size_t size, apl_error *err)
{
    uint8_t *plane = image->values + channel * image->plane;
    TRY(entropy_decode(v->entropy, frame, size, plane, image->plane, err));
    if (image->predicted)
        v->filter->restore_plane(plane, image->width, image->height);
    if (is_less_green(image, channel))
        v->filter->add_back(plane, image->values + image->plane, image->plane);
    return APL_OK;
}

/* A column being decoded: sizes of frames, and the frames. */
struct varying_frames {
    struct cursor sizes, frames;
};

static apl_status decode_image_planes(struct varying_codec *v, const struct varying_image *image,
                                      struct varying_frames *f, apl_error *err)
{
    for (size_t p = 0; p < image->planes; p++) {
        size_t size = cursor_u32(&f->sizes);
        const uint8_t *frame = cursor_take(&f->frames, size);
        if (!frame || (size == 0) != (image->plane == 0))
            return fail(err, APL_E_CORRUPT, "plane %zu: a frame of %zu bytes where %zu are left", p, size,
                        cursor_left(&f->frames));
        if (size > 0)
            TRY(decode_plane(v, image, channel_of(image, p), frame, size, err));
    }
    return APL_OK;
}

/* The dimensions are copied first, and only the copy is used. */
apl_status varying_decode(struct varying_codec *v, const struct column_spec *spec, const uint8_t *coded,
                          size_t size, uint8_t *raw, apl_error *err)
{
    size_t head = spec->records * varying_dims(spec) * 4, at = head;
    if (size < head)
        return fail(err, APL_E_CORRUPT, "%zu coded bytes, too few for the dimensions of %zu images", size,
                    spec->records);
    memcpy(raw, coded, head);
    const uint8_t *dims = raw;
    size_t planes = count_planes(spec, raw);
    if (planes == SIZE_MAX || planes > (size - head) / 4)
        return fail(err, APL_E_CORRUPT, "impossible dimensions");
    struct varying_frames f = {cursor_over(coded + head, planes * 4),
                               cursor_over(coded + head + planes * 4, size - head - planes * 4)};
    for (size_t i = 0; i < spec->records; i++) {
        struct varying_image image;
        if (!take_varying(spec, &dims, spec->raw_bytes - at, &image))
            return fail(err, APL_E_CORRUPT, "image %zu goes beyond the column", i);
        image.values = raw + at;
        apl_status status = decode_image_planes(v, &image, &f, err);
        if (status != APL_OK)
            return fail_in(err, status, "image %zu", i);
        at += image.planes * image.plane;
    }
    if (at != spec->raw_bytes || cursor_left(&f.frames) > 0)
        return fail(err, APL_E_CORRUPT, "%zu bytes too many", spec->raw_bytes - at + cursor_left(&f.frames));
    return APL_OK;
}
