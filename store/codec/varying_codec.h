/*
 * The codec for images each of a size of its own: columns of u8 with three dimensions, of which some vary.
 *
 * The raw bytes are, for each record, its varying dimensions as u32, then all values. The coded bytes are:
 *
 *   - the dimensions, as they are;
 *   - for each record, for each of its planes: the size of its frame, u32; 0: it has no bytes;
 *   - the frames in the same order, each one zstd frame with its content size, without checksum and dictionary.
 *
 * A record of 1 to 4 channels has a plane for each, coded as image_codec.h has it: less green, if there are 3 or 4 channels, in that
 * order of channels; as MED residuals. Any other record has one plane, its bytes as they are.
 */
#ifndef VARYING_CODEC_H
#define VARYING_CODEC_H

#include "codec.h"
#include "cpu.h"
#include "entropy.h"

/* What one thread needs; the entropy coder stays the caller's. */
struct varying_codec;

struct varying_codec *varying_codec_new(enum cpu_variant variant,
                                        struct entropy *entropy); /* NULL: out of memory */
void varying_codec_free(struct varying_codec *v);

/* Does the column hold such images? */
bool varying_suits(const struct column_spec *spec);

/* Bytes of the dimensions, which lie before all values. */
size_t varying_shapes_bytes(const struct column_spec *spec);

/* The most bytes a coded column can have; SIZE_MAX if that is more than a size_t holds. */
size_t varying_bound(const struct column_spec *spec);

/* Encodes into out[varying_bound()]. */
apl_status varying_encode(struct varying_codec *v, int level, const struct column_spec *spec,
                          const uint8_t *raw, uint8_t *out, size_t *size, apl_error *err);

/* The same of dimensions and values that lie apart. */
apl_status varying_encode_apart(struct varying_codec *v, int level, const struct column_spec *spec,
                                const uint8_t *dims, const uint8_t *values, uint8_t *out, size_t *size,
                                apl_error *err);

/* Decodes to raw[spec->raw_bytes]. The coded bytes may be anything, and change meanwhile. */
apl_status varying_decode(struct varying_codec *v, const struct column_spec *spec, const uint8_t *coded,
                          size_t size, uint8_t *raw, apl_error *err);

/* The column of the first records: as many as are at most `most` bytes together, but one at least. false: the shapes are not those of
 * the values. Then copies it to `out`, which has room for front->raw_bytes. */
bool varying_front(const struct column_spec *spec, const uint8_t *raw, size_t most,
                   struct column_spec *front);
void varying_copy_front(const struct column_spec *spec, const uint8_t *raw, const struct column_spec *front,
                        uint8_t *out);

#endif
