/* The filters of PNG's rows (section 9 of its specification), undone. */
#ifndef PNG_FILTER_H
#define PNG_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PNG_FILTER_SLACK 3 /* bytes that are read, and ignored, behind a row and the row above */

/* Undoes filter `kind` in place, in a row of n bytes with `step` (1 ... 4) bytes a pixel; `above` is the restored row above it, zeros
 * for the first. false: there is no such filter. Both rows have PNG_FILTER_SLACK readable bytes behind them. */
bool png_unfilter(unsigned kind, uint8_t *row, const uint8_t *above, size_t n, size_t step);

/* The same, a byte at a time: what png_unfilter() must equal. */
bool png_unfilter_scalar(unsigned kind, uint8_t *row, const uint8_t *above, size_t n, size_t step);

#endif
