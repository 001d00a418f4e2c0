/* Late loading: values of kept fields are read, and checked, when their batch is made; the names of the fixture's records are such. */
#define _GNU_SOURCE
#include "reader_fixture.h"

#include "late.h"
#include "load.h"
#include "reader.h"

#include <malloc.h>
#include <semaphore.h>

#define TRAIN 96 /* members of 54 and 42 records: blocks of 8, but for the seventh and the last */
#define BLOCK 8

/* Record 60 is in the first block of the second member: 54 ... 61; record 17 in the third of the first: 16 ... 23. */
#define BAD_ID    60
#define BAD_FIRST 54
#define OTHER_ID  17

static void set_up(void)
{
    setenv("APL_TEST_KEPT", "1", 1);
    fixture_make(TRAIN, 8, BLOCK);
}

TestSuite(reader_late, .init = set_up, .fini = fixture_free, .timeout = 60);

/* Opens the store again, with one byte of the name of this record turned. */
static void hurt(uint64_t id)
{
    static char bytes[1 << 20];
    char path[128], name[40];
    size_t n = fixture_name(id, name);
    apl_store_close(fx.store);
    fixture_shell("chmod -R u+w '%s%s'", fx.place, "");
    snprintf(path, sizeof path, "%s/data.mdb", fx.db);
    FILE *f = fopen(path, "r+b");
    cr_assert_not_null(f);
    size_t size = fread(bytes, 1, sizeof bytes, f);
    const char *at = memmem(bytes, size, name, n);
    cr_assert(size < sizeof bytes && at, "the name is stored as it is");
    cr_assert_eq(fseek(f, at - bytes + 1, SEEK_SET), 0);
    fputc(at[1] ^ 4, f);
    cr_assert_eq(fclose(f), 0);
    cr_assert_eq(apl_store_open(fx.db, NULL, &fx.store, NULL), APL_OK);
}

static apl_status read_until(apl_reader *r, struct sequence *s, apl_error *err)
{
    apl_status status;
    apl_batch *b;
    while ((status = apl_reader_next(r, &b, err)) == APL_OK) {
        check_values(b);
        sequence_add(s, b);
        apl_batch_release(b);
    }
    return status;
}

static uint64_t name_bytes(void)
{
    char name[40];
    uint64_t bytes = 0;
    for (uint64_t id = 0; id < TRAIN; id++)
        bytes += fixture_name(id, name);
    return bytes;
}

static uint64_t bytes_read(apl_reader *r)
{
    apl_stats s;
    cr_assert_eq(apl_reader_stats(r, &s, sizeof s), APL_OK);
    return s.bytes_read;
}

/* ---------------------------------------------------------------------------------------- what is read, and held */

/* Of blocks, at least the header is read, with a hash of each record. */
Test(reader_late, headers_count_as_read)
{
    static const char *const label[] = {"label"};
    apl_reader_options o = fixture_options();
    struct sequence s = {0};
    o.fields = label;
    o.field_count = 1;
    apl_reader *r = fixture_reader(&o);
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b))
        sequence_add(&s, b);
    cr_assert_geq(bytes_read(r), TRAIN * (16 + 1));
    apl_reader_close(r);
    sequence_free(&s);
}

Test(reader_late, values_are_those_of_their_records)
{
    for (unsigned k = 0; k < 2 * FIXTURE_WAYS; k++) {
        apl_store_options how = APL_STORE_OPTIONS_INIT;
        how.io = k < FIXTURE_WAYS ? APL_IO_MAP : APL_IO_READ;
        apl_store_close(fx.store);
        cr_assert_eq(apl_store_open(fx.db, &how, &fx.store, NULL), APL_OK);
        apl_reader_options o = fixture_way(k % FIXTURE_WAYS);
        o.reuse = 1 + k % 3;
        o.faults.skip_corrupt = k % 2;
        apl_reader *r = fixture_reader(&o);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            struct sequence s = {0};
            read_epoch(r, &s);
            check_once(&s, 0, TRAIN, o.reuse, false);
            sequence_free(&s);
            fixture_next_epoch(r);
        }
        apl_reader_close(r);
    }
}

static apl_status count_one(void *user, uint64_t number, apl_error *err)
{
    (void)number;
    (void)err;
    ++*(unsigned *)user;
    return APL_OK;
}

/* Blocks are loaded once, values are read in each epoch; a reader without threads may be ahead by its queue. */
Test(reader_late, each_value_is_read_once_an_epoch)
{
    enum { EPOCHS = 6 };
    unsigned blocks = 0, values = 0;
    const struct load_hook block = {count_one, &blocks}, value = {count_one, &values};
    apl_reader_options o = fixture_options();
    struct sequence s = {0};
    uint64_t first = 0;
    o.fields = (const char *const[]){"name"};
    o.field_count = 1;
    load_set_hook(&block);
    late_set_hook(&value);
    apl_reader *r = fixture_reader(&o);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        read_epoch(r, &s);
        first = epoch ? first : bytes_read(r);
        fixture_next_epoch(r);
    }
    cr_assert_eq(blocks, 13);
    cr_assert(values >= EPOCHS * TRAIN && values < (EPOCHS + 1) * TRAIN, "%u", values);
    cr_assert_leq(bytes_read(r), first + EPOCHS * name_bytes());
    apl_reader_close(r);
    sequence_free(&s);
}

#define BIG       20000
#define BIG_COUNT 400

/* A store of kept values that are large enough to be told from the rest of what is in memory. */
static void write_big(const char *path)
{
    static uint8_t value[BIG];
    const int64_t any[1] = {-1}, shape[1] = {BIG};
    apl_writer *w = NULL;
    cr_assert_eq(apl_writer_open(path, NULL, &w, NULL), APL_OK);
    cr_assert_eq(apl_writer_add_field(w, "file", APL_U8, APL_INPUT, 1, any, NULL), APL_OK);
    cr_assert_eq(apl_writer_set_media(w, "file", "application/octet-stream", NULL), APL_OK);
    cr_assert_eq(apl_writer_begin_member(w, "m", "train", 0, NULL), APL_OK);
    for (uint32_t i = 0; i < BIG_COUNT; i++) {
        sample_fill(value, BIG, SAMPLE_RANDOM, 8, i);
        cr_assert_eq(apl_writer_append(w, (apl_value[]){{value, shape}}, NULL), APL_OK);
    }
    cr_assert_eq(apl_writer_commit(w, NULL), APL_OK);
    apl_writer_close(w);
}

static size_t allocated(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* A window over all of a split holds none of its files: what is in memory are a few batches. */
Test(reader_late, memory_does_not_grow_with_the_split)
{
    char path[128];
    snprintf(path, sizeof path, "%s/big", fx.place);
    write_big(path);
    apl_store_close(fx.store);
    cr_assert_eq(apl_store_open(path, NULL, &fx.store, NULL), APL_OK);
    for (unsigned k = 0; k < 4; k++) {
        apl_reader_options o = fixture_options();
        static uint8_t value[BIG];
        o.batch_size = 4;
        o.faults.skip_corrupt = k % 2; /* values are checked with their block, but not held */
        size_t before = allocated(), most = 0, rows = 0;
        apl_reader *r = fixture_reader(&o);
        cr_assert(r->spec.options.covers);
        for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
            const apl_column *c = apl_batch_column(b, 0);
            for (size_t i = 0; i < apl_batch_rows(b); i++, rows++) {
                sample_fill(value, BIG, SAMPLE_RANDOM, 8, (uint32_t)apl_batch_ids(b)[i]);
                cr_assert(c->offsets[i + 1] - c->offsets[i] == BIG &&
                          memcmp((const uint8_t *)c->data + c->offsets[i], value, BIG) == 0);
            }
            most = allocated() > most ? allocated() : most;
        }
        cr_assert_eq(rows, BIG_COUNT);
        cr_assert_lt(most - before, BIG * BIG_COUNT / 4, "%zu bytes", most - before);
        apl_stats s;
        cr_assert_eq(apl_reader_stats(r, &s, sizeof s), APL_OK);
        cr_assert_leq(s.memory, s.memory_budget);
        apl_reader_close(r);
    }
}

/* Files count nothing in the window, however large they are; values that are loaded do. */
Test(reader_late, the_default_window_covers_a_split_of_any_size)
{
    apl_reader_options o = fixture_options();
    apl_field *fields = (apl_field *)fx.store->manifest.schema.fields;
    o.memory_budget = (uint64_t)1 << 50;
    fields[FIELD_NAME].raw_bytes = (uint64_t)1 << 40;
    apl_reader *r = fixture_reader(&o);
    cr_assert(r->spec.options.covers);
    apl_reader_close(r);
    fields[FIELD_TRACK].raw_bytes = (uint64_t)1 << 36;
    r = fixture_reader(&o);
    cr_assert(!r->spec.options.covers);
    apl_reader_close(r);
}

/* --------------------------------------------------------------------------------------------------- damage */

static bool in_block(uint64_t id)
{
    return id >= BAD_FIRST && id < BAD_FIRST + BLOCK;
}

Test(reader_late, damage_is_an_error_that_names_the_record_and_stays)
{
    size_t batches[2] = {0, 0};
    hurt(BAD_ID);
    for (unsigned i = 0; i < 2 * FIXTURE_WAYS; i++) {
        apl_reader_options o = fixture_way(i % FIXTURE_WAYS);
        struct sequence s = {0};
        apl_error err;
        o.seed = i % 2;
        o.threads = i < FIXTURE_WAYS ? o.threads : i;
        apl_reader *r = fixture_reader(&o);
        for (unsigned epoch = 0; epoch < 2; epoch++) {
            s.count = s.batches = 0;
            for (unsigned again = 0; again < 3; again++) {
                memset(&err, 0, sizeof err);
                cr_assert_eq(read_until(r, &s, &err), APL_E_CORRUPT);
                cr_assert(err.first_record == BAD_ID && err.records == 1 && err.status == APL_E_CORRUPT);
                cr_assert(strstr(err.message, "record 60: "), "%s", err.message);
                cr_assert(strstr(err.message, "field name") && strstr(err.message, "block 0"), "%s",
                          err.message);
            }
            check_once(&s, 0, TRAIN, 1, true);
            for (size_t k = 0; k < s.count; k++)
                cr_assert_neq(s.ids[k], BAD_ID);
            if (o.order == APL_STRICT && epoch == 0) {
                cr_assert(batches[i % 2] == 0 || batches[i % 2] == s.batches, "at one place");
                batches[i % 2] = s.batches;
            }
            fixture_next_epoch(r);
        }
        apl_reader_close(r);
        sequence_free(&s);
    }
}

Test(reader_late, damage_is_nothing_to_readers_of_other_fields)
{
    apl_reader_options o = fixture_options();
    struct sequence s = {0};
    hurt(BAD_ID);
    o.fields = (const char *const[]){"image", "label", "track"};
    o.field_count = 3;
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &s);
    check_once(&s, 0, TRAIN, 1, false);
    apl_reader_close(r);
    sequence_free(&s);
}

/* An epoch in which the rest is delivered: the ids that are left out, in order of their batches. */
static void read_skipping(apl_reader *r, struct sequence *left)
{
    struct sequence s = {0};
    apl_receipt receipt;
    for (apl_batch *b; (b = fixture_next(r)); apl_batch_release(b)) {
        size_t n;
        const uint64_t *ids = apl_batch_skipped(b, &n);
        check_values(b);
        sequence_add(&s, b);
        left->ids = realloc(left->ids, (left->count + n + 1) * sizeof *left->ids);
        for (size_t k = 0; k < n; k++)
            left->ids[left->count++] = ids[k];
    }
    check_once(&s, 0, TRAIN, 1, true);
    cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_OK);
    cr_assert_eq(receipt.delivered, s.count);
    cr_assert_eq(receipt.skipped, left->count);
    cr_assert_eq(s.count + left->count, TRAIN);
    sequence_free(&s);
}

/* Corrupt files are left out as all that is corrupt is: with their block, so at the same place whoever loads. */
Test(reader_late, blocks_are_left_out_where_that_is_asked_for)
{
    hurt(BAD_ID);
    for (unsigned i = 0; i < FIXTURE_WAYS; i++) {
        apl_reader_options o = fixture_way(i);
        apl_error err;
        o.faults.skip_corrupt = BLOCK;
        apl_reader *r = fixture_reader(&o);
        for (unsigned epoch = 0; epoch < 3; epoch++) {
            struct sequence left = {0};
            read_skipping(r, &left);
            cr_assert_eq(left.count, BLOCK);
            for (size_t k = 0; k < left.count; k++)
                cr_assert(in_block(left.ids[k]));
            sequence_free(&left);
            fixture_next_epoch(r);
        }
        apl_reader_close(r);
        o.faults.skip_corrupt = BLOCK - 1;
        struct sequence s = {0};
        r = fixture_reader(&o);
        cr_assert_eq(read_until(r, &s, &err), APL_E_CORRUPT);
        cr_assert(err.first_record == BAD_FIRST && err.records == BLOCK, "%s", err.message);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

/* Where in strict order the limit is exceeded does not depend on threads; nor does what was left out before. */
Test(reader_late, the_limit_is_exceeded_at_the_same_place_whoever_loads)
{
    hurt(BAD_ID);
    hurt(OTHER_ID);
    for (unsigned seed = 0; seed < 6; seed++)
        for (unsigned window = 0; window < 2; window++) {
            size_t expected = SIZE_MAX;
            for (unsigned threads = 0; threads < 5; threads++) {
                apl_reader_options o = fixture_way(window);
                struct sequence s = {0};
                apl_error err;
                o.threads = threads ? threads : APL_NO_THREADS;
                o.seed = seed;
                o.faults.skip_corrupt = BLOCK;
                apl_reader *r = fixture_reader(&o);
                cr_assert_eq(read_until(r, &s, &err), APL_E_CORRUPT);
                apl_reader_close(r);
                cr_assert(expected == SIZE_MAX || expected == s.batches, "seed %u, %u threads: %zu, not %zu",
                          seed, threads, s.batches, expected);
                expected = s.batches;
                sequence_free(&s);
            }
        }
}

/* What one reader has loaded unchecked is not what the next one finds, that leaves out what is corrupt. */
Test(reader_late, readers_that_share_do_not_share_unchecked_values)
{
    hurt(BAD_ID);
    apl_reader_options o = fixture_options();
    struct sequence s = {0}, left = {0};
    apl_error err;
    apl_reader *first = fixture_reader(&o);
    cr_assert_eq(read_until(first, &s, &err), APL_E_CORRUPT);
    o.faults.skip_corrupt = BLOCK;
    apl_reader *second = fixture_reader(&o);
    read_skipping(second, &left);
    cr_assert_eq(left.count, BLOCK);
    apl_reader_close(first);
    apl_reader_close(second);
    sequence_free(&s);
    sequence_free(&left);
}

/* Damage that comes after a block was checked is an error, not another's bytes. */
Test(reader_late, damage_that_comes_later_is_an_error)
{
    apl_reader_options o = fixture_options();
    struct sequence s = {0};
    apl_error err;
    o.faults.skip_corrupt = TRAIN;
    apl_store *whole = fx.store;
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &s);
    fx.store = NULL;
    hurt(BAD_ID);
    fixture_next_epoch(r);
    s.count = 0;
    cr_assert_eq(read_until(r, &s, &err), APL_E_CORRUPT);
    cr_assert(err.first_record == BAD_ID && err.records == 1, "%s", err.message);
    apl_reader_close(r);
    apl_store_close(whole);
    sequence_free(&s);
}

/* A state is no way around a corrupt file. */
Test(reader_late, resumed_readers_meet_it_too)
{
    hurt(BAD_ID);
    for (unsigned i = 0; i < FIXTURE_WAYS; i++) {
        apl_reader_options o = fixture_way(i);
        struct sequence s = {0};
        apl_error err;
        uint8_t state[256];
        size_t size = sizeof state, before;
        apl_reader *r = fixture_reader(&o);
        cr_assert_eq(read_until(r, &s, &err), APL_E_CORRUPT);
        cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
        apl_reader_close(r);
        before = s.count;
        o.state = state;
        o.state_size = size;
        r = fixture_reader(&o);
        cr_assert_eq(read_until(r, &s, &err), APL_E_CORRUPT);
        cr_assert(err.first_record == BAD_ID && err.records == 1, "%s", err.message);
        cr_assert(s.count == before || o.order == APL_FREE);
        check_once(&s, 0, TRAIN, 1, true);
        apl_reader_close(r);
        sequence_free(&s);
    }
}

/* --------------------------------------------------------------------------------------------------- waiting */

/* A value that does not come until somebody lets it. */
struct gate {
    sem_t reached, open;
};

static apl_status wait_at_gate(void *user, uint64_t number, apl_error *err)
{
    struct gate *gate = user;
    (void)number;
    (void)err;
    sem_post(&gate->reached);
    sem_wait(&gate->open);
    sem_post(&gate->open); /* for the next value */
    return APL_OK;
}

static void pass_by(void *user, apl_batch *b)
{
    (void)user;
    (void)b;
}

/* A value that does not come in time is named by its block, not taken for on_batch(). */
Test(reader_late, waits_name_the_block)
{
    struct gate gate;
    const struct load_hook hook = {wait_at_gate, &gate};
    apl_reader_options o = fixture_options();
    apl_batch *batch = NULL;
    apl_error err;
    cr_assert(sem_init(&gate.reached, 0, 0) == 0 && sem_init(&gate.open, 0, 0) == 0);
    late_set_hook(&hook);
    o.batch_size = 1;
    o.threads = 1;
    o.sequential = 1;
    o.faults.timeout_ms = 20;
    o.on_batch = pass_by;
    apl_reader *r = fixture_reader(&o);
    sem_wait(&gate.reached); /* from here on the value is what keeps the batch, until the gate opens */
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(apl_reader_next(r, &batch, &err), APL_E_TIMEOUT);
        cr_assert(strstr(err.message, "block 0"), "%s", err.message);
        cr_assert(!strstr(err.message, "on_batch"), "%s", err.message);
    }
    sem_post(&gate.open);
    while (apl_reader_next(r, &batch, &err) == APL_E_TIMEOUT)
        continue;
    check_values(batch);
    apl_batch_release(batch);
    apl_reader_close(r);
    late_set_hook(NULL);
}

/* Memory that runs out when a value is read is that batch's error. */
static apl_status refuse(void *user, uint64_t number, apl_error *err)
{
    return number == *(uint64_t *)user ? fail_nomem(err) : APL_OK;
}

Test(reader_late, a_value_that_cannot_be_read_is_the_error_of_its_batch)
{
    uint64_t number = 3;
    const struct load_hook hook = {refuse, &number};
    for (unsigned i = 0; i < FIXTURE_WAYS; i++) {
        apl_reader_options o = fixture_way(i);
        struct sequence s = {0};
        apl_error err;
        late_set_hook(&hook);
        apl_reader *r = fixture_reader(&o);
        cr_assert_eq(read_until(r, &s, &err), APL_E_NOMEM);
        check_once(&s, 0, TRAIN, 1, true);
        late_set_hook(NULL);
        fixture_next_epoch(r);
        s.count = 0;
        read_epoch(r, &s);
        check_once(&s, 0, TRAIN, 1, false);
        apl_reader_close(r);
        sequence_free(&s);
    }
}
