/* What the two files of jpeg.h share: libjpeg's objects, and where its errors go. */
#ifndef JPEG_STATE_H
#define JPEG_STATE_H

#include "jpeg.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdio.h>

#include <jerror.h>
#include <jpeglib.h>

struct jpeg_decoder {
    struct jpeg_decompress_struct c;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf back; /* where errors of libjpeg go */
    char text[JMSG_LENGTH_MAX];
    struct warnings strict, *warnings; /* the second: the first, or the caller's */
    struct jpeg_info info;
    struct jpeg_region region;
    struct scratch rows_memory;
    uint8_t *rows[JPEG_PLANES][JPEG_BAND_ROWS];
    uint8_t *pixels;            /* one row, interleaved; NULL: planes as they are stored */
    uint32_t next[JPEG_PLANES]; /* row of each plane */
    uint32_t end;               /* first row of the output that is not wanted */
    bool open;
};

/* Where setjmp(d->back) comes back to: ends the image, and says why. */
apl_status jpeg_failed(struct jpeg_decoder *d, apl_error *err);

#endif
