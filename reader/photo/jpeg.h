/*
 * JPEG images, by libjpeg-turbo: the header, and the pixels of a region, band after band. Whatever the bytes are, there is
 * no crash, no leak and no endless work: sizes are checked before memory is taken, and a warning is an error, unless somebody
 * listens who allows it. A file that ends before its end marker is damaged in any case.
 */
#ifndef JPEG_H
#define JPEG_H

#include "warnings.h"

#define JPEG_PLANES     3
#define JPEG_BAND_ROWS  32 /* at most, of a band of one plane */
#define JPEG_ROW_SLACK  32 /* bytes behind a row of a band that may be read */
#define JPEG_MAX_PIXELS ((uint64_t)1 << 26)
#define JPEG_MAX_SCANS  100

enum jpeg_colour { JPEG_GREY, JPEG_YCC, JPEG_RGB, JPEG_CMYK };

/* What a header says. */
struct jpeg_info {
    uint32_t width, height;  /* pixels */
    unsigned components;     /* 1, 3 or 4 */
    enum jpeg_colour colour; /* JPEG_CMYK: YCCK too */
    bool progressive;
    uint8_t across[4], down[4]; /* sampling factors of the components */
    unsigned orientation;       /* by EXIF, 1 ... 8; 1: upright, or none is said */
};

/* In pixels of the image; within it, and not empty. */
struct jpeg_region {
    uint32_t left, top, width, height;
};

/* How a plane of the whole image lies on the image: sample k covers the pixels from k * step to (k + 1) * step. */
struct jpeg_plane {
    uint32_t width, height; /* samples */
    double step_across, step_down;
    unsigned band_rows; /* at most, of a band */
    uint32_t from;      /* the first sample of a row of a band */
};

/* What comes out. Grey: one plane. YCC: luma, and both chroma planes at a resolution of their own. RGB: three planes. */
struct jpeg_planes {
    unsigned count;
    bool ycc;
    struct jpeg_plane plane[JPEG_PLANES];
};

/* Some rows of each plane, one below another. Those of one plane follow those of the band before without a gap. Each row holds
 * all samples that the region touches. */
struct jpeg_band {
    struct {
        uint32_t first, count;
        uint8_t *const *rows;
    } plane[JPEG_PLANES];
};

enum jpeg_chroma {
    JPEG_CHROMA_PLANES, /* as it is stored */
    JPEG_CHROMA_EXACT,  /* interpolated to the resolution of luma, and made RGB, as by libjpeg */
    JPEG_CHROMA_PIXELS  /* the same; and RGB at the resolution of the image, too, however it is stored */
};

/* Decodes one image at a time. For one thread at a time; images after one another reuse its memory. */
struct jpeg_decoder;
struct jpeg_decoder *jpeg_decoder_new(void); /* NULL: out of memory */
void jpeg_decoder_free(struct jpeg_decoder *d);

/* Warnings go there from now on, counted from each header on that is read; the memory must outlive the decoder's use. NULL: they
 * are errors again. */
void jpeg_decoder_listen(struct jpeg_decoder *d, struct warnings *warnings);

/* Reads the header of `size` bytes, orientation included. Likely errors: APL_E_CORRUPT, APL_E_UNSUPPORTED. */
apl_status jpeg_decoder_probe(struct jpeg_decoder *d, const void *bytes, size_t size, struct jpeg_info *info,
                              apl_error *err);

/* Reads the header and stays with the image, whose bytes must remain until jpeg_decoder_end(). The orientation is left out. */
apl_status jpeg_decoder_open(struct jpeg_decoder *d, const void *bytes, size_t size, struct jpeg_info *info,
                             apl_error *err);

/* Begins a region of the open image, scaled by eighths / 8, where `eighths` is 1, 2, 4 or 8. */
apl_status jpeg_decoder_start(struct jpeg_decoder *d, struct jpeg_region region, unsigned eighths,
                              enum jpeg_chroma chroma, struct jpeg_planes *planes, apl_error *err);

/* The next band, valid until the next call. The first one holds the first row of the region. After the last one of the region,
 * bands of no rows. */
apl_status jpeg_decoder_next(struct jpeg_decoder *d, struct jpeg_band *band, apl_error *err);

/* After the last band of a region that reaches the last row: reads on to the end marker. Damage that libjpeg could decode, such as a run
 * of zeros, has left too few bytes or too many, and only now does it warn of those. */
apl_status jpeg_decoder_finish(struct jpeg_decoder *d, apl_error *err);

/* Done with the image, at any point; also after an error, and without an image. */
void jpeg_decoder_end(struct jpeg_decoder *d);

#endif
