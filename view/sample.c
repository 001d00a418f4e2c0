/* Records of blocks, both drawn one from each of equal parts: see sample.h. */
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

/* Spreads any numbers over all 64 bits: the finaliser of splitmix64. */
static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* One of the items of part i of n. Steps of equal length would see one phase of what comes in turns, such as classes. */
static uint64_t drawn(uint64_t i, uint64_t n, uint64_t of, uint64_t from)
{
    uint64_t first = spread(i, n, of), length = spread(i + 1, n, of) - first;
    return from + first + (length > 1 ? mixed(from + i + 1) % length : 0);
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
        uint64_t first = drawn(b, blocks, all_blocks(p), 0) * p->block_records;
        uint64_t length = at_most(p->block_records, p->records - first);
        uint64_t wanted = spread(b + 1, blocks, n) - spread(b, blocks, n), take = at_most(wanted, length);
        for (uint64_t i = 0; i < take; i++, count++)
            if (ids)
                ids[count] = drawn(i, take, length, first);
    }
    return count;
}

uint64_t sample_size(const struct sample_plan *plan)
{
    return sample_ids(plan, 0);
}
