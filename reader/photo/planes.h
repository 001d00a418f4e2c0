/* Images that are decoded already, handed out in bands as the decoder of JPEG images does it. */
#ifndef PLANES_H
#define PLANES_H

#include "jpeg.h"
#include "scratch.h"

/* u8 [channels, height, width]: grey, or red, green and blue; a second or fourth channel is alpha, and is left out. */
struct photo_pixels {
    const uint8_t *data;
    size_t bytes; /* that may be read */
    uint32_t channels, height, width;
};

/* From {0} to planes_free(). */
struct plane_bands {
    struct photo_pixels image;
    unsigned count; /* of planes */
    uint32_t next, end;
    uint8_t *rows[JPEG_PLANES][JPEG_BAND_ROWS];
    struct scratch slack; /* copies of rows behind which nothing may be read */
};

void planes_free(struct plane_bands *b);

/* Is it an image of 1 to 4 channels, with all of its bytes? */
bool planes_ok(const struct photo_pixels *image);

/* Begins with the first row of a region of an image that is. False: out of memory. */
bool planes_start(struct plane_bands *b, const struct photo_pixels *image, struct jpeg_region region,
                  struct jpeg_planes *planes);

/* As jpeg_decoder_next(). */
void planes_next(struct plane_bands *b, struct jpeg_band *band);

#endif
