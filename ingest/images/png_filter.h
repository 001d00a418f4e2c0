/* The filters of PNG's rows (section 9 of its specification), undone. */
#ifndef PNG_FILTER_H
#define PNG_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PNG_FILTER_SLACK 3 /* bytes that are read, and ignored, behind rows and the row above */
#define PNG_FILTER_ROWS  4 /* are best undone at once */

enum png_filter { PNG_NONE, PNG_SUB, PNG_UP, PNG_AVERAGE, PNG_PAETH, PNG_FILTERS };

/* Undoes, in place, the filters of rows one after another: each has the number of its filter, and then n bytes with `step` (1 ... 4)
 * bytes a pixel. `above` is the restored row above them, zeros for the first. Behind it, and behind the last row, PNG_FILTER_SLACK bytes
 * can be read. false: there is no such filter. */
bool png_unfilter(uint8_t *filtered, size_t rows, const uint8_t *above, size_t n, size_t step);

/* The same, a byte at a time, without slack: what png_unfilter() must equal. */
bool png_unfilter_scalar(uint8_t *filtered, size_t rows, const uint8_t *above, size_t n, size_t step);

/* png_unfilter() for PNG_FILTER_ROWS rows, of which each filter is one that there is: png_filter_kernel.h. */
void png_unfilter_four_avx2(uint8_t *filtered, const uint8_t *above, size_t n, size_t step);
void png_unfilter_four_pair(uint8_t *filtered, const uint8_t *above, size_t n, size_t step);

#endif
