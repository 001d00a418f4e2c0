/* Sums over bytes. */
#ifndef BYTE_SUMS_H
#define BYTE_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* Of n bytes, at most 2^48; and of their squares. */
struct byte_sums {
    uint64_t sum, squares;
};
struct byte_sums byte_sums(const uint8_t *data, size_t n);

#endif
