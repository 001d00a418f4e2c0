/* A reader that hands out ids alone: the very order of a reader of all fields, and nothing is read for it. */
#include "reader.h"
#include "reader_fixture.h"

#define TRAIN  150
#define BLOCK  8
#define EPOCHS 3u

static const char *const none[] = {NULL};

static void set_up(void)
{
    fixture_make(TRAIN, 9, BLOCK);
}

TestSuite(reader_ids, .init = set_up, .fini = fixture_free, .timeout = 60);

static apl_reader_options only_ids(apl_reader_options o)
{
    o.fields = none;
    o.field_count = 0;
    return o;
}

/* Orders of every kind: windows, copies, lanes, ranks, no shuffling. */
#define ORDERS 8u
static apl_reader_options order(unsigned i)
{
    static const struct {
        uint64_t window;
        unsigned reuse, world, rank, lanes;
        int sequential, drop_last;
    } cases[ORDERS] = {{0, 0, 0, 0, 0, 0, 0}, {20, 0, 0, 0, 0, 0, 0}, {20, 3, 0, 0, 0, 0, 1},
                       {0, 2, 0, 0, 0, 0, 0}, {16, 0, 3, 1, 0, 0, 0}, {32, 2, 2, 1, 4, 0, 0},
                       {0, 0, 2, 0, 2, 0, 1}, {0, 0, 0, 0, 0, 1, 0}};
    apl_reader_options o = fixture_options();
    o.seed = 100 + i;
    o.batch_size = 7;
    o.window = cases[i].window;
    o.reuse = cases[i].reuse;
    o.ranks.world = cases[i].world;
    o.ranks.rank = cases[i].rank;
    o.ranks.lanes = cases[i].lanes;
    o.sequential = cases[i].sequential;
    o.drop_last = cases[i].drop_last;
    o.threads = i & 1 ? 2 : APL_NO_THREADS;
    return o;
}

struct state {
    uint8_t bytes[APL_STATE_BYTES];
};

static void save(apl_reader *r, struct state *state)
{
    size_t size = sizeof state->bytes;
    cr_assert_eq(apl_reader_state(r, state->bytes, &size, NULL), APL_OK);
}

static void check_same_batch(const apl_batch *a, const apl_batch *b)
{
    size_t rows = apl_batch_rows(a), skipped;
    cr_assert_eq(rows, apl_batch_rows(b));
    cr_assert(rows == 0 || memcmp(apl_batch_ids(a), apl_batch_ids(b), rows * sizeof(uint64_t)) == 0);
    cr_assert_eq(apl_batch_epoch(a), apl_batch_epoch(b));
    cr_assert_eq(apl_batch_position(a), apl_batch_position(b));
    apl_batch_skipped(b, &skipped);
    cr_assert_eq(skipped, 0);
}

static void check_no_values(const apl_batch *b)
{
    for (unsigned f = 0; f < FIELDS; f++)
        cr_assert_null(apl_batch_column(b, f));
}

static void check_same_receipt(apl_reader *a, apl_reader *b)
{
    apl_receipt x, y;
    cr_assert_eq(apl_reader_receipt(a, &x, sizeof x, NULL), APL_OK);
    cr_assert_eq(apl_reader_receipt(b, &y, sizeof y, NULL), APL_OK);
    cr_assert(memcmp(&x, &y, sizeof x) == 0);
}

/* But for what the kinds of the fields come to that one of them reads, and the checksum of that. */
static void check_same_state(apl_reader *a, apl_reader *b)
{
    enum { CHECKSUM = 88, KINDS_END = 104 };
    struct state x, y;
    save(a, &x);
    save(b, &y);
    memset(x.bytes + CHECKSUM, 0, KINDS_END - CHECKSUM);
    memset(y.bytes + CHECKSUM, 0, KINDS_END - CHECKSUM);
    cr_assert(memcmp(&x, &y, sizeof x) == 0);
}

/* The rest of the epoch, batch by batch. */
static void check_same_epoch(apl_reader *whole, apl_reader *ids)
{
    apl_batch *a, *b;
    cr_assert_eq(apl_reader_batches(whole), apl_reader_batches(ids));
    while ((a = fixture_next(whole))) {
        b = fixture_next(ids);
        cr_assert_not_null(b);
        check_same_batch(a, b);
        check_no_values(b);
        check_same_state(whole, ids);
        apl_batch_release(a);
        apl_batch_release(b);
    }
    cr_assert_null(fixture_next(ids));
    check_same_receipt(whole, ids);
}

Test(reader_ids, come_in_the_order_of_a_reader_of_all_fields)
{
    for (unsigned i = 0; i < ORDERS; i++) {
        apl_reader_options o = order(i), p = only_ids(o);
        apl_reader *whole = fixture_reader(&o), *ids = fixture_reader(&p);
        for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
            check_same_epoch(whole, ids);
            fixture_next_epoch(whole);
            fixture_next_epoch(ids);
        }
        apl_reader_close(whole);
        apl_reader_close(ids);
    }
}

/* Saves after each batch of an epoch; either reader goes on from what either has saved. */
Test(reader_ids, states_are_good_for_both)
{
    static struct state states[TRAIN];
    for (unsigned i = 0; i < ORDERS; i++) {
        apl_reader_options o = order(i);
        for (unsigned turn = 0; turn < 2; turn++) {
            apl_reader_options p = turn ? only_ids(o) : o, whole = o;
            size_t n = 0;
            apl_reader *from = fixture_reader(&p);
            for (apl_batch *b; (b = fixture_next(from)); apl_batch_release(b))
                save(from, &states[n++]);
            apl_reader_close(from);
            for (size_t k = 0; k < n; k += 3) {
                whole.state = states[k].bytes;
                whole.state_size = sizeof states[k].bytes;
                apl_reader_options ids = only_ids(whole);
                apl_reader *a = fixture_reader(&whole), *b = fixture_reader(&ids);
                check_same_epoch(a, b);
                apl_reader_close(a);
                apl_reader_close(b);
            }
        }
    }
}

/* Values of 64 MiB, of which the default window holds 63 or 64. The store only says so; readers of other fields believe it. */
static void claim_large_values(unsigned field)
{
    apl_field *f = (apl_field *)&fx.store->manifest.schema.fields[field];
    const uint64_t bytes = (uint64_t)64 << 20;
    f->raw_bytes = bytes * fx.store->manifest.info.records;
    f->value_bytes = f->value_bytes ? (size_t)bytes : 0;
}

static apl_reader *reader_of_labels(void)
{
    static const char *const label[] = {"label"};
    apl_reader_options o = fixture_options();
    o.fields = label;
    o.field_count = 1;
    return fixture_reader(&o);
}

Test(reader_ids, the_default_window_counts_fields_that_are_not_read)
{
    apl_reader_options o = only_ids(fixture_options());
    claim_large_values(FIELD_TRACK);
    apl_reader *labels = reader_of_labels(), *ids = fixture_reader(&o);
    cr_assert_eq(labels->spec.options.plan.window, 63);
    check_same_epoch(labels, ids);
    apl_reader_close(labels);
    apl_reader_close(ids);

    claim_large_values(FIELD_IMAGE);
    labels = reader_of_labels();
    cr_assert_eq(labels->spec.options.plan.window, 31);
    apl_reader_close(labels);
}

Test(reader_ids, free_order_brings_each_record_once)
{
    for (unsigned i = 0; i < 4; i++) {
        uint8_t state[APL_STATE_BYTES + TRAIN];
        size_t size = sizeof state;
        struct sequence s = {0};
        apl_reader_options o = only_ids(order(i));
        o.order = APL_FREE;
        o.drop_last = 0;
        apl_reader *r = fixture_reader(&o);
        read_batches(r, &s, 9);
        cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
        apl_reader_close(r);
        o.state = state;
        o.state_size = size;
        if (i & 1)
            o.fields = NULL; /* a reader of all fields goes on */
        r = fixture_reader(&o);
        read_epoch(r, &s);
        check_once(&s, 0, TRAIN, o.reuse ? o.reuse : 1, false);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

/* Flips a bit of every image: no block could be decoded. */
static void spoil(void)
{
    static uint8_t bytes[1 << 20];
    char path[128];
    uint8_t image[IMAGE_BYTES];
    fixture_shell("chmod -R u+w '%s%s'", fx.place, "");
    snprintf(path, sizeof path, "%s/data.mdb", fx.db);
    FILE *f = fopen(path, "r+b");
    cr_assert_not_null(f);
    long size = (long)fread(bytes, 1, sizeof bytes, f);
    cr_assert(size > 0 && size < (long)sizeof bytes);
    for (uint64_t id = 0; id < TRAIN; id++) {
        fixture_image(id, image);
        for (long at = 0; at + IMAGE_BYTES <= size; at++)
            if (memcmp(bytes + at, image, IMAGE_BYTES) == 0)
                bytes[at + 5] ^= 1;
    }
    rewind(f);
    cr_assert_eq(fwrite(bytes, 1, (size_t)size, f), (size_t)size);
    cr_assert_eq(fclose(f), 0);
}

Test(reader_ids, reads_no_block)
{
    spoil();
    for (unsigned i = 0; i < ORDERS; i++) {
        struct sequence s = {0};
        apl_stats stats;
        apl_batch *b;
        apl_reader_options o = order(i);
        apl_reader *r = fixture_reader(&o);
        apl_status status;
        while ((status = apl_reader_next(r, &b, NULL)) == APL_OK)
            apl_batch_release(b);
        cr_assert_eq(status, APL_E_CORRUPT, "as it should be");
        apl_reader_close(r);
        o = only_ids(o);
        r = fixture_reader(&o);
        read_epoch(r, &s);
        cr_assert_gt(s.count, 0);
        cr_assert_eq(apl_reader_stats(r, &stats, sizeof stats), APL_OK);
        cr_assert(stats.bytes_read == 0 && stats.bytes_decoded == 0 && stats.bytes_assembled == 0);
        cr_assert_lt(stats.memory, 1u << 20); /* plan and bins: slots take none */
        apl_reader_close(r);
        sequence_free(&s);
    }
}

static void count_rows(void *user, apl_batch *batch)
{
    *(size_t *)user += apl_batch_rows(batch);
}

Test(reader_ids, refuse_transforms_and_call_back)
{
    apl_transform t = APL_TRANSFORM_INIT;
    apl_reader_options o = only_ids(order(0));
    size_t rows = 0;
    o.on_batch = count_rows;
    o.on_batch_user = &rows;
    apl_reader *r = fixture_reader(&o);
    struct sequence s = {0};
    read_epoch(r, &s);
    cr_assert_geq(rows, TRAIN);
    apl_reader_close(r);
    sequence_free(&s);
    o.transforms = &t;
    o.transform_count = 1;
    cr_assert(strstr(fixture_refused(&o, APL_E_NOTFOUND), "among the requested fields (none)"));
    t.field = "image";
    cr_assert(strstr(fixture_refused(&o, APL_E_INVALID), "wanted"));
}
