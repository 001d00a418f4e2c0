/* What is known of a cache's parts: what is needed last comes first, whatever comes and goes. */
#include "cache_parts.h"
#include "samples.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(cache_parts);

#define PARTS 3000u

static struct part_list list;
static struct part *parts[PARTS];

/* The due time that is latest, of those that are here. */
static uint64_t latest(void)
{
    uint64_t due = 0;
    for (unsigned i = 0; i < PARTS; i++)
        due = parts[i] && parts[i]->here && parts[i]->due > due ? parts[i]->due : due;
    return due;
}

static void expect_heap(void)
{
    for (uint32_t i = 0; i < list.here; i++) {
        cr_assert_eq(list.heap[i]->place, i);
        cr_assert(i == 0 || list.heap[(i - 1) / 2]->due >= list.heap[i]->due, "place %u", i);
    }
}

Test(cache_parts, what_is_needed_last_comes_first)
{
    uint32_t state = 1;
    for (unsigned i = 0; i < PARTS; i++) {
        parts[i] = parts_get(&list, i % 3, i, 100);
        cr_assert(parts_here(&list, parts[i], 1 + sample_random(&state) % 1000));
    }
    cr_assert_eq(list.here, PARTS);
    expect_heap();
    for (unsigned i = 0; i < PARTS; i++) { /* other times, earlier and later */
        cr_assert(parts_here(&list, parts[i], 1 + sample_random(&state) % 1000));
        if (i % 100 == 0)
            cr_assert_eq(parts_last_needed(&list)->due, latest());
    }
    expect_heap();
    for (unsigned i = 0; i < PARTS; i++) { /* out of the middle, and the last needed */
        unsigned k = i * 7 % PARTS;
        struct part *part = i % 2 ? parts_last_needed(&list) : parts[k] ? parts[k] : parts_last_needed(&list);
        parts[part->offset] = NULL;
        cr_assert(i % 2 == 0 || part->due >= latest());
        parts_remove(&list, part);
        free(part);
        cr_assert_eq(list.here, PARTS - 1 - i);
        if (i % 50 == 0)
            expect_heap();
    }
    cr_assert_null(parts_last_needed(&list));
    cr_assert_eq(list.bytes, 0);
    parts_clear(&list);
}

Test(cache_parts, are_found_by_object_place_and_size)
{
    for (unsigned i = 0; i < PARTS; i++)
        parts[i] = parts_get(&list, i % 3, i / 3 % 100, 100 + i / 300);
    cr_assert_eq(list.count, PARTS);
    for (unsigned i = 0; i < PARTS; i++) {
        cr_assert_eq(parts_find(&list, i % 3, i / 3 % 100, 100 + i / 300), parts[i]);
        cr_assert_eq(parts_get(&list, i % 3, i / 3 % 100, 100 + i / 300), parts[i]);
    }
    cr_assert_null(parts_find(&list, 3, 0, 100));
    cr_assert_null(parts_find(&list, 0, 100, 100));
    cr_assert_null(parts_find(&list, 0, 0, 99));
    parts_clear(&list);
}

/* A part's file has a head, and takes whole pages. */
Test(cache_parts, take_whole_pages)
{
    cr_assert_eq(part_disk_bytes(0), 4096);
    cr_assert_eq(part_disk_bytes(4096 - PART_HEAD), 4096);
    cr_assert_eq(part_disk_bytes(4096 - PART_HEAD + 1), 8192);
    cr_assert_eq(part_disk_bytes(4096), 8192);
    cr_assert_eq(part_disk_bytes(8192 - PART_HEAD), 8192);
}
