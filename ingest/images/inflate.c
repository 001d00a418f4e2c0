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

uint32_t inflate_crc32(const uint8_t *data, size_t size)
{
    return crc32_gzip_refl(0, data, size);
}

bool inflate_exists(void)
{
    return true;
}

#else

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
