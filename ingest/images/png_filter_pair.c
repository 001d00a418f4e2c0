/* PNG's filters undone, for x86-64 without AVX2, and arm64. */
#define PNG_UNFILTER_FOUR png_unfilter_four_pair
#include "png_rows_pair.h"

#ifdef PNG_SAMPLES
#include "png_filter_kernel.h"
#else
#include "png_filter.h"
#endif
