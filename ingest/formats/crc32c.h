/* CRC-32C (Castagnoli), as TFRecord files have it. */
#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *data, size_t size);

#endif
