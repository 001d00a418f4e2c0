/* XXH3 for every machine. */
#define XXH3_TABLE xxh3_base
#include "xxh3_impl.h"
