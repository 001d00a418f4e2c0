/* XXH3 for avx2. */
#define XXH3_TABLE xxh3_avx2
#include "xxh3_impl.h"
