/* The number in a .cls file. */
#ifndef WDS_NUMBER_H
#define WDS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Digits, with a sign or without; blanks may stand around them. false: anything else, or what does not fit 64 bits. */
bool wds_whole(const uint8_t *text, size_t size, bool *negative, uint64_t *magnitude);

/* The same, if it fits an i64. */
bool wds_number(const uint8_t *text, size_t size, int64_t *value);

#endif
