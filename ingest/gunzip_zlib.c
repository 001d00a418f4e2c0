/* Inflating gzip members with zlib. */
#include "gunzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

uint32_t gunzip_crc32(const uint8_t *data, size_t size)
{
    return gunzip_crc32_more(0, data, size);
}

uint32_t gunzip_crc32_more(uint32_t crc, const uint8_t *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
}

static void *zlib_open(void)
{
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, 15 + 16) != Z_OK) { /* 15: full window; 16: gzip and nothing else */
        free(z);
        return NULL;
    }
    return z;
}

static void zlib_restart(void *state)
{
    inflateReset(state);
}

static void zlib_close(void *state)
{
    inflateEnd(state);
    free(state);
}

/* zlib gives its reasons in words only. */
static enum gunzip_step reason(const char *message)
{
    if (!message) /* unreached: it has some for all that a gzip stream can be */
        return GUNZIP_BAD_DATA;
    if (strcmp(message, "incorrect data check") == 0 || strcmp(message, "incorrect length check") == 0)
        return GUNZIP_BAD_CHECK;
    return strstr(message, "header") ? GUNZIP_BAD_HEADER : GUNZIP_BAD_DATA;
}

static enum gunzip_step zlib_step(void *state, struct gunzip_io *io)
{
    z_stream *z = state;
    z->next_in =
        (Bytef *)(uintptr_t)io->in; /* zlib does not write there: NOLINT(performance-no-int-to-ptr) */
    z->avail_in = (uInt)io->in_left;
    z->next_out = io->out;
    z->avail_out = (uInt)io->out_left;
    int result = inflate(z, Z_NO_FLUSH);
    io->in = z->next_in;
    io->in_left = z->avail_in;
    io->out = z->next_out;
    io->out_left = z->avail_out;
    switch (result) { /* unreached: zlib's own memory does not run out in tests */
    case Z_STREAM_END:
        return GUNZIP_MEMBER_END;
    case Z_OK:
    case Z_BUF_ERROR: /* nothing to do without more input or room */
        return GUNZIP_GOES_ON;
    case Z_MEM_ERROR:
        return GUNZIP_NO_MEMORY;
    default:
        return reason(z->msg);
    }
}

const struct gunzip_kind gunzip_zlib = {
    .name = "zlib", .open = zlib_open, .restart = zlib_restart, .step = zlib_step, .close = zlib_close};
