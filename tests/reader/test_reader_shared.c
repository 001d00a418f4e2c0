/* Readers that keep the same split share its decoded records: each block is decoded once, and nothing else changes. */
#include "reader_fixture.h"

#include "load.h"

#define TRAIN 120
#define BLOCK 8

static unsigned loads;
static const char *fault; /* of every load; NULL: none */

static apl_status count_load(void *user, uint64_t number, apl_error *err)
{
    (void)user;
    (void)number;
    loads++;
    if (!fault)
        return APL_OK;
    snprintf(err->message, sizeof err->message, "%s", fault);
    return err->status = APL_E_CORRUPT;
}

static void set_up(void)
{
    static const struct load_hook hook = {count_load, NULL};
    fixture_make(TRAIN, 8, BLOCK);
    load_set_hook(&hook);
    loads = 0;
    fault = NULL;
}

TestSuite(reader_shared, .init = set_up, .fini = fixture_free, .timeout = 60);

/* Loads that an epoch of this reader takes; its values are checked. */
static unsigned epoch_loads(apl_reader *r, struct sequence *seen)
{
    struct sequence own = {0};
    unsigned before = loads;
    read_epoch(r, seen ? seen : &own);
    sequence_free(&own);
    return loads - before;
}

static unsigned loads_of(const apl_reader_options *o)
{
    apl_reader *r = fixture_reader(o);
    unsigned n = epoch_loads(r, NULL);
    apl_reader_close(r);
    return n;
}

/* Bytes of an epoch that no block has: names, if they are kept files. */
static uint64_t late_bytes(void)
{
    char name[40];
    uint64_t bytes = 0;
    for (uint64_t id = 0; getenv("APL_TEST_KEPT") && id < TRAIN; id++)
        bytes += fixture_name(id, name);
    return bytes;
}

Test(reader_shared, a_second_reader_finds_all_decoded)
{
    struct sequence alone = {0}, second = {0};
    apl_reader_options o = fixture_options();
    apl_reader *a = fixture_reader(&o), *b;
    unsigned blocks = epoch_loads(a, &alone);
    cr_assert_eq(blocks, 16);
    for (int twice = 0; twice < 2; twice++) { /* also by another handle of the same file */
        apl_store *own = fx.store;
        apl_stats stats;
        if (twice)
            cr_assert_eq(apl_store_open(fx.db, NULL, &fx.store, NULL), APL_OK);
        b = fixture_reader(&o);
        cr_assert_eq(epoch_loads(b, &second), 0);
        check_same(&alone, &second);
        cr_assert_eq(apl_reader_stats(b, &stats, sizeof stats), APL_OK);
        cr_assert(stats.blocks == 0 && stats.bytes_read == late_bytes() && stats.bytes_decoded == 0);
        cr_assert(stats.slots == TRAIN && stats.standing_slots == TRAIN);
        cr_assert(stats.memory > TRAIN * IMAGE_BYTES, "each reader counts what it shares");
        apl_reader_close(b);
        sequence_free(&second);
        if (twice)
            apl_store_close(fx.store);
        fx.store = own;
    }
    apl_reader_close(a);
    cr_assert_eq(loads_of(&o), blocks, "what nobody holds is gone");
    sequence_free(&alone);
}

/* Options that do not say what is decoded make no difference; order, seed, state and batches are each reader's own. */
Test(reader_shared, orders_are_each_readers_own)
{
    apl_reader_options o = fixture_options();
    apl_reader *first = fixture_reader(&o);
    unsigned blocks = epoch_loads(first, NULL);
    for (unsigned k = 0; k < 6; k++) {
        struct sequence seen = {0};
        o = fixture_options();
        o.seed = k;
        o.batch_size = 5 + k;
        o.order = k & 1 ? APL_FREE : APL_STRICT;
        o.reuse = k == 2 ? 3 : 1;
        o.sequential = k == 4;
        apl_reader *r = fixture_reader(&o);
        cr_assert_eq(epoch_loads(r, &seen), 0, "%u", k);
        check_once(&seen, 0, TRAIN, o.reuse, false);
        apl_reader_close(r);
        sequence_free(&seen);
    }
    apl_reader_close(first);
    cr_assert_eq(blocks, 16);
}

Test(reader_shared, others_decode_for_themselves)
{
    static const char *const label[] = {"label"};
    static const uint64_t some[] = {1, 2, 40, 77};
    apl_reader_options o = fixture_options();
    apl_reader *first = fixture_reader(&o);
    epoch_loads(first, NULL);
    o.fields = label;
    o.field_count = 1;
    cr_assert_eq(loads_of(&o), 16, "other fields");
    o = fixture_options();
    o.ids = some;
    o.id_count = 4;
    cr_assert_eq(loads_of(&o), 3, "other records");
    o = fixture_options();
    o.window = 40;
    cr_assert_geq(loads_of(&o), 16, "slots that are not kept");
    o = fixture_options();
    o.split = "test";
    apl_reader *test = fixture_reader(&o);
    apl_batch *b = fixture_next(test);
    check_values(b);
    apl_batch_release(b);
    apl_reader_close(test);
    apl_reader_close(first);
}

/* Each decodes what the other has not; whoever is left keeps all. */
Test(reader_shared, readers_close_in_any_order)
{
    for (unsigned k = 0; k < 2; k++) {
        struct sequence seen[2] = {{0}, {0}};
        apl_reader_options o = fixture_options();
        apl_reader *r[2];
        unsigned before = loads;
        for (unsigned i = 0; i < 2; i++) {
            o.seed = i;
            r[i] = fixture_reader(&o);
            cr_assert(read_batches(r[i], &seen[i], 2));
        }
        apl_batch *held = fixture_next(r[k]);
        sequence_add(&seen[k], held);
        apl_reader_close(r[k]);
        check_values(held);
        apl_batch_release(held);
        read_epoch(r[1 - k], &seen[1 - k]);
        check_once(&seen[1 - k], 0, TRAIN, 1, false);
        cr_assert_eq(loads - before, 16);
        apl_reader_close(r[1 - k]);
        sequence_free(&seen[0]);
        sequence_free(&seen[1]);
    }
}

/* A block that one reader could not decode is tried by the next. */
Test(reader_shared, errors_are_each_readers_own)
{
    apl_reader_options o = fixture_options();
    apl_reader *r[3];
    apl_batch *b;
    apl_error err;
    for (unsigned i = 0; i < 3; i++) {
        r[i] = fixture_reader(&o);
        fault = i < 2 ? "made corrupt by the test" : NULL;
        unsigned before = loads;
        if (i < 2) {
            cr_assert_eq(apl_reader_next(r[i], &b, &err), APL_E_CORRUPT);
            cr_assert_not_null(strstr(err.message, fault));
            cr_assert_eq(apl_reader_next(r[i], &b, &err), APL_E_CORRUPT, "it stays an error");
            cr_assert_gt(loads, before);
        } else {
            cr_assert_eq(epoch_loads(r[i], NULL), 16);
            cr_assert_eq(apl_reader_next(r[0], &b, &err), APL_E_CORRUPT, "for those that have met it");
        }
    }
    for (unsigned i = 0; i < 3; i++)
        apl_reader_close(r[i]);
}

/* A store that was replaced, or written to, is another file. */
Test(reader_shared, a_changed_file_is_another)
{
    apl_reader_options o = fixture_options();
    apl_reader *first = fixture_reader(&o);
    epoch_loads(first, NULL);
    apl_store_close(fx.store);
    fixture_shell("touch -d '2001-01-01' '%s/data.mdb' '%s'", fx.db, fx.place);
    cr_assert_eq(apl_store_open(fx.db, NULL, &fx.store, NULL), APL_OK);
    cr_assert_eq(loads_of(&o), 16);
    apl_store_close(fx.store);
    fixture_shell("mv '%s' '%s/old'", fx.db, fx.place);
    fixture_write(fx.db, TRAIN, 8, BLOCK);
    cr_assert_eq(apl_store_open(fx.db, NULL, &fx.store, NULL), APL_OK);
    cr_assert_eq(loads_of(&o), 16);
    apl_reader_close(first);
}
