/* apl/transform.h - transform images on their way into a batch; part of apl.h, which states the general rules. */
#ifndef APL_TRANSFORM_H
#define APL_TRANSFORM_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum apl_layout { APL_NCHW = 0, APL_NHWC = 1 } apl_layout;
/* How an image is padded: with a constant (pad_fill, by default 0), reflections that do not repeat the edge, copies
 * of the edge, or reflections that repeat it. */
typedef enum apl_pad {
    APL_PAD_ZERO = 0,
    APL_PAD_REFLECT = 1,
    APL_PAD_EDGE = 2,
    APL_PAD_SYMMETRIC = 3
} apl_pad;
typedef enum apl_flip {
    APL_FLIP_NONE = 0,
    APL_FLIP_RANDOM = 1,     /* left to right, with probability flip_p, drawn each epoch */
    APL_FLIP_ALTERNATING = 2 /* left to right, half of the records in even epochs, the others in odd ones */
} apl_flip;
typedef enum apl_scale {
    APL_SCALE_UNIT = 0,      /* v / 255, in floating point */
    APL_SCALE_NORMALISE = 1, /* (v - mean) / std, for each channel */
    APL_SCALE_NONE = 2       /* v unchanged */
} apl_scale;

/* How the pixels of a field's values lie: APL_FORM_CHW, APL_FORM_HWC or APL_FORM_HW, as its kind says or else its shape,
 * for u8 and u16 of two or three dimensions; APL_FORM_NONE for others, for kinds other than image, mask and map, and
 * for more than APL_MAX_CHANNELS channels. The channels of {H, W, C} come last if C is 1, 3 or 4, or 2, and H is none of
 * these. */
APL_API apl_form apl_field_form(const apl_field *field);

/* What becomes of a field when the pixels of its image move: it stays as it is, it moves too, or it cannot, and neither
 * must the pixels. Decided by its kind alone (NULL: that of the field); where nobody has said it, single numbers, text and
 * files that are no images stay, and arrays of numbers and images are refused. No name is looked at. */
typedef enum apl_action { APL_STAYS = 0, APL_MOVES = 1, APL_REFUSED = 2 } apl_action;
APL_API apl_action apl_field_action(const apl_field *field, const apl_kind *kind);

/* How images are resized before they are cropped. */
typedef enum apl_sizing {
    APL_SIZING_NONE = 0,
    APL_SIZING_RESIZE = 1, /* the whole image: both sides given, or the shorter one */
    APL_SIZING_RANDOM = 2  /* a random box, resized to the crop: RandomResizedCrop */
} apl_sizing;

/* How an erased rectangle is filled. */
typedef enum apl_erase {
    APL_ERASE_RESULT = 0, /* erase_value, in units of the result: as it is after normalisation */
    APL_ERASE_PIXEL = 1,  /* erase_value as a pixel (0 ... 255), scaled or normalised like any other */
    APL_ERASE_NOISE =
        2 /* each value at random, from the normal distribution of mean 0 and standard deviation 1 */
} apl_erase;

/* Policies of operations that are drawn for each image: shear, translate, rotate, brightness, colour, contrast,
 * sharpness, posterize, solarize, autocontrast, equalize, or none. */
typedef enum apl_policy {
    APL_POLICY_NONE = 0,
    APL_POLICY_TRIVIAL_WIDE = 1, /* TrivialAugmentWide: one operation, of a random magnitude */
    APL_POLICY_RAND = 2          /* RandAugment: policy_ops operations, all of policy_magnitude */
} apl_policy;
typedef enum apl_interpolation { APL_NEAREST = 0, APL_BILINEAR = 1 } apl_interpolation;

#define APL_MAX_CHANNELS 16

/*
 * Transforms the images of a u8 field of shape {C, H, W} or {H, W}, of three dimensions that vary, or of a kept field
 * of type image/jpeg, on their way into a batch, in this order: decode, resize, pad, crop, flip, affine map,
 * perspective, elastic, policy, colour jitter, greyscale, blur, scale, convert, cutout, erase. Randomness is keyed by
 * seed, epoch, record and copy, so a record is augmented the same way whatever its batch, thread or rank. It is not
 * keyed by the field, so the images of one record, such as a left and a right view, are augmented alike: with equal
 * settings and shapes they get the same crop, flip and square; flips agree whatever the shapes. Start from
 * APL_TRANSFORM_INIT.
 *
 * Readers move what lies in an image with its pixels, by the kinds of the fields that are read (apl_field.kind, or
 * apl_reader_options.kinds). Resizing, padding, crops, flips, affine maps, perspective, elastic and policies move pixels.
 * A field whose kind has no of= belongs to the only image that is read; with several, it must say of which it is.
 *
 * Masks, and maps of nearest elements, have the height and width of the image: {H, W} or {N, H, W}, fixed or varying, or
 * three varying dimensions with one channel, or kept as image/jpeg. They keep their dtype; in batches they have the
 * shape {H, W} or {N, H, W} of the crop. Masks of instances, {-1, H, W} or per boxes {n, H, W}, are as many in batches as
 * in their record, or as boxes are left. Resampling takes the nearest element; padding is mask_fill, or reflected like
 * the image. Boxes, f32 {n, 4} of form xyxy, xywh or cxcywh in pixels, are clamped to the crop; see box_min_size. With
 * box i, element i of fields that are per the boxes is removed. In batches, boxes and what is per them have a first
 * dimension that varies, however they are stored; they are collated like other such fields, but cannot be packed or be
 * part of a graph. Neither follow a policy.
 *
 * Labels, text, tokens, audio, plain fields and other images stay as they are. APL_E_INVALID: a field that is read is
 * pinned to the image, or is an array of numbers of no kind. APL_E_UNSUPPORTED: keypoints, vectors, and what else cannot
 * be moved yet. Transforms that move nothing, such as changes of colour, are for any fields.
 */
typedef struct apl_transform {
    size_t size; /* sizeof(apl_transform) */
    /* NULL: the only field of kind image that is read, or, if there is none, the only input or kept file of no kind that
     * is an image by its type and shape; {C, H, W} if there is one, otherwise {H, W}. */
    const char *field;
    unsigned pad; /* pixels on every side, that a crop may take: unlike pads, it enlarges nothing */
    apl_pad pad_mode;
    unsigned crop_height, crop_width; /* 0: as stored, or as padded by pads */
    int crop_centre;                  /* 1: centre crop; 0: random crop */
    apl_flip flip;
    unsigned cutout; /* side of a randomly placed square, perhaps partly outside, that is set to 0; 0: none */
    apl_scale scale;
    /* For APL_SCALE_NORMALISE: mean and standard deviation, in units of stored values (0 ... 255, not 0 ... 1). Padding
     * comes first, so its black becomes -mean / std. Where
     * the standard deviation is 0, both are taken from the split "train"; in a mix, from those of all its stores together. A store
     * without such a split has those of the store that it was extracted from (see apl_store_training_moments()), or the transform
     * is refused (APL_E_NOTFOUND). If a store has no moments for images of varying size
     * (see apl_store_moments()), or has counted fewer than 95 % of them, they are estimated from whole images, evenly
     * spaced over that split: 256 in all. Refused for other scales. */
    float mean[APL_MAX_CHANNELS], std[APL_MAX_CHANNELS];
    apl_dtype
        dtype; /* APL_U8 (0 means this: pixels, neither scaled nor normalised), APL_F32, APL_F16 or APL_BF16 */
    apl_layout layout; /* has no effect on images of shape {H, W} */
    double flip_p;     /* for APL_FLIP_RANDOM, else refused: its probability, above 0 to 1; 0: one half */
    double vertical_flip_p; /* the probability of a flip top to bottom, from 0 to 1, drawn each epoch */
    /*
     * Images of kept fields of type image/jpeg (see apl_field.media), and of u8 fields whose shape varies, may have
     * any size; they become u8 {3, H, W} (grey is repeated, alpha dropped) of crop_height x crop_width pixels, which
     * must be given unless both sides are resized. Fields {2, *, *} and {4, *, *} are refused: their channels may be no
     * alpha. Images of one size can be resized too, if they have 1 or 3 channels. Resizing is antialiased bilinear, as in torchvision and Pillow. No more of a JPEG file is decoded
     * than the crop needs.
     */
    apl_sizing sizing;
    /* For APL_SIZING_RESIZE, otherwise refused: the shorter side, the other in proportion, rounded down; or both
     * sides. */
    unsigned resize_short, resize_height, resize_width;
    /* For APL_SIZING_RANDOM, otherwise refused: {min, max} of the box's fraction of the image's area, and of its
     * aspect ratio (width / height); above 0, areas at most 1. {0, 0} means {0.08, 1} and {3/4, 4/3}. Such a crop is
     * not padded. */
    double area[2], ratio[2];
    int pad_if_needed; /* 1: images smaller than a random crop are padded; 0: they are an error */
    int exact_chroma;  /* 1: chroma is interpolated before images are resized, at more cost; 0: afterwards */
    /*
     * The rest is for images of one channel or three (red, green and blue), in any field. Each setting means what
     * torchvision v2's parameter means; with the same factors, results agree with v2's for u8 to within one level.
     * Zeros change nothing.
     *
     * ColorJitter: {min, max} of the factors for brightness, contrast and saturation, from 0 to 100, and of the shift
     * of the hue, from -0.5 to 0.5. Each is drawn uniformly; they are applied in random order. {0, 0}: not applied.
     */
    double brightness[2], contrast[2], saturation[2], hue[2];
    double jitter_p; /* the probability that they are applied; 0: 1 */
    double grey_p;   /* RandomGrayscale: the probability that an image becomes grey */
    int grey_plane;  /* 1: all images become grey, of one channel: Grayscale; grey_p must be 0 or 1 */
    /* RandomErasing: the probability that a rectangle is erased; {min, max} of its fraction of the image's area and
     * of its aspect ratio (height / width). {0, 0} means {0.02, 0.33} and {0.3, 3.3}. */
    double erase_p, erase_area[2], erase_ratio[2];
    apl_erase erase;
    float erase_value[APL_MAX_CHANNELS]; /* for each channel */
    /* GaussianBlur, after colour changes: {width, height} of its kernel, odd numbers (0: none); {min, max} of its
     * standard deviation, in pixels ({0, 0} means {0.1, 2}); and its probability (0: 1). */
    unsigned blur_size[2];
    double blur_sigma[2], blur_p;
    /* Applied between flips and colour changes. A magnitude is one of 0 ... policy_bins - 1. policy_ops 0: 2;
     * policy_bins 0: 31. Shears, translations and rotations resample once; pixels from beyond the edges become
     * policy_fill, 0 ... 255 per channel. */
    apl_policy policy;
    unsigned policy_ops, policy_magnitude, policy_bins;
    apl_interpolation policy_interpolation;
    float policy_fill[APL_MAX_CHANNELS];
    /*
     * Of boxes that follow the images (see above): those whose sides or area are below these, in pixels of the crop, or
     * that are outside the crop, are removed; if both are 0, none is (SanitizeBoundingBoxes).
     */
    double box_min_size, box_min_area;
    /*
     * RandomAffine and RandomRotation, for images of one channel or three, after crop and flip and before the policy:
     * a random rotation, scale, shear and translation, resampled once. {min, max} of the degrees clockwise, from -360
     * to 360; the largest translations, as fractions of width and height; {min, max} of the scale, from 0.01 to 100
     * ({0, 0}: 1); {min, max, min, max} of the shear of x and of y in degrees, from -80 to 80. The centre of the map
     * is the middle of the crop or, if affine_about is 1, the point {x, y} in affine_centre, in pixels of the crop.
     * Pixels from beyond the edges become affine_fill, 0 ... 255 for each channel.
     */
    double affine_degrees[2], affine_translate[2], affine_scale[2], affine_shear[4];
    int affine_about;
    double affine_centre[2];
    apl_interpolation affine_interpolation;
    float affine_fill[APL_MAX_CHANNELS];
    double affine_p; /* the probability that it is applied; 0: 1 */
    /* Additional padding per side, {left, top, right, bottom}, for images of one channel or three, after resizing.
     * Without a crop, the whole padded image is taken. For APL_PAD_ZERO, pad_fill is a whole number in 0 ... 255 for
     * each channel. */
    unsigned pads[4];
    float pad_fill[APL_MAX_CHANNELS];
    /* The value of masks where the image is padded, or where a map leaves a gap; their dtype must hold it exactly. */
    double mask_fill;
    /* 1: bilinear operations of a policy blend edge pixels with policy_fill even if that is 0, like torchvision with
     * fill=0; 0: only if it is not 0, like torchvision with fill=None. */
    int policy_blend;
    /*
     * RandomPerspective, for images of one channel or three, after the affine map: each corner moves to a random
     * pixel at most this fraction of half the width and height away, 0 ... 1 (0: not applied), and the image is
     * resampled once. If three corners end up on a line, which takes fractions above 2/3, the image is left
     * unchanged. fill and blend are as for policies.
     */
    double perspective_distortion, perspective_p; /* the probability that it is applied; 0: 1 */
    apl_interpolation perspective_interpolation;
    int perspective_blend;
    float perspective_fill[APL_MAX_CHANNELS];
    /*
     * ElasticTransform, likewise, after that: every pixel is displaced by noise of -alpha / 2 ... alpha / 2 pixels
     * {across, down}, smoothed by a Gaussian of sigma pixels {across, down} (0: not smoothed), whose kernels of 8 *
     * sigma + 1 pixels must be smaller than twice the crop. alpha is from 0 to 32768 ({0, 0}: not applied), sigma at
     * most 100. Corners of boxes move like their nearest pixel.
     */
    double elastic_alpha[2], elastic_sigma[2], elastic_p; /* the probability that it is applied; 0: 1 */
    apl_interpolation elastic_interpolation;
    int elastic_blend;
    float elastic_fill[APL_MAX_CHANNELS];
    /* 1: a bilinear affine map does not blend edge pixels with affine_fill, like torchvision with fill=None. */
    int affine_unblended;
    /* Where one of them is not 0, it is in place of mask_fill: where the image is padded, and where the affine map, the
     * perspective and the elastic deformation leave gaps. */
    double pad_mask_fill, affine_mask_fill, perspective_mask_fill, elastic_mask_fill;
} apl_transform;
#define APL_TRANSFORM_INIT                                                                                 \
    {                                                                                                      \
        sizeof(apl_transform), NULL, 0, APL_PAD_ZERO, 0, 0, 0, APL_FLIP_NONE, 0, APL_SCALE_UNIT, {0}, {0}, \
            (apl_dtype)0, APL_NCHW, 0, 0, APL_SIZING_NONE, 0, 0, 0, {0}, {0}, 0, 0, {0}, {0}, {0}, {0}, 0, \
            0, 0, 0, {0}, {0}, APL_ERASE_RESULT, {0}, {0}, {0}, 0, APL_POLICY_NONE, 0, 0, 0, APL_NEAREST,  \
            {0}, 0, 0, {0}, {0}, {0}, {0}, 0, {0}, APL_NEAREST, {0}, 0, {0}, {0}, 0, 0, 0, 0, APL_NEAREST, \
            0, {0}, {0}, {0}, 0, APL_NEAREST, 0, {0}, 0, 0, 0, 0, 0                                        \
    }

/*
 * Mixes the images of each batch with each other, and their labels, as torchvision v2's MixUp and CutMix do: each
 * image with the one before it in the batch, and the first with the last. The draws are keyed by seed, epoch, rank
 * and the position of the batch in the epoch, so threads and resuming do not change the batches. Labels become f32
 * {classes}: one number for each class. The images are those that their transform, if any, has made; fields that
 * follow them are not allowed. Start from APL_BLEND_INIT.
 */
typedef struct apl_blend {
    size_t size;       /* sizeof(apl_blend) */
    const char *field; /* the field of the images; NULL: as for apl_transform */
    const char *label; /* the field of the labels, scalar whole numbers; NULL: the only such target */
    unsigned classes;  /* labels are below this number; 0: the number of class names of the labels' field */
    double
        mixup_alpha; /* MixUp: lambda is drawn from Beta(alpha, alpha), 0.001 to 1000; 0: none. For floats only */
    double
        cutmix_alpha; /* CutMix, likewise: a rectangle of about 1 - lambda of the area is from the other image */
    double cutmix_p; /* where both are given: the probability of CutMix; 0: one half */
    double p;        /* the probability that a batch is mixed at all; 0: 1 */
    double
        smoothing; /* of labels, below 1: 1 becomes 1 - smoothing + smoothing / classes, 0 smoothing / classes */
} apl_blend;
#define APL_BLEND_INIT                                  \
    {                                                   \
        sizeof(apl_blend), NULL, NULL, 0, 0, 0, 0, 0, 0 \
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
 * Steps that are not random have fixed placements: a centre crop (half of what is left, rounded to the even pixel), no flip, and without
 * cutout a square outside the image. Likely errors: APL_E_INVALID (not a batch of a reader; an invalid transform as
 * for apl_reader_open(); or one that only readers can apply: of a kept field, or with resizing, pads, a pad_fill or
 * another pad_mode than zeros and reflections, affine maps, colour changes or erasing), APL_E_NOTFOUND (the field).
 */
APL_API APL_MUST_USE apl_status apl_batch_placements(const apl_store *store, const apl_transform *transform,
                                                     uint64_t seed, const apl_batch *batch,
                                                     apl_placement *placements, apl_error *err);

/* Which part of an image becomes the crop of one record: a box is cut out, resized, and cropped. */
typedef struct apl_crop_box {
    /* Of the image as it is stored: to be set if the field's images vary in size. */
    uint32_t image_width, image_height;
    /* In pixels of the image: all of it, but for APL_SIZING_RANDOM. */
    uint32_t left, top, width, height;
    uint32_t resized_width, resized_height; /* what the box becomes */
    int32_t crop_left, crop_top;            /* in pixels of that; below 0: in the padding */
    int32_t flip, cut_left, cut_top;        /* as in apl_placement */
} apl_crop_box;

/*
 * The same for any transform: computes in boxes[0 ... rows-1] what a reader with this seed cuts out for each row of its
 * batch. What comes after crop and flip (affine maps, colours, erasing) is not part of it. Where the field's images
 * vary in size, the caller sets image_width and image_height of each row; otherwise they are filled in. Likely errors:
 * APL_E_INVALID (not a batch of a reader; an invalid transform; an image without a size, or smaller than its crop),
 * APL_E_NOTFOUND (the field).
 */
APL_API APL_MUST_USE apl_status apl_batch_boxes(const apl_store *store, const apl_transform *transform,
                                                uint64_t seed, const apl_batch *batch, apl_crop_box *boxes,
                                                apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
