/* From the bytes of an image file to the value that is stored of it. */
#ifndef IMAGE_MAKER_H
#define IMAGE_MAKER_H

#include "survey.h"

/* What was done to an image beyond keeping or decoding it, which is counted; and what it has that is not used. */
enum image_remark {
    REMARK_RECODED, /* no JPEG among JPEGs: has become one */
    REMARK_MENDED, /* a JPEG that libjpeg warns of has become one that it does not, of the same coefficients */
    REMARK_BASELINE, /* a progressive JPEG has become a baseline one, without loss */
    REMARK_QUALITY,  /* has become a JPEG of the quality that was asked for */
    REMARK_RESIZED,
    REMARK_RESIZED_JPEG, /* and has become a JPEG again */
    REMARK_TURNED,       /* made upright */
    REMARK_TURNED_JPEG,
    REMARK_NARROWED, /* 16 bits have become 8 */
    REMARK_NO_ALPHA, /* alpha was left out, as a JPEG has none */
    REMARK_FIRST,    /* the first of several frames or pages */
    REMARK_PROFILE,  /* has a colour profile, which is not applied */
    REMARK_SIDEWAYS, /* EXIF says how to turn it, which was not done */
    REMARK_MASK_RESIZED,
    REMARK_MASK_TURNED,
    REMARK_MASK_INVERSE, /* 0 is white in its file, and 0 all the same */
    REMARKS
};

/* What a count of a remark is called. */
const char *image_remark_text(enum image_remark remark);

/* An image on its way; from {0} to image_free(). */
struct made_image {
    struct buffer bytes; /* the file; of a plan that keeps, what is to be stored */
    struct raster samples;
    uint32_t shape[3];        /* channels, height, width of what is stored */
    uint8_t orientation;      /* that is left, 1 ... 8 */
    uint32_t height, width;   /* of the file, as it lies */
    uint8_t turned;           /* by which orientation it was made upright; 1: it lies as it did */
    struct warnings warnings; /* of the file */
    bool remarks[REMARKS];
};

void image_free(struct made_image *image);

/* What decoding needs, of one thread. */
struct image_maker;
struct image_maker *image_maker_new(bool allow_warnings); /* NULL: out of memory */
void image_maker_free(struct image_maker *m);

/* Its decoder, for the maker's thread. */
struct image_decoder *image_maker_decoder(const struct image_maker *m);

/* Memory of the maker's thread, for whoever changes samples. */
struct scratch *image_maker_spare(struct image_maker *m);

/* Memory that only a large image needed is not kept for the next: before samples are made, and after. */
void image_begin_samples(struct made_image *image);
void image_maker_release(struct image_maker *m);

/* Bytes that the image will take in memory; 0: not known. Reads the header. */
size_t image_maker_need(struct image_maker *m, const struct image_plan *plan, const struct made_image *image);

/* Makes of the file what the plan says. `unchecked`: JPEG files that are kept are not decoded to see that they can be. */
apl_status image_make(struct image_maker *m, const struct image_plan *plan, bool unchecked,
                      struct made_image *image, apl_error *err);

/* The value of the field: its bytes or samples. */
const void *image_value(const struct image_plan *plan, const struct made_image *image);

#endif
