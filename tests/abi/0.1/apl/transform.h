/* apl/transform.h - transform images on their way into a batch; part of apl.h, which states the general rules. */
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
    APL_FLIP_RANDOM = 1,     /* left to right, with probability flip_p, anew each epoch */
    APL_FLIP_ALTERNATING = 2 /* left to right, half of the records in even epochs, the others in odd ones */
} apl_flip;
typedef enum apl_scale {
    APL_SCALE_UNIT = 0,      /* v / 255, in floating point */
    APL_SCALE_NORMALISE = 1, /* (v - mean) / std, for each channel */
    APL_SCALE_NONE = 2       /* v unchanged */
} apl_scale;

/* What JPEG images of any size are scaled to, before they are cropped. */
typedef enum apl_sizing {
    APL_SIZING_NONE = 0,
    APL_SIZING_RESIZE = 1, /* the whole image, to two sides, or its shorter side to one */
    APL_SIZING_RANDOM = 2  /* a random box of it, to the size of the crop: RandomResizedCrop */
} apl_sizing;

#define APL_MAX_CHANNELS 16

/*
 * Transforms the images of a u8 field of shape {C, H, W} or {H, W}, or of a kept field of type image/jpeg, on their way
 * into a batch, in this order: decode and resize (image/jpeg), pad on all sides, crop, flip, cut out, scale, convert.
 * Randomness is keyed by seed, epoch, record and copy, so a record is augmented the same way whatever its batch, thread
 * or rank. It is not keyed by the field, so the images of one record, such as a photograph and its mask, are augmented
 * alike: with equal settings and shapes they get the same crop, flip and square; flips agree whatever the shapes. Start
 * from APL_TRANSFORM_INIT.
 */
typedef struct apl_transform {
    size_t size;       /* sizeof(apl_transform) */
    const char *field; /* NULL: the only image field, of shape {C, H, W} if there is one, otherwise {H, W} */
    unsigned pad;      /* pixels */
    apl_pad pad_mode;
    unsigned crop_height, crop_width; /* 0: as stored */
    int crop_centre;                  /* 1: centre crop; 0: random crop */
    apl_flip flip;
    unsigned cutout; /* side of a randomly placed square, perhaps partly outside, that is set to 0; 0: none */
    apl_scale scale;
    /* For APL_SCALE_NORMALISE: mean and standard deviation, in units of stored values (0 ... 255, not 0 ... 1). Where
     * the standard deviation is 0, both are taken from the split "train", or, if there is none, from the split that is
     * read. For JPEG images they are estimated from 256 images, evenly spaced over that split and cropped as by this
     * transform. */
    float mean[APL_MAX_CHANNELS], std[APL_MAX_CHANNELS];
    apl_dtype
        dtype; /* APL_F32, APL_F16, APL_BF16, or APL_U8 (or 0), which is neither scaled nor normalised */
    apl_layout layout;      /* has no effect on images of shape {H, W} */
    double flip_p;          /* for APL_FLIP_RANDOM: its probability, above 0 and at most 1; 0: one half */
    double vertical_flip_p; /* the probability of a flip top to bottom, from 0 to 1, anew each epoch */
    /*
     * The rest is for kept fields of type image/jpeg (see apl_field.media). Their images may have any size; they become
     * u8 {3, H, W}, grey ones too, of crop_height x crop_width pixels, which must be given unless both sides are resized.
     * Resizing is antialiased bilinear, as in torchvision and Pillow. No more is decoded than the crop needs.
     */
    apl_sizing sizing;
    /* For APL_SIZING_RESIZE: the shorter side, the other in proportion, rounded down; or both sides. */
    unsigned resize_short, resize_height, resize_width;
    /* For APL_SIZING_RANDOM: {min, max} of the box's fraction of the image's area, and of its aspect ratio (width /
     * height). {0, 0} means {0.08, 1} and {3/4, 4/3}. */
    double area[2], ratio[2];
    int pad_if_needed; /* 1: images smaller than a random crop are padded with 0; 0: they are an error */
    int exact_chroma;  /* 1: colours are interpolated before images are resized, at more cost; 0: after it */
} apl_transform;
#define APL_TRANSFORM_INIT                                                                                 \
    {                                                                                                      \
        sizeof(apl_transform), NULL, 0, APL_PAD_ZERO, 0, 0, 0, APL_FLIP_NONE, 0, APL_SCALE_UNIT, {0}, {0}, \
            (apl_dtype)0, APL_NCHW, 0, 0, APL_SIZING_NONE, 0, 0, 0, {0}, {0}, 0, 0                         \
    }

/*
 * Fills in defaults, as apl_reader_open() does for a reader of `split` (NULL: the store's first): the field's name,
 * which belongs to the store; the crop size; the dtype; and the mean and standard deviation if they are needed.
 * Likely errors: APL_E_INVALID (the message says what is wrong), APL_E_NOTFOUND (field or split, or the store has no
 * mean and standard deviation).
 */
APL_API APL_MUST_USE apl_status apl_transform_complete(apl_store *store, const char *split,
                                                       apl_transform *transform, apl_error *err);

/* Where the crop and the cutout square of one record lie, and whether it is flipped. */
typedef struct apl_placement {
    int32_t top, left;         /* of the crop in the padded image */
    int32_t flip;              /* of the crop: 1: left to right; 2: top to bottom; 3: both */
    int32_t cut_top, cut_left; /* of the square in the result; it may extend beyond any edge */
} apl_placement;

/*
 * Computes what a reader with this seed does to each row of its batch under the transform, in placements[0 ...
 * rows-1], so that other code can do the same (on a device that holds the images, say). The batch need not contain
 * the images. The following steps give results that are bit for bit those of the reader:
 *
 *   - pad all sides with 0, or with reflections that do not repeat the edge; take the crop; flip it;
 *   - u8: the values are the result. f32: v * a + b, in float, rounded after each operation; a is 1/255 and b is 0
 *     (APL_SCALE_UNIT), or a is 1/std and b is -mean/std (APL_SCALE_NORMALISE), or a is 1 and b is 0. f16
 *     and bf16: the same, rounded to nearest even;
 *   - set to 0 the part of the result that the square of side `cutout` covers.
 *
 * Steps that are not random have fixed placements: a centre crop (rounded towards the top left), no flip, and without
 * cutout a square outside the image. Likely errors: APL_E_INVALID (not a batch of a reader, or an invalid transform
 * as for apl_reader_open(), or of a kept field, whose images are made by the reader alone), APL_E_NOTFOUND (the field).
 */
APL_API APL_MUST_USE apl_status apl_batch_placements(const apl_store *store, const apl_transform *transform,
                                                     uint64_t seed, const apl_batch *batch,
                                                     apl_placement *placements, apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
