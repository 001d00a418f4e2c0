/* Inflates a zlib stream that lies in memory as a whole, by ISA-L, where a build has it: in a third of zlib's time. */
#ifndef INFLATE_H
#define INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* true: the stream is all of in[0 ... size-1], ends properly, has the right checksum and gave all of out[0 ... out_size-1]. false:
 * it is not so, or this build cannot tell. Nothing beyond `out` is written in either case. */
bool inflate_whole(const uint8_t *in, size_t size, uint8_t *out, size_t out_size);

/* What is wrong with the stream at the front of in[0 ... size-1], which is read to its end: its codes, its checksum, or that it ends early.
 * `bytes` not 0: also that it gives another number of bytes, or that something follows it. NULL: nothing, or this build cannot tell. */
const char *inflate_fault(const uint8_t *in, size_t size, uint64_t bytes);

/* CRC-32, as PNG's chunks have it; where the library is missing, 0. */
uint32_t inflate_crc32(const uint8_t *data, size_t size);

/* Does this build have the library? */
bool inflate_exists(void);

#endif
