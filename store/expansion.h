/*
 * How much memory a file may ask for. Coded bytes of constants decode to 32,768 times as many, and stores come from anybody: 49 KB may hold
 * a column of 1 GiB. So what decodes to far more than is stored is refused by name, wherever blocks are read, and where they are written.
 * All that real data has is below this: a value alone, a block as writers make it, and whatever does not shrink to less than one part in
 * 256. APL_EXPANSION in the environment lifts it.
 */
#ifndef EXPANSION_H
#define EXPANSION_H

#include "status.h"

/* What any block may decode to: the largest value, and as much again as other fields and a whole block usually have. */
#define EXPANSION_BLOCK ((uint64_t)APL_MAX_VALUE + ((uint64_t)8 << 20))

/* What may stand in memory, decoded, of any split. */
#define EXPANSION_STANDING ((uint64_t)256 << 20)

/* How many times their size stored bytes may decode to: APL_EXPANSION, or 256; 0: as many as they can. APL_E_INVALID if it is no number. */
apl_status expansion_allowed(uint32_t *times, apl_error *err);

/* APL_E_UNSUPPORTED if a block of `stored` bytes may not decode to `raw`. */
apl_status expansion_check_block(uint32_t times, uint64_t stored, uint64_t raw, apl_error *err);

/* APL_E_UNSUPPORTED if of files of `stored` bytes no `raw` bytes of values may stand in memory. The message ends with what else would do. */
apl_status expansion_check_standing(uint32_t times, uint64_t stored, uint64_t raw, const char *instead,
                                    apl_error *err);

#endif
