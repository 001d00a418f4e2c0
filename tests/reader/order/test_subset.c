/* Readers of named splits: blocks of which only some records are wanted. */
#include "subset.h"

#include "reader_fixture.h"

#include "hash.h"

static void make_split(const char *name, double ratio, const char *parent)
{
    apl_error err = {0};
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    o.name = name;
    o.ratio = ratio;
    o.parent = parent;
    o.overlap = 1;
    cr_assert_eq(apl_split_make(fx.store, &o, &err), APL_OK, "%s", err.message);
}

static void set_up(void)
{
    fixture_make(1000, 130, 48);
    make_split("val", 0.2, NULL);
    make_split("rare", 0.005, NULL); /* most blocks have none of these */
}

TestSuite(subset, .init = set_up, .fini = fixture_free, .timeout = 120);

/* The same ids as the split has, each `times` times. */
static void check_split(const struct sequence *s, const char *split, unsigned times)
{
    uint64_t n = 0, *ids;
    unsigned *seen = calloc(fx.train + fx.test, sizeof *seen);
    cr_assert_eq(apl_split_ids(fx.store, split, NULL, &n, NULL), APL_OK);
    ids = malloc((n + 1) * sizeof *ids);
    cr_assert_eq(apl_split_ids(fx.store, split, ids, &n, NULL), APL_OK);
    cr_assert_eq(s->count, n * times, "%zu of %llu", s->count, (unsigned long long)(n * times));
    for (size_t i = 0; i < s->count; i++)
        seen[s->ids[i]]++;
    for (uint64_t i = 0; i < n; i++)
        cr_assert_eq(seen[ids[i]], times);
    free(seen);
    free(ids);
}

Test(subset, lists_members_and_drops_blocks)
{
    static const char *const names[] = {"train", "test", "val", "train-val", "rare", "train-rare"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct subset s;
        struct sequence ids = {0};
        cr_assert_eq(subset_open(fx.store, names[k], &s, NULL), APL_OK);
        ids.ids = malloc(s.records * sizeof *ids.ids);
        uint64_t before = 0;
        for (uint32_t i = 0; i < s.blocks; i++) {
            const struct subset_block *b = &s.block[i];
            cr_assert(b->count > 0 && b->count <= b->records && b->before == before);
            cr_assert(!b->chosen == (b->count == b->records));
            for (uint32_t m = 0; m < b->count; m++)
                ids.ids[ids.count++] = subset_id(&s, i * s.stride + m);
            before += b->count;
        }
        cr_assert_eq(before, s.records);
        check_split(&ids, names[k], 1);
        if (strcmp(names[k], "rare") == 0)
            cr_assert(s.blocks <= s.records && s.blocks < 10, "%u blocks", s.blocks);
        subset_close(&s);
        sequence_free(&ids);
    }
}

/* The records of two parts by their ids, those of the second store going on where the first one's end. */
static void check_parts(const struct subset_part *parts, const uint64_t *ids, size_t n)
{
    struct subset s;
    size_t found = 0;
    uint64_t before = 0, all = fx.train + fx.test;
    cr_assert_eq(subset_open_parts(parts, 2, (struct subset_ids){ids, n}, &s, NULL), APL_OK);
    for (uint32_t i = 0; i < s.blocks; i++) {
        const struct subset_block *b = &s.block[i];
        cr_assert(b->before == before && b->part == (b->first_id >= all));
        for (uint32_t m = 0; m < b->count; m++, found++)
            cr_assert_eq(subset_id(&s, i * s.stride + m), ids[found]);
        before += b->count;
    }
    cr_assert(s.parts == 2 && s.part[0].records + s.part[1].records == n);
    cr_assert(s.records == n && found == n);
    subset_close(&s);
}

Test(subset, puts_parts_together_and_cuts_them_down)
{
    struct subset_part parts[2] = {{.store = fx.store, .split = "val"}, {.store = fx.store, .split = "test"}};
    uint64_t ids[2000], n = 1000, all = fx.train + fx.test, first = fx.train;
    cr_assert_eq(apl_split_ids(fx.store, "val", ids, &n, NULL), APL_OK);
    for (uint64_t i = 0; i < fx.test; i++)
        ids[n + i] = all + first + i;
    check_parts(parts, ids, n + fx.test);
    check_parts(parts, ids + 5, n + fx.test - 70);
    check_parts(parts, ids, 3);
    check_parts(parts, ids + n, 3);
    ids[0] = first; /* of the first store's test */
    struct subset s;
    cr_assert_eq(subset_open_parts(parts, 2, (struct subset_ids){ids, 1}, &s, NULL), APL_E_INVALID);
    ids[0] = 2 * all;
    cr_assert_eq(subset_open_parts(parts, 2, (struct subset_ids){ids, 1}, &s, NULL), APL_E_INVALID);
    cr_assert(!s.part && !s.block);
}

static apl_reader_options options_of(const char *split, unsigned mix)
{
    static const unsigned threads[] = {APL_NO_THREADS, 1, 2, 5};
    apl_reader_options o = fixture_options();
    o.split = split;
    o.threads = threads[mix % 4];
    o.seed = mix;
    o.batch_size = (size_t[]){1, 7, 64, 1001}[mix / 4 % 4];
    o.window = (uint64_t[]){0, 100, 60}[mix % 3]; /* all of it, or streaming */
    o.reuse = mix % 5 == 4 ? 3 : 1;
    return o;
}

/* Every mix of threads, windows and orders: each record of the split exactly so often, with its values. */
static void check_mix(const char *split, unsigned mix, apl_order order)
{
    apl_reader_options o = options_of(split, mix);
    o.order = order;
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < 3; epoch++) {
        struct sequence s = {0};
        read_epoch(r, &s);
        check_split(&s, split, o.reuse);
        sequence_free(&s);
        fixture_next_epoch(r);
    }
    apl_reader_close(r);
}

Test(subset, each_record_once)
{
    for (unsigned mix = 0; mix < 24; mix++) {
        check_mix("val", mix, APL_STRICT);
        check_mix("train-val", mix, APL_STRICT);
    }
    check_mix("rare", 0, APL_STRICT);
    check_mix("train-rare", 1, APL_STRICT);
}

Test(subset, each_record_once_in_free_order)
{
    for (unsigned mix = 0; mix < 24; mix++) {
        check_mix("val", mix, APL_FREE);
        check_mix("train-val", mix, APL_FREE);
    }
    check_mix("rare", 3, APL_FREE);
}

Test(subset, sequential_is_in_the_order_of_ids)
{
    apl_reader_options o = fixture_options();
    o.split = "train-val";
    o.sequential = 1;
    apl_reader *r = fixture_reader(&o);
    struct sequence s = {0};
    read_epoch(r, &s);
    check_split(&s, "train-val", 1);
    for (size_t i = 1; i < s.count; i++)
        cr_assert(s.ids[i - 1] < s.ids[i]);
    sequence_free(&s);
    apl_reader_close(r);
}

/* The order is that of any other split: a function of the options alone. */
Test(subset, strict_order_never_changes)
{
    static const uint64_t digests[2] = {0x47c7d06c15aa5853, 0xaa7a5dc9feb0e030};
    for (unsigned streaming = 0; streaming < 2; streaming++)
        for (unsigned threads = 0; threads < 3; threads++) {
            apl_reader_options o = fixture_options();
            o.split = "train-val";
            o.seed = 11;
            o.window = streaming ? 150 : 0;
            o.threads = threads ? threads * 2 : APL_NO_THREADS;
            check_digest(&o, digests[streaming]);
        }
}

/* Interrupted after some batches and resumed by another reader, with another batch size. */
static void check_resume(const apl_reader_options *options, size_t batches, const struct sequence *whole)
{
    uint8_t state[4096];
    size_t size = sizeof state;
    apl_error err = {0};
    struct sequence s = {0};
    apl_reader *r = fixture_reader(options);
    bool over = !read_batches(r, &s, batches);
    cr_assert_eq(apl_reader_state(r, state, &size, &err), APL_OK, "%s", err.message);
    apl_reader_close(r);
    apl_reader_options o = *options;
    o.state = state;
    o.state_size = size;
    o.batch_size = 13;
    o.threads = batches % 3 ? (unsigned)(batches % 3) : APL_NO_THREADS;
    r = fixture_reader(&o);
    if (over)
        cr_assert_null(fixture_next(r));
    read_epoch(r, &s);
    if (whole)
        check_same(&s, whole);
    check_split(&s, options->split, 1);
    apl_reader_close(r);
    sequence_free(&s);
}

Test(subset, resumes_at_every_batch)
{
    for (unsigned k = 0; k < 4; k++) {
        apl_reader_options o = fixture_options();
        o.split = k & 1 ? "val" : "train-val";
        o.window = k & 2 ? 120 : 0;
        o.batch_size = 40;
        struct sequence whole = {0};
        apl_reader *r = fixture_reader(&o);
        read_epoch(r, &whole);
        apl_reader_close(r);
        for (size_t batches = 0; batches <= whole.batches + 1; batches++)
            check_resume(&o, batches, &whole);
        sequence_free(&whole);
        o.order = APL_FREE;
        for (size_t batches = 0; batches <= 6; batches++)
            check_resume(&o, batches, NULL);
    }
}

Test(subset, a_state_belongs_to_its_split)
{
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_reader_options o = fixture_options();
    o.split = "val";
    apl_reader *r = fixture_reader(&o);
    cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
    apl_reader_close(r);
    o.state = state;
    o.state_size = size;
    o.split = "train-val";
    fixture_refused(&o, APL_E_MISMATCH);
    /* neither is another division under the same name the same split */
    apl_split_options s = APL_SPLIT_OPTIONS_INIT;
    s.name = "val";
    s.ratio = 0.2;
    s.seed = 1;
    s.replace = 1;
    cr_assert_eq(apl_split_make(fx.store, &s, NULL), APL_OK);
    o.split = "val";
    fixture_refused(&o, APL_E_MISMATCH);
}

Test(subset, ranks_share_a_split)
{
    for (unsigned window = 0; window <= 120; window += 120) {
        struct sequence all = {0};
        for (unsigned rank = 0; rank < 3; rank++) {
            apl_reader_options o = fixture_options();
            o.split = "train-val";
            o.ranks.rank = rank;
            o.ranks.world = 3;
            o.window = window;
            o.threads = 2;
            apl_reader *r = fixture_reader(&o);
            read_epoch(r, &all);
            apl_reader_close(r);
        }
        check_split(&all, "train-val", 1);
        sequence_free(&all);
    }
}

/* Pictures as they are augmented do not hang on the split that they come by, but on the record. */
Test(subset, normalises_by_train)
{
    apl_transform t = APL_TRANSFORM_INIT;
    t.scale = APL_SCALE_NORMALISE;
    t.dtype = APL_F32;
    apl_reader_options o = fixture_options();
    o.sequential = 1;
    o.transforms = &t;
    o.transform_count = 1;
    apl_reader *all = fixture_reader(&o);
    o.split = "train-val";
    o.batch_size = 1;
    apl_reader *some = fixture_reader(&o);
    size_t bytes = 3 * SIDE * SIDE * sizeof(float), row = 0;
    apl_batch *b = fixture_next(all), *one;
    while ((one = fixture_next(some))) {
        while (apl_batch_ids(b)[row] != apl_batch_ids(one)[0])
            if (++row == apl_batch_rows(b)) {
                apl_batch_release(b);
                b = fixture_next(all);
                row = 0;
            }
        const uint8_t *values = apl_batch_column(b, FIELD_IMAGE)->data;
        cr_assert(memcmp(values + row * bytes, apl_batch_column(one, FIELD_IMAGE)->data, bytes) == 0);
        apl_batch_release(one);
    }
    apl_batch_release(b);
    apl_reader_close(all);
    apl_reader_close(some);
}

Test(subset, a_reader_keeps_the_split_that_it_was_opened_with)
{
    apl_reader_options o = fixture_options();
    o.split = "val";
    o.threads = 2;
    o.window = 60;
    apl_reader *r = fixture_reader(&o);
    uint64_t n = 0;
    cr_assert_eq(apl_split_ids(fx.store, "val", NULL, &n, NULL), APL_OK);
    fixture_shell("rm -f '%s%s/val.split'", fx.place, "/db");
    fixture_refused(&o, APL_E_NOTFOUND);
    struct sequence s = {0};
    read_epoch(r, &s);
    cr_assert_eq(s.count, n);
    sequence_free(&s);
    apl_reader_close(r);
}
