/* Images by kitty's graphics protocol: a PNG in base64, in pieces of at most 4,096 characters. */
#include "args.h"
#include "base64.h"
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>

#define PIECE 3072u /* bytes */

int draw_kitty(const struct image *image)
{
    struct bytes png = image_png(image);
    char text[BASE64_SIZE(PIECE)];
    if (!png.data)
        return failed("out of memory");
    for (size_t at = 0; at < png.size; at += PIECE) {
        size_t left = png.size - at, n = left < PIECE ? left : PIECE;
        base64_encode(text, png.data + at, n);
        printf("\033_G%sm=%d;%.*s\033\\", at ? "" : "a=T,f=100,q=2,", left > PIECE, (int)BASE64_SIZE(n),
               text);
    }
    putchar('\n');
    free(png.data);
    return 0;
}
