/* A set of three shards, for tests. */
#ifndef SET_CASE_H
#define SET_CASE_H

#include "store_fixture.h"

static inline void set_set_up(void)
{
    fx_set_up();
    fx_shell("mkdir '%s/%s'", fx_place, "set");
}

#define SHARDS  3
#define RECORDS 235u

/* Their numbers are those that the set gives them. */
static const struct fx_member members[SHARDS][3] = {
    {{"a", "train", 0, 40}, {"b", "train", 1, 33}, {"c", "test", 2, 21}},
    {{"d", "train", 3, 50}, {"e", "extra", 4, 9}, {"f", "test", 5, 0}},
    {{"g", "test", 6, 17}, {"h", "train", 7, 64}, {"i", "train", 8, 1}},
};
static const struct fx_recipe whole = {fx_fields, COUNT(fx_fields), members[0],
                                       COUNT(members) * COUNT(*members)};

static inline const char *shard_path(unsigned i)
{
    char name[32];
    snprintf(name, sizeof name, "set/s%u", i);
    return fx_path(name);
}

static inline void make_shard(unsigned i, int shuffle)
{
    struct fx_recipe r = {fx_fields, COUNT(fx_fields), members[i], COUNT(members[i])};
    apl_writer_options o = APL_WRITER_OPTIONS_INIT;
    o.block_records = 16 + 8 * (i == 1); /* shards may differ in that */
    o.shuffle = shuffle;
    o.shuffle_seed = i;
    o.threads = APL_NO_THREADS;
    fx_make(shard_path(i), &r, &o);
}

static inline void make_shards(int shuffle)
{
    for (unsigned i = 0; i < SHARDS; i++)
        make_shard(i, shuffle);
}

static inline apl_status join(unsigned from, unsigned count, int append, int replace)
{
    const char *paths[SHARDS];
    apl_set_options o = APL_SET_OPTIONS_INIT;
    o.append = append;
    o.replace = replace;
    for (unsigned i = 0; i < count; i++)
        paths[i] = shard_path(from + i);
    return apl_set_join(fx_path("set"), paths, count, &o, &fx_err);
}

static inline apl_store *open_set(unsigned most)
{
    apl_store *s = NULL;
    apl_store_options o = APL_STORE_OPTIONS_INIT;
    o.open_shards = most;
    OK(apl_store_open(fx_path("set"), &o, &s, &fx_err));
    return s;
}

static inline apl_store *made_set(unsigned most)
{
    make_shards(0);
    OK(join(0, SHARDS, 0, 0));
    return open_set(most);
}

/* The ids of an epoch, in order; how many. */
static inline size_t epoch(apl_store *s, unsigned threads, uint64_t skip, uint64_t *ids)
{
    apl_reader_options o = APL_READER_OPTIONS_INIT;
    apl_reader *r = NULL;
    apl_batch *b;
    size_t n = 0;
    o.split = "train";
    o.batch_size = 7;
    o.seed = 5;
    o.threads = threads;
    o.faults.skip_corrupt = skip;
    OK(apl_reader_open(s, &o, &r, &fx_err));
    apl_status status;
    while ((status = apl_reader_next(r, &b, &fx_err)) == APL_OK) {
        memcpy(ids + n, apl_batch_ids(b), apl_batch_rows(b) * sizeof *ids);
        n += apl_batch_rows(b);
        apl_batch_release(b);
    }
    apl_reader_close(r);
    return status == APL_END ? n : SIZE_MAX;
}

#endif
