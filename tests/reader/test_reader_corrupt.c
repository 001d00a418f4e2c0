/* Blocks that are not as they were written: an error that names them, or rows that are left out. */
#include "reader_fixture.h"

#define TRAIN 96 /* members of 54 and 42 records: blocks of 8, but for the seventh and the last */
#define BLOCK 8

static apl_store *whole;

static void set_up(void)
{
    fixture_make(TRAIN, 8, BLOCK);
    whole = fx.store;
}

static void tear_down(void)
{
    if (fx.store != whole)
        apl_store_close(whole);
    fixture_free();
}

TestSuite(reader_corrupt, .init = set_up, .fini = tear_down, .timeout = 60);

static long find(const uint8_t *bytes, long size, const uint8_t *what)
{
    for (long i = 0; i + IMAGE_BYTES <= size; i++)
        if (memcmp(bytes + i, what, IMAGE_BYTES) == 0)
            return i;
    return -1;
}

/* Opens a copy of the store in which one byte of the picture of each of these records is another. */
static void corrupt(const uint64_t *ids, size_t n)
{
    static uint8_t bytes[1 << 20];
    char path[128];
    uint8_t image[IMAGE_BYTES];
    fixture_shell("cp -r '%s' '%s/bad'", fx.db, fx.place);
    fixture_shell("chmod -R u+w '%s%s'", fx.place, "");
    snprintf(path, sizeof path, "%s/bad/data.mdb", fx.place);
    FILE *f = fopen(path, "r+b");
    cr_assert_not_null(f);
    long size = (long)fread(bytes, 1, sizeof bytes, f);
    cr_assert(size > 0 && size < (long)sizeof bytes);
    for (size_t i = 0; i < n; i++) {
        fixture_image(ids[i], image);
        long at = find(bytes, size, image);
        cr_assert_geq(at, 0, "the picture is stored as it is");
        cr_assert_eq(fseek(f, at + 100, SEEK_SET), 0);
        fputc(image[100] ^ 4, f);
    }
    cr_assert_eq(fclose(f), 0);
    snprintf(path, sizeof path, "%s/bad", fx.place);
    cr_assert_eq(apl_store_open(path, NULL, &fx.store, NULL), APL_OK);
}

/* Reads until something else than a batch comes. */
static apl_status read_until(apl_reader *r, struct sequence *s, apl_error *err)
{
    apl_status status;
    apl_batch *b;
    while ((status = apl_reader_next(r, &b, err)) == APL_OK) {
        size_t skipped;
        check_values(b);
        sequence_add(s, b);
        apl_batch_skipped(b, &skipped);
        cr_assert_eq(skipped, 0);
        apl_batch_release(b);
    }
    return status;
}

static bool in_block(uint64_t id, uint64_t first)
{
    return id >= first && id < first + BLOCK;
}

/* Record 60 is in the first block of the second member: 54 ... 61. */
#define BAD_ID    60
#define BAD_FIRST 54

/* Batches of the whole store's order up to the first that holds a record of the bad block. */
static size_t good_batches(apl_reader_options o)
{
    apl_store *bad = fx.store;
    size_t n = 0;
    bool good = true;
    fx.store = whole;
    apl_reader *r = fixture_reader(&o);
    for (; good; n += good) {
        apl_batch *b = fixture_next(r);
        for (size_t i = 0; i < apl_batch_rows(b); i++)
            good = good && !in_block(apl_batch_ids(b)[i], BAD_FIRST);
        apl_batch_release(b);
    }
    apl_reader_close(r);
    fx.store = bad;
    return n;
}

Test(reader_corrupt, errors_say_which_records_they_concern)
{
    uint64_t bad[] = {90, BAD_ID};
    apl_batch *b;
    apl_error err;
    corrupt(bad, 2);
    for (uint64_t id = BAD_FIRST; id < BAD_FIRST + BLOCK; id++) {
        memset(&err, -1, sizeof err);
        cr_assert_eq(apl_store_get(fx.store, id, &b, &err), APL_E_CORRUPT);
        cr_assert(err.first_record == BAD_FIRST && err.records == BLOCK);
    }
    cr_assert_eq(apl_store_verify(fx.store, NULL, &err), APL_E_CORRUPT);
    cr_assert(err.first_record == BAD_FIRST && err.records == BLOCK, "the first of them");
}

static int keep_all(void *user, uint64_t id, const void *value, size_t bytes)
{
    (void)value;
    (void)bytes;
    *(uint64_t *)user = id;
    return 1;
}

Test(reader_corrupt, a_search_ends_there_and_counts_nothing)
{
    uint64_t bad = BAD_ID, last = 0, ids[TRAIN], count = TRAIN;
    apl_error err;
    corrupt(&bad, 1);
    cr_assert_eq(apl_store_where(fx.store, "train", "image", keep_all, &last, ids, &count, &err),
                 APL_E_CORRUPT);
    cr_assert(err.first_record == BAD_FIRST && err.records == BLOCK, "%s", err.message);
    cr_assert(last + 1 == BAD_FIRST && count == TRAIN);
}

Test(reader_corrupt, is_an_error_that_names_the_block_and_stays)
{
    uint64_t bad[] = {BAD_ID};
    corrupt(bad, 1);
    for (unsigned i = 0; i < FIXTURE_WAYS; i++) {
        apl_reader_options o = fixture_way(i);
        struct sequence s = {0};
        apl_error err;
        apl_reader *r = fixture_reader(&o);
        for (unsigned again = 0; again < 3; again++) {
            cr_assert_eq(read_until(r, &s, &err), APL_E_CORRUPT);
            cr_assert_eq(err.status, APL_E_CORRUPT);
            cr_assert(strstr(err.message, "second") && strstr(err.message, "block 0"), "%s", err.message);
            cr_assert(err.first_record == BAD_FIRST && err.records == BLOCK);
        }
        check_once(&s, 0, TRAIN, 1, true);
        for (size_t k = 0; k < s.count; k++)
            cr_assert(!in_block(s.ids[k], BAD_FIRST));
        if (o.order == APL_STRICT)
            cr_assert_eq(s.batches, good_batches(o), "%zu", s.batches);
        sequence_free(&s);
        apl_reader_close(r);
    }
}

Test(reader_corrupt, is_one_in_every_epoch)
{
    uint64_t bad[] = {BAD_ID};
    corrupt(bad, 1);
    for (unsigned i = 0; i < FIXTURE_WAYS; i++) {
        apl_reader_options o = fixture_way(i);
        apl_error err;
        apl_reader *r = fixture_reader(&o);
        for (unsigned epoch = 0; epoch < 4; epoch++) {
            struct sequence s = {0};
            cr_assert_eq(read_until(r, &s, &err), APL_E_CORRUPT, "way %u, epoch %u", i, epoch);
            check_once(&s, 0, TRAIN, 1, true);
            sequence_free(&s);
            fixture_next_epoch(r);
        }
        apl_reader_close(r);
    }
}

Test(reader_corrupt, is_nothing_to_readers_of_other_fields)
{
    uint64_t bad[] = {BAD_ID};
    corrupt(bad, 1);
    apl_reader_options o = fixture_options();
    struct sequence s = {0};
    o.fields = (const char *const[]){"label"};
    o.field_count = 1;
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &s);
    check_once(&s, 0, TRAIN, 1, false);
    apl_reader_close(r);
    sequence_free(&s);
}

/* An epoch with rows left out: rows and skipped together are each record once. */
static void check_skipping(apl_reader *r, const apl_reader_options *o, const uint64_t *firsts, size_t blocks)
{
    struct sequence s = {0}, left = {0};
    apl_batch *b;
    uint64_t position = 0;
    while ((b = fixture_next(r))) {
        size_t n;
        const uint64_t *ids = apl_batch_skipped(b, &n);
        check_values(b);
        sequence_add(&s, b);
        if (o->order == APL_STRICT)
            cr_assert_eq(apl_batch_position(b), position);
        position += apl_batch_rows(b) + n;
        cr_assert(apl_batch_rows(b) + n == o->batch_size || position == TRAIN || o->order == APL_FREE);
        left.ids = realloc(left.ids, (left.count + n + 1) * sizeof *left.ids);
        for (size_t k = 0; k < n; k++)
            left.ids[left.count++] = ids[k];
        apl_batch_release(b);
    }
    cr_assert_eq(s.batches, apl_reader_batches(r));
    cr_assert_eq(left.count, blocks * BLOCK);
    for (size_t i = 0; i < left.count; i++) {
        bool found = false;
        for (size_t k = 0; k < blocks; k++)
            found |= in_block(left.ids[i], firsts[k]);
        cr_assert(found);
    }
    s.ids = realloc(s.ids, TRAIN * sizeof *s.ids);
    memcpy(s.ids + s.count, left.ids, left.count * sizeof *left.ids);
    s.count += left.count;
    check_once(&s, 0, TRAIN, 1, false);
    apl_receipt receipt;
    cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
    cr_assert_eq(receipt.skipped, blocks * BLOCK);
    cr_assert_eq(receipt.delivered, TRAIN - blocks * BLOCK);
    cr_assert_eq(receipt.last, TRAIN);
    sequence_free(&s);
    free(left.ids);
}

Test(reader_corrupt, rows_are_left_out_where_that_is_asked_for)
{
    uint64_t bad[] = {3, BAD_ID, 61}, firsts[] = {0, BAD_FIRST};
    corrupt(bad, 3);
    for (unsigned i = 0; i < FIXTURE_WAYS; i++) {
        apl_reader_options o = fixture_way(i);
        o.faults.skip_corrupt = 2 * BLOCK;
        apl_reader *r = fixture_reader(&o);
        for (unsigned epoch = 0; epoch < 4; epoch++) { /* the limit counts records, not times */
            check_skipping(r, &o, firsts, 2);
            fixture_next_epoch(r);
        }
        apl_reader_close(r);
    }
}

Test(reader_corrupt, too_many_left_out_is_an_error)
{
    uint64_t bad[] = {3, BAD_ID};
    corrupt(bad, 2);
    for (unsigned i = 0; i < FIXTURE_WAYS; i++) {
        apl_reader_options o = fixture_way(i);
        o.faults.skip_corrupt = 2 * BLOCK - 1;
        apl_reader *r = fixture_reader(&o);
        apl_error err;
        apl_status status;
        apl_batch *b;
        while ((status = apl_reader_next(r, &b, &err)) == APL_OK)
            apl_batch_release(b);
        cr_assert_eq(status, APL_E_CORRUPT);
        cr_assert_not_null(strstr(err.message, "more than 15 records would be left out: "), "%s",
                           err.message);
        cr_assert_eq(apl_reader_next(r, &b, &err), APL_E_CORRUPT);
        apl_reader_close(r);
    }
}

/* The first batch of the whole store's strict order with which both blocks have been met. */
static size_t both_met(apl_reader_options o, uint64_t one, uint64_t other)
{
    apl_store *bad = fx.store;
    size_t n = 0;
    bool met[2] = {false, false};
    fx.store = whole;
    apl_reader *r = fixture_reader(&o);
    for (;; n++) {
        apl_batch *b = fixture_next(r);
        for (size_t i = 0; i < apl_batch_rows(b); i++) {
            met[0] |= in_block(apl_batch_ids(b)[i], one);
            met[1] |= in_block(apl_batch_ids(b)[i], other);
        }
        apl_batch_release(b);
        if (met[0] && met[1])
            break;
    }
    apl_reader_close(r);
    fx.store = bad;
    return n;
}

/* Where in strict order the limit is exceeded is the same whoever loads. */
Test(reader_corrupt, the_limit_is_exceeded_at_the_same_place_whoever_loads)
{
    uint64_t bad[] = {3, BAD_ID};
    corrupt(bad, 2);
    for (unsigned seed = 0; seed < 10; seed++)
        for (unsigned i = 0; i < 12; i++) {
            apl_reader_options o = fixture_way(i % 2);
            o.threads = i < 2 ? APL_NO_THREADS : i / 2;
            o.seed = seed;
            o.faults.skip_corrupt = BLOCK;
            apl_reader *r = fixture_reader(&o);
            size_t batches = 0, expected = both_met(o, 0, BAD_FIRST);
            apl_error err;
            for (apl_batch *b; apl_reader_next(r, &b, &err) == APL_OK; batches++)
                apl_batch_release(b);
            cr_assert_eq(err.status, APL_E_CORRUPT);
            apl_reader_close(r);
            cr_assert_eq(batches, expected, "seed %u, way %u: %zu instead of %zu", seed, i, batches,
                         expected);
        }
}

/* A state is no way around a corrupt block. */
Test(reader_corrupt, resumed_readers_meet_it_too)
{
    uint64_t bad[] = {BAD_ID};
    corrupt(bad, 1);
    for (unsigned i = 0; i < FIXTURE_WAYS; i++) {
        apl_reader_options o = fixture_way(i);
        struct sequence s = {0};
        apl_error err;
        uint8_t state[256];
        size_t size = sizeof state;
        apl_reader *r = fixture_reader(&o);
        cr_assert_eq(read_until(r, &s, &err), APL_E_CORRUPT);
        cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
        apl_reader_close(r);
        o.state = state;
        o.state_size = size;
        o.faults.skip_corrupt = BLOCK;
        r = fixture_reader(&o);
        apl_batch *b;
        size_t skipped = 0, n;
        while ((b = fixture_next(r))) {
            apl_batch_skipped(b, &n);
            skipped += n;
            sequence_add(&s, b);
            apl_batch_release(b);
        }
        cr_assert_eq(skipped, BLOCK);
        cr_assert_eq(s.count, TRAIN - BLOCK);
        check_once(&s, 0, TRAIN, 1, true);
        apl_reader_close(r);
        sequence_free(&s);
    }
}
