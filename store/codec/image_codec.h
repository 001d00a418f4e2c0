/*
 * The codec for images: columns of u8[C,H,W] or u8[H,W] (one plane), at least 1x1, of fixed shape.
 *
 * Coding a column of n records:
 *
 *   1. If C is 3 or 4, channel 1 (green) is subtracted from channels 0 and 2: difference + 128,
 *      mod 256.
 *   2. In each plane, pixels give way to residuals: pixel - prediction, mod 256. The first pixel is
 *      predicted as 128, the others of the first row as W (the pixel to the left), the others of the
 *      first column as N (the pixel above), all others as the median of W, N and W + N - NW, which
 *      mod 256 is W + N - min(max(NW, min(W, N)), max(W, N)).
 *   3. For each plane, the records are put in ascending order of activity: the sum of
 *      min(|residual|, 12), residuals taken as signed bytes; equals in order of record. (So records
 *      that are alike share a Huffman table. A decoder takes any order.) In this order they are cut
 *      into groups of 32; the last group has what is left. The k records of a group are laid side by
 *      side: byte 0 of the residuals of each of the k, then byte 1 of each, ... H*W*k bytes in all.
 *      These are one zstd frame.
 *
 * The coded column, with G = ceil(n / 32), and p = 1 if n <= 256, else 2:
 *
 *   offset            size     what
 *   0                 C*n*p    for each plane: the order, n record numbers of p bytes each
 *   C*n*p             C*G*4    for each plane, for each group: the size of its frame
 *   C*n*p + C*G*4     the rest for each plane, for each group: its frame
 *
 * Here the planes come in coded order: channels 1, 0, 2 for C = 3 and 1, 0, 2, 3 for C = 4 (what is
 * subtracted before what it is subtracted from), else 0 ... C-1. For two planes of 40 records:
 *
 *   +----------+----------+------+------+------+------+----------+---------+----------+---------+
 *   | order of | order of | size | size | size | size | frame    | frame   | frame    | frame   |
 *   | plane 0  | plane 1  | 0,0  | 0,1  | 1,0  | 1,1  | 0,0      | 0,1     | 1,0      | 1,1     |
 *   | 40 bytes | 40 bytes | u32  | u32  | u32  | u32  | 32 ways  | 8 ways  | 32 ways  | 8 ways  |
 *   +----------+----------+------+------+------+------+----------+---------+----------+---------+
 *
 * Numbers are little-endian. Byte i*k + w of what the frame of group g holds is residual i of record
 * order[32*g + w]. Every order has each of 0 ... n-1 once. Each frame is one zstd frame with its
 * content size, without checksum and dictionary; nothing lies between or after the frames.
 */
#ifndef IMAGE_CODEC_H
#define IMAGE_CODEC_H

#include "codec.h"
#include "cpu.h"
#include "entropy.h"

#define IMAGE_MAX_PLANE    (1u << 20) /* pixels: bounds the working memory, 32 or 64 times as much */
#define IMAGE_MAX_CHANNELS 65536u
#define IMAGE_MAX_RECORDS  65536u

/* What a column's shape means for its coding. */
struct image_layout {
    size_t records, channels, height, width;
    size_t plane;       /* pixels in a plane */
    size_t groups;      /* of each plane */
    size_t order_bytes; /* of one record's number */
    size_t table;       /* where the sizes of the frames begin */
    size_t frames;      /* where the frames begin */
};

/* False for a column that does not hold images. */
bool image_layout_of(const struct column_spec *spec, struct image_layout *layout);

/* Records in group g. */
size_t image_ways(const struct image_layout *layout, size_t group);

/* Which channel is coded as plane i. */
size_t image_channel(size_t channels, size_t i);

/* The most bytes a coded column can have; SIZE_MAX if that is more than a size_t holds. */
size_t image_bound(const struct image_layout *layout);

/* What one thread needs; the entropy coder stays the caller's. */
struct image_codec;

struct image_codec *image_codec_new(enum cpu_variant variant,
                                    struct entropy *entropy); /* NULL: out of memory */
void image_codec_free(struct image_codec *image);

/* Encodes into out[capacity]; with less than image_bound() it may fail. */
apl_status image_encode(struct image_codec *image, int level, const struct image_layout *layout,
                        const uint8_t *raw, uint8_t *out, size_t capacity, size_t *size, apl_error *err);

/* Decodes record i to rows[i]; groups of which no record is wanted (NULL) are passed over. */
apl_status image_decode(struct image_codec *image, const struct image_layout *layout, const uint8_t *coded,
                        size_t size, uint8_t *const *rows, apl_error *err);

#endif
