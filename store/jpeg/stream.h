/*
 * A JPEG file as it came: the segments in front of each scan, and the scans. Sequential and progressive images with Huffman codes, of 8
 * bits, grey or of three components, 4:4:4, 4:2:2, 4:2:0 or 4:4:0; all else is not taken. What is taken of a sequential image is
 * written again as it was; a progressive one must be written to know, as there are several ways to code it.
 */
#ifndef STREAM_H
#define STREAM_H

#include "progressive.h"
#include "rendering.h"

#define STREAM_MOST_PIXELS ((uint64_t)1 << 25)
#define STREAM_MOST_SCANS  PROGRESSIVE_MOST_SCANS

struct stream_code {
    bool there;
    struct huffman code;
};

/* What has been read of a file. */
struct stream {
    struct frame frame;
    enum image_colours colours;
    bool has_frame, has_jfif, has_adobe, is_progressive;
    uint8_t adobe_transform;
    uint8_t ids[BLOCKS_COMPONENTS], table_of[BLOCKS_COMPONENTS]; /* of each component */
    bool has_table[4];
    uint8_t tables[4][BLOCK_VALUES]; /* of quantisation, in zigzag order */
    struct stream_code codes[2][4];  /* DC, AC */
    uint32_t interval;               /* MCUs between restart markers; 0: none */
    unsigned scans;                  /* that have begun */
    unsigned covered; /* bit i: component i has been in a scan; if progressive, in all of them */
    struct progress progress;
    bool not_zeros, not_ones; /* bits that fill up the last byte of a restart interval were not all that */
    struct {
        unsigned count;
        uint8_t component[BLOCKS_COMPONENTS], code[2][BLOCKS_COMPONENTS];
        struct band band;
    } scan; /* the last */
};

/* Reads segments from `c` up to the first byte of the next scan. false: none, or none that is taken. */
bool stream_next_scan(struct stream *s, struct cursor *c);

/* What the headers up to the first scan say of the image. */
struct rendering stream_rendering(const struct stream *s);

/* May what is `left` of a file have the coefficients of its frame? Each block's first takes a bit at least. Asked before memory is reserved
 * for them: a header of some bytes may say that there are millions. */
bool stream_may_hold(const struct stream *s, const struct cursor *left);

/* Have all components been in a scan, and all of their coefficients? */
bool stream_is_covered(const struct stream *s);

/* Decodes the scan from the front of `c`, which then stands behind it. The bits that fill up the last byte of each restart interval
 * are appended to `pads`, a byte each. `plain` is memory to work in. Without `blocks` coefficients are only checked, of sequential
 * scans. false: it is not taken; or a buffer failed. */
bool stream_decode(struct stream *s, struct cursor *c, struct blocks *blocks, struct buffer *plain,
                   struct buffer *pads);

/* Is the file whole and of the kind that is taken? Then a decoder that takes its header decodes it without a warning;
 * otherwise it may give one. False too if memory is short. */
bool stream_is_sound(const uint8_t *file, size_t size);

/* Does the file end here? */
bool stream_ends(const struct cursor *c);

/* What fills up last bytes: bits of one kind, or the lowest of the bytes of a list. */
struct pads {
    bool are_listed;
    uint8_t same;
    struct cursor list;
};

/* Appends the scan to `out`, which is not to grow beyond `most` bytes. false: it cannot be written; or a buffer failed. */
bool stream_encode(const struct stream *s, const struct blocks *blocks, struct pads *pads,
                   struct buffer *plain, struct buffer *out, size_t most);

#endif
