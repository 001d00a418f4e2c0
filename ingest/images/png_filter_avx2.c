/* PNG's filters undone, for x86-64-v3. */
#define PNG_UNFILTER_FOUR png_unfilter_four_avx2
#include "png_rows_ymm.h"

#include "png_filter_kernel.h"
