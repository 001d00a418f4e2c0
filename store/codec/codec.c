/* What codecs share: falling back, scattering to rows, choosing. */
#include "codec.h"

#include "elements.h"
#include "entropy.h"
#include "image_codec.h"
#include "scratch.h"
#include "varying_codec.h"

#include <stdlib.h>
#include <string.h>

struct coder {
    struct entropy *entropy;
    struct image_codec *image;
    struct varying_codec *varying;
    struct scratch elements; /* a column between zstd and its elements' transform */
    struct scratch values;   /* a decoded column on its way to rows; a column's trial encoding */
    struct scratch rows;     /* pointers into a contiguous column */
};

struct coder *coder_new(void)
{
    struct coder *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->entropy = entropy_new();
    if (c->entropy)
        c->image = image_codec_new(cpu_variant(), c->entropy);
    if (c->image)
        c->varying = varying_codec_new(cpu_variant(), c->entropy);
    if (c->varying)
        return c;
    coder_free(c);
    return NULL;
}

void coder_free(struct coder *coder)
{
    if (!coder)
        return;
    image_codec_free(coder->image);
    varying_codec_free(coder->varying);
    entropy_free(coder->entropy);
    scratch_free(&coder->elements);
    scratch_free(&coder->values);
    scratch_free(&coder->rows);
    free(coder);
}

/* ------------------------------------------------------------------------------------------ what suits */

/* Whole numbers of a fixed shape? */
static bool has_elements(const struct column_spec *spec)
{
    unsigned e = spec->element_bytes;
    if (e != 1 && e != 2 && e != 4 && e != 8)
        return false;
    for (unsigned d = 0; d < spec->ndim; d++)
        if (spec->shape[d] < 0)
            return false;
    return spec->raw_bytes % e == 0;
}

bool codec_suits(enum codec_id id, const struct column_spec *spec)
{
    struct image_layout layout;
    switch (id) {
    case CODEC_RAW:
    case CODEC_ZSTD:
        return true;
    case CODEC_SHUFFLE:
        return has_elements(spec) && spec->element_bytes > 1;
    case CODEC_DELTA:
        return has_elements(spec);
    case CODEC_PICTURE:
        return image_layout_of(spec, &layout);
    case CODEC_VARYING:
        return varying_suits(spec);
    }
    return false;
}

size_t codec_bound(const struct column_spec *spec)
{
    struct image_layout layout;
    size_t bound = entropy_bound(spec->raw_bytes);
    size_t images = image_layout_of(spec, &layout) ? image_bound(&layout)
                    : varying_suits(spec)          ? varying_bound(spec)
                                                   : 0;
    return images > bound ? images : bound;
}

/* -------------------------------------------------------------------------------------------- encoding */

/* CODEC_SHUFFLE and CODEC_DELTA: the transform, then one frame. */
static apl_status encode_elements(struct coder *c, struct codec_choice choice, const struct column_spec *spec,
                                  const uint8_t *raw, uint8_t *out, size_t *size, apl_error *err)
{
    size_t half = scratch_round(spec->raw_bytes), count = spec->raw_bytes / spec->element_bytes;
    if (half > SIZE_MAX / 2)
        return fail_nomem(err);
    uint8_t *shuffled = scratch_reserve(&c->elements, 2 * half);
    if (!shuffled)
        return fail_nomem(err);
    if (choice.id == CODEC_DELTA) {
        elements_delta(shuffled + half, raw, count, spec->element_bytes);
        raw = shuffled + half;
    }
    elements_shuffle(shuffled, raw, count, spec->element_bytes);
    return entropy_encode(c->entropy, choice.level, shuffled, spec->raw_bytes, out, codec_bound(spec), size,
                          err);
}

static apl_status encode_image(struct coder *c, int level, const struct column_spec *spec, const uint8_t *raw,
                               uint8_t *out, size_t *size, apl_error *err)
{
    struct image_layout layout;
    if (!image_layout_of(spec, &layout))
        return fail(err, APL_E_INVALID, "not a column of images");
    return image_encode(c->image, level, &layout, raw, out, codec_bound(spec), size, err);
}

static apl_status encode(struct coder *c, struct codec_choice choice, const struct column_spec *spec,
                         const uint8_t *raw, uint8_t *out, size_t *size, apl_error *err)
{
    switch (choice.id) {
    case CODEC_ZSTD:
        return entropy_encode(c->entropy, choice.level, raw, spec->raw_bytes, out, codec_bound(spec), size,
                              err);
    case CODEC_PICTURE:
        return encode_image(c, choice.level, spec, raw, out, size, err);
    case CODEC_VARYING:
        return varying_encode(c->varying, choice.level, spec, raw, out, size, err);
    default:
        return encode_elements(c, choice, spec, raw, out, size, err);
    }
}

apl_status codec_encode(struct coder *coder, struct codec_choice choice, const struct column_spec *spec,
                        const uint8_t *raw, uint8_t *out, size_t *out_size, enum codec_id *used,
                        apl_error *err)
{
    if (!codec_exists(choice.id))
        return fail(err, APL_E_INVALID, "no codec has the number %u", choice.id);
    if (choice.id != CODEC_RAW && spec->raw_bytes > 0 && codec_suits(choice.id, spec)) {
        size_t size = 0;
        TRY(encode(coder, choice, spec, raw, out, &size, err));
        if (size < spec->raw_bytes) {
            *out_size = size;
            *used = choice.id;
            return APL_OK;
        }
    }
    if (spec->raw_bytes > 0)
        memcpy(out, raw, spec->raw_bytes);
    *out_size = spec->raw_bytes;
    *used = CODEC_RAW;
    return APL_OK;
}

apl_status codec_encode_apart(struct coder *coder, struct codec_choice choice, const struct column_spec *spec,
                              const uint8_t *dims, const uint8_t *values, uint8_t *out, size_t *out_size,
                              enum codec_id *used, apl_error *err)
{
    size_t shapes = varying_shapes_bytes(spec);
    *used = CODEC_VARYING;
    TRY(varying_encode_apart(coder->varying, choice.level, spec, dims, values, out, out_size, err));
    if (*out_size < spec->raw_bytes)
        return APL_OK;
    memcpy(out, dims, shapes);
    memcpy(out + shapes, values, spec->raw_bytes - shapes);
    *out_size = spec->raw_bytes;
    *used = CODEC_RAW;
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- decoding */

static apl_status decode_raw(const struct column_spec *spec, const uint8_t *coded, size_t size, uint8_t *raw,
                             apl_error *err)
{
    if (size != spec->raw_bytes)
        return fail(err, APL_E_CORRUPT, "%zu stored bytes where %zu are expected", size, spec->raw_bytes);
    if (size > 0)
        memcpy(raw, coded, size);
    return APL_OK;
}

static apl_status decode_elements(struct coder *c, enum codec_id id, const struct column_spec *spec,
                                  const uint8_t *coded, size_t size, uint8_t *raw, apl_error *err)
{
    uint8_t *shuffled = scratch_reserve(&c->elements, spec->raw_bytes);
    if (!shuffled)
        return fail_nomem(err);
    TRY(entropy_decode(c->entropy, coded, size, shuffled, spec->raw_bytes, err));
    size_t count = spec->raw_bytes / spec->element_bytes;
    elements_unshuffle(raw, shuffled, count, spec->element_bytes);
    if (id == CODEC_DELTA)
        elements_undelta(raw, count, spec->element_bytes);
    return APL_OK;
}

static apl_status decode_image(struct coder *c, const struct column_spec *spec, const uint8_t *coded,
                               size_t size, uint8_t *const *rows, apl_error *err)
{
    struct image_layout layout;
    if (!image_layout_of(spec, &layout))
        return fail(err, APL_E_CORRUPT, "not a column of images");
    return image_decode(c->image, &layout, coded, size, rows, err);
}

static apl_status decode_image_column(struct coder *c, const struct column_spec *spec, const uint8_t *coded,
                                      size_t size, uint8_t *raw, apl_error *err)
{
    if (spec->records == 0 || spec->records > SIZE_MAX / sizeof(uint8_t *))
        return fail(err, APL_E_CORRUPT, "not a column of images");
    uint8_t **rows = (uint8_t **)(void *)scratch_reserve(&c->rows, spec->records * sizeof *rows);
    if (!rows)
        return fail_nomem(err);
    size_t value_bytes = spec->raw_bytes / spec->records;
    for (size_t i = 0; i < spec->records; i++)
        rows[i] = raw + i * value_bytes;
    return decode_image(c, spec, coded, size, rows, err);
}

apl_status codec_decode(struct coder *coder, enum codec_id id, const struct column_spec *spec,
                        const uint8_t *coded, size_t size, uint8_t *raw, apl_error *err)
{
    if (!codec_exists((unsigned)id))
        return fail(err, APL_E_CORRUPT, "no codec has the number %u", (unsigned)id);
    if (!codec_suits(id, spec))
        return fail(err, APL_E_CORRUPT, "codec %s cannot have encoded this column", codec_name(id));
    switch (id) {
    case CODEC_RAW:
        return decode_raw(spec, coded, size, raw, err);
    case CODEC_ZSTD:
        return entropy_decode(coder->entropy, coded, size, raw, spec->raw_bytes, err);
    case CODEC_PICTURE:
        return decode_image_column(coder, spec, coded, size, raw, err);
    case CODEC_VARYING:
        return varying_decode(coder->varying, spec, coded, size, raw, err);
    default:
        return decode_elements(coder, id, spec, coded, size, raw, err);
    }
}

static void scatter(const struct column_spec *spec, const uint8_t *values, uint8_t *const *rows)
{
    size_t value_bytes = spec->raw_bytes / spec->records;
    for (size_t i = 0; i < spec->records; i++)
        if (rows[i] && value_bytes > 0)
            memcpy(rows[i], values + i * value_bytes, value_bytes);
}

apl_status codec_decode_rows(struct coder *coder, enum codec_id id, const struct column_spec *spec,
                             const uint8_t *coded, size_t size, uint8_t *const *rows, apl_error *err)
{
    if (spec->records == 0 || spec->raw_bytes % spec->records != 0)
        return fail(err, APL_E_INVALID, "rows are for columns of a fixed shape");
    if (id == CODEC_PICTURE)
        return decode_image(coder, spec, coded, size, rows, err);
    if (id == CODEC_RAW && size == spec->raw_bytes) {
        scatter(spec, coded, rows);
        return APL_OK;
    }
    uint8_t *values = scratch_reserve(&coder->values, spec->raw_bytes);
    if (!values)
        return fail_nomem(err);
    TRY(codec_decode(coder, id, spec, coded, size, values, err));
    scatter(spec, values, rows);
    return APL_OK;
}

/* -------------------------------------------------------------------------------------------- choosing */

/* What is tried when nothing is asked for, the cheapest first. Each takes milliseconds for a block: ingest waits for
 * the choice. */
static const struct codec_choice candidates[] = {
    {CODEC_RAW, 0},
    {CODEC_ZSTD, ENTROPY_FAST},
    {CODEC_ZSTD, ENTROPY_QUICK},
    {CODEC_ZSTD, ENTROPY_USUAL},
    {CODEC_SHUFFLE, ENTROPY_USUAL},
    {CODEC_PICTURE, ENTROPY_LITERALS},
    {CODEC_PICTURE, ENTROPY_FAST},
    {CODEC_PICTURE, ENTROPY_USUAL},
    {CODEC_DELTA, ENTROPY_USUAL},
    {CODEC_VARYING, ENTROPY_LITERALS},
    {CODEC_VARYING, ENTROPY_USUAL},
};
#define CANDIDATES (sizeof candidates / sizeof candidates[0])

/* Of planes smaller than this, the frames' headers eat up what an image's prediction gains. */
#define WORTHY_PLANE 16

/* Of a smaller column no level takes time enough to settle for less. */
#define WORTHY_OF_HASTE (64u << 10)

static bool worth_trying(struct codec_choice candidate, const struct column_spec *spec)
{
    struct image_layout layout;
    bool hasty = candidate.level == ENTROPY_FAST || candidate.level == ENTROPY_QUICK;
    if (hasty && spec->raw_bytes < WORTHY_OF_HASTE)
        return false;
    if (candidate.id == CODEC_PICTURE)
        return image_layout_of(spec, &layout) && layout.plane >= WORTHY_PLANE;
    return codec_suits(candidate.id, spec);
}

/* A candidate as the caller wants it; false if he does not, or if it would be tried twice. */
static bool wanted(struct codec_choice *candidate, int want_id, int want_level)
{
    if (want_id >= 0 && candidate->id != want_id)
        return false;
    if (want_level == 0 || candidate->id == CODEC_RAW)
        return true;
    if (candidate->level != ENTROPY_USUAL) /* the same codec comes again */
        return false;
    candidate->level = (int8_t)want_level;
    return true;
}

/* Does `size` save at least 1 % over `best`? */
static bool saves(size_t size, size_t best)
{
    return size < best && best - size >= best / 100;
}

/* Encodes with each candidate into out; what is open stays open until all have been tried. */
static apl_status try_candidates(struct coder *c, const struct column_spec *spec, const uint8_t *raw,
                                 int want_id, int want_level, uint8_t *out, struct codec_choice *choice,
                                 apl_error *err)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < CANDIDATES; i++) {
        struct codec_choice candidate = candidates[i];
        if (!wanted(&candidate, want_id, want_level) || (want_id < 0 && !worth_trying(candidate, spec)))
            continue;
        size_t size = 0;
        enum codec_id used;
        TRY(codec_encode(c, candidate, spec, raw, out, &size, &used, err));
        if (best == SIZE_MAX || saves(size, best)) {
            best = size;
            *choice = candidate;
        }
    }
    return APL_OK;
}

/* The column, or as many of its first records as are enough to judge it by. */
static struct column_spec sample_of(const struct column_spec *spec)
{
    struct column_spec sample = *spec;
    bool varies = false;
    for (unsigned d = 0; d < spec->ndim; d++)
        varies |= spec->shape[d] < 0;
    if (spec->raw_bytes <= CODEC_SAMPLE_BYTES || spec->records == 0 || varies)
        return sample;
    size_t value_bytes = spec->raw_bytes / spec->records;
    sample.records = value_bytes < CODEC_SAMPLE_BYTES ? CODEC_SAMPLE_BYTES / value_bytes : 1;
    sample.raw_bytes = sample.records * value_bytes;
    return sample;
}

apl_status codec_choose(struct coder *coder, const struct column_spec *spec, const uint8_t *raw, int want_id,
                        int want_level, struct codec_choice *choice, apl_error *err)
{
    if (want_id >= 0 && !codec_exists((unsigned)want_id))
        return fail(err, APL_E_INVALID, "no codec has the number %d", want_id);
    if (want_level < INT8_MIN || want_level > INT8_MAX)
        return fail(err, APL_E_INVALID, "a level of %d: levels go from %d to %d", want_level, INT8_MIN,
                    INT8_MAX);
    if (want_id >= 0 && !codec_suits((enum codec_id)want_id, spec))
        want_id = -1;
    struct column_spec sample = sample_of(spec);
    bool copies = spec->raw_bytes > CODEC_SAMPLE_BYTES && varying_suits(spec) &&
                  varying_front(spec, raw, CODEC_SAMPLE_BYTES, &sample);
    size_t bound = codec_bound(&sample);
    uint8_t *out = scratch_reserve(&coder->values, bound + (copies ? sample.raw_bytes : 0));
    if (!out)
        return fail_nomem(err);
    if (copies) {
        varying_copy_front(spec, raw, &sample, out + bound);
        raw = out + bound;
    }
    return try_candidates(coder, &sample, raw, want_id, want_level, out, choice, err);
}
