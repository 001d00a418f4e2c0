/* Whole zlib streams, by ISA-L: see inflate.h. */
#include "inflate.h"

#ifdef HAVE_ISAL

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#define MOST ((size_t)1 << 30) /* the library counts in 32 bits */

bool inflate_whole(const uint8_t *in, size_t size, uint8_t *out, size_t out_size)
{
    if (size > MOST || out_size > MOST)
        return false;
    struct inflate_state *s = malloc(sizeof *s); /* too large for a stack */
    if (!s)
        return false;
    isal_inflate_init(s);
    s->crc_flag = ISAL_ZLIB;               /* the header and the checksum are verified */
    s->next_in = (uint8_t *)(uintptr_t)in; /* ISA-L does not write there: NOLINT(performance-no-int-to-ptr) */
    s->avail_in = (uint32_t)size;
    s->next_out = out;
    s->avail_out = (uint32_t)out_size;
    int result = isal_inflate_stateless(s);
    bool whole = result == ISAL_DECOMP_OK && s->block_state == ISAL_BLOCK_FINISH && s->avail_out == 0 &&
                 s->avail_in == 0 && s->read_in_length == 0;
    free(s);
    return whole;
}

static const char *fault_of(const struct inflate_state *s, int result, uint64_t given, uint64_t bytes)
{
    if (result == ISAL_INCORRECT_CHECKSUM)
        return "its compressed data have a wrong checksum";
    if (result != ISAL_DECOMP_OK)
        return "its compressed data are damaged";
    if (s->block_state != ISAL_BLOCK_FINISH)
        return "its compressed data end early";
    if (bytes == 0)
        return NULL;
    if (given != bytes)
        return given < bytes ? "it has data for fewer pixels" : "it has data for more pixels";
    return s->avail_in + (unsigned)s->read_in_length / 8 > 0 ? "something follows its compressed data" : NULL;
}

const char *inflate_fault(const uint8_t *in, size_t size, uint64_t bytes)
{
    struct room {
        struct inflate_state state; /* too large for a stack */
        uint8_t out[32768];
    } *room = size <= MOST ? malloc(sizeof *room) : NULL;
    if (!room)
        return NULL;
    struct inflate_state *s = &room->state;
    uint64_t given = 0;
    int result;
    isal_inflate_init(s);
    s->crc_flag = ISAL_ZLIB;
    s->next_in = (uint8_t *)(uintptr_t)in; /* ISA-L does not write there: NOLINT(performance-no-int-to-ptr) */
    s->avail_in = (uint32_t)size;
    do {
        s->next_out = room->out;
        s->avail_out = sizeof room->out;
        result = isal_inflate(s);
        given += sizeof room->out - s->avail_out;
    } while (result == ISAL_DECOMP_OK && s->block_state != ISAL_BLOCK_FINISH && s->avail_out == 0);
    const char *fault = fault_of(s, result, given, bytes);
    free(room);
    return fault;
}

uint32_t inflate_crc32(const uint8_t *data, size_t size)
{
    return crc32_gzip_refl(0, data, size);
}

bool inflate_exists(void)
{
    return true;
}

#else

const char *inflate_fault(const uint8_t *in, size_t size, uint64_t bytes)
{
    (void)in, (void)size, (void)bytes;
    return NULL;
}

bool inflate_whole(const uint8_t *in, size_t size, uint8_t *out, size_t out_size)
{
    (void)in, (void)size, (void)out, (void)out_size;
    return false;
}

uint32_t inflate_crc32(const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return 0;
}

bool inflate_exists(void)
{
    return false;
}

#endif
