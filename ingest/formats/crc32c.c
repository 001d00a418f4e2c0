/* Eight bytes at a time, by tables made at the first call. */
#include "crc32c.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL UINT32_C(0x82f63b78) /* reflected */

static uint32_t tables[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
        tables[0][i] = c;
    }
    for (unsigned t = 1; t < 8; t++)
        for (uint32_t i = 0; i < 256; i++)
            tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
}

uint32_t crc32c(const void *data, size_t size)
{
    const uint8_t *at = data;
    uint32_t c = UINT32_MAX;
    pthread_once(&once, make_tables);
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t v;
        memcpy(&v, at, 8);
        v ^= c;
        c = 0;
        for (unsigned i = 0; i < 8; i++)
            c ^= tables[7 - i][v >> 8 * i & 0xff];
    }
    for (; size > 0; size--, at++)
        c = c >> 8 ^ tables[0][(c ^ *at) & 0xff];
    return ~c;
}
