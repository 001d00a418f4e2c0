/*
 * apl/kind.h - what a field is: an image, a mask, boxes, ...; part of apl.h, which states the general rules.
 *
 * A kind says what a transform that moves the pixels of an image does with a field: move it too, leave it alone, or
 * refuse. It is said when a store is made (apl_writer_set_kind()), and stored (apl_field.kind). As text it is
 *
 *     NAME=KIND[,WORD]...     as in   boxes=boxes,xywh   labels=label,per=boxes   seg=mask,ignore=255   depth=map,linear
 *
 * where NAME is the field, KIND one of the words below, and each WORD a form of that kind or one of
 *
 *     of=FIELD      the image that it belongs to; needed only where there are several
 *     per=FIELD     one element for each of that field's, as labels have for boxes
 *     flip=A-B+C-D  of keypoints: pairs that a horizontal flip exchanges, numbered from 0, each number at most once
 *     ignore=N      of a mask: the value of pixels that do not count
 *     rate=N        of audio: samples per second
 */
#ifndef APL_KIND_H
#define APL_KIND_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define APL_MAX_NAME       255  /* bytes in the name of a field, split, member or class */
#define APL_MAX_PARAMETERS 4000 /* bytes in apl_kind.parameters */
#define APL_KIND_BYTES     5120 /* bytes that hold any kind as text, and its NUL */

/* What the values of a field are. The numbers are written to stores and never change. */
typedef enum apl_kind_id {
    APL_KIND_NONE = 0, /* nobody has said */
    APL_KIND_IMAGE =
        1, /* "image": pixels, or a kept image file; dimensions before those of the form are more images */
    APL_KIND_MASK = 2,  /* "mask": a whole number for each pixel */
    APL_KIND_MAP = 3,   /* "map": another number for each pixel, such as a depth */
    APL_KIND_BOXES = 4, /* "boxes": numbers of shape {n, 4} or {4} */
    APL_KIND_KEYPOINTS =
        5, /* "keypoints": numbers of shape {k, 2 or 3} or {n, k, 2 or 3}; also corners and outlines */
    APL_KIND_VECTORS = 6, /* "vectors": two planes, such as optical flow */
    APL_KIND_PINNED =
        7, /* "pinned": it lies in the image and cannot be moved, such as a camera matrix or an angle */
    APL_KIND_LABEL = 8,   /* "label": classes, as whole numbers or text */
    APL_KIND_TEXT = 9,    /* "text" */
    APL_KIND_TOKENS = 10, /* "tokens": whole numbers in at least one dimension */
    APL_KIND_AUDIO = 11,  /* "audio": samples, or a kept audio file */
    APL_KIND_PLAIN = 12   /* "plain": numbers that have nothing to do with the image */
} apl_kind_id;

/* How a kind's numbers are laid out. The numbers of forms, too, are written to stores and never change. */
typedef enum apl_form {
    APL_FORM_NONE =
        0, /* the kind has no forms; for APL_KIND_IMAGE: {channels, height, width} or {height, width} */
    APL_FORM_CHW = 1,     /* of an image: "chw", "hwc", "hw", its last dimensions */
    APL_FORM_HWC = 2,     /* channels last */
    APL_FORM_HW = 3,      /* no channels */
    APL_FORM_NEAREST = 4, /* of a map: "nearest", the default, and "linear": how it is interpolated */
    APL_FORM_LINEAR = 5,
    APL_FORM_XYXY =
        6, /* of boxes: "xyxy" (left, top, right, bottom; the default), "xywh", "cxcywh", "yxyx", in pixels */
    APL_FORM_XYWH = 7,
    APL_FORM_CXCYWH = 8,
    APL_FORM_YXYX = 9,
    APL_FORM_XYXY_REL = 10, /* "xyxy-rel", ...: the same in parts of the image's sides */
    APL_FORM_XYWH_REL = 11,
    APL_FORM_CXCYWH_REL = 12,
    APL_FORM_YXYX_REL = 13,
    APL_FORM_XY = 14,     /* of keypoints: "xy", the default, */
    APL_FORM_XYV = 15,    /* "xyv" (visibility: 0 means that there is none), */
    APL_FORM_XYZ = 16,    /* "xyz" (z stays), in pixels */
    APL_FORM_XY_REL = 17, /* "xy-rel", ...: the same in parts of the image's sides */
    APL_FORM_XYV_REL = 18,
    APL_FORM_XYZ_REL = 19
} apl_form;

/* Who has said it. The numbers are written to stores. */
typedef enum apl_origin {
    APL_DECLARED = 1,    /* whoever made the store */
    APL_FROM_SOURCE = 2, /* the source's own schema */
    APL_GUESSED = 3,     /* aplingest, from names and values */
    APL_BY_DEFAULT = 4   /* nobody: it is what such fields are taken for */
} apl_origin;

/* The kind of a field. A value: it owns nothing and may be copied. */
typedef struct apl_kind {
    apl_kind_id id;
    apl_form form;
    apl_origin origin;
    char of[APL_MAX_NAME + 1];  /* its image; "": the only one */
    char per[APL_MAX_NAME + 1]; /* one element for each of that field's; "": none */
    char parameters[APL_MAX_PARAMETERS +
                    1]; /* "flip=1-2+3-4": those words, in the order given, joined by commas */
} apl_kind;

/*
 * Reads a kind from text, which says nothing of whether a field can have it. `field` gets NAME; if it is NULL, the text
 * is without "NAME=". A form that is not given is the kind's default, and the origin is APL_DECLARED. Names that have a
 * comma cannot be written so, nor can a NAME with "=". Any thread may call it. APL_E_INVALID: the message repeats the
 * text, says what is wrong, and lists the words that there are.
 */
APL_API APL_MUST_USE apl_status apl_kind_parse(const char *text, char field[APL_MAX_NAME + 1], apl_kind *kind,
                                               apl_error *err);

/*
 * Writes a kind as text that apl_kind_parse() reads: the form always, unless the kind has none, then of=, per= and the
 * parameters. `field` NULL: without "NAME=". Without a kind (NULL, or APL_KIND_NONE) what follows "NAME=" is empty. Text
 * that does not fit into `size` bytes is cut off; APL_KIND_BYTES are enough. Returns `text`. Any thread may call it.
 */
APL_API char *apl_kind_print(const char *field, const apl_kind *kind, char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
