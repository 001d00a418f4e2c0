/* What a decoded image is, the memory that it lies in, and the limits that hold for all kinds. */
#ifndef RASTER_H
#define RASTER_H

#include "bytes.h"
#include "scratch.h"
#include "warnings.h"

#define IMAGE_MAX_SIDE   65536u
#define IMAGE_MAX_PIXELS ((uint64_t)1 << 26)

struct image_info {
    uint32_t channels, height,
        width;                /* 1: grey, 2: grey and alpha, 3: red, green, blue, 4: these and alpha */
    unsigned bits;            /* of a sample: 8 or 16 */
    unsigned orientation;     /* by EXIF or TIFF, 1 ... 8; 1: upright, or none is said */
    bool palette;             /* its pixels are numbers of colours, as which they are decoded */
    bool scaled;              /* its levels of grey, or colours, are fewer than those of its samples */
    bool inverse;             /* 0 is white; decoded as colours, black */
    bool profile;             /* has a colour profile, which is not applied */
    bool more;                /* has further frames or pages, which are left out */
    struct warnings warnings; /* of the decoder, which may be allowed */
    bool
        numbers; /* asked for, not found: what pixels are in the file, indices of a palette and levels of grey, with as many bits
                   * as it takes; where channels is not 1, there are none */
};

/* The samples of an image, in memory that is kept for the next one; from {0} to raster_free(). */
struct raster {
    struct scratch planes, work; /* the second: of the decoder, while it works */
    uint32_t channels, height, width;
    unsigned bits;
    uint8_t *data; /* u8 or u16 [channels, height, width] */
};

void raster_free(struct raster *s);

/* Its samples are those in *spare from now on, of that size; the old memory is the spare one then. */
void raster_exchange(struct raster *s, struct scratch *spare, uint32_t height, uint32_t width);

size_t raster_bytes(const struct image_info *info);

/* Refuses what is too large: APL_E_UNSUPPORTED; and, of a file of `size` bytes, what those cannot hold if each gives
 * `most` bytes of samples: APL_E_CORRUPT. */
apl_status raster_check(const struct image_info *info, const char *kind, size_t size, unsigned most,
                        apl_error *err);

/* Makes room for an image that raster_check() has let pass. */
apl_status raster_begin(struct raster *s, const struct image_info *info, apl_error *err);

/* Takes row y: its samples side by side, `step` of them a pixel, of which the first `channels` are wanted. u16 in this machine's
 * order, of any alignment. */
void raster_take_row(struct raster *s, uint32_t y, const uint8_t *row, unsigned step);

/* The same of one channel, whose samples lie `step` apart. */
void raster_take_channel(struct raster *s, unsigned channel, uint32_t y, const uint8_t *row, unsigned step);

/* Takes what lies side by side with `depth` bits each, 1, 2, 4 or 8 (the first in the high bits) or 16: `count` samples of one channel, to
 * row y from column x on. */
void raster_take_packed(struct raster *s, uint32_t y, uint32_t x, const uint8_t *packed, uint32_t count,
                        unsigned depth);

#endif
