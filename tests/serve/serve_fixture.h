/* A server and its clients, in one process. */
#ifndef SERVE_FIXTURE_H
#define SERVE_FIXTURE_H

#include "reader_fixture.h"
#include "same_batch.h"

#include <pthread.h>

#define TRAIN 203
#define BLOCK 8
#define MOST  4

static char place[128];

static inline void serve_set_up(void)
{
    fixture_make(TRAIN, 8, BLOCK);
    snprintf(place, sizeof place, "%s/socket", fx.place);
}

static const unsigned ranks[MOST] = {0, 1, 2, 3};

static inline apl_reader_options options_of(unsigned i)
{
    apl_reader_options o = fixture_options();
    o.seed = i;
    o.threads = 1 + i % 2;
    o.batch_size = (size_t[]){5, 16, 1, 33}[i % 4];
    o.window = (uint64_t[]){0, 40, 90}[i / 2 % 3];
    o.reuse = i % 5 == 3 ? 2 : 1;
    o.drop_last = i % 7 == 2;
    return o;
}

struct serving {
    apl_server *server;
    pthread_t thread;
    apl_status status;
};

static inline void *serve(void *user)
{
    struct serving *s = user;
    s->status = apl_server_run(s->server, NULL);
    return NULL;
}

static inline void serving_open(struct serving *s, const apl_reader_options *options, unsigned world,
                                unsigned idle_ms)
{
    apl_reader_options o = *options;
    apl_serve_options how = APL_SERVE_OPTIONS_INIT;
    apl_error err;
    how.idle_ms = idle_ms;
    o.ranks.list = ranks;
    o.ranks.count = o.ranks.world = world;
    cr_assert_eq(apl_server_open(fx.store, &o, place, &how, &s->server, &err), APL_OK, "%s", err.message);
    cr_assert_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

static inline void serving_close(struct serving *s)
{
    apl_server_stop(s->server);
    pthread_join(s->thread, NULL);
    cr_assert_eq(s->status, APL_OK);
    apl_server_close(s->server);
    cr_assert_eq(access(place, F_OK), -1);
}

static inline apl_reader *connect_as(unsigned rank, apl_connect_options o)
{
    apl_reader *r = NULL;
    apl_error err;
    o.wait_ms = 20000;
    cr_assert_eq(apl_reader_connect(place, rank, &o, &r, &err), APL_OK, "%s", err.message);
    return r;
}

static inline apl_reader *client(unsigned rank, const void *state, unsigned timeout_ms)
{
    apl_connect_options o = APL_CONNECT_OPTIONS_INIT;
    o.state = state;
    o.state_size = state ? APL_STATE_BYTES : 0;
    o.timeout_ms = timeout_ms;
    return connect_as(rank, o);
}

static inline apl_reader *client_goes_on(unsigned rank)
{
    apl_connect_options o = APL_CONNECT_OPTIONS_INIT;
    o.go_on = 1;
    return connect_as(rank, o);
}

static inline apl_status client_refused(unsigned rank, const void *state, apl_error *err)
{
    apl_connect_options o = APL_CONNECT_OPTIONS_INIT;
    apl_reader *r = NULL;
    o.state = state;
    o.state_size = state ? APL_STATE_BYTES : 0;
    apl_status status = apl_reader_connect(place, rank, &o, &r, err);
    cr_assert_null(r);
    return status;
}

static inline void same_states(apl_reader *own, apl_reader *r)
{
    uint8_t a[APL_STATE_BYTES], b[APL_STATE_BYTES];
    size_t a_size = sizeof a, b_size = sizeof b;
    apl_receipt x, y;
    cr_assert_eq(apl_reader_state(own, a, &a_size, NULL), APL_OK);
    cr_assert_eq(apl_reader_state(r, b, &b_size, NULL), APL_OK);
    cr_assert_eq(a_size, b_size);
    check_same_bytes(a, b, a_size, "states");
    cr_assert_eq(apl_reader_receipt(own, &x, sizeof x, NULL), APL_OK);
    cr_assert_eq(apl_reader_receipt(r, &y, sizeof y, NULL), APL_OK);
    check_same_bytes(&x, &y, sizeof x, "receipts");
    cr_assert_eq(apl_reader_epoch(own), apl_reader_epoch(r));
    cr_assert_eq(apl_reader_batches(own), apl_reader_batches(r));
}

static inline bool same_next(apl_reader *own, apl_reader *r)
{
    apl_batch *a = fixture_next(own), *b = fixture_next(r);
    cr_assert(!a == !b);
    if (a)
        check_same_batch(a, b);
    apl_batch_release(a);
    apl_batch_release(b);
    same_states(own, r);
    return a != NULL;
}

#endif
