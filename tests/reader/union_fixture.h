/* Three stores to be read by one reader, and what is to come of that. */
#ifndef UNION_FIXTURE_H
#define UNION_FIXTURE_H

#include "reader_fixture.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * Three stores, of blocks of different sizes. Values are those of the ids that records have in a mix of the three in this
 * order: so what the fixture knows of values holds for what a mix hands out. The last one is read, not mapped.
 */
#define FIRST  (uint64_t)0
#define SECOND (uint64_t)560
#define THIRD  (uint64_t)880
#define ALL    (uint64_t)980
static apl_store *second, *third;

static inline void open_store(const char *name, apl_io io, apl_store **store)
{
    char path[128];
    apl_error err = {0};
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    o.io = io;
    snprintf(path, sizeof path, "%s/%s", fx.place, name);
    cr_assert_eq(apl_store_open(path, &o, store, &err), APL_OK, "%s", err.message);
}

static inline void write_store(const char *name, uint64_t base, unsigned train, unsigned test, uint32_t block)
{
    char path[128];
    apl_writer *w = NULL;
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.block_records = block;
    o.codec = "raw";
    snprintf(path, sizeof path, "%s/%s", fx.place, name);
    cr_assert_eq(apl_writer_open(path, &o, &w, NULL), APL_OK);
    fixture_schema(w);
    fixture_member(w, "one", "train", 0, base, base + train);
    if (test)
        fixture_member(w, "two", "test", 1, base + train, base + train + test);
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
}

static inline void union_set_up(void)
{
    fixture_make(500, 60, 48);
    write_store("second", SECOND, 300, 20, 32);
    write_store("third", THIRD, 100, 0, 100);
    open_store("second", APL_IO_AUTO, &second);
    open_store("third", APL_IO_READ, &third);
}

static inline void union_tear_down(void)
{
    apl_store_close(second);
    apl_store_close(third);
    fixture_free();
}

/* In memory that the next call uses again: a reader copies what it needs. */
static inline apl_reader_options union_options(void)
{
    static apl_source mix[2];
    apl_reader_options o = fixture_options();
    mix[0] = (apl_source){.size = sizeof(apl_source), .store = second};
    mix[1] = (apl_source){.size = sizeof(apl_source), .store = third, .split = "train"};
    o.mix.sources = mix;
    o.mix.count = 2;
    return o;
}

static inline bool is_train(uint64_t id)
{
    return id < 500 || (id >= SECOND && id < SECOND + 300) || (id >= THIRD && id < ALL);
}

#define RECORDS 900u /* that is_train() tells of */

static inline void check_union(const struct sequence *s, unsigned times)
{
    unsigned seen[ALL] = {0};
    for (size_t i = 0; i < s->count; i++) {
        cr_assert_lt(s->ids[i], ALL);
        seen[s->ids[i]]++;
    }
    for (uint64_t id = 0; id < ALL; id++)
        cr_assert_eq(seen[id], is_train(id) ? times : 0, "id %llu", (unsigned long long)id);
}

static inline struct sequence whole_epoch(const apl_reader_options *o)
{
    struct sequence s = {0};
    apl_reader *r = fixture_reader(o);
    read_epoch(r, &s);
    apl_reader_close(r);
    return s;
}

#endif
