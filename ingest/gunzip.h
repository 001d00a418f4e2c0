/*
 * Gzip streams (RFC 1952): one or more members, each checked against its CRC and length, then nothing but NUL
 * padding. Two libraries can do the inflating; what surrounds it is here, so that both behave alike.
 */
#ifndef GUNZIP_H
#define GUNZIP_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where to inflate from and to; moved on by what was used. */
struct gunzip_io {
    const uint8_t *in;
    size_t in_left; /* at most GUNZIP_IO_MAX, as is out_left */
    uint8_t *out;
    size_t out_left;
};
#define GUNZIP_IO_MAX (1u << 30)

/* What came of inflating a part of a member. */
enum gunzip_step {
    GUNZIP_GOES_ON, /* the input is used up or the output is full */
    GUNZIP_MEMBER_END,
    GUNZIP_BAD_HEADER,
    GUNZIP_BAD_DATA,
    GUNZIP_BAD_CHECK, /* CRC or length */
    GUNZIP_NO_MEMORY
};

/* An inflater: a library that inflates one gzip member at a time, header and trailer included. */
struct gunzip_kind {
    const char *name;
    void *(*open)(void);          /* NULL: out of memory */
    void (*restart)(void *state); /* before every member but the first */
    enum gunzip_step (*step)(void *state, struct gunzip_io *io);
    void (*close)(void *state);
};

/* CRC-32, as gzip's trailers and xz's footers have it. */
uint32_t gunzip_crc32(const uint8_t *data, size_t size);
/* The same of bytes that come in pieces; 0 before the first. */
uint32_t gunzip_crc32_more(uint32_t crc, const uint8_t *data, size_t size);

extern const struct gunzip_kind gunzip_zlib;
#ifdef HAVE_ISAL
extern const struct gunzip_kind gunzip_isal;
#endif

/* The inflater to use: the fastest built in, or the one that the environment variable APL_GUNZIP names
 * ("isal", "zlib"); NULL where that one is not available. */
const struct gunzip_kind *gunzip_pick(void);

struct gunzip;

struct gunzip *gunzip_open(const struct gunzip_kind *kind); /* NULL: out of memory */
void gunzip_close(struct gunzip *gunzip);

/* Inflates until the input is used up or the output is full. Call it once more with no input after the last
 * byte, as long as the output gets full: some may be pending. `name` is for messages. */
apl_status gunzip_run(struct gunzip *gunzip, struct gunzip_io *io, const char *name, apl_error *err);

/* The input has ended: APL_E_INCOMPLETE unless it was complete. */
apl_status gunzip_finish(const struct gunzip *gunzip, const char *name, apl_error *err);

#endif
