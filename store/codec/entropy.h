/* zstd frames: the entropy coder under every codec but CODEC_RAW. The one place that knows libzstd. */
#ifndef ENTROPY_H
#define ENTROPY_H

#include "status.h"

#include <stddef.h>
#include <stdint.h>

/* The contexts of one thread. */
struct entropy;

struct entropy *entropy_new(void); /* NULL: out of memory */
void entropy_free(struct entropy *entropy);

/* The most bytes that a frame of `size` bytes can take; SIZE_MAX if that is more than a size_t holds. */
size_t entropy_bound(size_t size);

/* The most that `coded` bytes of frames can decode to: each of a frame's blocks takes 4 bytes at least and gives 128 KiB at most. */
static inline uint64_t entropy_most(uint64_t coded)
{
    return coded * ((128u << 10) / 4);
}

/* The level below all of zstd's: Huffman codes alone, no looking for matches. The few that residuals have by
 * chance cost more than they save, and cost the decoder time. */
#define ENTROPY_LITERALS (-128)

/* A level that finds little but runs and close repeats, at half the price of the positive ones or less. It finds as much as they
 * do where most bytes are zeros, as around handwritten digits. */
#define ENTROPY_FAST (-5)

/* A level that finds nearly as much as ENTROPY_USUAL, or more where repeats are short, at two thirds of the price; and what it makes is
 * decoded faster. */
#define ENTROPY_QUICK 1

#define ENTROPY_USUAL 3

/* One frame with its content size and neither checksum nor dictionary. Literals are coded at every level.
 * The same input gives the same frame, whatever was coded before. */
apl_status entropy_encode(struct entropy *entropy, int level, const uint8_t *raw, size_t size, uint8_t *out,
                          size_t capacity, size_t *out_size, apl_error *err);

/* The same, at one level for all, of a frame that can refer to what stands in `prefix`; the decoder must have that too. */
apl_status entropy_encode_after(struct entropy *entropy, const uint8_t *prefix, size_t prefix_size,
                                const uint8_t *raw, size_t size, uint8_t *out, size_t capacity,
                                size_t *out_size, apl_error *err);
apl_status entropy_decode_after(struct entropy *entropy, const uint8_t *prefix, size_t prefix_size,
                                const uint8_t *coded, size_t size, uint8_t *raw, size_t raw_size,
                                apl_error *err);

/* Decodes coded[0 ... size-1], which must be exactly one frame of raw_size bytes. APL_E_CORRUPT otherwise. */
apl_status entropy_decode(struct entropy *entropy, const uint8_t *coded, size_t size, uint8_t *raw,
                          size_t raw_size, apl_error *err);

#endif
