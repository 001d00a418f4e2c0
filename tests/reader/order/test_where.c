/* Records whose value of a field is wanted, by a function that decides. */
#include "reader_fixture.h"

#define TRAIN 300
#define TEST  40
#define ALL   (TRAIN + TEST)

static void set_up(void)
{
    apl_error err = {0};
    apl_split_options o = APL_SPLIT_OPTIONS_INIT;
    fixture_make(TRAIN, TEST, 32);
    o.name = "val";
    o.ratio = 0.3;
    cr_assert_eq(apl_split_make(fx.store, &o, &err), APL_OK, "%s", err.message);
}

TestSuite(where, .init = set_up, .fini = fixture_free, .timeout = 60);

struct asked {
    uint64_t last; /* id + 1 of the record before; 0: none */
    size_t calls;
};

static void note(struct asked *a, uint64_t id)
{
    cr_assert(a->last == 0 || id >= a->last, "in the order of ids");
    a->last = id + 1;
    a->calls++;
}

static int keep_three(void *user, uint64_t id, const void *value, size_t bytes)
{
    const uint8_t *label = value;
    note(user, id);
    cr_assert(bytes == 1 && *label == fixture_label(id));
    return *label == 3;
}

static int keep_name(void *user, uint64_t id, const void *value, size_t bytes)
{
    char name[40];
    note(user, id);
    cr_assert(bytes == fixture_name(id, name) && memcmp(name, value, bytes) == 0);
    return bytes > 8;
}

static int keep_track(void *user, uint64_t id, const void *value, size_t bytes)
{
    float track[MAX_TRACK * TRACK_WIDTH];
    note(user, id);
    cr_assert_eq((size_t)fixture_track(id, track) * TRACK_WIDTH * sizeof(float), bytes);
    cr_assert(value && memcmp(track, value, bytes) == 0);
    return bytes == 0;
}

static int keep_none(void *user, uint64_t id, const void *value, size_t bytes)
{
    (void)value;
    (void)bytes;
    note(user, id);
    return 0;
}

Test(where, keeps_what_is_wanted_of_a_split)
{
    static const char *const splits[] = {NULL, "train", "test", "val", "train-val"};
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        struct asked asked = {0};
        uint64_t ids[ALL], of[ALL], count = ALL, n = ALL, kept = 0;
        cr_assert_eq(apl_split_ids(fx.store, splits[i] ? splits[i] : "train", of, &n, NULL), APL_OK);
        cr_assert_eq(apl_store_where(fx.store, splits[i], "label", keep_three, &asked, ids, &count, NULL),
                     APL_OK);
        cr_assert_eq(asked.calls, n);
        for (uint64_t k = 0; k < n; k++)
            if (fixture_label(of[k]) == 3)
                cr_assert(kept < count && ids[kept++] == of[k]);
        cr_assert(kept == count && count > 0);
    }
}

Test(where, hands_values_of_any_shape)
{
    struct asked names = {0}, tracks = {0}, none = {0};
    uint64_t ids[ALL], count = ALL;
    cr_assert_eq(apl_store_where(fx.store, NULL, "name", keep_name, &names, ids, &count, NULL), APL_OK);
    cr_assert(count > 0 && count < TRAIN && names.calls == TRAIN);
    count = ALL;
    cr_assert_eq(apl_store_where(fx.store, "test", "track", keep_track, &tracks, ids, &count, NULL), APL_OK);
    cr_assert_eq(count, TEST / MAX_TRACK);
    for (uint64_t k = 0; k < count; k++)
        cr_assert_eq(ids[k] % MAX_TRACK, 0);
    count = ALL;
    cr_assert_eq(apl_store_where(fx.store, NULL, "image", keep_none, &none, ids, &count, NULL), APL_OK);
    cr_assert_eq(count, 0);
}

Test(where, a_reader_takes_the_ids)
{
    struct asked asked = {0};
    uint64_t ids[TRAIN], count = TRAIN;
    cr_assert_eq(apl_store_where(fx.store, "train", "label", keep_three, &asked, ids, &count, NULL), APL_OK);
    apl_reader_options o = fixture_options();
    struct sequence s = {0};
    o.ids = ids;
    o.id_count = (size_t)count;
    apl_reader *r = fixture_reader(&o);
    read_epoch(r, &s);
    cr_assert_eq(s.count, count);
    for (size_t i = 0; i < s.count; i++)
        cr_assert_eq(fixture_label(s.ids[i]), 3);
    apl_reader_close(r);
    sequence_free(&s);
}

Test(where, counts_where_there_is_no_room)
{
    struct asked asked = {0};
    uint64_t ids[1] = {77}, count = 12345, all;
    apl_error err = {0};
    cr_assert_eq(apl_store_where(fx.store, NULL, "label", keep_three, &asked, NULL, &count, NULL), APL_OK);
    cr_assert_eq(count, TRAIN / CLASSES);
    all = count;
    count = 0;
    asked.last = 0;
    cr_assert_eq(apl_store_where(fx.store, NULL, "label", keep_three, &asked, ids, &count, &err),
                 APL_E_INVALID);
    cr_assert(count == all && ids[0] == 77 && strstr(err.message, "room"), "%s", err.message);
}

Test(where, says_what_is_wrong)
{
    struct asked asked = {0};
    uint64_t count = 0;
    apl_error err = {0};
    cr_assert_eq(apl_store_where(fx.store, "none", "label", keep_none, &asked, NULL, &count, &err),
                 APL_E_NOTFOUND);
    cr_assert_eq(apl_store_where(fx.store, NULL, "none", keep_none, &asked, NULL, &count, &err),
                 APL_E_NOTFOUND);
    cr_assert(strstr(err.message, "no field none"), "%s", err.message);
    cr_assert_eq(apl_store_where(NULL, NULL, "label", keep_none, &asked, NULL, &count, &err), APL_E_INVALID);
    cr_assert_eq(apl_store_where(fx.store, NULL, NULL, keep_none, &asked, NULL, &count, &err), APL_E_INVALID);
    cr_assert_eq(apl_store_where(fx.store, NULL, "label", NULL, &asked, NULL, &count, &err), APL_E_INVALID);
    cr_assert_eq(apl_store_where(fx.store, NULL, "label", keep_none, &asked, NULL, NULL, &err),
                 APL_E_INVALID);
}

static int close_and_keep(void *user, uint64_t id, const void *value, size_t bytes)
{
    apl_store **store = user;
    (void)value;
    (void)bytes;
    if (id == 0) {
        apl_store_close(*store);
        *store = NULL;
    }
    return 1;
}

Test(where, a_store_may_be_closed_meanwhile)
{
    apl_store *store = NULL;
    uint64_t count = 0;
    cr_assert_eq(apl_store_open(fx.db, NULL, &store, NULL), APL_OK);
    cr_assert_eq(apl_store_where(store, NULL, "label", close_and_keep, &store, NULL, &count, NULL), APL_OK);
    cr_assert(!store && count == fx.train);
}
