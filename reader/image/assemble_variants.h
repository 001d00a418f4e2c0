/* The variants of assemble(), one for each instruction set, and what they share. All write the same bytes. */
#ifndef ASSEMBLE_VARIANTS_H
#define ASSEMBLE_VARIANTS_H

#include "assemble.h"
#include "cpu.h"

typedef void assemble_fn(const struct assembly *assembly, const uint8_t *const *sources,
                         const struct placement *placements, size_t count, void *out);

assemble_fn assemble_scalar, assemble_avx2, assemble_avx512, assemble_neon;

/* That of a variant; assemble_scalar for one that was not built in. */
assemble_fn *assemble_for(enum cpu_variant variant);

/* assemble(), by a variant. */
void assemble_by(enum cpu_variant variant, const struct assembly *assembly, const uint8_t *const *sources,
                 const struct placement *placements, size_t count, void *out);

/* That of assemble(): the fastest on this machine at results of this type and layout, found when the first is asked for, which takes some
 * ten microseconds, and kept. Thread-safe; children inherit it. */
enum cpu_variant assemble_variant(const struct assembly *assembly);

/* Rows of a result that are as long are made in a loop of their own. */
#define ASSEMBLE_RUN 32

/* Of image i: the crop in the middle where there are no placements. */
struct placement assemble_placement(const struct assembly *assembly, const struct placement *placements,
                                    size_t i);

/* Bytes in one value of the result. */
static inline size_t element_bytes(apl_dtype dtype)
{
    return dtype == APL_U8 ? 1 : dtype == APL_F32 ? 4 : 2;
}

/* The row or column of the source, of `size` of them, that is seen at `at`, which may lie in the padding:
 * outside of 0 ... size - 1 if no source is seen there. */
static inline int32_t assemble_source(int32_t at, int32_t size, apl_pad mode)
{
    if (mode != APL_PAD_REFLECT)
        return at;
    int32_t last = size - 1, right = at < 0 ? -at : at, left = last - right;
    return last - (left < 0 ? -left : left);
}

#endif
