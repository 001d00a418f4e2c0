/* Evenly spaced records of evenly spaced blocks: see sample.h. */
#include "sample.h"

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t all_blocks(const struct sample_plan *p)
{
    return (p->records + p->block_records - 1) / p->block_records;
}

/* How many blocks may be decoded. */
static uint64_t some_blocks(const struct sample_plan *p)
{
    uint64_t affordable = p->block_bytes ? p->most_bytes / p->block_bytes : UINT64_MAX;
    return at_most(all_blocks(p), affordable ? affordable : 1);
}

/* Item i of n that are spread evenly over `of`; exact for all numbers below 2^64. */
static uint64_t spread(uint64_t i, uint64_t n, uint64_t of)
{
    return i * (of / n) + i * (of % n) / n;
}

uint64_t sample_ids(const struct sample_plan *p, uint64_t *ids)
{
    uint64_t blocks = at_most(some_blocks(p), p->most), n = at_most(p->most, p->records), count = 0;
    if (blocks == all_blocks(p) && n == p->records) { /* the last block may have fewer than its share */
        for (; count < n; count++)
            if (ids)
                ids[count] = count;
    }
    for (uint64_t b = 0; b < blocks && count < n; b++) {
        uint64_t first = spread(b, blocks, all_blocks(p)) * p->block_records;
        uint64_t length = at_most(p->block_records, p->records - first);
        uint64_t wanted = spread(b + 1, blocks, n) - spread(b, blocks, n), take = at_most(wanted, length);
        for (uint64_t i = 0; i < take; i++, count++)
            if (ids)
                ids[count] = first + spread(i, take, length);
    }
    return count;
}

uint64_t sample_size(const struct sample_plan *plan)
{
    return sample_ids(plan, 0);
}
