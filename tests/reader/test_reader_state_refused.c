/* What is no state of this reader is refused; and what a state tells of itself. */
#include "bytes.h"
#include "hash.h"
#include "reader.h"
#include "state_case.h"

TestSuite(reader_state_refused, .init = state_set_up, .fini = fixture_free, .timeout = 120);

static const char *refused(apl_reader_options o, const void *state, size_t size, apl_status expected)
{
    o.state = state;
    o.state_size = size;
    return fixture_refused(&o, expected);
}

static void refuse_changed(const struct state *s, apl_reader_options o, const char *word)
{
    const char *message = refused(o, s->bytes, s->size, APL_E_MISMATCH);
    cr_expect(strstr(message, word) != NULL, "%s: %s", word, message);
}

Test(reader_state_refused, refuses_another_order)
{
    apl_reader_options o = options(20, 1, APL_STRICT), other;
    struct state s;
    struct sequence some = {0};
    apl_reader *r = fixture_reader(&o);
    read_batches(r, &some, 3);
    save(r, &s, 0);
    apl_reader_close(r);
    sequence_free(&some);
    other = o, other.split = "test", other.window = 0;
    refuse_changed(&s, other, "the state is of another order: split and window differ");
    other = o, other.seed = 6;
    refuse_changed(&s, other, "seed 5");
    other = o, other.seed = 5 + ((uint64_t)1 << 32);
    refuse_changed(&s, other, "seed 5");
    other = o, other.window = 21;
    refuse_changed(&s, other, "order: window differs");
    other = o, other.bins = 63;
    refuse_changed(&s, other, "order: bins, lanes or reuse differ");
    other = o, other.ranks.lanes = 2;
    refuse_changed(&s, other, "order: bins, lanes or reuse differ");
    other = o, other.order = APL_FREE;
    refuse_changed(&s, other, "of another order: order");
    other = o, other.reuse = 2;
    refuse_changed(&s, other, "reuse");
    other = o, other.sequential = 1;
    refuse_changed(&s, other, "order: shuffling differs");
    other.window = 21;
    refuse_changed(&s, other, "order: shuffling and window differ");
    other.reuse = 2;
    refuse_changed(&s, other, "order: shuffling, window and bins, lanes or reuse differ");
}

/* The same split, but other records of it. */
Test(reader_state_refused, refuses_other_ids)
{
    apl_reader_options o = options(0, 1, APL_STRICT), other = o;
    uint64_t some[20];
    for (unsigned i = 0; i < 20; i++)
        some[i] = i + 1;
    struct state s;
    apl_reader *r = fixture_reader(&o);
    save(r, &s, 0);
    apl_reader_close(r);
    other.ids = some;
    other.id_count = 20;
    refuse_changed(&s, other, "order: ids differ");
    other.window = 12;
    refuse_changed(&s, other, "order: window and ids differ");
    other = o, other.split = "test";
    refuse_changed(&s, other, "order: split differs");
}

Test(reader_state_refused, refuses_another_store)
{
    apl_reader_options o = options(0, 1, APL_STRICT);
    struct state s;
    apl_store *store = fx.store, *other;
    apl_reader *r = fixture_reader(&o);
    char path[128];
    save(r, &s, 0);
    apl_reader_close(r);
    snprintf(path, sizeof path, "%s/other", fx.place);
    fixture_write(path, TRAIN + 1, 9, BLOCK);
    cr_assert_eq(apl_store_open(path, NULL, &other, NULL), APL_OK);
    fx.store = other;
    refuse_changed(&s, o, "content");
    apl_store_close(other);
    fx.store = store;
}

/* No byte of a state can be another, and none can be missing. */
static void damage(apl_reader_options o)
{
    struct state s;
    struct sequence some = {0};
    apl_reader *r = fixture_reader(&o);
    read_batches(r, &some, 3);
    save(r, &s, 0);
    apl_reader_close(r);
    sequence_free(&some);
    for (size_t i = 0; i < s.size; i++) {
        s.bytes[i] ^= (uint8_t)(1u << i % 8);
        const char *message = refused(o, s.bytes, s.size, APL_E_INVALID);
        cr_assert(strstr(message, "state") != NULL, "%s", message);
        s.bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t size = 0; size < s.size; size++) {
        uint8_t *exact = malloc(size ? size : 1);
        memcpy(exact, s.bytes, size);
        refused(o, exact, size, APL_E_INVALID);
        free(exact);
    }
    refused(o, s.bytes, s.size + 1, APL_E_INVALID);
    apl_reader_close(resume(o, &s));
}

Test(reader_state_refused, refuses_damage)
{
    damage(options(20, 1, APL_STRICT));
    damage(options(0, 2, APL_FREE));
}

/* Makes a state's checksum right again. */
static void seal(struct state *s)
{
    uint64_t parts[2] = {hash_xxh3_64(s->bytes, 88), hash_xxh3_64(s->bytes + 96, s->size - 96)};
    store_le(s->bytes + 88, hash_xxh3_64(parts, sizeof parts), 8);
}

Test(reader_state_refused, refuses_what_cannot_be)
{
    apl_reader_options o = options(0, 1, APL_FREE);
    struct state s, bad;
    struct sequence some = {0};
    apl_reader *r = fixture_reader(&o);
    read_batches(r, &some, 3);
    save(r, &s, 0);
    apl_reader_close(r);
    sequence_free(&some);
    bad = s, store_le(bad.bytes + 4, 9, 4), seal(&bad);
    cr_expect(strstr(refused(o, bad.bytes, bad.size, APL_E_VERSION), "9") != NULL);
    bad = s, store_le(bad.bytes + 72, TRAIN + 1, 8), seal(&bad);
    refused(o, bad.bytes, bad.size, APL_E_INVALID);
    bad = s, store_le(bad.bytes + 72, 20, 8), seal(&bad); /* but 21 bits are set */
    refused(o, bad.bytes, bad.size, APL_E_INVALID);
    bad = s, bad.bytes[bad.size - 1] |= 0x80, store_le(bad.bytes + 72, 22, 8), seal(&bad); /* past the last */
    refused(o, bad.bytes, bad.size, APL_E_INVALID);
    bad = s, store_le(bad.bytes + 64, UINT64_MAX / 2 + 1, 8), seal(&bad);
    refused(o, bad.bytes, bad.size, APL_E_INVALID);
    bad = s, store_le(bad.bytes + 40, load_le(bad.bytes + 40, 8) + 1, 8), seal(&bad); /* the order's hash */
    refused(o, bad.bytes, bad.size, APL_E_MISMATCH);
    bad = s, bad.size++, store_le(bad.bytes + 80, bad.size, 8), bad.bytes[bad.size - 1] = 0, seal(&bad);
    refused(o, bad.bytes, bad.size, APL_E_MISMATCH);
    bad = s, seal(&bad);
    apl_reader_close(resume(o, &bad));
}

/* States of version 1: of 96 bytes. Where nothing is shuffled they are as good as ever; others are of an order that is no more. */
Test(reader_state_refused, of_the_first_version)
{
    for (unsigned shuffled = 0; shuffled < 2; shuffled++) {
        apl_reader_options o = options(20, 1, APL_STRICT);
        struct state s;
        struct sequence some = {0};
        uint64_t epoch, position;
        o.sequential = !shuffled;
        apl_reader *r = fixture_reader(&o);
        read_batches(r, &some, 3);
        save(r, &s, some.count);
        store_le(s.bytes + 4, 1, 4);
        store_le(s.bytes + 40, shuffled ? 7 : r->identity.first, 8);
        s.size = 96;
        store_le(s.bytes + 80, s.size, 8);
        seal(&s);
        apl_reader_close(r);
        cr_assert_eq(apl_state_position(s.bytes, s.size, &epoch, &position, NULL), APL_OK);
        cr_assert(epoch == 0 && position == some.count);
        if (shuffled) {
            const char *said = refused(o, s.bytes, s.size, APL_E_MISMATCH);
            cr_expect(strstr(said, "order 1") && strstr(said, "epoch, 0"), "%s", said);
        } else {
            r = resume(o, &s);
            read_batches(r, &some, 1);
            cr_expect(some.ids[some.count - 1] > position && some.ids[position] == position,
                      "it goes on where it was");
            apl_reader_close(r);
        }
        sequence_free(&some);
    }
}

/* The place behind the last record is the end; there is none behind that. */
Test(reader_state_refused, ends_where_the_epoch_does)
{
    apl_reader_options o = options(0, 1, APL_STRICT);
    struct state s;
    apl_reader *r = fixture_reader(&o);
    apl_batch *b;
    save(r, &s, 0);
    apl_reader_close(r);
    store_le(s.bytes + 72, TRAIN, 8), seal(&s);
    r = resume(o, &s);
    cr_assert_eq(apl_reader_next(r, &b, NULL), APL_END);
    apl_reader_close(r);
    store_le(s.bytes + 72, TRAIN + 1, 8), seal(&s);
    refused(o, s.bytes, s.size, APL_E_INVALID);
}

/* What a child inherits is the parent's. */
Test(reader_state_refused, of_another_process)
{
    apl_reader_options o = options(0, 1, APL_STRICT);
    apl_reader *r = fixture_reader(&o);
    uint8_t bytes[256];
    size_t size = sizeof bytes;
    apl_receipt receipt;
    r->forks++;
    cr_assert_eq(apl_reader_state(r, bytes, &size, NULL), APL_E_FORKED);
    cr_assert_eq(apl_reader_receipt(r, &receipt, sizeof receipt, NULL), APL_E_FORKED);
    r->forks--;
    apl_reader_close(r);
}

/* The reader counts on there being an epoch after the one that it plans. */
Test(reader_state_refused, begins_at_no_epoch_after_which_none_could_come)
{
    apl_reader_options o = options(0, 1, APL_FREE);
    apl_reader *r = NULL;
    apl_error err;
    for (o.first_epoch = UINT64_MAX; o.first_epoch > UINT64_MAX / 2; o.first_epoch /= 2)
        cr_assert_eq(apl_reader_open(fx.store, &o, &r, &err), APL_E_INVALID);
    cr_assert_not_null(strstr(err.message, "first_epoch"), "%s", err.message);
    struct sequence s = {0};
    r = fixture_reader(&o);
    read_epoch(r, &s);
    fixture_next_epoch(r);
    read_epoch(r, &s);
    cr_assert_eq(s.count, 2 * TRAIN);
    apl_reader_close(r);
    sequence_free(&s);
}

Test(reader_state_refused, tells_its_position)
{
    for (unsigned k = 0; k < 2; k++) {
        apl_reader_options o = options(0, 2, k ? APL_FREE : APL_STRICT);
        struct sequence s = {0};
        struct state state;
        uint64_t epoch = 9, position = 9;
        apl_error err;
        apl_reader *r = fixture_reader(&o);
        read_epoch(r, &s);
        fixture_next_epoch(r);
        size_t before = s.count;
        read_batches(r, &s, 2);
        save(r, &state, s.count);
        cr_assert_eq(apl_state_position(state.bytes, state.size, &epoch, &position, NULL), APL_OK);
        cr_assert(epoch == 1 && position == s.count - before);
        cr_assert_eq(apl_state_position(state.bytes, state.size, NULL, &position, &err), APL_E_INVALID);
        cr_assert_eq(apl_state_position(state.bytes, state.size, &epoch, NULL, &err), APL_E_INVALID);
        cr_assert_eq(apl_state_position(NULL, state.size, &epoch, &position, &err), APL_E_INVALID);
        for (size_t n = 0; n < state.size; n++)
            cr_assert_eq(apl_state_position(state.bytes, n, &epoch, &position, &err), APL_E_INVALID);
        for (size_t i = 0; i < state.size; i++) {
            state.bytes[i] ^= 4;
            cr_assert_eq(apl_state_position(state.bytes, state.size, &epoch, &position, &err), APL_E_INVALID);
            state.bytes[i] ^= 4;
        }
        apl_reader_close(r);
        sequence_free(&s);
    }
}

Test(reader_state_refused, tells_its_size)
{
    for (unsigned k = 0; k < 2; k++) {
        apl_reader_options o = options(0, 2, k ? APL_FREE : APL_STRICT);
        apl_reader *r = fixture_reader(&o);
        size_t needed = APL_STATE_BYTES + (k ? (2 * TRAIN + 7) / 8 : 0), size = 0;
        uint8_t bytes[256];
        cr_assert_eq(apl_reader_state(r, NULL, &size, NULL), APL_OK);
        cr_assert_eq(size, needed);
        size = needed - 1;
        cr_assert_eq(apl_reader_state(r, bytes, &size, NULL), APL_E_INVALID);
        cr_assert_eq(size, needed);
        cr_assert_eq(apl_reader_state(r, bytes, &size, NULL), APL_OK);
        cr_assert_eq(apl_reader_state(r, bytes, NULL, NULL), APL_E_INVALID);
        cr_assert_eq(apl_reader_state(NULL, bytes, &size, NULL), APL_E_INVALID);
        apl_reader_close(r);
    }
}
