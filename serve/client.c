/* A reader whose batches a server makes. */
#define _GNU_SOURCE /* eventfd */
#include "hearing.h"
#include "monitor.h"
#include "reader.h"
#include "sized.h"
#include "socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_TIMEOUT_MS \
    360000u         /* longer than a server has patience with a rank, so that it can say with which */
#define AGAIN_MS 10 /* until something is said again that could not be */

/* Asks for what comes next, ahead of the caller. */
static void ask_ahead(apl_reader *r)
{
    if (!r->outlets[0].tally.ended)
        client_ask(r->client);
}

/* ------------------------------------------------------------------------------------------------ waiting */

/* Milliseconds until then, rounded up. */
static uint64_t ms_until(uint64_t then)
{
    uint64_t now = now_ns();
    return then > now ? (then - now) / 1000000 + 1 : 0;
}

/* Waits for the server, without the lock; also for it to read, where it has not been asked. */
static void listen_to(apl_reader *r, uint64_t deadline)
{
    struct client *c = r->client;
    uint64_t count, left, inquires_at = client_inquires_at(c, deadline);
    struct pollfd polled[2] = {{.fd = c->link->fd, .events = POLLIN}, {.fd = c->wake, .events = POLLIN}};
    int most = c->asked || c->turning ? 60000 : AGAIN_MS;
    if (now_ns() >= inquires_at)
        client_inquire(c);
    else if (inquires_at < deadline)
        deadline = inquires_at;
    left = ms_until(deadline);
    c->waiting = true;
    (void)link_say(c->link, WIRE_RELEASE, NULL);
    pthread_mutex_unlock(&r->lock);
    if (poll(polled, 2, left > (uint64_t)most ? most : (int)left) > 0 && polled[1].revents)
        (void)!read(c->wake, &count, sizeof count);
    pthread_mutex_lock(&r->lock);
    c->waiting = false;
    client_hear(r);
    pthread_cond_broadcast(&r->done);
}

static apl_status wait_for_server(apl_reader *r, uint64_t deadline, apl_error *err)
{
    struct client *c = r->client;
    struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u),
                             .tv_nsec = (long)(deadline % 1000000000u)};
    if (now_ns() >= deadline)
        return client_too_late(c, r->outlets[0].waits_since, err);
    if (c->waiting)
        pthread_cond_timedwait(&r->done, &r->lock, &until);
    else
        listen_to(r, deadline);
    return APL_OK;
}

static uint64_t deadline_of_client(const struct client *c)
{
    return now_ns() + c->timeout_ms * (uint64_t)1000000;
}

/* ------------------------------------------------------------------------------------------------ the calls */

static void client_hand_out(apl_reader *r, apl_batch **batch)
{
    struct client *c = r->client;
    struct received *b = c->batch;
    struct epoch_tally *t = &r->outlets[0].tally;
    uint64_t bytes = 0;
    struct job job = {.buffer = &b->buffer, .end = b->end};
    for (unsigned f = 0; f < b->buffer.batch.fields; f++)
        bytes += b->buffer.batch.columns[f].bytes;
    c->batch = NULL;
    tally_add(r, t, &job);
    stats_count_batch(&r->counters, b->buffer.tally.delivered, bytes);
    *batch = &b->buffer.batch;
    link_take(c->link, b->token);
    ask_ahead(r);
    (void)link_say(c->link, WIRE_RELEASE, NULL); /* that it was taken, if that has not been said */
    if (r->calls.next > 1)
        pthread_cond_broadcast(&r->done);
}

static apl_status client_next(apl_reader *r, apl_batch **batch, apl_error *err)
{
    struct client *c = r->client;
    uint64_t deadline = deadline_of_client(c);
    c->failed = false; /* that was an answer to nobody */
    for (bool again = false;; again = true) {
        TRY(calls_check(&r->calls, true, err));
        if (r->outlets[0].tally.ended && !c->turning)
            return APL_END;
        if (c->batch) {
            client_hand_out(r, batch);
            return APL_OK;
        }
        if (again)
            TRY(client_failed(c, err));
        TRY(client_lost(c, err));
        client_ask(c);
        if (!again && !c->waiting)
            client_hear(r); /* it may be here already */
        if (!c->batch && !c->failed && c->lost == APL_OK)
            TRY(wait_for_server(r, deadline, err));
    }
}

static apl_status client_next_epoch(apl_reader *r, apl_error *err)
{
    struct client *c = r->client;
    uint64_t before = r->outlets[0].tally.epoch, deadline = deadline_of_client(c);
    bool told = false;
    if (r->outlets[0].calls > 0)
        return fail(err, APL_E_INVALID, "apl_reader_next_epoch: a thread is inside apl_reader_next()");
    while (r->outlets[0].tally.epoch == before) {
        TRY(calls_check(&r->calls, false, err));
        TRY(client_lost(c, err));
        if (!c->turning && told)
            TRY(client_failed(c, err));
        if (!c->turning)
            client_ask_epoch(c, before + 1);
        told = true;
        TRY(wait_for_server(r, deadline, err));
    }
    ask_ahead(r);
    return APL_OK;
}

static void client_wake(apl_reader *r)
{
    static const uint64_t one = 1;
    (void)!write(r->client->wake, &one, sizeof one);
}

static void client_stats(apl_reader *r, apl_stats *s)
{
    const struct client *c = r->client;
    pthread_mutex_lock(&c->link->lock);
    s->lent = c->link->lent;
    pthread_mutex_unlock(&c->link->lock);
    s->queued = c->batch != NULL;
    s->slots = c->welcome.slots;
    s->memory_budget = c->welcome.budget;
}

static const struct provider calls_of_client = {client_next, client_next_epoch, client_wake, client_stats};

/* ------------------------------------------------------------------------------------------ opening, closing */

static void destroy_client(apl_reader *r)
{
    struct client *c = r->client;
    if (c && c->link) {
        pthread_mutex_lock(&c->link->lock);
        c->link->closed =
            true; /* a batch that nobody got is not given back: it is left to the rank's next client */
        pthread_mutex_unlock(&c->link->lock);
        client_drop(c);
        link_leave(c->link);
        link_drop(c->link);
    }
    if (c && c->wake >= 0)
        close(c->wake);
    free(c);
    outlets_free(r);
    reader_free(r);
}

static apl_status open_link(struct client *c, const char *path, unsigned wait_ms, apl_error *err)
{
    c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->wake < 0)
        return fail_errno(err, errno, "eventfd");
    int fd;
    TRY(socket_connect(path, wait_ms, &fd, err));
    c->link = calloc(1, sizeof *c->link);
    if (!c->link) {
        close(fd);
        return fail_nomem(err);
    }
    c->link->pid = (int)getpid();
    c->link->fd = fd;
    c->link->holders = 1;
    pthread_mutex_init(&c->link->lock, NULL);
    return APL_OK;
}

static apl_status make_hello(struct wire_hello *m, unsigned rank, const apl_connect_options *o,
                             apl_error *err)
{
    *m = (struct wire_hello){.h = wire_header(WIRE_HELLO, sizeof *m),
                             .rank = rank,
                             .epoch = o->first_epoch,
                             .wait_ms = o->wait_ms};
    if (o->state && o->state_size != APL_STATE_BYTES)
        return fail(err, APL_E_INVALID, "not a valid state of a reader in strict order");
    if (!!o->state + !!o->first_epoch + !!o->go_on > 1)
        return fail(err, APL_E_INVALID,
                    "apl_connect_options: state, first_epoch and go_on exclude each other");
    if (o->state)
        memcpy(m->state, o->state, APL_STATE_BYTES);
    m->where = o->state ? WIRE_STATE : o->first_epoch ? WIRE_AT_EPOCH : o->go_on ? WIRE_ON : WIRE_BEGINNING;
    return APL_OK;
}

static apl_status make_client(apl_reader *r, const char *path, const apl_connect_options *o, apl_error *err)
{
    struct client *c = r->client = calloc(1, sizeof *c);
    if (!c)
        return fail_nomem(err);
    c->wake = -1;
    c->timeout_ms = o->timeout_ms ? o->timeout_ms : DEFAULT_TIMEOUT_MS;
    c->wait_ms = o->wait_ms;
    snprintf(c->path, sizeof c->path, "%s", path);
    TRY(open_link(c, path, o->wait_ms, err));
    c->link->writable = o->writable != 0;
    return APL_OK;
}

static apl_status connect_client(apl_reader *r, const char *path, unsigned rank, const apl_connect_options *o,
                                 apl_error *err)
{
    struct wire_hello hello;
    TRY(make_hello(&hello, rank, o, err));
    TRY(make_client(r, path, o, err));
    TRY(client_greet(r, &hello, err));
    r->provider = &calls_of_client;
    ask_ahead(r);
    return monitor_open(r, o->monitor, r->client->path, err);
}

apl_status apl_reader_connect(const char *path, unsigned rank, const apl_connect_options *options,
                              apl_reader **reader, apl_error *err)
{
    apl_error own;
    apl_reader *r;
    apl_connect_options o = APL_CONNECT_OPTIONS_INIT;
    err = err ? err : &own;
    if (!path || !reader)
        return fail(err, APL_E_INVALID, "apl_reader_connect: path or reader is NULL");
    TRY(options_take(&o, sizeof o, options, "apl_connect_options", err));
    TRY(reader_new(destroy_client, &r, err));
    apl_status status = connect_client(r, path, rank, &o, err);
    if (status == APL_OK)
        *reader = r;
    else
        apl_reader_close(r);
    return status;
}

/* By a client that is never welcome: that the server has ended is the answer. */
apl_status apl_server_dismiss(const char *path, unsigned timeout_ms, apl_error *err)
{
    apl_error own;
    apl_reader *r;
    apl_connect_options o = APL_CONNECT_OPTIONS_INIT;
    const struct wire_hello hello = {.h = wire_header(WIRE_HELLO, sizeof hello), .where = WIRE_LEAVE};
    err = err ? err : &own;
    if (!path)
        return fail(err, APL_E_INVALID, "apl_server_dismiss: path is NULL");
    o.timeout_ms = timeout_ms;
    TRY(reader_new(destroy_client, &r, err));
    apl_status status = make_client(r, path, &o, err);
    if (status == APL_OK)
        status = client_greet(r, &hello, err);
    apl_reader_close(r);
    return status == APL_E_NOTFOUND ? APL_OK : status;
}
