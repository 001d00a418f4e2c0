/* Planes of luma and chroma to pixels, as libjpeg-turbo makes them: chroma interpolated to the resolution of luma ("fancy
 * upsampling"), and colours by JFIF, in whole numbers. */
#ifndef INTERPOLATE_H
#define INTERPOLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Three planes, or parts of them that go one sample beyond the pixels wanted, where the plane does. */
struct interpolation {
    struct {
        const uint8_t *samples;
        size_t stride;
        uint32_t left, top;     /* of the first of them */
        uint32_t width, height; /* of the whole plane */
    } plane[3];
    unsigned across, down; /* pixels that a sample of chroma covers: 1 or 2 */
    bool smooth;           /* else chroma is repeated */
};

/* `count` pixels of a row, from column `from` on, to red, green and blue. `chroma` has room for twice as many. */
void interpolate_row(const struct interpolation *e, uint32_t row, uint32_t from, uint32_t count,
                     uint8_t *chroma, uint8_t *const rgb[3]);

#endif
