/* The number in a .cls file, and which numbers the types of whole numbers have. */
#ifndef WDS_NUMBER_H
#define WDS_NUMBER_H

#include "apl.h"

#include <stdbool.h>

/* Digits, with a sign or without; blanks may stand around them. false: anything else, or what does not fit 64 bits. */
bool wds_whole(const uint8_t *text, size_t size, bool *negative, uint64_t *magnitude);

/* The same, if it fits an i64. */
bool wds_number(const uint8_t *text, size_t size, int64_t *value);

/* Has the type, one of whole numbers, the number? */
bool wds_number_fits(apl_dtype dtype, bool negative, uint64_t magnitude);

#endif
