/* Whoever talks nonsense at either end of a socket is told so, or left, and harms nobody else. */
#define _GNU_SOURCE /* memfd_create */
#include "serve_fixture.h"
#include "socket.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

TestSuite(serve_nonsense, .init = serve_set_up, .fini = fixture_free, .timeout = 60);

static int raw_connect(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%.100s", place);
    cr_assert_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

Test(serve_nonsense, another_version_of_the_protocol_is_refused_in_one_line)
{
    struct serving s;
    union wire_any m, answer;
    char what[128];
    apl_reader_options o = options_of(1);
    serving_open(&s, &o, 1, 0);
    int fd = raw_connect();
    m.hello = (struct wire_hello){.h = wire_header(WIRE_HELLO, sizeof m.hello)};
    m.h.version = WIRE_VERSION - 1;
    cr_assert_eq(send(fd, &m, sizeof m.hello, MSG_NOSIGNAL), sizeof m.hello);
    cr_assert_eq(recv(fd, &answer, sizeof answer, 0), sizeof answer.error);
    cr_assert_eq(answer.error.status, APL_E_VERSION);
    snprintf(what, sizeof what, "a message of version %u of the protocol; this library knows version %u",
             WIRE_VERSION - 1, WIRE_VERSION);
    cr_assert_str_eq(answer.error.error.message, what);
    cr_assert_eq(recv(fd, &answer, sizeof answer, 0), 0);
    close(fd);
    serving_close(&s);
}

/* Of this user's processes, most idle: whoever is one too many is told, and not that the server has ended. */
Test(serve_nonsense, a_server_that_takes_no_more_says_so)
{
    enum { GUESTS = 200 };
    struct serving s;
    apl_error err;
    int fds[GUESTS];
    apl_reader_options o = options_of(1);
    serving_open(&s, &o, 1, 0);
    for (unsigned i = 0; i < GUESTS; i++)
        fds[i] = raw_connect();
    cr_assert_eq(client_refused(0, NULL, &err), APL_E_BUSY, "%s", err.message);
    /* the server, or the kernel if the server has not come to all of them yet */
    cr_assert(strstr(err.message, " connections, and takes no more") ||
                  strstr(err.message, "busy, and takes no more clients now"),
              "%s", err.message);
    for (unsigned i = 0; i < GUESTS; i++)
        close(fds[i]);
    apl_reader *r = NULL;
    while (apl_reader_connect(place, 0, NULL, &r, &err) ==
           APL_E_BUSY) /* until it has seen that they are gone */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_assert_not_null(r, "%s", err.message);
    apl_batch_release(fixture_next(r));
    apl_reader_close(r);
    serving_close(&s);
}

static uint64_t random_state = 42;
static uint32_t rnd(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

/* A message that may be half right. */
static size_t nonsense(union wire_any *m)
{
    static const enum wire_type types[] = {WIRE_HELLO,   WIRE_NEXT,         WIRE_RELEASE, WIRE_EPOCH,
                                           WIRE_WELCOME, WIRE_BATCH,        WIRE_ERROR,   WIRE_BEGUN,
                                           WIRE_END,     (enum wire_type)9, WIRE_WHY};
    size_t size = rnd(4) ? rnd(400) : rnd(sizeof *m);
    for (size_t i = 0; i < size; i++)
        m->bytes[i] = (uint8_t)(rnd(3) ? rnd(4) : rnd(256));
    if (rnd(5)) {
        enum wire_type type = types[rnd(11)];
        if (rnd(3))
            size = type == WIRE_HELLO                          ? sizeof m->hello
                   : type == WIRE_NEXT || type == WIRE_RELEASE ? wire_tokens_size(rnd(3))
                   : type == WIRE_WELCOME                      ? sizeof m->welcome
                   : type == WIRE_BATCH                        ? wire_batch_size(rnd(3))
                   : type == WIRE_ERROR                        ? sizeof m->error
                   : type == WIRE_WHY                          ? sizeof m->h
                                                               : sizeof m->epoch;
        m->h = wire_header(type, size);
        if ((type == WIRE_NEXT || type == WIRE_RELEASE) && rnd(2))
            m->tokens.count = (size - wire_tokens_size(0)) / 8;
        if (type == WIRE_BATCH && rnd(2))
            m->batch.columns = (size - wire_batch_size(0)) / sizeof(struct wire_column);
        if (type == WIRE_HELLO && rnd(2))
            m->hello.rank = rnd(2), m->hello.where = rnd(5), m->hello.zero = 0;
    }
    return size;
}

Test(serve_nonsense, nonsense_from_clients_ends_their_connection_alone)
{
    struct serving s;
    apl_reader_options o = options_of(1);
    serving_open(&s, &o, 2, 0);
    apl_reader *r = client(0, NULL, 0), *own;
    o.ranks.world = 2;
    own = fixture_reader(&o);
    apl_reader_close(own);
    unsigned proper = 0;
    for (unsigned i = 0; i < 3000; i++) {
        union wire_any m;
        int fd = raw_connect();
        if (rnd(2)) { /* as a client of rank 1, properly at first */
            m.hello = (struct wire_hello){
                .h = wire_header(WIRE_HELLO, sizeof m.hello), .rank = 1, .where = WIRE_ON};
            proper += send(fd, &m, sizeof m.hello, MSG_NOSIGNAL) == sizeof m.hello;
        }
        for (unsigned k = rnd(4); k > 0; k--) {
            size_t size = nonsense(&m);
            if (send(fd, &m, size, MSG_NOSIGNAL) < 0)
                break;
        }
        close(fd);
    }
    cr_assert_gt(proper, 100); /* a slow server closes some unheard: it has places for 64 besides its ranks */
    apl_batch_release(fixture_next(r));
    apl_reader_close(r);
    r = client_goes_on(1);
    apl_reader_close(r);
    serving_close(&s);
}

/* A server of nonsense, which says a proper welcome at first every other time. */
static void *talk_nonsense(void *user)
{
    const struct listening *l = user;
    for (unsigned i = 0; i < 600;) {
        union wire_any m;
        int fd = accept(l->fd, NULL, NULL), memory = memfd_create("nonsense", MFD_ALLOW_SEALING);
        if (fd < 0) {
            close(memory);
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
            continue;
        }
        i++;
        (void)!ftruncate(memory, 1 << 16);
        if (rnd(8))
            fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE);
        m.welcome = (struct wire_welcome){.h = wire_header(WIRE_WELCOME, sizeof m.welcome),
                                          .world = 2,
                                          .batch_size = 10,
                                          .deliveries = 200,
                                          .length = 200,
                                          .region = 1 << 16,
                                          .most = 10};
        if (rnd(3))
            (void)socket_send(fd, &m.h, memory, NULL);
        for (unsigned k = 1 + rnd(4); k > 0; k--) {
            size_t size = nonsense(&m);
            if (m.h.type == WIRE_BATCH && rnd(4)) {
                m.batch.epoch = 0;
                m.batch.rows = rnd(11);
                m.batch.end = rnd(201);
                m.batch.array_bytes = rnd(2) ? rnd(70000) : 600;
                m.batch.arrays = 64 * rnd(1000);
                m.batch.position = m.batch.skipped = m.batch.pieces = m.batch.finished = 0;
                m.batch.delivered = m.batch.left_out = 0;
                for (uint64_t c = 0; c < m.batch.columns && c < 3; c++) {
                    m.batch.column[c].dtype = APL_U8;
                    m.batch.column[c].field = rnd(70);
                    m.batch.column[c].data = 64 * rnd(1100);
                    m.batch.column[c].bytes = rnd(3000);
                    m.batch.column[c].dims = m.batch.column[c].ndim = rnd(4);
                }
            }
            if (send(fd, &m, size, MSG_NOSIGNAL) < 0)
                break;
        }
        close(fd);
        close(memory);
    }
    return NULL;
}

Test(serve_nonsense, nonsense_from_a_server_is_an_error)
{
    struct listening l;
    pthread_t thread;
    apl_error err;
    cr_assert_eq(socket_listen(place, &l, &err), APL_OK, "%s", err.message);
    cr_assert_eq(pthread_create(&thread, NULL, talk_nonsense, &l), 0);
    for (unsigned i = 0; i < 600; i++) {
        apl_connect_options o = APL_CONNECT_OPTIONS_INIT;
        apl_reader *r = NULL;
        apl_batch *b;
        o.timeout_ms = 2000;
        if (apl_reader_connect(place, 0, &o, &r, &err) != APL_OK)
            continue;
        for (unsigned k = 0; k < 4 && apl_reader_next(r, &b, &err) == APL_OK; k++) {
            volatile uint8_t sum = 0;
            for (unsigned f = 0; f < APL_MAX_FIELDS; f++) {
                const apl_column *c = apl_batch_column(b, f);
                for (size_t at = 0; c && at < c->bytes; at++)
                    sum = (uint8_t)(sum + ((const uint8_t *)c->data)[at]);
            }
            apl_batch_release(b);
        }
        apl_reader_close(r);
    }
    pthread_join(thread, NULL);
    socket_unlisten(&l);
}
