/* XXH3 for avx512. */
#define XXH3_TABLE xxh3_avx512
#include "xxh3_impl.h"
