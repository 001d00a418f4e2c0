/* A table of marks: a bit for each of some records, which many threads may set at once. */
#ifndef BITSET_H
#define BITSET_H

#include "bytes.h"
#include "status.h"

#include <stdatomic.h>

struct marks {
    uint64_t count;           /* records that can be marked */
    _Atomic(uint64_t) *words; /* record i is bit i % 64 of word i / 64; NULL: there is no table */
};

/* A table without a mark. */
apl_status marks_init(struct marks *marks, uint64_t count, apl_error *err);
void marks_free(struct marks *marks);

/* Marks record i; false if it was marked already. */
static inline bool marks_set(struct marks *marks, uint64_t i)
{
    uint64_t bit = (uint64_t)1 << i % 64;
    /* relaxed: who sets marks is joined by, or hands over under a lock to, who reads them */
    return !(atomic_fetch_or_explicit(&marks->words[i / 64], bit, memory_order_relaxed) & bit);
}

static inline bool marks_test(const struct marks *marks, uint64_t i)
{
    return atomic_load_explicit(&marks->words[i / 64], memory_order_relaxed) >> i % 64 & 1;
}

/* How many records are marked; while nobody marks any. */
uint64_t marks_total(const struct marks *marks);

/* How many records are marked in both tables, which are of the same records. */
uint64_t marks_shared(const struct marks *a, const struct marks *b);

/* Marks in `marks`, a table without a mark, the records of `all` that `but` does not mark; `all` without a table
 * means every record. */
void marks_rest(struct marks *marks, const struct marks *all, const struct marks *but);

/* Bytes of a table of `count` records as it is stored: record i is bit i % 8 of byte i / 8. */
static inline size_t marks_bytes(uint64_t count)
{
    return (size_t)(count / 8 + (count % 8 != 0));
}

void marks_store(const struct marks *marks, uint8_t *bytes);

/* False if bits behind the last record are set. */
bool marks_load(struct marks *marks, const uint8_t *bytes);

#endif
