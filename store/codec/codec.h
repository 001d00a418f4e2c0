/*
 * Codecs: the values of one field in one block ("a column") to coded bytes and back. No threads, no I/O, no
 * checksums: a decoder is handed bytes that may be anything, and answers with the very values or with an
 * error.
 */
#ifndef CODEC_H
#define CODEC_H

#include "apl.h"
#include "status.h"

#include <stdbool.h>

/* The numbers stand in stores and never change. */
enum codec_id {
    CODEC_RAW = 0,     /* as they are */
    CODEC_ZSTD = 1,    /* one zstd frame */
    CODEC_SHUFFLE = 2, /* byte 0 of all elements, then byte 1, ...; one zstd frame */
    CODEC_DELTA = 3,   /* differences of neighbouring elements, then as CODEC_SHUFFLE */
    /* u8 images: subtract green, MED residuals, 32 side by side, one frame per plane and group. */
    CODEC_PICTURE = 4,
    CODEC_VARYING = 7 /* u8 images of any size: the same, each image by itself */
};
#define CODEC_COUNT 5 /* those that any version knows: 0 ... 4 */

/* The columns of kept fields have one of these numbers instead; they are no business of codecs but of store/kept.h. */
#define CODEC_KEPT      5
#define CODEC_INDEXED   6
#define CODEC_KEPT_NAME "kept"

struct codec_choice {
    uint8_t id;
    int8_t level; /* of zstd; -128: Huffman codes alone */
};

/* A column before coding, or what it must be after decoding. */
struct column_spec {
    size_t records;
    size_t raw_bytes;       /* of the whole column */
    unsigned element_bytes; /* 1, 2, 4 or 8 */
    unsigned ndim;          /* of one value */
    int64_t shape
        [APL_MAX_DIMS]; /* with -1 only of u8 with three dimensions, some of which vary; other columns of varying
                                    shape come as ndim 1, element_bytes 1, shape {-1} */
};

/* What one thread needs to encode and decode: zstd contexts and scratch memory. Not to be shared between
 * threads. */
struct coder;

struct coder *coder_new(void); /* NULL: out of memory */
void coder_free(struct coder *coder);

/* "picture" -> CODEC_PICTURE; -1 for an unknown name. And back; NULL for an unknown id. */
int codec_by_name(const char *name);
const char *codec_name(unsigned id);
bool codec_exists(unsigned id);

/* Can this codec take such a column? */
bool codec_suits(enum codec_id id, const struct column_spec *spec);

/* The most bytes that encoding can give; never less than raw_bytes. */
size_t codec_bound(const struct column_spec *spec);

/* Bytes at most, from its first record on, that a column is judged by where CODEC_VARYING suits it, unless that has more. */
#define CODEC_SAMPLE_BYTES ((size_t)4 << 20)

/* Picks codec and level for a field by encoding one column of it with each that suits, and taking the
 * smallest (the cheaper one where the smaller saves less than 1 %). want_id < 0 and want_level 0 leave the
 * choice open; so does a codec that does not suit such columns, as one may be asked for a whole store.
 * APL_E_INVALID for a codec or level that does not exist. Depends on the bytes alone. */
apl_status codec_choose(struct coder *coder, const struct column_spec *spec, const uint8_t *raw, int want_id,
                        int want_level, struct codec_choice *choice, apl_error *err);

/* Encodes into out[codec_bound(spec)]. Where coding does not pay, or the codec does not suit the column, the
 * result is CODEC_RAW; *used says which it was. The same column gives the same bytes, whatever the coder did
 * before. */
apl_status codec_encode(struct coder *coder, struct codec_choice choice, const struct column_spec *spec,
                        const uint8_t *raw, uint8_t *out, size_t *out_size, enum codec_id *used,
                        apl_error *err);

/* The same of a column that CODEC_VARYING suits and is chosen for, whose dimensions and values lie apart. */
apl_status codec_encode_apart(struct coder *coder, struct codec_choice choice, const struct column_spec *spec,
                              const uint8_t *dims, const uint8_t *values, uint8_t *out, size_t *out_size,
                              enum codec_id *used, apl_error *err);

/* Decodes into raw[spec->raw_bytes]. APL_E_CORRUPT for bytes that are no encoding of such a column; raw may
 * have been written to by then. */
apl_status codec_decode(struct coder *coder, enum codec_id id, const struct column_spec *spec,
                        const uint8_t *coded, size_t size, uint8_t *raw, apl_error *err);

/* The same for a column of fixed shape, each record to a place of its own: record i to rows[i][0 ...
 * raw_bytes/records-1]. rows[i] may be NULL: that record is not wanted, and what only it needs may go
 * unchecked. Rows that are wanted must not overlap. */
apl_status codec_decode_rows(struct coder *coder, enum codec_id id, const struct column_spec *spec,
                             const uint8_t *coded, size_t size, uint8_t *const *rows, apl_error *err);

#endif
