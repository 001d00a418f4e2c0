/* The comparison of delivered values with those of their records: right ones pass, and the first that is another's is named. */
#include "own_values.h"
#include "reader_fixture.h"

#include <criterion/criterion.h>

#define TRAIN 300u

static void make_store(void)
{
    fixture_make(TRAIN, 40, 32);
}

TestSuite(own_values, .init = make_store, .fini = fixture_free);

struct watched {
    apl_reader_options options;
    struct reader_orders orders;
    struct audit_sample sample;
    struct own_values values;
};

static void watch(struct watched *w, apl_store *with)
{
    static apl_source source;
    apl_error err = {0};
    *w = (struct watched){.options = APL_READER_OPTIONS_INIT};
    w->options.batch_size = 16;
    w->options.threads = APL_NO_THREADS;
    if (with) {
        source = (apl_source)APL_SOURCE_INIT;
        source.store = with;
        source.split = "test";
        w->options.mix.sources = &source;
        w->options.mix.count = 1;
    }
    cr_assert_eq(reader_orders_open(fx.store, &w->options, &w->orders, &w->sample, &err), APL_OK, "%s",
                 err.message);
    cr_assert_eq(own_values_open(&w->values, &w->orders, &err), APL_OK, "%s", err.message);
    w->orders.load = w->orders.raw = true;
}

static void unwatch(struct watched *w)
{
    own_values_close(&w->values);
    reader_orders_close(&w->orders, &w->sample);
}

/* Changes a byte of what the reader delivers, before it is looked at. */
struct meddler {
    struct own_values *values;
    unsigned field;
    uint64_t id;
};

static void meddle(void *user, const apl_batch *batch)
{
    const struct meddler *m = user;
    const apl_column *c = apl_batch_column(batch, m->field);
    const uint64_t *ids = apl_batch_ids(batch);
    for (size_t i = 0; i + 1 < apl_batch_rows(batch); i++) {
        size_t from =
            c->offsets ? (size_t)c->offsets[i] * sizeof(float) : i * c->bytes / apl_batch_rows(batch);
        if (ids[i] == m->id)
            ((uint8_t *)c->data)[from] ^= 1;
    }
    own_values_take(m->values, batch);
}

static void read_epochs(struct watched *w, void (*taken)(void *, const apl_batch *), void *user)
{
    uint32_t *order = calloc(w->orders.length, sizeof *order);
    w->orders.taken = taken;
    w->orders.taken_user = user;
    for (uint64_t epoch = 0; epoch < 3; epoch++)
        cr_assert(reader_orders_take(&w->orders, 1, epoch, order), "%s", w->orders.error.message);
    free(order);
    cr_assert_eq(w->values.status, APL_OK);
}

Test(own_values, every_field_of_every_record_in_every_epoch)
{
    struct watched w;
    watch(&w, NULL);
    read_epochs(&w, own_values_take, &w.values);
    cr_assert_eq(w.values.looked_at, 3 * TRAIN);
    cr_assert_eq(w.values.bad, 0);
    unwatch(&w);
}

Test(own_values, names_the_field_and_the_record)
{
    static const char *const names[] = {"image", "label", "track"};
    static const unsigned fields[] = {FIELD_IMAGE, FIELD_LABEL, FIELD_TRACK};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct watched w;
        watch(&w, NULL);
        struct meddler m = {&w.values, fields[i], 123};
        read_epochs(&w, meddle, &m);
        cr_assert(w.values.bad >= 1 && w.values.bad <= 3, "%d", (int)w.values.bad);
        cr_assert_eq(w.values.first.id, 123);
        cr_assert_str_eq(w.values.first.field, names[i]);
        unwatch(&w);
    }
}

Test(own_values, of_a_mix_the_store_too)
{
    struct watched w;
    watch(&w, fx.store);
    read_epochs(&w, own_values_take, &w.values);
    cr_assert_eq(w.values.bad, 0);
    cr_assert_eq(w.values.looked_at, 3 * (TRAIN + 40));
    struct meddler m = {&w.values, FIELD_LABEL, TRAIN + 40 + TRAIN + 5};
    read_epochs(&w, meddle, &m);
    cr_assert_geq(w.values.bad, 1);
    cr_assert_eq(w.values.first.part, 1);
    cr_assert_eq(w.values.first.id, TRAIN + 5);
    unwatch(&w);
}
