/* A server and its clients: what clients get is what readers of their own would give them. */
#include "serve_fixture.h"
#include "tokens_fixture.h"

#include <sys/stat.h>

#define EPOCHS 2

TestSuite(serve, .init = serve_set_up, .fini = fixture_free, .timeout = 60);

static void open_own(apl_reader **own, const apl_reader_options *options, unsigned world)
{
    apl_reader_options o = *options;
    o.ranks.world = world;
    for (o.ranks.rank = 0; o.ranks.rank < world; o.ranks.rank++)
        own[o.ranks.rank] = fixture_reader(&o);
}

static void close_all(apl_reader **readers, unsigned n)
{
    while (n-- > 0)
        apl_reader_close(readers[n]);
}

static void check_epochs(const apl_reader_options *o, unsigned world)
{
    struct serving s;
    apl_reader *own[MOST], *r[MOST];
    open_own(own, o, world);
    serving_open(&s, o, world, 0);
    for (unsigned k = 0; k < world; k++)
        r[k] = client(k, NULL, 0);
    for (unsigned epoch = 0; epoch < EPOCHS; epoch++) {
        for (bool more = true; more;)
            for (unsigned k = 0; k < world; k++)
                more = same_next(own[k], r[k]);
        for (unsigned k = 0; k < world; k++) {
            fixture_next_epoch(own[k]);
            fixture_next_epoch(r[k]);
        }
    }
    close_all(own, world);
    close_all(r, world);
    serving_close(&s);
}

Test(serve, clients_get_what_readers_of_their_own_would)
{
    for (unsigned i = 0; i < 10; i++) {
        apl_reader_options o = options_of(i);
        check_epochs(&o, 1 + i % MOST);
    }
}

Test(serve, epochs_may_be_left_and_ranks_lag)
{
    for (unsigned i = 0; i < 6; i++) {
        struct serving s;
        apl_reader *own[2], *r[2];
        apl_reader_options o = options_of(i);
        o.batch_size = 5;
        open_own(own, &o, 2);
        serving_open(&s, &o, 2, 0);
        for (unsigned k = 0; k < 2; k++)
            r[k] = client(k, NULL, 0);
        for (unsigned epoch = 0; epoch < 5; epoch++) {
            for (unsigned step = 0; step < 1 + (epoch + i) % 4; step++)
                for (unsigned k = 0; k < 2; k++)
                    same_next(own[k], r[k]);
            for (unsigned k = 0; k < 2; k++) { /* the others wait for the last */
                fixture_next_epoch(own[k]);
                fixture_next_epoch(r[k]);
            }
            for (unsigned k = 0; k < 2; k++)
                same_next(own[k], r[k]);
        }
        close_all(own, 2);
        close_all(r, 2);
        serving_close(&s);
    }
}

/* ------------------------------------------------------------------------------------------------ resuming */

/* The kinds of the server's reader are in its clients' states. */
Test(serve, a_state_of_other_kinds_is_refused)
{
    static const char *const pinned[] = {"track=pinned"};
    struct serving s;
    apl_error err;
    uint8_t state[APL_STATE_BYTES], own[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_reader_options o = options_of(0), other = o;
    other.kinds = pinned;
    other.kind_count = 1;
    serving_open(&s, &other, 1, 0);
    apl_reader *r = client(0, NULL, 0), *alone = fixture_reader(&other);
    apl_batch_release(fixture_next(r));
    apl_batch_release(fixture_next(alone));
    cr_assert_eq(apl_reader_state(r, state, &size, NULL), APL_OK);
    cr_assert_eq(apl_reader_state(alone, own, &size, NULL), APL_OK);
    cr_assert_arr_eq(state, own, sizeof state);
    apl_reader_close(r);
    apl_reader_close(alone);
    r = client(0, state, 0);
    apl_reader_close(r);
    serving_close(&s);
    serving_open(&s, &o, 1, 0);
    cr_assert_eq(client_refused(0, state, &err), APL_E_MISMATCH, "%s", err.message);
    cr_assert(strstr(err.message, "a field had another kind than here: track=plain"), "%s", err.message);
    serving_close(&s);
}

Test(serve, resumes_from_a_state_when_no_other_is_connected)
{
    struct serving s;
    apl_reader *own[2], *r[2];
    apl_error err;
    uint8_t state[APL_STATE_BYTES], later[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_reader_options o = options_of(0);
    serving_open(&s, &o, 2, 0);
    r[0] = client(0, NULL, 0);
    r[1] = client(1, NULL, 0);
    for (unsigned step = 0; step < 9; step++)
        for (unsigned k = 0; k < 2; k++)
            apl_batch_release(fixture_next(r[k]));
    cr_assert_eq(apl_reader_state(r[0], state, &size, NULL), APL_OK);
    for (unsigned k = 0; k < 2; k++)
        apl_batch_release(fixture_next(r[k]));
    cr_assert_eq(apl_reader_state(r[1], later, &size, NULL), APL_OK);
    apl_reader_close(r[0]);
    cr_assert_eq(client_refused(0, state, &err), APL_E_BUSY, "%s", err.message);
    cr_assert(strstr(err.message, "such as 1, are connected"), "%s", err.message);
    apl_reader_close(r[1]);
    state[60] ^= 1;
    cr_assert_eq(client_refused(0, state, &err), APL_E_INVALID, "%s", err.message);
    state[60] ^= 1;
    o.state = state;
    o.state_size = size;
    open_own(own, &o, 2);
    r[1] = client(1, state, 0);
    r[0] = client(0, state, 0);
    while (same_next(own[0], r[0]))
        same_next(own[1], r[1]);
    close_all(own, 2);
    close_all(r, 2);
    serving_close(&s);
}

/* ------------------------------------------------------------------------------------------- what is refused */

Test(serve, who_cannot_be_served_is_told_why)
{
    struct serving s, other;
    apl_error err;
    apl_server *server = NULL;
    apl_reader_options o = options_of(1);
    apl_transform t = APL_TRANSFORM_INIT;
    size_t source;
    uint64_t id;
    cr_assert_eq(client_refused(0, NULL, &err), APL_E_NOTFOUND);
    cr_assert(strstr(err.message, "no server listens here"), "%s", err.message);
    serving_open(&s, &o, 2, 0);
    apl_reader *r = client(1, NULL, 0);
    cr_assert_eq(client_refused(1, NULL, &err), APL_E_BUSY);
    cr_assert(strstr(err.message, "rank 1 has a client"), "%s", err.message);
    cr_assert_eq(client_refused(2, NULL, &err), APL_E_INVALID);
    cr_assert(strstr(err.message, "rank 2 of 2"), "%s", err.message);
    cr_assert_eq(apl_reader_source(r, 0, &source, &id, &err), APL_E_UNSUPPORTED);
    cr_assert_eq(apl_reader_transform_complete(r, &t, &err), APL_E_UNSUPPORTED);
    cr_assert_eq(apl_server_open(fx.store, &o, place, NULL, &server, &err), APL_E_BUSY);
    cr_assert(strstr(err.message, "another server"), "%s", err.message);
    cr_assert_null(server);
    apl_batch_release(fixture_next(r));
    apl_reader_close(r);
    serving_close(&s);
    o.order = APL_FREE;
    cr_assert_eq(apl_server_open(fx.store, &o, place, NULL, &server, &err), APL_E_UNSUPPORTED);
    o.order = APL_STRICT;
    o.batch_size = 1u << 25;
    cr_assert_eq(apl_server_open(fx.store, &o, place, NULL, &server, &err), APL_E_INVALID);
    cr_assert_eq(access(place, F_OK), -1, "nothing is left behind");
    FILE *f = fopen(place, "w");
    fclose(f);
    o.batch_size = 5;
    cr_assert_eq(apl_server_open(fx.store, &o, place, NULL, &server, &err), APL_E_EXISTS, "%s", err.message);
    unlink(place);
    serving_open(&other, &o, 1, 50);
    pthread_join(other.thread, NULL); /* nobody comes */
    apl_server_close(other.server);
}

/* ---------------------------------------------------------------------------------------------- collations */

static void check_collated(apl_collation *collations, size_t count, const char *const *fields,
                           size_t field_count)
{
    apl_reader_options o = fixture_options();
    o.batch_size = 7;
    o.threads = 2;
    o.fields = fields;
    o.field_count = field_count;
    o.collations = collations;
    o.collation_count = count;
    check_epochs(&o, 2);
}

Test(serve, values_of_varying_shape_are_those_of_readers_of_their_own)
{
    static const char *const tokens[] = {"tokens"};
    fixture_free();
    tokens_make(60, 9);
    snprintf(place, sizeof place, "%s/socket", fx.place);
    for (unsigned i = 0; i < 5; i++) {
        apl_collation c =
            tokens_collation("tokens", (apl_collate[]){APL_COLLATE_RAGGED, APL_COLLATE_PAD, APL_COLLATE_PAD,
                                                       APL_COLLATE_PACK, APL_COLLATE_WINDOWS}[i]);
        c.length = i >= 3 ? 16 : 0;
        c.bucket = i == 2 ? 2 : 0;
        check_collated(&c, 1, tokens, 1);
        check_collated(&c, 1, NULL, 0);
    }
}

/* ------------------------------------------------------------------------------------------- coming and going */

/* A client that another takes over from: what it had been sent, and its caller had not got, is not lost. */
Test(serve, another_client_goes_on_with_the_very_next_batch)
{
    struct serving s;
    apl_reader *own;
    apl_reader_options o = options_of(0);
    open_own(&own, &o, 1);
    serving_open(&s, &o, 1, 0);
    bool more = true;
    for (unsigned turn = 0; more; turn++) {
        apl_reader *r = client_goes_on(0);
        cr_assert_eq(apl_reader_epoch(r), 0);
        for (unsigned step = 0; step < turn % 4 && more; step++) {
            apl_batch *a = fixture_next(own), *b = fixture_next(r);
            cr_assert(!a == !b);
            more = a != NULL;
            if (a)
                check_same_batch(a, b);
            apl_batch_release(a);
            apl_batch_release(b);
        }
        apl_reader_close(r);
    }
    apl_reader_close(own);
    serving_close(&s);
}

Test(serve, a_client_begins_where_the_server_did_unless_it_asks_for_another_place)
{
    struct serving s;
    apl_reader *own;
    apl_reader_options o = options_of(0);
    apl_connect_options at = APL_CONNECT_OPTIONS_INIT;
    serving_open(&s, &o, 1, 0);
    for (unsigned i = 0; i < 4; i++) {
        o.first_epoch = at.first_epoch = i % 2 ? 7 : 0;
        open_own(&own, &o, 1);
        apl_reader *r = connect_as(0, at);
        for (unsigned step = 0; step < 3; step++)
            same_next(own, r);
        fixture_next_epoch(own);
        fixture_next_epoch(r);
        same_next(own, r);
        apl_reader_close(own);
        apl_reader_close(r);
    }
    serving_close(&s);
}

struct mover {
    unsigned rank;
    const uint8_t *state;
    apl_reader *reader;
};

static void *move(void *user)
{
    struct mover *m = user;
    apl_reader_close(m->reader);
    m->reader = client(m->rank, m->state, 0);
    return NULL;
}

/* As each rank's process does when it loads a checkpoint: nobody waits until the others have gone. */
Test(serve, ranks_go_to_another_place_together)
{
    struct serving s;
    struct mover movers[MOST];
    pthread_t threads[MOST];
    uint8_t state[APL_STATE_BYTES];
    size_t size = sizeof state;
    apl_reader *own[MOST];
    apl_reader_options o = options_of(0);
    serving_open(&s, &o, MOST, 0);
    for (unsigned k = 0; k < MOST; k++)
        movers[k] = (struct mover){.rank = k, .state = state, .reader = client(k, NULL, 0)};
    for (unsigned step = 0; step < 6; step++) {
        for (unsigned k = 0; k < MOST; k++)
            apl_batch_release(fixture_next(movers[k].reader));
        if (step == 2)
            cr_assert_eq(apl_reader_state(movers[1].reader, state, &size, NULL), APL_OK);
    }
    for (unsigned k = 0; k < MOST; k++)
        cr_assert_eq(pthread_create(&threads[k], NULL, move, &movers[k]), 0);
    o.state = state;
    o.state_size = size;
    open_own(own, &o, MOST);
    for (unsigned k = 0; k < MOST; k++)
        pthread_join(threads[k], NULL);
    for (unsigned step = 0; step < 3; step++)
        for (unsigned k = 0; k < MOST; k++)
            same_next(own[k], movers[k].reader);
    for (unsigned k = 0; k < MOST; k++)
        apl_reader_close(movers[k].reader);
    close_all(own, MOST);
    serving_close(&s);
}

Test(serve, ends_once_all_ranks_have_had_their_epochs)
{
    struct serving s;
    apl_reader *r[2];
    apl_reader_options o = options_of(1);
    apl_serve_options how = APL_SERVE_OPTIONS_INIT;
    apl_error err;
    how.epochs = 2;
    o.ranks.list = ranks;
    o.ranks.count = o.ranks.world = 2;
    cr_assert_eq(apl_server_open(fx.store, &o, place, &how, &s.server, &err), APL_OK, "%s", err.message);
    cr_assert_eq(pthread_create(&s.thread, NULL, serve, &s), 0);
    for (unsigned k = 0; k < 2; k++)
        r[k] = client(k, NULL, 0);
    for (unsigned epoch = 0; epoch < 2; epoch++) {
        if (epoch)
            for (unsigned k = 0; k < 2; k++)
                fixture_next_epoch(r[k]);
        for (unsigned left = 2; left > 0;)
            for (unsigned k = 0; k < 2 && left > 0; k++) {
                apl_batch *b = fixture_next(r[k]);
                left -= b == NULL;
                apl_batch_release(b);
            }
    }
    close_all(r, 2);
    pthread_join(s.thread, NULL); /* by itself */
    cr_assert_eq(s.status, APL_OK);
    apl_server_close(s.server);
}

static void *close_when_done(void *user)
{
    struct serving *s = user;
    pthread_join(s->thread, NULL);
    apl_server_close(s->server);
    return NULL;
}

Test(serve, a_server_that_nobody_needs_can_be_dismissed)
{
    struct serving s;
    apl_error err;
    char lock[160];
    apl_reader_options o = options_of(1);
    cr_assert_eq(apl_server_dismiss(NULL, 0, &err), APL_E_INVALID);
    cr_assert_eq(apl_server_dismiss(place, 0, &err), APL_OK, "there is none: %s", err.message);
    serving_open(&s, &o, 2, 0);
    apl_reader *r = client(1, NULL, 0);
    cr_assert_eq(apl_server_dismiss(place, 0, &err), APL_E_BUSY);
    cr_assert(strstr(err.message, "rank 1 has a client, process "), "%s", err.message);
    apl_batch_release(fixture_next(r));
    apl_reader_close(r);
    pthread_t closer;
    cr_assert_eq(pthread_create(&closer, NULL, close_when_done, &s), 0);
    cr_assert_eq(apl_server_dismiss(place, 0, &err), APL_OK, "%s", err.message);
    snprintf(lock, sizeof lock, "%s.lock", place);
    cr_assert(access(place, F_OK) == -1 && access(lock, F_OK) == -1, "its place is free");
    pthread_join(closer, NULL);
    cr_assert_eq(s.status, APL_OK);
}

Test(serve, the_socket_is_its_users_alone)
{
    struct serving s;
    struct stat st;
    apl_reader_options o = options_of(1);
    mode_t before = umask(0);
    serving_open(&s, &o, 1, 0);
    cr_assert_eq(umask(before), 0, "the mask of the process stays");
    cr_assert_eq(lstat(place, &st), 0);
    cr_assert(S_ISSOCK(st.st_mode) && (st.st_mode & 07777) == 0600, "%o", (unsigned)st.st_mode);
    serving_close(&s);
    char lock[160];
    snprintf(lock, sizeof lock, "%s.lock", place);
    cr_assert_eq(access(lock, F_OK), -1, "nothing is left behind");
}
