/* apl/transform.h - what is done to images on their way into a batch; part of apl.h, where the rules stand. */
#ifndef APL_TRANSFORM_H
#define APL_TRANSFORM_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum apl_layout { APL_NCHW = 0, APL_NHWC = 1 } apl_layout;
typedef enum apl_pad { APL_PAD_ZERO = 0, APL_PAD_REFLECT = 1 } apl_pad;
typedef enum apl_flip {
    APL_FLIP_NONE = 0,
    APL_FLIP_RANDOM = 1,     /* left and right, with probability flip_p, anew each epoch */
    APL_FLIP_ALTERNATING = 2 /* one half of the records in even epochs, the other half in odd ones */
} apl_flip;
typedef enum apl_scale {
    APL_SCALE_UNIT = 0,      /* floating-point results: v / 255 */
    APL_SCALE_NORMALISE = 1, /* (v - mean) / deviation, of each channel */
    APL_SCALE_NONE = 2       /* v as it is */
} apl_scale;

#define APL_MAX_CHANNELS 16

/*
 * What is done to the images of a u8 field of shape {C, H, W}, or {H, W}, on their way into a batch, in this
 * order: pad on all sides, crop, flip, cut out, scale, convert. Randomness is keyed by seed, epoch, record and
 * copy: a record is augmented the same way in whatever batch, thread or rank it comes. It is not keyed by the
 * field: the images of one record, such as a photograph and its mask, are augmented alike. With equal settings
 * and shapes they get the same crop, flip and square; flips agree whatever the shapes. Start from
 * APL_TRANSFORM_INIT.
 */
typedef struct apl_transform {
    size_t size;       /* sizeof(apl_transform) */
    const char *field; /* NULL: the one that is an image: {C, H, W} if there is such, else {H, W} */
    unsigned pad;      /* pixels */
    apl_pad pad_mode;
    unsigned crop_height, crop_width; /* 0: as stored */
    int crop_centre;                  /* 1: from the middle; 0: from a random place */
    apl_flip flip;
    unsigned cutout; /* side of a square at a random place, which may stick out, that becomes 0; 0: none */
    apl_scale scale;
    /* For APL_SCALE_NORMALISE, in units of stored values (0 ... 255). Where the deviation is 0, those of the
     * split "train" are taken, or of the split that is read if there is no such. */
    float mean[APL_MAX_CHANNELS], deviation[APL_MAX_CHANNELS];
    apl_dtype dtype;        /* APL_F32, APL_F16, APL_BF16, or APL_U8 (also 0), which is not scaled */
    apl_layout layout;      /* an image {H, W} stays so in either */
    double flip_p;          /* of APL_FLIP_RANDOM, above 0 and at most 1; 0: one half */
    double vertical_flip_p; /* that top and bottom change places, from 0 to 1, anew each epoch */
} apl_transform;
#define APL_TRANSFORM_INIT                                                                                 \
    {                                                                                                      \
        sizeof(apl_transform), NULL, 0, APL_PAD_ZERO, 0, 0, 0, APL_FLIP_NONE, 0, APL_SCALE_UNIT, {0}, {0}, \
            (apl_dtype)0, APL_NCHW, 0, 0                                                                   \
    }

/*
 * Fills in what was left to defaults, as apl_reader_open() does for a reader of `split` (NULL: the first of
 * the store): the field's name, which belongs to the store; the sizes of the crop; the dtype; mean and
 * deviation, if they are needed. Likely errors: APL_E_INVALID (the message says what cannot be),
 * APL_E_NOTFOUND (field or split, or the store has no mean and deviation).
 */
APL_API APL_MUST_USE apl_status apl_transform_complete(apl_store *store, const char *split,
                                                       apl_transform *transform, apl_error *err);

/* Where crop, flip and square of one record fall. */
typedef struct apl_placement {
    int32_t top, left;         /* of the crop in the padded picture */
    int32_t flip;              /* of the crop: 1: left and right change places; 2: top and bottom; 3: both */
    int32_t cut_top, cut_left; /* of the square in the result; it may stick out on any side */
} apl_placement;

/*
 * What a reader of this seed does to the rows of its batch by the transform, so that other code (on a device,
 * where the pictures lie) can do the same: placements[0 ... rows-1]. The batch need not hold the pictures.
 * Done like this, the results are equal to those of the reader, bit by bit:
 *
 *   - pad all sides with 0, or with reflections that do not repeat the edge; take the crop; flip it;
 *   - u8: the values are the result. f32: v * a + b, in float, rounded after either step; a is 1/255 and b is
 *     0 (APL_SCALE_UNIT), or a is 1/deviation and b is -mean/deviation (APL_SCALE_NORMALISE), or a is 1 and b
 *     is 0. f16 and bf16: that, rounded to nearest even;
 *   - set to 0 what the square of side `cutout` covers in the result.
 *
 * What is not random has its fixed place: the crop in the middle (rounded to the top left), no flip, and
 * without cutout a square outside. Likely errors: APL_E_INVALID (no batch of a reader, or as
 * apl_reader_open() says of a transform), APL_E_NOTFOUND (the field).
 */
APL_API APL_MUST_USE apl_status apl_batch_placements(const apl_store *store, const apl_transform *transform,
                                                     uint64_t seed, const apl_batch *batch,
                                                     apl_placement *placements, apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
