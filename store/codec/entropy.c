/* zstd frames. */
#include "entropy.h"

#include "bytes.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

struct entropy {
    ZSTD_CCtx *encoder;
    ZSTD_DCtx *decoder;
    int level; /* that the encoder is set to; 0: none yet */
};

struct entropy *entropy_new(void)
{
    struct entropy *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->encoder = ZSTD_createCCtx();
    e->decoder = ZSTD_createDCtx();
    if (e->encoder && e->decoder)
        return e;
    entropy_free(e);
    return NULL;
}

void entropy_free(struct entropy *entropy)
{
    if (!entropy)
        return;
    ZSTD_freeCCtx(entropy->encoder);
    ZSTD_freeDCtx(entropy->decoder);
    free(entropy);
}

size_t entropy_bound(size_t size)
{
    size_t bound = ZSTD_compressBound(size);
    return ZSTD_isError(bound) || bound < size ? SIZE_MAX : bound;
}

/* Literal compression, which zstd leaves out at negative levels unless told otherwise. Its parameter is in
 * zstd.h under this number only; 1 has meant "always" since it came up (1.3.8). */
#define LITERAL_COMPRESSION        ZSTD_c_experimentalParam5
#define LITERAL_COMPRESSION_ALWAYS 1

/* Sets the encoder to a level, once. A library that refuses literal compression codes at level 1 instead of a
 * negative level: slower, larger and as correct. */
static size_t set_level(struct entropy *e, int level)
{
    if (e->level == level && level != 0)
        return 0;
    e->level = 0;
    ZSTD_CCtx_reset(e->encoder, ZSTD_reset_session_and_parameters);
    int used = level == ENTROPY_LITERALS ? ZSTD_minCLevel() : level;
    size_t literals = ZSTD_CCtx_setParameter(e->encoder, LITERAL_COMPRESSION, LITERAL_COMPRESSION_ALWAYS);
    if (ZSTD_isError(literals) && level < 0)
        used = 1;
    size_t rc = ZSTD_CCtx_setParameter(e->encoder, ZSTD_c_compressionLevel, used);
    if (!ZSTD_isError(rc))
        e->level = level;
    return rc;
}

#define AFTER_LEVEL 6 /* of frames after a prefix, which are small */

/* A prefix is of one frame alone; none: of no bytes. */
static apl_status encode_frame(struct entropy *entropy, int level, const uint8_t *prefix, size_t prefix_size,
                               const uint8_t *raw, size_t size, uint8_t *out, size_t capacity,
                               size_t *out_size, apl_error *err)
{
    size_t rc = set_level(entropy, level);
    if (!ZSTD_isError(rc) && prefix_size)
        rc = ZSTD_CCtx_refPrefix(entropy->encoder, prefix, prefix_size);
    if (!ZSTD_isError(rc))
        rc = ZSTD_compress2(entropy->encoder, out, capacity, raw, size);
    if (ZSTD_isError(rc)) {
        entropy->level = 0; /* what a failed call leaves behind is not built upon */
        if (ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation)
            return fail_nomem(err);
        return fail(err, APL_E_INVALID, "zstd cannot code %zu bytes: %s", size, ZSTD_getErrorName(rc));
    }
    *out_size = rc;
    return APL_OK;
}

apl_status entropy_encode(struct entropy *entropy, int level, const uint8_t *raw, size_t size, uint8_t *out,
                          size_t capacity, size_t *out_size, apl_error *err)
{
    return encode_frame(entropy, level, NULL, 0, raw, size, out, capacity, out_size, err);
}

apl_status entropy_encode_after(struct entropy *entropy, const uint8_t *prefix, size_t prefix_size,
                                const uint8_t *raw, size_t size, uint8_t *out, size_t capacity,
                                size_t *out_size, apl_error *err)
{
    return encode_frame(entropy, AFTER_LEVEL, prefix, prefix_size, raw, size, out, capacity, out_size, err);
}

/* zstd would also take skippable frames, frames of old versions, and several frames in a row. */
static apl_status check_frame(const uint8_t *coded, size_t size, size_t raw_size, apl_error *err)
{
    if (size < 4 || load_le(coded, 4) != ZSTD_MAGICNUMBER)
        return fail(err, APL_E_CORRUPT, "no zstd frame where one must be");
    unsigned long long content = ZSTD_getFrameContentSize(coded, size);
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN)
        return fail(err, APL_E_CORRUPT, "a zstd frame without its content size");
    if (content != raw_size)
        return fail(err, APL_E_CORRUPT, "a zstd frame of %llu bytes where %zu are expected", content,
                    raw_size);
    size_t length = ZSTD_findFrameCompressedSize(coded, size);
    if (ZSTD_isError(length))
        return fail(err, APL_E_CORRUPT, "a damaged zstd frame: %s", ZSTD_getErrorName(length));
    if (length != size)
        return fail(err, APL_E_CORRUPT, "a zstd frame of %zu coded bytes where %zu are expected", length,
                    size);
    return APL_OK;
}

apl_status entropy_decode(struct entropy *entropy, const uint8_t *coded, size_t size, uint8_t *raw,
                          size_t raw_size, apl_error *err)
{
    return entropy_decode_after(entropy, NULL, 0, coded, size, raw, raw_size, err);
}

apl_status entropy_decode_after(struct entropy *entropy, const uint8_t *prefix, size_t prefix_size,
                                const uint8_t *coded, size_t size, uint8_t *raw, size_t raw_size,
                                apl_error *err)
{
    TRY(check_frame(coded, size, raw_size, err));
    size_t rc = prefix_size ? ZSTD_DCtx_refPrefix(entropy->decoder, prefix, prefix_size) : 0;
    if (!ZSTD_isError(rc))
        rc = ZSTD_decompressDCtx(entropy->decoder, raw, raw_size, coded, size);
    if (ZSTD_isError(rc)) {
        ZSTD_DCtx_reset(entropy->decoder, ZSTD_reset_session_and_parameters);
        if (ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation)
            return fail_nomem(err);
        return fail(err, APL_E_CORRUPT, "a damaged zstd frame: %s", ZSTD_getErrorName(rc));
    }
    if (rc != raw_size)
        return fail(err, APL_E_CORRUPT, "a zstd frame gave %zu bytes where %zu are expected", rc, raw_size);
    return APL_OK;
}
