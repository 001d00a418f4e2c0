/* Many threads mark records in two tables at once: each record ends up in exactly one, whoever was first. A
 * plain main, to be run under the thread sanitizer. */
#include "bitset.h"
#include "check.h"
#include "parallel.h"

#include <stdio.h>

#define RECORDS 20000u
#define THREADS 16u
#define ROUNDS  20u

struct division {
    struct bitset tables[2];
    atomic_uint firsts, again;
    uint32_t step;
};

static unsigned side_of(uint64_t record)
{
    return record * 2654435761u >> 7 & 1;
}

/* Every task meets every record of its share, and shares overlap: words are shared by all threads. */
static apl_status mark(void *context, unsigned worker, size_t task, apl_error *err)
{
    struct division *d = context;
    (void)worker;
    (void)err;
    for (uint64_t i = task % 8; i < RECORDS; i += d->step) {
        bool first = bitset_set(&d->tables[side_of(i)], i);
        atomic_fetch_add_explicit(first ? &d->firsts : &d->again, 1, memory_order_relaxed);
    }
    return APL_OK;
}

int main(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct division d = {.step = 8};
        for (unsigned side = 0; side < 2; side++)
            CHECK(bitset_init(&d.tables[side], RECORDS, NULL) == APL_OK);
        CHECK(parallel_for(THREADS, 16, mark, &d, NULL) == APL_OK); /* every record by two tasks */
        CHECK(d.firsts == RECORDS && d.again == RECORDS);
        CHECK(bitset_count(&d.tables[0]) + bitset_count(&d.tables[1]) == RECORDS);
        CHECK(bitset_count_both(&d.tables[0], &d.tables[1]) == 0);
        for (uint64_t i = 0; i < RECORDS; i++)
            CHECK(bitset_test(&d.tables[side_of(i)], i) && !bitset_test(&d.tables[!side_of(i)], i));
        bitset_free(&d.tables[0]);
        bitset_free(&d.tables[1]);
    }
    return 0;
}
